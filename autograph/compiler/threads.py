"""The threads of machine code: large loops are cut in pieces that a few waiting threads and the caller share.

The threads know nothing of Python. They wait on CPython's own locks, which need no GIL and are there on every
platform; they are started when the first large loop runs, and anew in a process that was forked. Whoever asks
first has them; what others ask at that time they do themselves, and so does a caller whose threads get no
processor: pieces are handed out one by one, and a thread that wakes late finds nothing left.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import functools
import math
import os
import sys
import threading
import time
import types
from typing import TYPE_CHECKING

from autograph.compiler import machine

if TYPE_CHECKING:
    from pathlib import Path

WORTH = 400_000
"""From this amount of work on (eighths of a nanosecond, roughly) a loop is cut and the GIL released."""
SOME = 150_000
OFTEN = 200_000
"""Loops with less work, but at least with some, are cut too where they follow each other within so many
nanoseconds: then the threads are awake."""
PIECE = 120_000
"""The least work of a piece."""
PIECES = 16
"""Pieces for each thread: with many more than threads, one that is late or slow holds nobody up."""
MOST = 128
"""Most threads."""
TURNS = 2000
"""How often a thread looks for the next loop, or for the end of the one that it shares, before it sleeps: for
some 100 microseconds. To wake up takes about half as long, and a function that is called again and again
would wait for that each time. Now and then it yields its processor: others with work there go first."""

FIELDS = types.MappingProxyType(
    {"threads": 0, "busy": 8, "start": 16, "fn": 24, "given": 32, "count": 40, "size": 48, "pieces": 56}
    | {"done": 64, "main": 72, "asked": 80, "loop": 88, "left": 128, "pending": 192, "workers": 256}
)
"""Offsets in the pool: the number of threads (0: not started), whether it is in use, the Python function
that starts it; of the current loop: its function, what that is given, how many items it has, of what size
and number the pieces are; the lock that its end opens; Python's main thread; when a loop with some work was
last asked for; what the pieces of a loop share that a Ctrl-C ends (`STATE`), or null; the pieces not begun;
those not done, and 1 more until the caller sleeps; then the workers."""
WORKER = 64
"""Bytes of a worker: its lock, whether that was opened, and its number for the system."""

SHARES = 16
"""Pieces for each thread of a loop that the user wrote: its turns may take very different times."""
PORTION = 40_000
"""The least work of a piece of such a loop, as far as it can be told."""
LOOK = 10_000_000
"""Nanoseconds between two looks for a Ctrl-C during a loop that one ends."""
AGES = 200_000_000
"""From this amount of work on a Ctrl-C ends any loop."""
SPAN = 80_000_000
"""The most work of a piece of such a loop."""

STATE = types.MappingProxyType({"failed": 0, "stopped": 8, "thread": 16, "owner": 24, "looked": 32})
"""Offsets in what its pieces share: the first turn that cannot be done, whether an exception is set that ends
all; the caller's state and number, where it is Python's main thread; when it last looked for a Ctrl-C."""
STATE_SIZE = 40
ROUNDS = 1000
"""How often the processor is yielded for new threads to begin."""
NEVER = 2**63 - 1
"""What `failed` is where all turns were done."""

NAMES = ("ag_parallel", "ag_worker", "ag_unlock", "ag_lock", "ag_turns", "ag_stop")
DECLARATIONS = {
    "ag_parallel": "declare i1 @ag_parallel(ptr, ptr, i64, i64, i64)",
    "ag_turns": "declare i1 @ag_turns(ptr, ptr, ptr, i64, i64)",
    "ag_stop": "declare i1 @ag_stop(ptr, i64) cold nounwind",
    "ag_unlock": "declare ptr @ag_unlock(i64)",
    "ag_lock": "declare void @ag_lock(ptr)",
}

TEXT = """
declare i32 @PyThread_acquire_lock(ptr, i32)
declare i32 @PyThread_acquire_lock_timed(ptr, i64, i32)
declare i64 @PyThread_get_thread_ident()
declare void @PyThread_release_lock(ptr)
BREATHER
YIELDER
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
@ag_pool = external global i8

