"""Folders, opened one after the other from the root on.

Every step is taken relative to the folder that is open, and follows no link. So no name, and no
link that someone puts into the directory in the meantime, leads out of it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import ForeignFileError


def _flag(name: str) -> int:
    """Return a flag of POSIX; elsewhere the module is imported and its store refused."""
    return int(getattr(os, name, 0))


SUPPORTED = bool(_flag("O_NOFOLLOW") and _flag("O_DIRECTORY"))
"""Whether this system can open folders step by step without following links."""

_ROOT = os.O_RDONLY | _flag("O_DIRECTORY") | _flag("O_CLOEXEC")
_FOLDER = _ROOT | _flag("O_NOFOLLOW")
# A pipe that someone put there must not be waited for.
_FILE = os.O_RDONLY | _flag("O_NOFOLLOW") | _flag("O_NONBLOCK") | _flag("O_CLOEXEC")


@contextmanager
def opened(root: Path, pieces: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Open a folder below `root`, as a descriptor.

    Args:
        root: Where the walk starts; may itself be a link.
        pieces: Names on disk, one below the other.
        create: Whether to make what is missing, so that it survives a loss of power.

    Raises:
        FileNotFoundError: A folder is missing.
        ForeignFileError: Something else stands in the place of one.
    """
    if create:
        _make(root)
    folder = os.open(root, _ROOT)
    try:
        for piece in pieces:
            child = _enter(folder, piece, create=create)
            os.close(folder)
            folder = child
        yield folder
    finally:
        os.close(folder)


def open_file(folder: int, name: str) -> int | None:
    """Open a regular file for reading; `None` when there is none.

    Raises:
        ForeignFileError: Something else stands in its place.
    """
    try:
        file = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        # A link, or a socket.
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.ENOTDIR}:
            raise ForeignFileError from None
        raise
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    raise ForeignFileError


def _make(folder: Path) -> None:
    """Make a folder and what is missing above it, so that each name survives a loss of power."""
    if folder.is_dir():
        return
    _make(folder.parent)
    # Another process may have been faster; what is there and no folder is found by who opens it.
    with suppress(FileExistsError):
        folder.mkdir()
    above = os.open(folder.parent, _ROOT)
    try:
        os.fsync(above)
    finally:
        os.close(above)


def _enter(folder: int, piece: str, *, create: bool) -> int:
    try:
        return os.open(piece, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise ForeignFileError from None
        raise
    os.mkdir(piece, dir_fd=folder)
    os.fsync(folder)
    return _enter(folder, piece, create=False)
