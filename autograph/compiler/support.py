"""Machine code that all graphs share, compiled when it is needed: calls to Python, new arrays, exceptions.

What is hardly ever run (the way to an exception) or is slow anyway (a call to Python) is one call in the code
of a graph, so that this code is short.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable

from autograph.compiler import buffers, threads
from autograph.compiler.values import Number
from autograph.graph.types import Py

DECLARATIONS = {
    "ag_limit": "declare i64 @ag_limit(ptr)",
    "ag_look": "declare i32 @ag_look() cold",
    "ag_call": "declare ptr @ag_call(ptr, i64, i64, i64, ptr, i32) cold",
    "ag_call0": "declare void @ag_call0(ptr, i64) cold",
    "ag_fetch": "declare ptr @ag_fetch() cold",
    "ag_push": "declare void @ag_push(ptr, i32) cold nounwind",
    "ag_release": "declare void @ag_release(ptr, i64)",
    "ag_new": "declare noalias ptr @ag_new(ptr, i64, i32, ptr, i32)",
    "ag_failed": "declare void @ag_failed(ptr, i64) cold",
    "ag_apart": "declare i1 @ag_apart(ptr, ptr, i64, i64) nounwind memory(argmem: read)",
    "ag_power": "declare { i64, i1 } @ag_power(i64, i64) nounwind",
    **buffers.DECLARATIONS,
    **threads.DECLARATIONS,
}

BORROWED, OWNED, INT, FLOAT, BOOL, COMPLEX, SCALAR = range(7)
"""How an argument of `ag_call` is given: an object, or a number that becomes one."""

MAX_ARGUMENTS = 16
"""Of `ag_call`: four bits of its third argument are the kind of each."""

CELL = 24
"""Bytes of an argument of `ag_call`: 16 of the value, then the dtype of a NumPy scalar."""

PYTHON = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX}


def kind_of(number: Number) -> int:
    """How a number is given to `ag_call`."""
    return PYTHON[number.type.cls] if isinstance(number.type, Py) else SCALAR


CONTEXT = types.MappingProxyType(
    {"table": 0, "depth": 8, "limit": 16, "count": 24, "trail": 32, "handling": 40, "calls": 48}
)
"""Offsets in a call's context: the table of objects, the number of active handlers, the lowest stack address,
the length of the trail of operations that an exception has passed, the trail, the handled exceptions, the
number of calls left until the next look for a Ctrl-C."""

TRAIL = 8192
"""Most operations of a trail."""

FETCH_NEW = """
declare void @PyErr_SetRaisedException(ptr)
define internal void @ag_restore(ptr %e) {
  call void @PyErr_SetRaisedException(ptr %e)
  ret void
}
declare ptr @PyErr_GetRaisedException()
define ptr @ag_fetch() {
  %e = call ptr @PyErr_GetRaisedException()
  ret ptr %e
}
"""
FETCH_OLD = """
declare void @PyErr_Restore(ptr, ptr, ptr)
declare ptr @PyException_GetTraceback(ptr)
define internal void @ag_restore(ptr %e) {
  %tp = getelementptr i8, ptr %e, i64 8
  %type = load ptr, ptr %tp
  call void @Py_IncRef(ptr %type)
  %tb = call ptr @PyException_GetTraceback(ptr %e)
  call void @PyErr_Restore(ptr %type, ptr %e, ptr %tb)
  ret void
}
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
define ptr @ag_fetch() {
  %t = alloca ptr
  %v = alloca ptr
  %b = alloca ptr
  call void @PyErr_Fetch(ptr %t, ptr %v, ptr %b)
  call void @PyErr_NormalizeException(ptr %t, ptr %v, ptr %b)
  %tb = load ptr, ptr %b
  %e = load ptr, ptr %v
  %none = icmp eq ptr %tb, null
  br i1 %none, label %done, label %set
set:
  %r = call i32 @PyException_SetTraceback(ptr %e, ptr %tb)
  br label %done
done:
  %ty = load ptr, ptr %t
  call void @Py_DecRef(ptr %ty)
  call void @Py_DecRef(ptr %tb)
  ret ptr %e
}
"""
FETCH = FETCH_NEW if sys.version_info >= (3, 12) else FETCH_OLD
"""`PyErr_GetRaisedException` came with Python 3.12."""

HEADER = """
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyComplex_FromDoubles(double, double)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare ptr @PyList_New(i64)
declare ptr @ag_array_scalar(ptr, ptr, ptr)
declare ptr @ag_array_new(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i64 @pthread_self()
declare i64 @PyLong_AsLongLong(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @clock_gettime(i32, ptr)
"""
"""What each part may use of Python, NumPy and the system."""

ITEM = """
define internal ptr @item(ptr %ctx, i64 %index) {
  %table = load ptr, ptr %ctx
  %p = getelementptr ptr, ptr %table, i64 %index
  %o = load ptr, ptr %p
  ret ptr %o
}
"""

BASE_NAMES = (
    *("ag_limit", "ag_look", "ag_call", "ag_call0"),
    *("ag_fetch", "ag_push", "ag_release", "ag_failed"),
)
RELEASE = """
define void @ag_release(ptr %slots, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %j, %turn ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %turn, label %done
turn:
  %p = getelementptr ptr, ptr %slots, i64 %i
  %o = load ptr, ptr %p
  call void @Py_DecRef(ptr %o)
  %j = add i64 %i, 1
  br label %head
done:
  ret void
}
"""
"""Also of functions that know nothing of Python (`standalone`)."""
BASE = """
define void @ag_push(ptr %ctx, i32 %site) {
  %np = getelementptr i8, ptr %ctx, i64 24
  %n = load i64, ptr %np
  %full = icmp uge i64 %n, TRAIL
  br i1 %full, label %done, label %push
push:
  %tp = getelementptr i8, ptr %ctx, i64 32
  %trail = load ptr, ptr %tp
  %p = getelementptr i32, ptr %trail, i64 %n
  store i32 %site, ptr %p
  %m = add i64 %n, 1
  store i64 %m, ptr %np
  br label %done
done:
  ret void
}

@thread = internal global i64 0
@limit = internal global i64 0

define i64 @ag_limit(ptr %fn) {
  %self = call i64 @pthread_self()
  %known = load i64, ptr @thread
  %same = icmp eq i64 %self, %known
  br i1 %same, label %have, label %ask
have:
  %l = load i64, ptr @limit
  ret i64 %l
ask:
  %o = call ptr @PyObject_Vectorcall(ptr %fn, ptr null, i64 0, ptr null)
  %v = call i64 @PyLong_AsLongLong(ptr %o)
  call void @Py_DecRef(ptr %o)
  store i64 %self, ptr @thread
  store i64 %v, ptr @limit
  ret i64 %v
}

@last = internal global i64 0

define i32 @ag_look() {
  %now = alloca [2 x i64]
  %got = call i32 @clock_gettime(i32 MONOTONIC, ptr %now)
  %seconds = load i64, ptr %now
  %place = getelementptr i8, ptr %now, i64 8
  %rest = load i64, ptr %place
  %whole = mul i64 %seconds, 1000000000
  %time = add i64 %whole, %rest
  %before = load i64, ptr @last
  %passed = sub i64 %time, %before
  %long = icmp sgt i64 %passed, 5000000
  br i1 %long, label %yield, label %signals
yield:
  %state = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %state)
  store i64 %time, ptr @last
  br label %signals
signals:
  %answer = call i32 @PyErr_CheckSignals()
  ret i32 %answer
}

define void @ag_call0(ptr %ctx, i64 %index) {
  %fn = call ptr @item(ptr %ctx, i64 %index)
  %r = call ptr @PyObject_Vectorcall(ptr %fn, ptr null, i64 0, ptr null)
  call void @ag_push(ptr %ctx, i32 -1)
  ret void
}

define ptr @ag_call(ptr %ctx, i64 %index, i64 %n, i64 %kinds, ptr %cells, i32 %site) {
entry:
  %made = alloca [MAX x ptr]
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %keep ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %turn, label %call
turn:
  %shift = shl i64 %i, 2
  %shifted = lshr i64 %kinds, %shift
  %kind = and i64 %shifted, 15
  %at = mul i64 %i, CELL
  %cell = getelementptr i8, ptr %cells, i64 %at
  %second = getelementptr i8, ptr %cell, i64 8
  switch i64 %kind, label %object [ i64 2, label %int i64 3, label %float i64 4, label %bool
    i64 5, label %complex i64 6, label %scalar ]
object:
  %o0 = load ptr, ptr %cell
  br label %keep
int:
  %v2 = load i64, ptr %cell
  %o2 = call ptr @PyLong_FromLongLong(i64 %v2)
  br label %keep
float:
  %v3 = load double, ptr %cell
  %o3 = call ptr @PyFloat_FromDouble(double %v3)
  br label %keep
bool:
  %b4 = load i8, ptr %cell
  %v4 = zext i8 %b4 to i64
  %o4 = call ptr @PyBool_FromLong(i64 %v4)
  br label %keep
complex:
  %re = load double, ptr %cell
  %im = load double, ptr %second
  %o5 = call ptr @PyComplex_FromDoubles(double %re, double %im)
  br label %keep
scalar:
  %third = getelementptr i8, ptr %cell, i64 16
  %descr = load ptr, ptr %third
  %o6 = call ptr @ag_array_scalar(ptr %cell, ptr %descr, ptr null)
  br label %keep
keep:
  %o = phi ptr [ %o0, %object ], [ %o2, %int ], [ %o3, %float ], [ %o4, %bool ], [ %o5, %complex ],
    [ %o6, %scalar ]
  %place = getelementptr ptr, ptr %made, i64 %i
  store ptr %o, ptr %place
  %next = add i64 %i, 1
  %none = icmp eq ptr %o, null
  br i1 %none, label %clean, label %head
call:
  %fn = call ptr @item(ptr %ctx, i64 %index)
  %r = call ptr @PyObject_Vectorcall(ptr %fn, ptr %made, i64 %n, ptr null)
  br label %clean
clean:
  %count = phi i64 [ %next, %keep ], [ %n, %call ]
  %result = phi ptr [ null, %keep ], [ %r, %call ]
  br label %again
again:
  %k = phi i64 [ 0, %clean ], [ %k1, %ahead ]
  %left = icmp ult i64 %k, %count
  br i1 %left, label %drop, label %end
drop:
  %shift2 = shl i64 %k, 2
  %shifted2 = lshr i64 %kinds, %shift2
  %kind2 = and i64 %shifted2, 15
  %borrowed = icmp eq i64 %kind2, 0
  br i1 %borrowed, label %ahead, label %dec
dec:
  %place2 = getelementptr ptr, ptr %made, i64 %k
  %old = load ptr, ptr %place2
  call void @Py_DecRef(ptr %old)
  br label %ahead
ahead:
  %k1 = add i64 %k, 1
  br label %again
end:
  %bad = icmp eq ptr %result, null
  br i1 %bad, label %push, label %done
push:
  call void @ag_push(ptr %ctx, i32 %site)
  br label %done
done:
  ret ptr %result
}

define void @ag_failed(ptr %ctx, i64 %index) {
entry:
  %argv = alloca [3 x ptr]
  %error = call ptr @ag_fetch()
  %np = getelementptr i8, ptr %ctx, i64 24
  %n = load i64, ptr %np
  %size = mul i64 %n, 4
  %tp = getelementptr i8, ptr %ctx, i64 32
  %trail = load ptr, ptr %tp
  %text = call ptr @PyBytes_FromStringAndSize(ptr %trail, i64 %size)
  %hp = getelementptr i8, ptr %ctx, i64 40
  %some = load ptr, ptr %hp
  %none = icmp eq ptr %some, null
  br i1 %none, label %make, label %go
make:
  %new = call ptr @PyList_New(i64 0)
  br label %go
go:
  %handling = phi ptr [ %some, %entry ], [ %new, %make ]
  %a1 = getelementptr ptr, ptr %argv, i64 1
  %a2 = getelementptr ptr, ptr %argv, i64 2
  store ptr %error, ptr %argv
  store ptr %text, ptr %a1
  store ptr %handling, ptr %a2
  %fn = call ptr @item(ptr %ctx, i64 %index)
  %r = call ptr @PyObject_Vectorcall(ptr %fn, ptr %argv, i64 3, ptr null)
  call void @Py_DecRef(ptr %error)
  call void @Py_DecRef(ptr %text)
  call void @Py_DecRef(ptr %handling)
  %broken = icmp eq ptr %r, null
  br i1 %broken, label %done, label %restore
restore:
  call void @ag_restore(ptr %r)
  br label %done
done:
  ret void
}
"""

NEW = """
declare void @ag_push(ptr, i32)
@ag_array_type = external global i8

define ptr @ag_new(ptr %ctx, i64 %dtype, i32 %rank, ptr %shape, i32 %site) {
  %descr = call ptr @item(ptr %ctx, i64 %dtype)
  call void @Py_IncRef(ptr %descr)
  %a = call ptr @ag_array_new(ptr @ag_array_type, ptr %descr, i32 %rank, ptr %shape, ptr null, ptr null,
    i32 0, ptr null)
  %bad = icmp eq ptr %a, null
  br i1 %bad, label %push, label %done
push:
  call void @ag_push(ptr %ctx, i32 %site)
  br label %done
done:
  ret ptr %a
}
"""

POWER = """
; x to the power of n, which is not negative, and whether it has more than 64 bits.
define { i64, i1 } @ag_power(i64 %x, i64 %n) {
entry:
  br label %head
head:
  %result = phi i64 [ 1, %entry ], [ %result2, %square ]
  %base = phi i64 [ %x, %entry ], [ %base2, %square ]
  %left = phi i64 [ %n, %entry ], [ %left1, %square ]
  %odd = trunc i64 %left to i1
  %p = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %result, i64 %base)
  %p0 = extractvalue { i64, i1 } %p, 0
  %p1 = extractvalue { i64, i1 } %p, 1
  %result2 = select i1 %odd, i64 %p0, i64 %result
  %over = and i1 %odd, %p1
  br i1 %over, label %far, label %next
next:
  %left1 = lshr i64 %left, 1
  %done = icmp eq i64 %left1, 0
  br i1 %done, label %end, label %square
square:
  %q = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %base, i64 %base)
  %base2 = extractvalue { i64, i1 } %q, 0
  %q1 = extractvalue { i64, i1 } %q, 1
  br i1 %q1, label %far, label %head