define ptr @ag_unlock(i64 %work) {
  %little = icmp ult i64 %work, WORTH
  br i1 %little, label %held, label %free
held:
  ret ptr null
free:
  %state = call ptr @PyEval_SaveThread()
  ret ptr %state
}

define void @ag_lock(ptr %state) {
  %held = icmp eq ptr %state, null
  br i1 %held, label %done, label %take
take:
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
done:
  ret void
}

; Rests for a moment, in the given turn of looking.
define internal void @ag_rest(i64 %turn) {
  BREATHE
  %step = and i64 %turn, 31
  %long = icmp eq i64 %step, 31
  br i1 %long, label %yield, label %back
yield:
  YIELD
  br label %back
back:
  ret void
}

; Does pieces of the current loop until none is left; whether it did the last one for a caller that sleeps.
define internal i1 @ag_pieces() {
entry:
  br label %look
look:
  %left = load atomic i64, ptr getelementptr (i8, ptr @ag_pool, i64 @left) seq_cst, align 8
  %none = icmp eq i64 %left, 0
  br i1 %none, label %out, label %try
try:
  %less = sub i64 %left, 1
  %pair = cmpxchg ptr getelementptr (i8, ptr @ag_pool, i64 @left), i64 %left, i64 %less seq_cst seq_cst
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %work, label %look
work:
  %fn = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @fn)
  %given = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @given)
  %count = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @count)
  %size = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @size)
  %pieces = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @pieces)
  %index = sub i64 %pieces, %left
  %begin = mul i64 %index, %size
  %stop = add i64 %begin, %size
  %end = call i64 @llvm.umin.i64(i64 %stop, i64 %count)
  %loop = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @loop)
  %plain = icmp eq ptr %loop, null
  br i1 %plain, label %run, label %watch
watch:
  %ends = call i1 @ag_stop(ptr %loop, i64 LEAST)
  br i1 %ends, label %after, label %run
run:
  call void %fn(ptr %given, i64 %begin, i64 %end)
  br label %after
after:
  %pending = atomicrmw sub ptr getelementptr (i8, ptr @ag_pool, i64 @pending), i64 1 seq_cst
  %last = icmp eq i64 %pending, 1
  br i1 %last, label %out, label %look
out:
  %did = phi i1 [ false, %look ], [ true, %after ]
  ret i1 %did
}

define void @ag_worker(ptr %self) {
entry:
  %flag = getelementptr i8, ptr %self, i64 8
  %lock = load ptr, ptr %self
  KNOWN
  br label %wait
wait:
  %got = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  store atomic i64 0, ptr %flag seq_cst, align 8
  br label %work
work:
  %last = call i1 @ag_pieces()
  br i1 %last, label %tell, label %look
tell:
  %done = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @done)
  call void @PyThread_release_lock(ptr %done)
  br label %look
look:
  %turn = phi i64 [ 0, %work ], [ 0, %tell ], [ %next, %again ]
  %left = load atomic i64, ptr getelementptr (i8, ptr @ag_pool, i64 @left) seq_cst, align 8
  %some = icmp ne i64 %left, 0
  br i1 %some, label %work, label %again
again:
  call void @ag_rest(i64 %turn)
  %next = add i64 %turn, 1
  %patient = icmp ult i64 %next, TURNS
  br i1 %patient, label %look, label %wait
}

; Starts the threads, if that was not done.
define internal void @ag_ready() {
entry:
  %known = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @threads)
  %new = icmp eq i64 %known, 0
  br i1 %new, label %start, label %ready
start:
  %function = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @start)
  %answer = call ptr @PyObject_Vectorcall(ptr %function, ptr null, i64 0, ptr null)
  call void @Py_DecRef(ptr %answer)
  br label %ready
