"""The quick way into compiled code: a builtin, itself compiled, that knows the arguments already seen.

Calling a decorated function calls one machine-code routine, the same for all functions of the process. It
reads the function's record: what must hold around the call (mode, error state, outside names), and the
variants, each with what its arguments must be. The first variant that fits is run; if none does, the Python
path is taken, which knows everything and adds the next variant.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.compiler import backend, machine

MAX_VARIANTS = 8
MAX_LEAVES = 64
MAX_ARRAYS = 16

IDENTITY, EXACT, INTEGER, ARRAY, DICT, TUPLE = range(6)
"""How an argument is checked."""

CONTIGUOUS_ALIGNED, WRITEABLE = 0x101, 0x400

IN_DICT, IN_CELL, BY_CALL = range(3)
"""How an outside value is checked."""

ROUTINE = """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyLong_AsVoidPtr(ptr)
declare i32 @PyDict_Next(ptr, ptr, ptr, ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_Clear()

define internal i1 @context_is(ptr %variable, ptr %expected) {
  %place = alloca ptr
  store ptr null, ptr %place
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %place)
  %value = load ptr, ptr %place
  %same = icmp eq ptr %value, %expected
  %none = icmp eq ptr %value, null
  br i1 %none, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %value)
  br label %done
done:
  ret i1 %same
}

define internal i1 @guards_hold(ptr %guards, i64 %count) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %good ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %check, label %yes
check:
  %at = getelementptr [4 x i64], ptr %guards, i64 %i
  %kind = load i64, ptr %at
  %p1 = getelementptr i64, ptr %at, i64 1
  %p2 = getelementptr i64, ptr %at, i64 2
  %p3 = getelementptr i64, ptr %at, i64 3
  %where = load ptr, ptr %p1
  %name = load ptr, ptr %p2
  %expected = load ptr, ptr %p3
  switch i64 %kind, label %no [ i64 0, label %dict
                                i64 1, label %cell
                                i64 2, label %call ]
dict:
  %found = call ptr @PyDict_GetItemWithError(ptr %where, ptr %name)
  %same = icmp eq ptr %found, %expected
  br i1 %same, label %good, label %no
cell:
  %cp = getelementptr i8, ptr %where, i64 16
  %content = load ptr, ptr %cp
  %equal = icmp eq ptr %content, %expected
  br i1 %equal, label %good, label %no
