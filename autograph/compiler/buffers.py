"""The memory of large arrays: what one of them gives back, the next one of that size gets.

The C library gives large blocks back to the system, and each new page that the system hands out later costs a
fault: for a loop that makes an array in each turn, or a function that is called again and again, more than
what is computed. So large arrays are made with an allocator of their own (NumPy keeps it with each array),
which holds on to a bounded number of free blocks. They come from the C library, and go back there
when there are too many; an array is an array as any other. If another allocator is set, that one is used.
All of it runs under the GIL.
"""

from __future__ import annotations

import sys

NAMES = ("ag_large", "ag_again")
"""`ag_large` makes an array as `ag_array_new`: of a type, dtype, rank, shape, and bytes of an element.
`ag_again` takes the array in a slot instead, if it is such a one and nobody else has it."""

DECLARATIONS = {
    "ag_large": "declare ptr @ag_large(ptr, ptr, i32, ptr, i64)",
    "ag_again": "declare ptr @ag_again(ptr, ptr, i32, ptr, i64, ptr)",
}

LEAST = 48 << 10
"""Arrays of at least so many bytes are large: smaller blocks the C library keeps itself."""
PAGE = 4096
"""Bytes of a page: the addresses of large arrays are multiples of it."""
HUGE = 4 << 20
"""From here on the system is asked for huge pages, as NumPy does it."""
STREAMED = 16 << 20
"""Bytes from which on a new array is stored past the caches."""
LIMIT = 64 << 20
"""Most bytes of free blocks."""
SLOTS = 256
"""Most free blocks."""

