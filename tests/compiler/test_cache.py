"""The cache of machine code: found by the next process, right or not there, bounded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograph.compiler import cache

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """\
import hashlib
import math
import sys

import numpy as np

import autograph as ag


@ag.to_graph
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@ag.to_graph
def smooth(x, y):
    for i in range(3):
        x = np.tanh(x * 1.5 + np.sin(y)) + np.power(np.abs(y), 1.3) + np.logaddexp(x, y)
    return x.sum() + y.max()


@ag.to_graph
def mixed(x):
    found = []
    try:
        for i in range(len(x)):
            if x[i] > 0.5:
                found.append(math.gamma(x[i]))
        return np.sort(x), found
    except ValueError as error:
        return x, str(error)


x = np.linspace(0.0, 1.0, 37)
for fn, args in ((collatz, (27,)), (smooth, (x, x + 1)), (mixed, (x,))):
    fn(*args)
    for native in fn.get_graph(*args).native.values():
        digest = hashlib.sha256(native.text.encode()).hexdigest()
        print(fn.__name__, digest, "load" in native.times, "emit" in native.times)
"""


def run(folder: Path, seed: str = "0") -> list[list[str]]:
    """What a process prints: for each function the hash of its IR, and whether its code was on disk."""
    environment = {
        **os.environ,
        "AUTOGRAPH_BACKEND": "native",
        "AUTOGRAPH_CACHE_DIR": str(folder),
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
    }
    program = folder.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_the_next_process_only_links(tmp_path: Path) -> None:
    first, second = run(tmp_path / "code", "1"), run(tmp_path / "code", "2")
    assert [row[0] for row in first] == ["collatz", "smooth", "mixed"]
    assert [row[:2] for row in first] == [row[:2] for row in second], "the IR depends on the process"
    assert all(row[2:] == ["False", "True"] for row in first)
    assert all(row[2:] == ["True", "False"] for row in second)


def test_damaged_files_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    run(folder)
    files = sorted(folder.iterdir())
    for i, file in enumerate(files):
        data = bytearray(file.read_bytes())
        if i % 2:
            data[-1] ^= 1
        file.write_bytes(data if i % 2 else data[:20])
    assert all(row[2:] == ["False", "True"] for row in run(folder))
    assert all(row[2:] == ["True", "False"] for row in run(folder))
    assert sorted(folder.iterdir()) == files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


def test_what_was_stored_is_found(folder: Path) -> None:
    assert cache.load("a") is None
    cache.store("a", b"code")
    assert cache.load("a") == b"code"
    cache.store("a", b"other")
    assert cache.load("a") == b"other"
    cache.discard("a")
    assert cache.load("a") is None and not list(folder.iterdir())


@pytest.mark.parametrize("switch", ["", "off"])
def test_nothing_is_kept_when_switched_off(switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", switch)
    assert cache.directory() is None
    cache.store("a", b"code")
    assert cache.load("a") is None


def test_a_folder_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "file" / "code"))
    cache.store("a", b"code")
    assert cache.load("a") is None


def test_the_least_recently_used_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(20):
        cache.store(f"c{i:02}", bytes(100))
        then = time.time() - 10**6 + i
        os.utime(folder / f"c{i:02}.agc", (then, then))
    monkeypatch.setattr(cache, "LIMIT", 1000)  # only now: a store may look at the folder's size too
    assert cache.load("c00") is not None  # makes it the most recent one
    cache.evict(folder)
    left = sorted(path.stem for path in folder.iterdir())
    assert left == ["c00", "c14", "c15", "c16", "c17", "c18", "c19"]


def test_many_small_files_go_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(20):
        cache.store(f"c{i:02}", b"code")
        os.utime(folder / f"c{i:02}.agc", (i + 1, i + 1))
    monkeypatch.setattr(cache, "MOST", 10)
    cache.evict(folder)
    assert sorted(path.stem for path in folder.iterdir()) == [f"c{i}" for i in range(11, 20)]


def test_temporary_files_of_dead_processes_go(folder: Path) -> None:
    cache.store("a", b"code")
    old, new = folder / "old.tmp", folder / "new.tmp"
    old.write_bytes(b"x")
    new.write_bytes(b"x")
    os.utime(old, (1, 1))
    cache.evict(folder)
    assert not old.exists() and new.exists()


def test_writers_at_the_same_time(folder: Path) -> None:
    def write(i: int) -> None:
        for k in range(20):
            cache.store("a", bytes([i]) * 5000)
            code = cache.load("a")
            assert code is not None and len(code) == 5000 and len(set(code)) == 1, (i, k)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in folder.iterdir()] == ["a.agc"]


def test_the_default_folder_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AUTOGRAPH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    cache._default.cache_clear()
    try:
        assert cache._default("linux") == tmp_path / "autograph"
        assert cache._default("win32") == tmp_path / "autograph" / "cache"
        assert str(cache._default("darwin")).endswith("Library/Caches/autograph") or os.name == "nt"
        assert cache.directory() is not None
    finally:
        cache._default.cache_clear()
