"""The machine: LLVM IR text in, addresses of functions out.

llvmlite is loaded on the first use. Objects are linked by ORC (JITLink), which takes a millisecond or less.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from autograph.compiler import cache

_lock = threading.Lock()
_names = itertools.count()


@functools.cache
def binding() -> Any:
    """`llvmlite.binding`, with the host's target ready."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def host() -> tuple[str, str, str]:
    """The host's triple, processor and features."""
    llvm = binding()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@functools.cache
def has_fma() -> bool:
    """Whether the processor multiplies and adds in one instruction."""
    triple, _, features = host()
    return triple.startswith(("aarch64", "arm64")) or "+fma" in features.split(",")


@functools.cache
def fence() -> str | None:
    """The intrinsic that orders stores past the caches; None where there is none that is known."""
    return "llvm.x86.sse.sfence" if host()[0].startswith("x86_64") else None


@functools.cache
def target_machine(level: int = 2) -> Any:
    triple, cpu, features = host()
    return (
        binding()
        .Target.from_triple(triple)
        .create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small")
    )


@functools.cache
def _linker() -> Any:
    return binding().create_lljit_compiler(target_machine(), use_jit_link=True)


_symbols: dict[str, int] = {}


def add_symbol(name: str, address: int) -> None:
    """Makes a C function or variable known to the code by its name."""
    _symbols[name] = address


_parts: dict[tuple[str, ...], Callable[[], str]] = {}
_adding = threading.RLock()


def add_part(names: tuple[str, ...], text: Callable[[], str]) -> None:
    """Makes functions known to the code by name; their IR is compiled when some code has one of them."""
    _parts[names] = text


def address(name: str) -> int:
    """The address of a function or variable; 0 as long as no code needs it."""
    return _symbols.get(name, 0)


def _add_parts(text: str) -> None:
    """Compiles the parts that some code needs, and first those that they need."""
    with _adding:
        for names, make in list(_parts.items()):
            if names in _parts and any(f"@{name}(" in text for name in names):
                del _parts[names]  # its own text has its names, too
                try:
                    library = compile_ir(make(), names, level=0)
                except BaseException:
                    _parts[names] = make
                    raise
                _symbols.update(library.addresses)
                keep(library)


_kept: list[Any] = []


def keep(library: Library) -> None:
    """Keeps machine code in memory as long as the process lives."""
    _kept.append(library)


class Library:
    """Linked machine code; it stays in memory as long as this object."""

    def __init__(self, tracker: Any, names: tuple[str, ...]) -> None:
        self._tracker = tracker
        self.addresses = {name: tracker[name] for name in names}

    def __getitem__(self, name: str) -> int:
        return int(self.addresses[name])


PASSES = (
    "always_inliner",
    "global_dead_code_eliminate",
    "sroa",
    "instruction_combine",
    "simplify_cfg",
    "loop_rotate",
    "instruction_combine",
    "simplify_cfg",
)
"""What is run on the IR, in order: its loops are in vectors already, and the default pipeline of LLVM takes
five times as long for the same code. "new_gvn" is not among them: for some texts its assertions end the
process, and what it would find is written once already (`ir.Builder`)."""


QUICK_LOOPS = "; has loops of numbers"
"""How a text begins whose loops are worth LLVM's own list of passes, vectors and all."""


class Invalid(Exception):
    """IR that LLVM does not take: a mistake of the compiler's."""


def parsed(text: str) -> Any:
    """The IR as an LLVM module for this machine.

    It is verified, in a fraction of the time: what is made of other IR ends the process, or is wrong.
    """
    try:
        module = binding().parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise Invalid(str(error).strip()) from None
    module.triple = host()[0]
    module.data_layout = str(target_machine().target_data)
    return module


def optimise(text: str, times: dict[str, float] | None = None) -> Any:
    """The IR as an optimised LLVM module."""
    started = time.perf_counter()
    module = parsed(text)
    read = time.perf_counter()
    optimised(module, text.startswith(QUICK_LOOPS))
    if times is not None:
        times["parse"] = read - started
        times["passes"] = time.perf_counter() - read
    return module


def optimised(module: Any, quick_loops: bool) -> Any:
    """The module after LLVM's passes."""
    llvm = binding()
    builder = llvm.create_pass_builder(target_machine(), llvm.create_pipeline_tuning_options(speed_level=2))
    if quick_loops:
        builder.getModulePassManager().run(module, builder)
    else:
        passes = llvm.create_new_module_pass_manager()
        for name in PASSES:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
    return module


def link(code: bytes, names: tuple[str, ...]) -> Library:
    """Machine code in memory, with the addresses of the functions named."""
    builder = binding().JITLibraryBuilder()
    builder.add_object_img(code)
    builder.add_current_process()
    for name, address in list(_symbols.items()):  # another thread may add parts
        builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    with _lock:
        return Library(builder.link(_linker(), f"ag{next(_names)}"), names)


def compile_ir(
    text: str, names: tuple[str, ...], times: dict[str, float] | None = None, level: int = 2
) -> Library:
    """Compiles IR text, or finds it compiled on disk, and gives the addresses of the functions named.

    `times` gets the seconds of each step; "load" is among them where the code was on disk. At level 0 machine
    code is made in an eighth of the time, and slower.
    """
    times = {} if times is None else times
    _add_parts(text)
    started = time.perf_counter()
    name = cache.key(text, str(level), *_versions())
    code = cache.load(name)
    if code is not None:
        times["load"] = time.perf_counter() - started
        with contextlib.suppress(RuntimeError):  # linking it fails: it is compiled anew
            return _timed_link(code, names, times)
        del times["load"]
    with _lock:
        module = optimise(text, times) if level else parsed(text)
        started = time.perf_counter()
        code = target_machine(level).emit_object(module)
        times["emit"] = time.perf_counter() - started
    cache.store(name, code)
    return _timed_link(code, names, times)


def _timed_link(code: bytes, names: tuple[str, ...], times: dict[str, float]) -> Library:
    started = time.perf_counter()
    library = link(code, names)
    times["link"] = time.perf_counter() - started
    return library


@functools.cache
def _versions() -> tuple[str, ...]:
    """What machine code depends on besides the IR."""
    import llvmlite

    return (*host(), llvmlite.__version__, repr(binding().llvm_version_info), repr(PASSES))


def assembly(text: str) -> str:
    """The assembly that the IR becomes."""
    with _lock:
        return str(target_machine().emit_assembly(optimise(text)))