ready:
  ret void
}

; fn(given, begin, end) over the items 0 to count, by the threads and the caller: in pieces of at least so
; much work, multiples of unit items. By the caller alone where the threads are busy.
define internal void @ag_deal(ptr %fn, ptr %given, i64 %count, i64 %unit, i64 %cost,
                              i64 %shares, i64 %work, ptr %loop) {
entry:
  %watched = icmp ne ptr %loop, null
  %each = call i64 @llvm.umax.i64(i64 %cost, i64 1)
  %fitting = udiv i64 SPAN, %each
  %several.units = udiv i64 %fitting, %unit
  %one.unit = call i64 @llvm.umax.i64(i64 %several.units, i64 1)
  %span = mul i64 %one.unit, %unit
  %longest = select i1 %watched, i64 %span, i64 -1
  %threads = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @threads)
  %several = icmp ugt i64 %threads, 1
  br i1 %several, label %ask, label %alone
ask:
  %pair = cmpxchg ptr getelementptr (i8, ptr @ag_pool, i64 @busy), i64 0, i64 1 seq_cst seq_cst
  %free = extractvalue { i64, i1 } %pair, 1
  br i1 %free, label %cut, label %alone
alone:
  br i1 %watched, label %step, label %whole
whole:
  call void %fn(ptr %given, i64 0, i64 %count)
  ret void
step:
  %from = phi i64 [ 0, %alone ], [ %to, %go ]
  %rest = sub i64 %count, %from
  %part = call i64 @llvm.umin.i64(i64 %rest, i64 %span)
  %to = add i64 %from, %part
  call void %fn(ptr %given, i64 %from, i64 %to)
  %all = icmp uge i64 %to, %count
  br i1 %all, label %finished, label %go
go:
  %ends = call i1 @ag_stop(ptr %loop, i64 LEAST)
  br i1 %ends, label %finished, label %step
finished:
  ret void
cut:
  %parts = mul i64 %threads, %shares
  %before = sub i64 %parts, 1
  %rounded = add i64 %count, %before
  %equal = udiv i64 %rounded, %parts
  %least = udiv i64 %work, %each
  %enough = call i64 @llvm.umax.i64(i64 %equal, i64 %least)
  %wanted = call i64 @llvm.umin.i64(i64 %enough, i64 %longest)
  %most = sub i64 %unit, 1
  %up = add i64 %wanted, %most
  %units = udiv i64 %up, %unit
  %some = call i64 @llvm.umax.i64(i64 %units, i64 1)
  %size = mul i64 %some, %unit
  %oversize = sub i64 %size, 1
  %upper = add i64 %count, %oversize
  %pieces = udiv i64 %upper, %size
  store ptr %fn, ptr getelementptr (i8, ptr @ag_pool, i64 @fn)
  store ptr %loop, ptr getelementptr (i8, ptr @ag_pool, i64 @loop)
  store ptr %given, ptr getelementptr (i8, ptr @ag_pool, i64 @given)
  store i64 %count, ptr getelementptr (i8, ptr @ag_pool, i64 @count)
  store i64 %size, ptr getelementptr (i8, ptr @ag_pool, i64 @size)
  store i64 %pieces, ptr getelementptr (i8, ptr @ag_pool, i64 @pieces)
  %awaited = add i64 %pieces, 1
  store atomic i64 %awaited, ptr getelementptr (i8, ptr @ag_pool, i64 @pending) seq_cst, align 8
  store atomic i64 %pieces, ptr getelementptr (i8, ptr @ag_pool, i64 @left) seq_cst, align 8
  %helpers = call i64 @llvm.umin.i64(i64 %threads, i64 %pieces)
  br label %head
head:
  %i = phi i64 [ 1, %cut ], [ %j, %next ]
  %more = icmp ult i64 %i, %helpers
  br i1 %more, label %wake, label %own