end:
  %r = insertvalue { i64, i1 } { i64 undef, i1 false }, i64 %result2, 0
  ret { i64, i1 } %r
far:
  ret { i64, i1 } { i64 0, i1 true }
}
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
"""

APART = """
; Whether no two elements of an array share memory: each step is longer than all that is in shorter ones.
define i1 @ag_apart(ptr %shape, ptr %strides, i64 %rank, i64 %size) {
entry:
  br label %axes
axes:
  %i = phi i64 [ 0, %entry ], [ %i1, %ahead ]
  %more = icmp ult i64 %i, %rank
  br i1 %more, label %axis, label %yes
axis:
  %i1 = add i64 %i, 1
  %dp = getelementptr i64, ptr %shape, i64 %i
  %d = load i64, ptr %dp
  %sp = getelementptr i64, ptr %strides, i64 %i
  %s = load i64, ptr %sp
  %step = call i64 @llvm.abs.i64(i64 %s, i1 false)
  %one = icmp eq i64 %d, 1
  br i1 %one, label %ahead, label %others
others:
  %j = phi i64 [ 0, %axis ], [ %j1, %measure ]
  %room = phi i64 [ %size, %axis ], [ %room1, %measure ]
  %left = icmp ult i64 %j, %rank
  br i1 %left, label %other, label %compare
other:
  %j1 = add i64 %j, 1
  %dp2 = getelementptr i64, ptr %shape, i64 %j
  %d2 = load i64, ptr %dp2
  %empty = icmp eq i64 %d2, 0
  br i1 %empty, label %yes, label %measure
measure:
  %sp2 = getelementptr i64, ptr %strides, i64 %j
  %s2 = load i64, ptr %sp2
  %step2 = call i64 @llvm.abs.i64(i64 %s2, i1 false)
  %less = icmp ult i64 %step2, %step
  %equal = icmp eq i64 %step2, %step
  %before = icmp ult i64 %j, %i
  %tie = and i1 %equal, %before
  %inner = or i1 %less, %tie
  %last = sub i64 %d2, 1
  %reach = mul i64 %last, %step2
  %added = select i1 %inner, i64 %reach, i64 0
  %room1 = add i64 %room, %added
  br label %others
compare:
  %fits = icmp ule i64 %room, %step
  br i1 %fits, label %ahead, label %no
ahead:
  br label %axes
yes:
  ret i1 true
no:
  ret i1 false
}
declare i64 @llvm.abs.i64(i64, i1)
"""


VECTORCALL = """
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)

