"""Machine code and converted functions on disk: what one process has made, the next ones only load.

A file's name is a hash of all that its code depends on, so that a file is right or not there. Files are
written beside their place and moved there, so that processes never see half a file; what cannot be read,
written or trusted is compiled again.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
import time
from typing import TYPE_CHECKING

try:
    from _blake2 import blake2b
except ImportError:  # `hashlib` has the same function, and takes milliseconds to load others
    from hashlib import blake2b

if TYPE_CHECKING:  # whoever has loaded llvmlite has it; the import of the package does without
    from pathlib import Path

FORMAT = 1
"""Goes up when the same text would become other machine code."""

LIMIT = 256 << 20
"""Bytes that the folder may hold; beyond, the files that have not been used for longest go."""

MOST = 1 << 14
"""Files that it may hold, in the same way: small ones take time to list."""

_SUFFIX = ".agc"
_DIGEST = 16
_FRESH = 3600.0  # seconds for which the time of the last use need not be exact
_LOOK = 64  # stores of one process between two looks at the folder's size
_stores = itertools.count()


def directory() -> Path | None:
    """The folder, as `AUTOGRAPH_CACHE_DIR` or the platform says; None where nothing is kept."""
    from pathlib import Path

    chosen = os.environ.get("AUTOGRAPH_CACHE_DIR")
    if chosen is None:
        return _default(sys.platform)
    return None if chosen in ("", "off") else Path(chosen)


@functools.cache
def _default(platform: str) -> Path | None:
    from pathlib import Path

    try:
        home = Path.home()
    except RuntimeError:
        return None
    if platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "autograph" / "cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "autograph"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "autograph"


def key(*parts: str) -> str:
    """The name of code that depends on these texts.

    >>> key("ab", "c") == key("a", "bc")
    False
    """
    digest = blake2b(str(FORMAT).encode(), digest_size=20)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _checksum(code: bytes) -> bytes:
    return blake2b(code, digest_size=_DIGEST).digest()


def load(name: str) -> bytes | None:
    """The code of a name; None where it is not there, or damaged."""
    folder = directory()
    if folder is None:
        return None
    path = folder / (name + _SUFFIX)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    code = data[_DIGEST:]
    if not code or _checksum(code) != data[:_DIGEST]:
        discard(name)
        return None
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _FRESH:
            os.utime(path)
    return code


def store(name: str, code: bytes) -> None:
    """Keeps code under a name, if the folder can be written."""
    import tempfile

    folder = directory()
    if folder is None:
        return
    data = _checksum(code) + code
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=folder)
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, folder / (name + _SUFFIX))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            return
        if next(_stores) % _LOOK == 0:
            evict(folder)


def discard(name: str) -> None:
    """Forgets the code of a name."""
    folder = directory()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / (name + _SUFFIX)).unlink()


def evict(folder: Path) -> None:
    """Removes the files that were used least recently, until a tenth of the limits is free again."""
    found = []
    now = time.time()
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                if entry.name.endswith(_SUFFIX):
                    found.append((status.st_mtime, status.st_size, entry.path))
                elif entry.name.endswith(".tmp") and now - status.st_mtime > _FRESH:
                    os.unlink(entry.path)  # its process died
    size, count = sum(f[1] for f in found), len(found)
    if size <= LIMIT and count <= MOST:
        return
    for _, length, path in sorted(found):
        with contextlib.suppress(OSError):
            os.unlink(path)
        size, count = size - length, count - 1
        if size <= LIMIT * 9 // 10 and count <= MOST * 9 // 10:
            return