wake:
  %at = mul i64 %i, WORKER
  %place = add i64 %at, FIRST
  %worker = getelementptr i8, ptr @ag_pool, i64 %place
  %flag = getelementptr i8, ptr %worker, i64 8
  %told = atomicrmw xchg ptr %flag, i64 1 seq_cst
  %awake = icmp ne i64 %told, 0
  br i1 %awake, label %next, label %open
open:
  APART
  %lock = load ptr, ptr %worker
  call void @PyThread_release_lock(ptr %lock)
  br label %next
next:
  %j = add i64 %i, 1
  br label %head
own:
  %none = call i1 @ag_pieces()
  br label %look
look:
  %turn = phi i64 [ 0, %own ], [ %turns, %again ]
  %pending = load atomic i64, ptr getelementptr (i8, ptr @ag_pool, i64 @pending) seq_cst, align 8
  %over = icmp eq i64 %pending, 1
  br i1 %over, label %leave, label %again
again:
  call void @ag_rest(i64 %turn)
  %turns = add i64 %turn, 1
  %patient = icmp ult i64 %turns, TURNS
  br i1 %patient, label %look, label %sleep
sleep:
  %others = atomicrmw sub ptr getelementptr (i8, ptr @ag_pool, i64 @pending), i64 1 seq_cst
  %last = icmp eq i64 %others, 1
  br i1 %last, label %leave, label %wait
wait:
  %done = load ptr, ptr getelementptr (i8, ptr @ag_pool, i64 @done)
  %plain = icmp eq ptr %loop, null
  br i1 %plain, label %end, label %watch
watch:
  %early = call i32 @PyThread_acquire_lock_timed(ptr %done, i64 20000, i32 0)
  %ended = icmp eq i32 %early, 1
  br i1 %ended, label %leave, label %signals
signals:
  %stop = call i1 @ag_stop(ptr %loop, i64 LEAST)
  br label %watch
end:
  %got = call i32 @PyThread_acquire_lock(ptr %done, i32 1)
  br label %leave
leave:
  store atomic i64 0, ptr getelementptr (i8, ptr @ag_pool, i64 @busy) seq_cst, align 8
  ret void
}

; fn(given, begin, end) over the items 0 to count: in pieces of multiples of unit items, if there are many.
; Whether an exception is set that ended it.
define i1 @ag_parallel(ptr %fn, ptr %given, i64 %count, i64 %unit, i64 %cost) {
entry:
  %loop = alloca [STATE x i8], align 8
  %work = mul i64 %count, %cost
  %little = icmp ult i64 %work, WORTH
  br i1 %little, label %some, label %large
some:
  %less = icmp ult i64 %work, SOME
  br i1 %less, label %plain, label %again
again:
  %now = call i64 @ag_time()
  %before = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @asked)
  store i64 %now, ptr getelementptr (i8, ptr @ag_pool, i64 @asked)
  %gap = sub i64 %now, %before
  %often = icmp ult i64 %gap, OFTEN
  br i1 %often, label %large, label %plain
plain:
  call void %fn(ptr %given, i64 0, i64 %count)
  ret i1 false
large:
  call void @ag_ready()
  %ages = icmp uge i64 %work, AGES
  br i1 %ages, label %watched, label %quick
watched:
  %raised = call i1 @ag_watched(ptr %fn, ptr %given, ptr %loop, i64 %count, i64 %unit, i64 %cost,
    i64 PIECES, i64 PIECE)
  ret i1 %raised
quick:
  %state = call ptr @PyEval_SaveThread()
  call void @ag_deal(ptr %fn, ptr %given, i64 %count, i64 %unit, i64 %cost, i64 PIECES, i64 PIECE, ptr null)
  call void @PyEval_RestoreThread(ptr %state)
  ret i1 false
}

define internal i64 @ag_time() {
  %now = alloca [2 x i64]
  %got = call i32 @clock_gettime(i32 MONOTONIC, ptr %now)
  %seconds = load i64, ptr %now
  %place = getelementptr i8, ptr %now, i64 8
  %rest = load i64, ptr %place
  %whole = mul i64 %seconds, 1000000000
  %time = add i64 %whole, %rest
  ret i64 %time
}