; CPython 3.10 has it inline only. Names are given to functions and methods of Python's alone.
define ptr @PyObject_Vectorcall(ptr %fn, ptr %args, i64 %n, ptr %names) {
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %unnamed, label %named
unnamed:
  %r = call ptr @PyObject_VectorcallDict(ptr %fn, ptr %args, i64 %n, ptr null)
  ret ptr %r
named:
  %at = getelementptr i8, ptr %fn, i64 8
  %type = load ptr, ptr %at
  %field = getelementptr i8, ptr %type, i64 56
  %offset = load i64, ptr %field
  %place = getelementptr i8, ptr %fn, i64 %offset
  %call = load ptr, ptr %place
  %s = call ptr %call(ptr %fn, ptr %args, i64 %n, ptr %names)
  ret ptr %s
}
"""


def _code(*texts: str) -> str:
    """A part, with its numbers."""
    code = HEADER + "".join(texts)
    code = code.replace("MONOTONIC", str(getattr(time, "CLOCK_MONOTONIC", 1)))
    return code.replace("TRAIL", str(TRAIL)).replace("MAX", str(MAX_ARGUMENTS)).replace("CELL", str(CELL))


PARTS: dict[tuple[str, ...], Callable[[], str]] = {
    BASE_NAMES: lambda: _code(FETCH, ITEM, RELEASE, BASE),
    ("ag_new",): lambda: _code(ITEM, NEW),
    ("ag_power",): lambda: _code(POWER),
    ("ag_apart",): lambda: _code(APART),
    buffers.NAMES: lambda: _code(buffers.text()),
    threads.NAMES: lambda: _code(threads.text()),
}
"""The functions and their IR: each part is compiled when some code needs it, and may use others."""
if sys.version_info < (3, 11):
    PARTS["PyObject_Vectorcall",] = lambda: VECTORCALL

NAMES = tuple(name for names in PARTS for name in names)
"""All the functions; `DECLARATIONS` has what they take."""
