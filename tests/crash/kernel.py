"""System calls of Linux that change files, locks included: their numbers, and what they work on."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

Arguments = tuple[int, ...]
Describe = Callable[[str, int, Arguments, Path], str | None]
"""Says what a call does, by name, thread and arguments; `None` when it changes nothing there."""

_CWD = 0xFFFFFF9C  # AT_FDCWD, as 32 bits
_CHANGING = os.O_CREAT | os.O_TRUNC
_SET_LOCKS = {6, 7, 37, 38}  # F_SETLK, F_SETLKW and those of open file descriptions
_PATH_BYTES = 4096
_ANY = re.compile(r"[0-9a-f]{32}")
"""Parts of names that are others in each run."""

_NUMBERS = {
    "x86_64": {
        "write": 1, "open": 2, "pwrite64": 18, "writev": 20, "fcntl": 72, "flock": 73, "fsync": 74,
        "fdatasync": 75, "truncate": 76, "ftruncate": 77, "rename": 82, "mkdir": 83, "rmdir": 84,
        "link": 86, "unlink": 87, "symlink": 88, "chmod": 90, "fchmod": 91, "openat": 257,
        "mkdirat": 258, "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266,
        "fallocate": 285, "pwritev": 296, "renameat2": 316, "copy_file_range": 326,
    },
    "aarch64": {
        "fcntl": 25, "flock": 32, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37,
        "renameat": 38, "truncate": 45, "ftruncate": 46, "fallocate": 47, "fchmod": 52,
        "openat": 56, "write": 64, "writev": 66, "pwrite64": 68, "pwritev": 70, "fsync": 82,
        "fdatasync": 83, "renameat2": 276, "copy_file_range": 285,
    },
}  # fmt: skip


def _numbered() -> Callable[[int], str | None] | None:
    numbers = _NUMBERS.get(platform.machine())
    if platform.system() != "Linux" or numbers is None:
        return None
    return {number: name for name, number in numbers.items()}.get


call_at = _numbered()
"""Returns the name of a call by its number; `None` on a system whose numbers are not known here."""


def _by_descriptor(name: str, thread: int, arguments: Arguments, folder: Path) -> str | None:
    return _labelled(name, _descriptor(thread, arguments[0]), folder)


def _lock(name: str, thread: int, arguments: Arguments, folder: Path) -> str | None:
    if arguments[1] not in _SET_LOCKS:
        return None
    return _labelled(f"{name} lock", _descriptor(thread, arguments[0]), folder)


def _by_path(at: int) -> Describe:
    def describe(name: str, thread: int, arguments: Arguments, folder: Path) -> str | None:
        return _labelled(name, _path(thread, _CWD, arguments[at]), folder)

    return describe


def _by_path_at(at: int) -> Describe:
    def describe(name: str, thread: int, arguments: Arguments, folder: Path) -> str | None:
        return _labelled(name, _path(thread, arguments[at], arguments[at + 1]), folder)

    return describe


def _open(at: int) -> Describe:
    def describe(name: str, thread: int, arguments: Arguments, folder: Path) -> str | None:
        path = _path(thread, arguments[at - 1] if at else _CWD, arguments[at])
        creates = arguments[at + 1] & _CHANGING and not os.path.exists(path)  # noqa: PTH110
        return _labelled(f"{name} new", path, folder) if creates else None

    return describe


CALLS: dict[str, Describe] = {
    **dict.fromkeys(
        ("write", "pwrite64", "writev", "pwritev", "flock", "fsync", "fdatasync", "ftruncate",
         "fallocate", "fchmod"),
        _by_descriptor,
    ),
    **dict.fromkeys(("truncate", "mkdir", "rmdir", "unlink", "chmod"), _by_path(0)),
    **dict.fromkeys(("rename", "link", "symlink"), _by_path(1)),
    **dict.fromkeys(("mkdirat", "unlinkat"), _by_path_at(0)),
    **dict.fromkeys(("renameat", "renameat2", "linkat"), _by_path_at(2)),
    "symlinkat": _by_path_at(1),
    "copy_file_range": lambda name, thread, arguments, folder: _labelled(
        name, _descriptor(thread, arguments[2]), folder
    ),
    "fcntl": _lock,
    "open": _open(0),
    "openat": _open(1),
}  # fmt: skip


def _labelled(name: str, path: str, folder: Path) -> str | None:
    """Return the call's name and the file's; `None` for a file outside the folder."""
    if not Path(path).is_relative_to(folder):
        return None
    return f"{name} {_ANY.sub('*', str(Path(path).relative_to(folder)))}"


def _descriptor(thread: int, number: int) -> str:
    place = "cwd" if number & 0xFFFFFFFF == _CWD else f"fd/{number & 0xFFFFFFFF}"
    try:
        return os.readlink(f"/proc/{thread}/{place}")  # noqa: PTH115  (a socket's is no path)
    except OSError:
        return ""


def _path(thread: int, folder: int, address: int) -> str:
    """Return the path that a thread names, relative to a folder it has open."""
    try:
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
            memory.seek(address)
            given = os.fsdecode(memory.read(_PATH_BYTES).split(b"\0", 1)[0])
    except (OSError, OverflowError):
        return ""
    return os.path.normpath(os.path.join(_descriptor(thread, folder), given))  # noqa: PTH118