; The turns of a loop of the user, in pieces: whether an exception is set that ends it.
define i1 @ag_turns(ptr %fn, ptr %given, ptr %loop, i64 %count, i64 %cost) {
  call void @ag_ready()
  %raised = call i1 @ag_watched(ptr %fn, ptr %given, ptr %loop, i64 %count, i64 1, i64 %cost,
    i64 SHARES, i64 PORTION)
  ret i1 %raised
}

; A loop that a Ctrl-C ends: whether an exception is set.
define internal i1 @ag_watched(ptr %fn, ptr %given, ptr %loop, i64 %count, i64 %unit, i64 %cost,
                               i64 %shares, i64 %least) {
  %stopped = getelementptr i8, ptr %loop, i64 8
  %thread = getelementptr i8, ptr %loop, i64 16
  %owner = getelementptr i8, ptr %loop, i64 24
  %looked = getelementptr i8, ptr %loop, i64 32
  %own = call i64 @PyThread_get_thread_ident()
  store i64 NEVER, ptr %loop
  store i64 0, ptr %stopped
  %main = load i64, ptr getelementptr (i8, ptr @ag_pool, i64 @main)
  %signals = icmp eq i64 %own, %main
  %looks = select i1 %signals, i64 %own, i64 0
  store i64 %looks, ptr %owner
  %time = call i64 @ag_time()
  store i64 %time, ptr %looked
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %thread
  call void @ag_deal(ptr %fn, ptr %given, i64 %count, i64 %unit, i64 %cost, i64 %shares, i64 %least,
    ptr %loop)
  call void @PyEval_RestoreThread(ptr %state)
  %end = load i64, ptr %stopped
  %raised = icmp ne i64 %end, 0
  ret i1 %raised
}

; Whether a piece of such a loop is to end at a turn: one before it cannot be done, or an exception is set.
define i1 @ag_stop(ptr %loop, i64 %turn) {
entry:
  %stopped = getelementptr i8, ptr %loop, i64 8
  %stop = load atomic i64, ptr %stopped seq_cst, align 8
  %ends = icmp ne i64 %stop, 0
  br i1 %ends, label %yes, label %before
before:
  %failed = load atomic i64, ptr %loop seq_cst, align 8
  %behind = icmp slt i64 %failed, %turn
  br i1 %behind, label %yes, label %who
who:
  %owner.place = getelementptr i8, ptr %loop, i64 24
  %owner = load i64, ptr %owner.place
  %own = call i64 @PyThread_get_thread_ident()
  %mine = icmp eq i64 %owner, %own
  br i1 %mine, label %clock, label %no
clock:
  %looked = getelementptr i8, ptr %loop, i64 32
  %time = call i64 @ag_time()
  %last = load i64, ptr %looked
  %passed = sub i64 %time, %last
  %long = icmp sgt i64 %passed, LOOK
  br i1 %long, label %look, label %no
look:
  store i64 %time, ptr %looked
  %thread.place = getelementptr i8, ptr %loop, i64 16
  %thread = load ptr, ptr %thread.place
  call void @PyEval_RestoreThread(ptr %thread)
  %answer = call i32 @PyErr_CheckSignals()
  %again = call ptr @PyEval_SaveThread()
  %quiet = icmp eq i32 %answer, 0
  br i1 %quiet, label %no, label %raised
raised:
  store atomic i64 1, ptr %stopped seq_cst, align 8
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}
"""
"""Goes with the text of `support`, which declares the functions of Python."""


APART = """
declare i64 @PyThread_get_thread_native_id()
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)

