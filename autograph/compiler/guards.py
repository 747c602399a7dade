"""A debugging mode in which no array can be read or written past its end, or after it is gone, unnoticed.

Each array that NumPy or compiled code makes gets pages of its own from the system, so that its end lies at
the end of a page, less what its alignment asks for; the page after it cannot be touched, nor can the array's
own pages once it is freed: either ends the process with a segmentation fault (see `faulthandler`). The bytes
before an array and those up to the guard page hold a pattern; one that has changed when the array is freed
ends the process with a message. The elements of new arrays hold the pattern, too.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

from autograph.compiler import machine

__all__ = ["install", "wanted"]

TEXT = """
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @mprotect(ptr, i64, i32)
declare i32 @munmap(ptr, i64)
declare i64 @write(i32, ptr, i64)
declare void @abort()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
@ag_guards = constant { [127 x i8], i8, ptr, ptr, ptr, ptr, ptr } {
  [127 x i8] c"guarded\\00PADDING", i8 1, ptr null,
  ptr @take, ptr @take_zeros, ptr @resize, ptr @give }
@message = internal constant [58 x i8] c"autograph: bytes next to an array of NumPy were changed.\\0A\\00"

define internal ptr @take(ptr %none, i64 %size) {
  %empty = icmp eq i64 %size, 0
  %least = select i1 %empty, i64 1, i64 %size
  %up = add i64 %least, 15
  %used = and i64 %up, -16
  %more = add i64 %used, 4095
  %pages = and i64 %more, -4096
  %whole = add i64 %pages, 8192
  %base = call ptr @mmap(ptr null, i64 %whole, i32 3, i32 34, i32 -1, i64 0)
  %address = ptrtoint ptr %base to i64
  %failed = icmp eq i64 %address, -1
  br i1 %failed, label %none_left, label %got
none_left:
  ret ptr null
got:
  %length = add i64 %pages, 4096
  call void @llvm.memset.p0.i64(ptr %base, i8 -91, i64 %length, i1 false)
  store i64 %whole, ptr %base
  %second = getelementptr i8, ptr %base, i64 8
  store i64 %size, ptr %second
  %guard = getelementptr i8, ptr %base, i64 %length
  %unused = call i32 @mprotect(ptr %guard, i64 4096, i32 0)
  %back = sub i64 0, %used
  %data = getelementptr i8, ptr %guard, i64 %back
  ret ptr %data
}

define internal ptr @take_zeros(ptr %none, i64 %n, i64 %each) {
  %size = mul i64 %n, %each
  %data = call ptr @take(ptr null, i64 %size)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %end, label %got
got:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %size, i1 false)
  br label %end
end:
  ret ptr %data
}

define internal ptr @header(ptr %data) {
  %address = ptrtoint ptr %data to i64
  %page = and i64 %address, -4096
  %before = sub i64 %page, 4096
  %base = inttoptr i64 %before to ptr
  ret ptr %base
}

define internal ptr @resize(ptr %none, ptr %old, i64 %size) {
  %data = call ptr @take(ptr null, i64 %size)
  %failed = icmp eq ptr %data, null
  %first = icmp eq ptr %old, null
  %bare = or i1 %failed, %first
  br i1 %bare, label %end, label %copy
copy:
  %base = call ptr @header(ptr %old)
  %second = getelementptr i8, ptr %base, i64 8
  %had = load i64, ptr %second
  %same = call i64 @llvm.umin.i64(i64 %had, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %old, i64 %same, i1 false)
  call void @give(ptr null, ptr %old, i64 %had)
  br label %end
end:
  ret ptr %data
}

define internal void @whole(ptr %start, ptr %stop) {
entry:
  br label %head
head:
  %at = phi ptr [ %start, %entry ], [ %next, %turn ]
  %done = icmp uge ptr %at, %stop
  br i1 %done, label %end, label %turn
turn:
  %byte = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %fine = icmp eq i8 %byte, -91
  br i1 %fine, label %head, label %changed
changed:
  %written = call i64 @write(i32 2, ptr @message, i64 57)
  call void @abort()
  unreachable
end:
  ret void
}

define internal void @give(ptr %none, ptr %data, i64 %given) {
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %end, label %some
some:
  %base = call ptr @header(ptr %data)
  %whole = load i64, ptr %base
  %second = getelementptr i8, ptr %base, i64 8
  %size = load i64, ptr %second
  %third = getelementptr i8, ptr %base, i64 16
  call void @whole(ptr %third, ptr %data)
  %stop = getelementptr i8, ptr %data, i64 %size
  %length = sub i64 %whole, 4096
  %guard = getelementptr i8, ptr %base, i64 %length
  call void @whole(ptr %stop, ptr %guard)
  %unused = call i32 @munmap(ptr %base, i64 %whole)
  br label %end
end:
  ret void
}

define ptr @ag_guard_handler() {
  ret ptr @ag_guards
}
"""


def wanted() -> bool:
    """Whether the environment asks for guards."""
    return os.environ.get("AUTOGRAPH_GUARD") == "1"


@functools.cache
def _capsule() -> Any:
    """The allocator, as NumPy takes it."""
    if sys.platform != "linux":
        raise RuntimeError("AUTOGRAPH_GUARD=1 needs Linux: guard pages are made with its mmap")
    text = TEXT.replace("PADDING", "\\00" * (127 - len("guarded") - 1))
    library = machine.compile_ir(text, ("ag_guard_handler",), level=0)
    machine.keep(library)
    handler = ctypes.CFUNCTYPE(ctypes.c_void_p)(library["ag_guard_handler"])()
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(handler, _NAME, None)


_NAME = b"mem_handler"


def install() -> None:
    """Gives all arrays that are made from now on in this context guards."""
    from autograph.compiler.host import array_api

    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(array_api(304))(_capsule())
