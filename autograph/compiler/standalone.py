"""What a library calls in place of Python and NumPy: arrays of NumPy's layout, counted references.

An array is a block with a head, its dimensions and its strides; its elements are another one, or another's.
"""

from __future__ import annotations

import re
import sys

from autograph.compiler import support

STRUCT = 80
"""Bytes of an array's head, before its dimensions and strides."""
MOST = 64
"""Axes that an array may have."""
CONSTANT = 1 << 30
"""So many references has what is never freed; they are not counted."""

RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
@ag_array_type = internal constant i8 0

define void @Py_IncRef(ptr %o) {
  %none = icmp eq ptr %o, null
  br i1 %none, label %done, label %look
look:
  %n = load i32, ptr %o
  %constant = icmp sge i32 %n, CONSTANT
  br i1 %constant, label %done, label %add
add:
  %m = add i32 %n, 1
  store i32 %m, ptr %o
  br label %done
done:
  ret void
}

define void @Py_DecRef(ptr %o) {
  %none = icmp eq ptr %o, null
  br i1 %none, label %done, label %look
look:
  %n = load i32, ptr %o
  %constant = icmp sge i32 %n, CONSTANT
  br i1 %constant, label %done, label %sub
sub:
  %m = sub i32 %n, 1
  store i32 %m, ptr %o
  %last = icmp eq i32 %m, 0
  br i1 %last, label %drop, label %done
drop:
  %bp = getelementptr i8, ptr %o, i64 48
  %base = load ptr, ptr %bp
  %own = icmp eq ptr %base, null
  br i1 %own, label %memory, label %other
memory:
  %dp = getelementptr i8, ptr %o, i64 16
  %d = load ptr, ptr %dp
  call void @free(ptr %d)
  br label %end
other:
  call void @Py_DecRef(ptr %base)
  br label %end
end:
  call void @free(ptr %o)
  br label %done
done:
  ret void
}

define ptr @ag_bytes(i64 %size) {
  %empty = icmp eq i64 %size, 0
  %least = select i1 %empty, i64 1, i64 %size
  BYTES
  ret ptr %p
}

define ptr @ag_array_new(ptr %type, ptr %descr, i32 %rank, ptr %shape, ptr %steps, ptr %data,
    i32 %flags, ptr %like) {
entry:
  %n = zext i32 %rank to i64
  %ip = getelementptr i8, ptr %descr, i64 8
  %itemsize = load i64, ptr %ip
  %axes = mul i64 %n, 16
  %bytes = add i64 %axes, STRUCT
  %o = call ptr @malloc(i64 %bytes)
  %failed = icmp eq ptr %o, null
  br i1 %failed, label %bad, label %head
head:
  %dims = getelementptr i8, ptr %o, i64 STRUCT
  %strides = getelementptr i64, ptr %dims, i64 %n
  %given = icmp ne ptr %steps, null
  br label %axis
axis:
  %i = phi i64 [ %n, %head ], [ %k, %set ]
  %size = phi i64 [ %itemsize, %head ], [ %size1, %set ]
  %over = phi i1 [ false, %head ], [ %over1, %set ]
  %more = icmp ne i64 %i, 0
  br i1 %more, label %turn, label %known
turn:
  %k = sub i64 %i, 1
  %sp = getelementptr i64, ptr %shape, i64 %k
  %d = load i64, ptr %sp
  %dp = getelementptr i64, ptr %dims, i64 %k
  store i64 %d, ptr %dp
  br i1 %given, label %copy, label %dense
copy:
  %gp = getelementptr i64, ptr %steps, i64 %k
  %g = load i64, ptr %gp
  br label %set
dense:
  br label %set
set:
  %step = phi i64 [ %g, %copy ], [ %size, %dense ]
  %tp = getelementptr i64, ptr %strides, i64 %k
  store i64 %step, ptr %tp
  %product = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %size, i64 %d)
  %size1 = extractvalue { i64, i1 } %product, 0
  %far = extractvalue { i64, i1 } %product, 1
  %over1 = or i1 %over, %far
  br label %axis
known:
  %viewed = icmp ne ptr %data, null
  br i1 %viewed, label %fill, label %new
new:
  %negative = icmp slt i64 %size, 0
  %huge = or i1 %over, %negative
  br i1 %huge, label %drop, label %take
take:
  %memory = call ptr @ag_bytes(i64 %size)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %drop, label %fill
drop:
  call void @free(ptr %o)
  br label %bad
bad:
  ret ptr null