TEXT = """
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare i32 @posix_memalign(ptr, i64, i64)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @ag_set_handler(ptr)
@ag_default_handler = external global ptr
@sizes = internal global [SLOTS x i64] zeroinitializer
@blocks = internal global [SLOTS x ptr] zeroinitializer
@held = internal global i64 0
@turn = internal global i64 0
@capsule = internal global ptr null
@capsule_name = internal constant [12 x i8] c"mem_handler\\00"
@handler = internal global { [127 x i8], i8, ptr, ptr, ptr, ptr, ptr } {
  [127 x i8] c"autograph\\00PADDING", i8 1, ptr null,
  ptr @take, ptr @take_zeros, ptr @resize, ptr @give }

define internal ptr @take(ptr %none, i64 %size) {
entry:
  %large = icmp uge i64 %size, LEAST
  br i1 %large, label %head, label %small
small:
  %p0 = call ptr @malloc(i64 %size)
  ret ptr %p0
head:
  %i = phi i64 [ 0, %entry ], [ %next, %other ]
  %more = icmp ult i64 %i, SLOTS
  br i1 %more, label %look, label %new
look:
  %sp = getelementptr i64, ptr @sizes, i64 %i
  %s = load i64, ptr %sp
  %next = add i64 %i, 1
  %fits = icmp eq i64 %s, %size
  br i1 %fits, label %found, label %other
other:
  br label %head
found:
  store i64 0, ptr %sp
  %held = load i64, ptr @held
  %left = sub i64 %held, %size
  store i64 %left, ptr @held
  %bp = getelementptr ptr, ptr @blocks, i64 %i
  %block = load ptr, ptr %bp
  ret ptr %block
new:
  NEW
  ADVICE
  ret ptr %p
}

define internal ptr @take_zeros(ptr %none, i64 %n, i64 %size) {
  %p = call ptr @calloc(i64 %n, i64 %size)
  ret ptr %p
}

define internal ptr @resize(ptr %none, ptr %old, i64 %size) {
  %p = call ptr @realloc(ptr %old, i64 %size)
  ret ptr %p
}

define internal void @give(ptr %none, ptr %p, i64 %size) {
entry:
  %large = icmp uge i64 %size, LEAST
  %fits = icmp ule i64 %size, LIMIT
  %some = icmp ne ptr %p, null
  %both = and i1 %large, %fits
  %keep = and i1 %both, %some
  br i1 %keep, label %again, label %small
small:
  call void @free(ptr %p)
  ret void
again:
  %at = load i64, ptr @turn
  %following = add i64 %at, 1
  %wrapped = urem i64 %following, SLOTS
  store i64 %wrapped, ptr @turn
  %sp = getelementptr i64, ptr @sizes, i64 %at
  %bp = getelementptr ptr, ptr @blocks, i64 %at
  %s = load i64, ptr %sp
  %taken = icmp ne i64 %s, 0
  br i1 %taken, label %drop, label %room
drop:
  %old = load ptr, ptr %bp
  call void @free(ptr %old)
  store i64 0, ptr %sp
  %h0 = load i64, ptr @held
  %h1 = sub i64 %h0, %s
  store i64 %h1, ptr @held
  br label %room
room:
  %h2 = load i64, ptr @held
  %h3 = add i64 %h2, %size
  %full = icmp ugt i64 %h3, LIMIT
  br i1 %full, label %again, label %put
put:
  store i64 %h3, ptr @held
  store i64 %size, ptr %sp
  store ptr %p, ptr %bp
  ret void
}

define ptr @ag_large(ptr %type, ptr %descr, i32 %rank, ptr %shape, i64 %size) {
entry:
  %n = zext i32 %rank to i64
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
  %bytes = phi i64 [ %size, %entry ], [ %product, %turn ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %turn, label %known
turn:
  %dp = getelementptr i64, ptr %shape, i64 %i
  %d = load i64, ptr %dp
  %product = mul i64 %bytes, %d
  %next = add i64 %i, 1
  br label %head
known:
  %large = icmp uge i64 %bytes, LEAST
  br i1 %large, label %own, label %plain
plain:
  %a0 = call ptr @ag_array_new(ptr %type, ptr %descr, i32 %rank, ptr %shape, ptr null, ptr null,
    i32 0, ptr null)
  ret ptr %a0
own:
  %c0 = load ptr, ptr @capsule
  %none = icmp eq ptr %c0, null
  br i1 %none, label %make, label %set
make:
  %c1 = call ptr @PyCapsule_New(ptr @handler, ptr @capsule_name, ptr null)
  %bad = icmp eq ptr %c1, null
  br i1 %bad, label %failed, label %made
made:
  store ptr %c1, ptr @capsule
  br label %set
set:
  %c = phi ptr [ %c0, %own ], [ %c1, %made ]
  %old = call ptr @ag_set_handler(ptr %c)
  %unset = icmp eq ptr %old, null
  br i1 %unset, label %failed, label %look
look:
  %default = load ptr, ptr @ag_default_handler
  %usual = icmp eq ptr %old, %default
  br i1 %usual, label %new, label %theirs
new:
  %a1 = call ptr @ag_array_new(ptr %type, ptr %descr, i32 %rank, ptr %shape, ptr null, ptr null,
    i32 0, ptr null)
  %back1 = call ptr @ag_set_handler(ptr %old)
  call void @Py_DecRef(ptr %back1)
  call void @Py_DecRef(ptr %old)
  ret ptr %a1
theirs:
  %back2 = call ptr @ag_set_handler(ptr %old)
  call void @Py_DecRef(ptr %back2)
  call void @Py_DecRef(ptr %old)
  br label %plain
failed:
  call void @Py_DecRef(ptr %descr)
  ret ptr null
}

; Its flags say that it is contiguous, aligned and writeable and owns its memory, besides at most an order.
define ptr @ag_again(ptr %type, ptr %descr, i32 %rank, ptr %shape, i64 %size, ptr %place) {
entry:
  %old = load ptr, ptr %place
  %none = icmp eq ptr %old, null
  br i1 %none, label %new, label %look
look:
  %references = load i32, ptr %old
  %alone = icmp eq i32 %references, 1
  %tp = getelementptr i8, ptr %old, i64 8
  %t = load ptr, ptr %tp
  %exact = icmp eq ptr %t, %type
  %rp = getelementptr i8, ptr %old, i64 24
  %r = load i32, ptr %rp
  %axes = icmp eq i32 %r, %rank
  %bp = getelementptr i8, ptr %old, i64 48
  %base = load ptr, ptr %bp
  %own = icmp eq ptr %base, null
  %dp = getelementptr i8, ptr %old, i64 56
  %d = load ptr, ptr %dp
  %same = icmp eq ptr %d, %descr
  %fp = getelementptr i8, ptr %old, i64 64
  %f = load i32, ptr %fp
  %bits = and i32 %f, -3
  %plain = icmp eq i32 %bits, 1285
  %wp = getelementptr i8, ptr %old, i64 72
  %weak = load ptr, ptr %wp
  %unseen = icmp eq ptr %weak, null
  %a = and i1 %alone, %exact
  %b = and i1 %axes, %own
  %c = and i1 %same, %plain
  %ab = and i1 %a, %b
  %cu = and i1 %c, %unseen
  %good = and i1 %ab, %cu
  %sp = getelementptr i8, ptr %old, i64 32
  %dims = load ptr, ptr %sp
  %n = zext i32 %rank to i64
  br i1 %good, label %head, label %new
head:
  %i = phi i64 [ 0, %look ], [ %next, %turn ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %turn, label %take
turn:
  %ap = getelementptr i64, ptr %dims, i64 %i
  %av = load i64, ptr %ap
  %cp = getelementptr i64, ptr %shape, i64 %i
  %cv = load i64, ptr %cp
  %next = add i64 %i, 1
  %equal = icmp eq i64 %av, %cv
  br i1 %equal, label %head, label %new
take:
  store ptr null, ptr %place
  call void @Py_DecRef(ptr %descr)
  ret ptr %old
new:
  %made = call ptr @ag_large(ptr %type, ptr %descr, i32 %rank, ptr %shape, i64 %size)
  ret ptr %made
}
"""

