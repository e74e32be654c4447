"""Threads off the event loop.

A call that is cancelled while it waits for its turn never runs. One that runs is not stopped: its
thread finishes the transaction, so that no cancellation leaves one half open or a lock behind, and
the caller's outcome is unknown. Whoever settles the operation afterwards waits in the same lane,
behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ResultT = TypeVar("ResultT")


class Lane:
    """A few threads that take calls in their order; one thread makes them take turns.

    Args:
        width: Threads at most.
    """

    def __init__(self, width: int = 1) -> None:
        self._width = width
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """Return what `work` returns, run in a thread of the lane."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._width, thread_name_prefix="durable-memory")
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def close(self) -> None:
        """Wait for the calls that were made, and end the threads; the next call starts new ones."""
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)