fill:
  %where = phi ptr [ %data, %known ], [ %memory, %take ]
  %kind = phi i32 [ %flags, %known ], [ OWN, %take ]
  store i64 1, ptr %o
  %p16 = getelementptr i8, ptr %o, i64 16
  store ptr %where, ptr %p16
  %p24 = getelementptr i8, ptr %o, i64 24
  store i32 %rank, ptr %p24
  %p32 = getelementptr i8, ptr %o, i64 32
  store ptr %dims, ptr %p32
  %p40 = getelementptr i8, ptr %o, i64 40
  store ptr %strides, ptr %p40
  %p48 = getelementptr i8, ptr %o, i64 48
  store ptr null, ptr %p48
  %p56 = getelementptr i8, ptr %o, i64 56
  store ptr %descr, ptr %p56
  %p64 = getelementptr i8, ptr %o, i64 64
  store i32 %kind, ptr %p64
  %p72 = getelementptr i8, ptr %o, i64 72
  store ptr null, ptr %p72
  ret ptr %o
}

define i32 @ag_array_base(ptr %o, ptr %owner) {
  %bp = getelementptr i8, ptr %o, i64 48
  store ptr %owner, ptr %bp
  ret i32 0
}

define ptr @ag_large(ptr %type, ptr %descr, i32 %rank, ptr %shape, i64 %size) {
  %o = call ptr @ag_array_new(ptr %type, ptr %descr, i32 %rank, ptr %shape, ptr null,
    ptr null, i32 0, ptr null)
  ret ptr %o
}

define ptr @ag_again(ptr %type, ptr %descr, i32 %rank, ptr %shape, i64 %size, ptr %place) {
  %o = call ptr @ag_array_new(ptr %type, ptr %descr, i32 %rank, ptr %shape, ptr null,
    ptr null, i32 0, ptr null)
  ret ptr %o
}

define ptr @ag_new(ptr %ctx, i64 %dtype, i32 %rank, ptr %shape, i32 %site) {
  %table = load ptr, ptr %ctx
  %place = getelementptr ptr, ptr %table, i64 %dtype
  %descr = load ptr, ptr %place
  %o = call ptr @ag_array_new(ptr null, ptr %descr, i32 %rank, ptr %shape, ptr null,
    ptr null, i32 0, ptr null)
  %bad = icmp eq ptr %o, null
  br i1 %bad, label %push, label %done
push:
  call void @ag_push(ptr %ctx, i32 -1)
  br label %done
done:
  ret ptr %o
}

; The first place that an error passes is where it comes from.
define void @ag_push(ptr %ctx, i32 %site) {
  %np = getelementptr i8, ptr %ctx, i64 24
  %n = load i64, ptr %np
  %some = icmp ne i64 %n, 0
  br i1 %some, label %done, label %push
push:
  %tp = getelementptr i8, ptr %ctx, i64 32
  %trail = load ptr, ptr %tp
  store i32 %site, ptr %trail
  store i64 1, ptr %np
  br label %done
done:
  ret void
}

define void @ag_call0(ptr %ctx, i64 %index) {
  call void @ag_push(ptr %ctx, i32 -2)
  ret void
}

define i32 @ag_look() {
  ret i32 0
}

; Gives the caller the elements of an array in C order, and its dimensions; whether there was memory for them.
define i1 @ag_give(ptr %o, ptr %place, ptr %shape) {
entry:
  %index = alloca [MOST x i64]
  %p16 = getelementptr i8, ptr %o, i64 16
  %data = load ptr, ptr %p16
  %p24 = getelementptr i8, ptr %o, i64 24
  %rank = load i32, ptr %p24
  %n = zext i32 %rank to i64
  %p32 = getelementptr i8, ptr %o, i64 32
  %dims = load ptr, ptr %p32
  %p40 = getelementptr i8, ptr %o, i64 40
  %strides = load ptr, ptr %p40
  %p48 = getelementptr i8, ptr %o, i64 48
  %base = load ptr, ptr %p48
  %p56 = getelementptr i8, ptr %o, i64 56
  %descr = load ptr, ptr %p56
  %ip = getelementptr i8, ptr %descr, i64 8
  %itemsize = load i64, ptr %ip
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %turn ]
  %size = phi i64 [ %itemsize, %entry ], [ %size1, %turn ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %turn, label %sized
turn:
  %dp = getelementptr i64, ptr %dims, i64 %i
  %d = load i64, ptr %dp
  %sp = getelementptr i64, ptr %shape, i64 %i
  store i64 %d, ptr %sp
  %xp = getelementptr i64, ptr %index, i64 %i
  store i64 0, ptr %xp
  %size1 = mul i64 %size, %d
  %i1 = add i64 %i, 1
  br label %head
sized:
  %count = load i32, ptr %o
  %alone = icmp eq i32 %count, 1
  %own = icmp eq ptr %base, null
  %mine = and i1 %alone, %own
  br i1 %mine, label %hand, label %copy
hand:
  store ptr %data, ptr %place
  call void @free(ptr %o)
  ret i1 true
copy:
  %new = call ptr @ag_bytes(i64 %size)
  %bad = icmp eq ptr %new, null
  br i1 %bad, label %failed, label %elements
failed:
  call void @Py_DecRef(ptr %o)
  ret i1 false
elements:
  store ptr %new, ptr %place
  %empty = icmp eq i64 %size, 0
  br i1 %empty, label %end, label %element
element:
  %to = phi i64 [ 0, %elements ], [ %to1, %following ]
  %from = phi ptr [ %data, %elements ], [ %from1, %following ]
  %target = getelementptr i8, ptr %new, i64 %to
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %from, i64 %itemsize, i1 false)
  %to1 = add i64 %to, %itemsize
  %rest = icmp ult i64 %to1, %size
  br i1 %rest, label %advance, label %end