call:
  %answer = call ptr @PyObject_Vectorcall(ptr %where, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %error, label %answered
error:
  call void @PyErr_Clear()
  br label %no
answered:
  %true = icmp eq ptr %answer, %expected
  call void @Py_DecRef(ptr %answer)
  br i1 %true, label %good, label %no
good:
  %next = add i64 %i, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Checks an array. A dimension that is wanted is a number of its own (not negative), any (-1), or told by its
; kind: with the number of its size, `backend.sizes` says what that is, and with 1 more if it was seen before.
define internal i1 @array_is(ptr %object, ptr %spec, ptr %sizes) {
entry:
  %p2 = getelementptr i64, ptr %spec, i64 2
  %descr = load ptr, ptr %p2
  %dp = getelementptr i8, ptr %object, i64 56
  %own = load ptr, ptr %dp
  %same = icmp eq ptr %own, %descr
  br i1 %same, label %rank, label %no
rank:
  %p3 = getelementptr i64, ptr %spec, i64 3
  %nd = load i64, ptr %p3
  %np = getelementptr i8, ptr %object, i64 24
  %n32 = load i32, ptr %np
  %n = sext i32 %n32 to i64
  %ranks = icmp eq i64 %n, %nd
  br i1 %ranks, label %layout, label %no
layout:
  %fp = getelementptr i8, ptr %object, i64 64
  %flags = load i32, ptr %fp
  %p4 = getelementptr i64, ptr %spec, i64 4
  %asked = load i32, ptr %p4
  %bits = and i32 %flags, %asked
  %whole = icmp eq i32 %bits, %asked
  br i1 %whole, label %dims, label %no
dims:
  %p5 = getelementptr i64, ptr %spec, i64 5
  %wanted = load ptr, ptr %p5
  %sp = getelementptr i8, ptr %object, i64 32
  %shape = load ptr, ptr %sp
  br label %head
head:
  %i = phi i64 [ 0, %dims ], [ %next, %good ]
  %more = icmp slt i64 %i, %nd
  br i1 %more, label %compare, label %yes
compare:
  %wp = getelementptr i64, ptr %wanted, i64 %i
  %w = load i64, ptr %wp
  %op = getelementptr i64, ptr %shape, i64 %i
  %d = load i64, ptr %op
  %any = icmp eq i64 %w, -1
  %fits = icmp eq i64 %w, %d
  %fine = or i1 %any, %fits
  br i1 %fine, label %good, label %open
open:
  %told = icmp slt i64 %w, 0
  br i1 %told, label %kind, label %no
kind:
  %code2 = sub i64 0, %w
  %again = trunc i64 %code2 to i1
  %code = lshr i64 %code2, 1
  %wantlarge = trunc i64 %code to i1
  %above = sub i64 %d, LARGE
  %large = icmp ult i64 %above, RANGE
  %one = icmp eq i64 %d, 1
  %either = or i1 %large, %one
  %small = xor i1 %either, true
  %right = select i1 %wantlarge, i1 %large, i1 %small
  br i1 %right, label %number, label %no
number:
  %place = lshr i64 %code, 1
  %sizep = getelementptr i64, ptr %sizes, i64 %place
  br i1 %again, label %before, label %first
first:
  store i64 %d, ptr %sizep
  br label %good
before:
  %size = load i64, ptr %sizep
  %equal = icmp eq i64 %size, %d
  br i1 %equal, label %good, label %no
good:
  %next = add i64 %i, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Checks an argument; its leaves go to the list (count, objects...), unless that is null.
define internal i1 @argument_is(ptr %object, ptr %spec, ptr %leaves) {
entry:
  %place = alloca i32
  %position = alloca i64
  %keyp = alloca ptr
  %valuep = alloca ptr
  %kind = load i64, ptr %spec
  %p1 = getelementptr i64, ptr %spec, i64 1
  %expected = load ptr, ptr %p1
  %tp = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %tp
  %typed = icmp eq ptr %type, %expected
  %p3 = getelementptr i64, ptr %spec, i64 3
  %count = load i64, ptr %p3
  %p5 = getelementptr i64, ptr %spec, i64 5
  %parts = load ptr, ptr %p5
  switch i64 %kind, label %no [ i64 0, label %identity
                                i64 1, label %exact
                                i64 2, label %integer
                                i64 3, label %array
                                i64 4, label %dict
                                i64 5, label %tuple ]
identity:
  %same = icmp eq ptr %object, %expected
  ret i1 %same
exact:
  br i1 %typed, label %push, label %no
integer:
  br i1 %typed, label %small, label %no
small:
  store i32 0, ptr %place
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %place)
  %over = load i32, ptr %place
  %fits = icmp eq i32 %over, 0
  br i1 %fits, label %push, label %no
array:
  br i1 %typed, label %inside, label %no
inside:
  %sizes = getelementptr i64, ptr %leaves, i64 LEAVES
  %fine = call i1 @array_is(ptr %object, ptr %spec, ptr %sizes)
  br i1 %fine, label %push, label %no
dict:
  br i1 %typed, label %sized, label %no
sized:
  %sp = getelementptr i8, ptr %object, i64 16
  %size = load i64, ptr %sp
  %equal = icmp eq i64 %size, %count
  br i1 %equal, label %items, label %no
items:
  store i64 0, ptr %position
  br label %each
each:
  %k = phi i64 [ 0, %items ], [ %k1, %held ]
  %left = icmp ult i64 %k, %count
  br i1 %left, label %entry1, label %push
entry1:
  %got = call i32 @PyDict_Next(ptr %object, ptr %position, ptr %keyp, ptr %valuep)
  %part = getelementptr [2 x i64], ptr %parts, i64 %k
  %wantedkey = load ptr, ptr %part
  %key = load ptr, ptr %keyp
  %samekey = icmp eq ptr %key, %wantedkey
  br i1 %samekey, label %entry2, label %no
entry2:
  %part1 = getelementptr i64, ptr %part, i64 1
  %inner = load ptr, ptr %part1
  %held0 = load ptr, ptr %valuep
  %ok = call i1 @argument_is(ptr %held0, ptr %inner, ptr null)
  br i1 %ok, label %held, label %no
held:
  %k1 = add i64 %k, 1
  br label %each
tuple:
  br i1 %typed, label %tsized, label %no
tsized:
  %tsp = getelementptr i8, ptr %object, i64 16
  %tsize = load i64, ptr %tsp
  %tequal = icmp eq i64 %tsize, %count
  br i1 %tequal, label %teach, label %no
teach:
  %t = phi i64 [ 0, %tsized ], [ %t1, %theld ]
  %tleft = icmp ult i64 %t, %count
  br i1 %tleft, label %titem, label %yes
titem:
  %tip = getelementptr i8, ptr %object, i64 24
  %tp2 = getelementptr ptr, ptr %tip, i64 %t
  %item = load ptr, ptr %tp2
  %tpart = getelementptr ptr, ptr %parts, i64 %t
  %tspec = load ptr, ptr %tpart
  %tok = call i1 @argument_is(ptr %item, ptr %tspec, ptr %leaves)
  br i1 %tok, label %theld, label %no
theld:
  %t1 = add i64 %t, 1
  br label %teach
push:
  %nowhere = icmp eq ptr %leaves, null
  br i1 %nowhere, label %yes, label %append
append:
  %n = load i64, ptr %leaves
  %n1 = add i64 %n, 1
  store i64 %n1, ptr %leaves
  %ap = getelementptr ptr, ptr %leaves, i64 %n1
  store ptr %object, ptr %ap
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether no two of the arrays among the leaves overlap (they are contiguous).
define internal i1 @arrays_distinct(ptr %leaves, ptr %arraytype) {
entry:
  %starts = alloca [16 x i64]
  %ends = alloca [16 x i64]
  %n = load i64, ptr %leaves
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %skip ], [ %i1, %added ]
  %m = phi i64 [ 0, %entry ], [ %m, %skip ], [ %m1, %added ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %yes
look:
  %op = getelementptr ptr, ptr %leaves, i64 %i1
  %object = load ptr, ptr %op
  %tp = getelementptr i8, ptr %object, i64 8
  %type = load ptr, ptr %tp
  %is = icmp eq ptr %type, %arraytype
  br i1 %is, label %measure, label %skip
skip:
  br label %head
measure:
  %dp = getelementptr i8, ptr %object, i64 16
  %start = load i64, ptr %dp
  %np = getelementptr i8, ptr %object, i64 24
  %nd32 = load i32, ptr %np
  %nd = sext i32 %nd32 to i64
  %sp = getelementptr i8, ptr %object, i64 32
  %shape = load ptr, ptr %sp
  %stp = getelementptr i8, ptr %object, i64 40
  %strides = load ptr, ptr %stp
  %scalar = icmp eq i64 %nd, 0
  br i1 %scalar, label %known, label %first
first:
  br label %axes
axes: ; the first one that is longer than 1 tells the size: the strides of the others may be any
  %axis = phi i64 [ %nd, %first ], [ %axis1, %nonzero ]
  %whole = phi i64 [ 16, %first ], [ %whole1, %nonzero ]
  %rest = icmp ne i64 %axis, 0
  br i1 %rest, label %dim, label %known
dim:
  %axis1 = sub i64 %axis, 1
  %dimp = getelementptr i64, ptr %shape, i64 %axis1
  %stepp = getelementptr i64, ptr %strides, i64 %axis1
  %d = load i64, ptr %dimp
  %step = load i64, ptr %stepp
  %product = mul i64 %d, %step
  %one = icmp eq i64 %d, 1
  %whole1 = select i1 %one, i64 %whole, i64 %product
  %zero = icmp eq i64 %d, 0
  br i1 %zero, label %empty, label %nonzero
nonzero:
  br label %axes
empty:
  br label %known
known:
  %bytes = phi i64 [ 16, %measure ], [ %whole, %axes ], [ 0, %empty ]
  %end = add i64 %start, %bytes
  br label %pairs
pairs:
  %j = phi i64 [ 0, %known ], [ %j1, %apart ]
  %other = icmp ult i64 %j, %m
  br i1 %other, label %compare, label %put
compare:
  %j1 = add i64 %j, 1
  %osp = getelementptr i64, ptr %starts, i64 %j
  %oep = getelementptr i64, ptr %ends, i64 %j
  %ostart = load i64, ptr %osp
  %oend = load i64, ptr %oep
  %before = icmp ule i64 %end, %ostart
  %after = icmp uge i64 %start, %oend
  %clear = or i1 %before, %after
  br i1 %clear, label %apart, label %no
apart:
  br label %pairs
put:
  %psp = getelementptr i64, ptr %starts, i64 %m
  %pep = getelementptr i64, ptr %ends, i64 %m
  store i64 %start, ptr %psp
  store i64 %end, ptr %pep
  br label %added
added:
  %m1 = add i64 %m, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Record: 0 slow path, 1 mode variable, 2 its value, 3 trace variable, 4 its value, 5 error-state variable,
; 6 its value, 7 guards of the process, 8 their number, 9 number of variants, 10 array type, 11 hits,
; 12... variants
; Variant: 0 arguments, 1 entry, 2 table, 3 guards, 4 their number, 5 several arrays, 6... specs of arguments
define ptr @ag_enter(ptr %self, ptr %args, i64 %nargs, ptr %names) {
entry:
  %leaves = alloca [ROOM x i64], align 16
  %record = call ptr @PyLong_AsVoidPtr(ptr %self)
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %state, label %slow
state:
  %np = getelementptr i64, ptr %record, i64 9
  %variants = load i64, ptr %np
  %some = icmp ne i64 %variants, 0
  br i1 %some, label %mode, label %slow
mode:
  %m1 = getelementptr ptr, ptr %record, i64 1
  %m2 = getelementptr ptr, ptr %record, i64 2
  %mv = load ptr, ptr %m1
  %me = load ptr, ptr %m2
  %mok = call i1 @context_is(ptr %mv, ptr %me)
  br i1 %mok, label %trace, label %slow
trace:
  %t1 = getelementptr ptr, ptr %record, i64 3
  %t2 = getelementptr ptr, ptr %record, i64 4
  %tv = load ptr, ptr %t1
  %te = load ptr, ptr %t2
  %tok = call i1 @context_is(ptr %tv, ptr %te)
  br i1 %tok, label %errors, label %slow
errors:
  %e1 = getelementptr ptr, ptr %record, i64 5
  %e2 = getelementptr ptr, ptr %record, i64 6
  %ev = load ptr, ptr %e1
  %ee = load ptr, ptr %e2
  %eok = call i1 @context_is(ptr %ev, ptr %ee)
  br i1 %eok, label %process, label %slow
process:
  %g1 = getelementptr ptr, ptr %record, i64 7
  %g2 = getelementptr i64, ptr %record, i64 8
  %gp = load ptr, ptr %g1
  %gn = load i64, ptr %g2
  %gok = call i1 @guards_hold(ptr %gp, i64 %gn)
  %arrp = getelementptr ptr, ptr %record, i64 10
  %arraytype = load ptr, ptr %arrp
  br i1 %gok, label %head, label %slow
head:
  %i = phi i64 [ 0, %process ], [ %i1, %unfit ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i, %variants
  br i1 %more, label %try, label %slow
try:
  %slot = add i64 %i, 12
  %vp = getelementptr ptr, ptr %record, i64 %slot
  %variant = load ptr, ptr %vp
  %wanted = load i64, ptr %variant
  %same = icmp eq i64 %wanted, %nargs
  store i64 0, ptr %leaves
  br i1 %same, label %each, label %unfit
each:
  %a = phi i64 [ 0, %try ], [ %a1, %fits ]
  %left = icmp ult i64 %a, %nargs
  br i1 %left, label %look, label %aliases
look:
  %op = getelementptr ptr, ptr %args, i64 %a
  %object = load ptr, ptr %op
  %sslot = add i64 %a, 6
  %sp = getelementptr ptr, ptr %variant, i64 %sslot
  %spec = load ptr, ptr %sp
  %ok = call i1 @argument_is(ptr %object, ptr %spec, ptr %leaves)
  br i1 %ok, label %fits, label %unfit
fits:
  %a1 = add i64 %a, 1
  br label %each
aliases:
  %sevp = getelementptr i64, ptr %variant, i64 5
  %several = load i64, ptr %sevp
  %single = icmp eq i64 %several, 0
  br i1 %single, label %outside, label %overlap
overlap:
  %clear = call i1 @arrays_distinct(ptr %leaves, ptr %arraytype)
  br i1 %clear, label %outside, label %unfit
outside:
  %vg = getelementptr ptr, ptr %variant, i64 3
  %vn = getelementptr i64, ptr %variant, i64 4
  %vgp = load ptr, ptr %vg
  %vgn = load i64, ptr %vn
  %holds = call i1 @guards_hold(ptr %vgp, i64 %vgn)
  br i1 %holds, label %go, label %unfit
unfit:
  br label %head
go:
  %hp = getelementptr i64, ptr %record, i64 11
  %hits = load i64, ptr %hp
  %hits1 = add i64 %hits, 1
  store i64 %hits1, ptr %hp
  %ep = getelementptr ptr, ptr %variant, i64 1
  %entry1 = load ptr, ptr %ep
  %tp = getelementptr ptr, ptr %variant, i64 2
  %table = load ptr, ptr %tp
  %argv = getelementptr ptr, ptr %leaves, i64 1
  %result = call ptr %entry1(ptr %table, ptr %argv)
  ret ptr %result
slow:
  %slowp = load ptr, ptr %record
  %answer = call ptr @PyObject_Vectorcall(ptr %slowp, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer
}
"""


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


FASTCALL_KEYWORDS = 0x0080 | 0x0002


@functools.cache
def _routine() -> machine.Library:
    text = ROUTINE
    leaves = MAX_LEAVES + 1
    room = leaves + backend.SIZES + 1  # sizes are numbered from 1
    numbers = {"LEAVES": leaves, "ROOM": room, "RANGE": backend.HUGE - backend.LARGE, "LARGE": backend.LARGE}
    for name, number in numbers.items():
        text = text.replace(name, str(number))
    return machine.compile_ir(text, ("ag_enter",), {})


@functools.cache
def _definition() -> _Definition:
    """What all the builtins point to, also while the garbage collector takes them apart: it never goes."""
    return _Definition(b"graph_function", _routine()["ag_enter"], FASTCALL_KEYWORDS, None)


def available() -> bool:
    """Whether objects are laid out as the routine expects: CPython with its global lock, 64 bits."""
    free_threaded = False
    if sys.version_info >= (3, 13):
        import sysconfig  # it takes milliseconds to load

        free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return sys.implementation.name == "cpython" and sys.maxsize > 2**32 and not free_threaded


class Refused(Exception):
    """A call is of a kind that only the Python path takes."""


class _Address(int):
    """Where a record is; who holds the address holds the record."""

    record: Record


class Record:
    """What the routine knows of one function."""

    def __init__(
        self,
        slow: Callable[..., Any],
        mode: contextvars.ContextVar[Any],
        trace: contextvars.ContextVar[Any],
    ) -> None:
        self._alive: list[Any] = [slow, mode, trace]
        self._words = (ctypes.c_int64 * (12 + MAX_VARIANTS))()
        errors = np._core.umath._extobj_contextvar  # type: ignore[attr-defined]
        self._errors = errors
        words = self._words
        words[0], words[1], words[2] = id(slow), id(mode), id(None)
        words[3], words[4], words[5] = id(trace), id(None), id(errors)
        words[10] = id(np.ndarray)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        address = _Address(ctypes.addressof(self._words))
        address.record = self
        self.builtin = make(ctypes.addressof(_definition()), address, None)

    @property
    def hits(self) -> int:
        return int(self._words[11])

    def process(self, guards: Sequence[tuple[Any, Any, Any]]) -> None:
        """Sets what must hold of the process: entries of dicts (dict, key, value or nothing)."""
        self._words[7], self._words[8] = self._guards([(IN_DICT, *g) for g in guards])
        value = self._errors.get()
        self._alive.append(value)
        self._words[6] = id(value)

    def _guards(self, guards: list[tuple[int, Any, Any, Any]]) -> tuple[int, int]:
        words = (ctypes.c_int64 * max(4 * len(guards), 1))()
        for i, (kind, where, name, value) in enumerate(guards):
            self._alive += [where, name, value]
            words[4 * i], words[4 * i + 1], words[4 * i + 2] = kind, id(where), id(name)
            words[4 * i + 3] = 0 if value is NOTHING else id(value)
        self._alive.append(words)
        return ctypes.addressof(words), len(guards)

    def add(
        self, specs: list[Any], native: Any, guards: list[tuple[int, Any, Any, Any]], several_arrays: bool
    ) -> None:
        """Adds a variant: the kinds of the arguments, the code, and what must hold outside."""
        count = int(self._words[9])
        if count >= MAX_VARIANTS:
            return
        words = (ctypes.c_int64 * (6 + len(specs)))()
        words[0] = len(specs)
        words[1], words[2] = native.library["ag_entry"], native.table_address
        words[3], words[4] = self._guards(guards)
        words[5] = int(several_arrays)
        for i, spec in enumerate(specs):
            words[6 + i] = self._spec(spec)
        self._alive += [words, native]
        self._words[12 + count] = ctypes.addressof(words)
        self._words[9] = count + 1

    def _spec(self, spec: tuple[Any, ...]) -> int:
        kind, expected, *rest = spec
        words = (ctypes.c_int64 * 6)()
        words[0], words[1] = kind, id(expected)
        self._alive += [words, expected]
        if kind == ARRAY:
            dtype, shape, writeable = rest
            dims = (ctypes.c_int64 * max(len(shape), 1))(*(-1 if d is None else d for d in shape))
            self._alive += [dtype, dims]
            words[2], words[3], words[5] = id(dtype), len(shape), ctypes.addressof(dims)
            words[4] = CONTIGUOUS_ALIGNED | (WRITEABLE if writeable else 0)
        elif kind == DICT:
            (entries,) = rest
            parts = (ctypes.c_int64 * max(2 * len(entries), 1))()
            for i, (key, inner) in enumerate(entries):
                parts[2 * i], parts[2 * i + 1] = id(key), self._spec(inner)
                self._alive.append(key)
            self._alive.append(parts)
            words[3], words[5] = len(entries), ctypes.addressof(parts)
        elif kind == TUPLE:
            (items,) = rest
            places = (ctypes.c_int64 * max(len(items), 1))(*(self._spec(item) for item in items))
            self._alive.append(places)
            words[3], words[5] = len(items), ctypes.addressof(places)
        return ctypes.addressof(words)


class _Nothing:
    """The value of a name that is not there."""


NOTHING = _Nothing()


def environment(name: str) -> tuple[Any, Any, Any]:
    """A variable of the environment as a guard: where `os.environ` keeps it."""
    variables: Any = os.environ
    data, key = variables._data, variables.encodekey(name)
    found = data.get(key, NOTHING)
    for own in data:  # the very object that is the key makes the look-up quick
        if own == key:
            key = own
    return data, key, found
