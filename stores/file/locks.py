"""The directory's lock: one mutation at a time, over all processes of a host.

It is the system's lock on the directory itself: it needs no file, no journal can be lost with it,
and it goes with the process that holds it, however that ends.
"""

from __future__ import annotations

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
        MemoryStoreUnavailable: Another process held it for longer. That may be an earlier attempt
            of the same operation, so it does not say that nothing is changed.
    """
    with opened(root, (), create=True) as folder:
        end = time.monotonic() + wait
        while not _taken(folder):
            if time.monotonic() >= end:
                raise MemoryStoreUnavailable(
                    "Another process held the memory directory for too long: try again."
                )
            # At random, so that many who wait do not try all at once.
            time.sleep(random.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))  # noqa: S311
        yield


def _taken(folder: int) -> bool:
    import fcntl  # noqa: PLC0415  (only POSIX has it, and every system imports the stores)

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