MALLOC = "%p = call ptr @malloc(i64 %size)"
ALIGNED = """
  %place = alloca ptr
  store ptr null, ptr %place
  %code = call i32 @posix_memalign(ptr %place, i64 PAGE, i64 %size)
  %p = load ptr, ptr %place
"""
"""Memory that begins at a page, where `free` takes that. No vector is stored across two lines of the cache
then. And what is stored never lies a little beyond what is loaded next, if only the place in a page is
compared, as processors do first: they would let the load wait. (Large arrays of others mostly begin 16 bytes
behind the beginning of a page.)"""

ADVICE = """
  %huge = icmp uge i64 %size, HUGE
  %got = icmp ne ptr %p, null
  %ask = and i1 %huge, %got
  br i1 %ask, label %advise, label %end
advise:
  %address = ptrtoint ptr %p to i64
  %up = add i64 %address, 4095
  %page = and i64 %up, -4096
  %skipped = sub i64 %page, %address
  %length = sub i64 %size, %skipped
  %start = inttoptr i64 %page to ptr
  %answer = call i32 @madvise(ptr %start, i64 %length, i32 14)
  br label %end
end:
"""
"""`madvise(MADV_HUGEPAGE)`, where there is one."""


def text() -> str:
    """The IR of the functions."""
    linux = sys.platform == "linux"
    code = TEXT.replace("ADVICE", ADVICE.strip() if linux else "")
    code = code.replace("NEW", MALLOC if sys.platform == "win32" else ALIGNED.strip())
    code = code.replace("PADDING", "\\00" * (127 - len("autograph") - 1))
    for name, number in {"LEAST": LEAST, "HUGE": HUGE, "LIMIT": LIMIT, "SLOTS": SLOTS, "PAGE": PAGE}.items():
        code = code.replace(name, str(number))
    return code + ("declare i32 @madvise(ptr, i64, i32)\n" if linux else "")