; Lets a worker that is about to be woken up run where the caller may, but not on the caller's processor.
define internal void @ag_apart(ptr %worker) {
entry:
  %all = alloca i1024, align 8
  %place = getelementptr i8, ptr %worker, i64 16
  %id = load atomic i64, ptr %place seq_cst, align 8
  %cpu = call i32 @sched_getcpu()
  %known = icmp ne i64 %id, 0
  %small = icmp ult i32 %cpu, 1024
  %both = and i1 %known, %small
  br i1 %both, label %ask, label %back
ask:
  store i1024 0, ptr %all
  %told = call i32 @sched_getaffinity(i32 0, i64 128, ptr %all)
  %failed = icmp slt i32 %told, 0
  br i1 %failed, label %back, label %choose
choose:
  %mask = load i1024, ptr %all
  %wide = zext i32 %cpu to i1024
  %bit = shl i1024 1, %wide
  %others = xor i1024 %bit, -1
  %rest = and i1024 %mask, %others
  %none = icmp eq i1024 %rest, 0
  br i1 %none, label %back, label %move
move:
  store i1024 %rest, ptr %all
  %number = trunc i64 %id to i32
  %moved = call i32 @sched_setaffinity(i32 %number, i64 128, ptr %all)
  br label %back
back:
  ret void
}
"""
"""Linux may wake a thread up on the processor of the one that asks for it, and lets it wait there for
milliseconds, as that one goes on to work."""

KNOWN = """
  %id = call i64 @PyThread_get_thread_native_id()
  %place = getelementptr i8, ptr %self, i64 16
  store atomic i64 %id, ptr %place seq_cst, align 8
