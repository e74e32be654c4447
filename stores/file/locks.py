"""The directory's lock: one mutation at a time, over all processes of a host.

It is the system's lock on the directory itself: it needs no file, no journal can be lost with it,
and it goes with the process that holds it, however that ends.

A directory may be moved or removed while its lock is waited for. Who then holds the lock of what it
was holds nothing: the lock counts only on the directory that has the name.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...notebook import MemoryStoreUnavailable
from .folders import opened

_SHORTEST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.005


@contextmanager
def locked(root: Path, wait: float) -> Iterator[None]:
    """Hold the lock of a directory, which is made when it is missing.

    Args:
        root: The directory.
        wait: Seconds to wait for others; the lock is tried at least once.

    Raises:
        MemoryStoreUnavailable: Another process held it for longer, or replaced it. That may be an
            earlier attempt of the same operation, so it does not say that nothing is changed.
    """
    end = time.monotonic() + wait
    while True:
        with opened(root, (), create=True) as folder:
            _take(folder, end)
            if _is_named(folder, root):
                yield
                return
        if time.monotonic() >= end:
            raise MemoryStoreUnavailable("The memory directory is being replaced: try again.")


def _take(folder: int, end: float) -> None:
    while not _taken(folder):
        if time.monotonic() >= end:
            raise MemoryStoreUnavailable(
                "Another process held the memory directory for too long: try again."
            )
        # At random, so that many who wait do not try all at once.
        time.sleep(random.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))  # noqa: S311


def _is_named(folder: int, root: Path) -> bool:
    """Whether an open directory still has its name: others lock the one that has it now."""
    try:
        return os.path.samestat(os.fstat(folder), root.stat())
    except FileNotFoundError:
        return False


def _taken(folder: int) -> bool:
    import fcntl  # noqa: PLC0415  (only POSIX has it, and every system imports the stores)

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
