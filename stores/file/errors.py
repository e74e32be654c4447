"""The one place where the system's errors become the project's.

The cause is kept by its number only: its text would hold a file's name.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...notebook import MemoryFault, MemoryStoreUnavailable

_FULL = "The disk of the memory directory is full: free some space. Nothing was changed."
CANNOT_WRITE = (
    "The memory directory cannot be written: give the worker's user the right to read and write in "
    "it and in the directories below it."
)
CANNOT_READ = (
    "The memory directory cannot be read: give the worker's user the right to read the files in it "
    "and in the directories below it."
)
_IN_THE_WAY = (
    "A link or another special file stands where the store keeps its own: take it out of the "
    "memory directory."
)
_BY_NUMBER = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EROFS: CANNOT_WRITE,
}
_DENIED = {errno.EACCES, errno.EPERM}


class ForeignFileError(OSError):
    """Something else stands where the store keeps a file or folder of its own."""


def read_only() -> MemoryStoreUnavailable:
    """Return the error of a write to a directory that cannot be written."""
    return MemoryStoreUnavailable(CANNOT_WRITE)


@contextmanager
def translated(denied: str = CANNOT_WRITE) -> Iterator[None]:
    """Raise the system's errors as the project's; `denied` is the message for a lack of rights."""
    try:
        yield
    except MemoryFault:
        raise
    except ForeignFileError as error:
        raise MemoryStoreUnavailable(_IN_THE_WAY) from error
    except OSError as error:
        number = error.errno or 0
        raise MemoryStoreUnavailable(_message(number, denied)) from OSError(
            number, os.strerror(number)
        )


def _message(number: int, denied: str) -> str:
    if number in _DENIED:
        return denied
    return _BY_NUMBER.get(number, f"The memory directory failed: {os.strerror(number)}.")