"""


def text() -> str:
    """The IR of the functions."""
    linux = sys.platform == "linux"
    code = TEXT + (APART if linux else "")
    code = code.replace("APART", "call void @ag_apart(ptr %worker)" if linux else "")
    code = code.replace("KNOWN", KNOWN.strip() if linux else "")
    for name, offset in FIELDS.items():
        code = code.replace(f"@{name})", f"{offset})")
    numbers: dict[str, int | str] = {"WORTH": WORTH, "PIECES": PIECES, "PIECE": PIECE, "WORKER": WORKER}
    numbers |= {"SOME": SOME, "OFTEN": OFTEN, "AGES": AGES, "SPAN": SPAN, "STATE": STATE_SIZE}
    numbers |= {"SHARES": SHARES, "PORTION": PORTION, "LOOK": LOOK, "NEVER": NEVER, "LEAST": -NEVER - 1}
    numbers["MONOTONIC"] = getattr(time, "CLOCK_MONOTONIC", 1)
    numbers["TURNS"] = TURNS
    numbers["YIELDER"], numbers["YIELD"] = "", ""
    if sys.platform != "win32":
        numbers["YIELDER"], numbers["YIELD"] = "declare i32 @sched_yield()", "call i32 @sched_yield()"
    numbers["BREATHER"], numbers["BREATHE"] = _breath(machine.host()[0])
    numbers["FIRST"] = FIELDS["workers"] - WORKER
    for name, number in numbers.items():
        code = code.replace(name, str(number))
    return code


def _breath(triple: str) -> tuple[str, str]:
    """The declaration and the call of what tells a processor that a loop waits."""
    if triple.startswith(("x86_64", "i686")):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if triple.startswith(("aarch64", "arm64")):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", ""


# -- the pool ------------------------------------------------------------------------------------------------


class Pool:
    """The threads of this process; their state is never freed, as threads may outlive Python."""

    def __init__(self) -> None:
        api = ctypes.pythonapi
        calloc, lock = api.PyMem_RawCalloc, api.PyThread_allocate_lock
        calloc.restype, calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
        lock.restype, lock.argtypes = ctypes.c_void_p, []
        acquire = api.PyThread_acquire_lock
        acquire.argtypes = [ctypes.c_void_p, ctypes.c_int]
        begin = api.PyThread_start_new_thread
        begin.restype, begin.argtypes = ctypes.c_ulong, [ctypes.c_void_p, ctypes.c_void_p]
        self._lock, self._acquire, self._begin = lock, acquire, begin
        self._size = FIELDS["workers"] + WORKER * MOST
        self.address = int(calloc(1, self._size))
        self.asked = 0  # how many threads were asked for before
        self.started = 1  # with the caller
        self._start = self.start
        api.Py_IncRef(ctypes.py_object(self._start))  # the code may ask for it as long as the process lives
        self._set("start", id(self._start))
        self._set("main", threading.main_thread().ident or 0)

    def _set(self, field: str, value: int, offset: int = 0) -> None:
        ctypes.c_int64.from_address(self.address + FIELDS[field] + offset).value = value

    @property
    def threads(self) -> int:
        """How many threads share a loop, with the caller; 0 before the first large one."""
        return ctypes.c_int64.from_address(self.address + FIELDS["threads"]).value

    def start(self) -> None:
        """Starts as many threads as `wanted` says; called by the code when the first large loop runs."""
        try:
            self.use(self.asked or wanted())
        except KeyboardInterrupt:  # it is raised where the code looks for it
            self._set("threads", 1)
            _thread.interrupt_main()
        except BaseException:
            self._set("threads", 1)

    def use(self, count: int) -> None:
        """Shares loops among so many threads from now on."""
        count = max(1, min(count, MOST))
        worker = machine.address("ag_worker")
        if not worker:
            self.asked = count
            return
        if self.started == 1 and count > 1:
            self._set("done", self._closed())
        while self.started < count:
            offset = WORKER * (self.started - 1)
            self._set("workers", self._closed(), offset)
            place = self.address + FIELDS["workers"] + offset
            if self._begin(worker, place) == ctypes.c_ulong(-1).value:
                break
            self.started += 1
        for _ in range(ROUNDS if sys.platform == "linux" else 0):  # until they are where they sleep
            if all(self._number(i) for i in range(self.started - 1)):
                break
            os.sched_yield()
        self._set("threads", min(count, self.started))

    def _number(self, worker: int) -> int:
        place = self.address + FIELDS["workers"] + WORKER * worker + 16
        return ctypes.c_int64.from_address(place).value

    def _closed(self) -> int:
        lock = self._lock()
        if not lock:
            raise MemoryError
        self._acquire(lock, 1)
        return int(lock)

    def forget(self) -> None:
        """In a forked process: the threads are not there."""
        ctypes.memset(self.address, 0, self._size)
        self.started = 1
        self._set("start", id(self._start))
        self._set("main", _thread.get_ident())


@functools.cache
def pool() -> Pool:
    """The pool, made on the first use; the code knows it as `ag_pool`."""
    made = Pool()
    machine.add_symbol("ag_pool", made.address)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made.forget)
    return made


def use(count: int) -> None:
    """Shares large loops among so many threads from now on."""
    pool().use(count)


# -- how many ------------------------------------------------------------------------------------------------


def wanted() -> int:
    """How many threads large loops may use: as `AUTOGRAPH_THREADS` says, or what the process may have."""
    chosen = os.environ.get("AUTOGRAPH_THREADS")
    if chosen is not None:
        if not (chosen.isdecimal() and int(chosen) > 0):
            raise ValueError(f"AUTOGRAPH_THREADS is {chosen!r}; it may be a number of threads, from 1 on")
        return min(int(chosen), MOST)
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return max(1, min(count, quota(), MOST))


def quota(root: Path | None = None) -> int:
    """The processors that a container may use; very many where nothing says it."""
    if root is None:
        from pathlib import Path

        root = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):
        share, period = (root / "cpu.max").read_text().split()
        return MOST if share == "max" else math.ceil(int(share) / int(period))
    with contextlib.suppress(OSError, ValueError):
        share, period = ((root / "cpu" / f"cpu.cfs_{n}_us").read_text() for n in ("quota", "period"))
        return math.ceil(int(share) / int(period)) if int(share) > 0 else MOST
    return MOST