advance:
  %a = phi i64 [ %n, %element ], [ %a1, %carry ]
  %at = phi ptr [ %from, %element ], [ %back, %carry ]
  %a1 = sub i64 %a, 1
  %np = getelementptr i64, ptr %index, i64 %a1
  %old = load i64, ptr %np
  %now = add i64 %old, 1
  %tp = getelementptr i64, ptr %strides, i64 %a1
  %t = load i64, ptr %tp
  %lp = getelementptr i64, ptr %dims, i64 %a1
  %length = load i64, ptr %lp
  %fits = icmp slt i64 %now, %length
  br i1 %fits, label %following, label %carry
carry:
  store i64 0, ptr %np
  %whole = mul i64 %old, %t
  %minus = sub i64 0, %whole
  %back = getelementptr i8, ptr %at, i64 %minus
  br label %advance
following:
  store i64 %now, ptr %np
  %from1 = getelementptr i8, ptr %at, i64 %t
  br label %element
end:
  call void @Py_DecRef(ptr %o)
  ret i1 true
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

UNKNOWN = """
define i64 @ag_lowest(i64 %guess) {
  ret i64 %guess
}
"""
LINUX = """
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i64 @llvm.umin.i64(i64, i64)
@ag_known = internal thread_local global i64 0

; The lowest address that a recursion may use of this thread's stack.
define i64 @ag_lowest(i64 %guess) {
entry:
  %attributes = alloca [16 x i64]
  %low = alloca i64
  %size = alloca i64
  %known = load i64, ptr @ag_known
  %new = icmp eq i64 %known, 0
  br i1 %new, label %ask, label %back
ask:
  %self = call i64 @pthread_self()
  %code = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %other, label %got
other:
  ret i64 %guess
got:
  %c1 = call i32 @pthread_attr_getstack(ptr %attributes, ptr %low, ptr %size)
  %c2 = call i32 @pthread_attr_destroy(ptr %attributes)
  %l = load i64, ptr %low
  %s = load i64, ptr %size
  %quarter = lshr i64 %s, 2
  %margin = call i64 @llvm.umin.i64(i64 %quarter, i64 131072)
  %lowest = add i64 %l, %margin
  store i64 %lowest, ptr @ag_known
  ret i64 %lowest
back:
  ret i64 %known
}
"""
"""Where the system tells a thread what its stack is."""

MALLOC = "%p = call ptr @malloc(i64 %least)"
ALIGNED = """%room = alloca ptr
  store ptr null, ptr %room
  %code = call i32 @posix_memalign(ptr %room, i64 64, i64 %least)
  %p = load ptr, ptr %room"""


def text() -> str:
    """The IR of the functions."""
    windows = sys.platform == "win32"
    code = RUNTIME + support.RELEASE + (LINUX if sys.platform == "linux" else UNKNOWN)
    code = code.replace("  BYTES", "  " + (MALLOC if windows else ALIGNED))
    numbers = {"STRUCT": STRUCT, "OWN": 1285, "MOST": MOST, "CONSTANT": CONSTANT}
    for name, number in numbers.items():
        code = re.sub(rf"\b{name}\b", str(number), code)
    return code if windows else code + "declare i32 @posix_memalign(ptr, i64, i64)\n"
