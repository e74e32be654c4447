"""Running a command to its end, whatever signal ends it: servers and workers go with it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from .errors import INTERRUPTED


def run(command: Coroutine[None, None, int]) -> int:
    """Run a command and return its exit code.

    The first SIGINT or SIGTERM cancels it, and it cleans up; later ones change nothing.
    """
    try:
        return asyncio.run(_cancelled_by_signals(command))
    except asyncio.CancelledError:
        return INTERRUPTED


async def _cancelled_by_signals(command: Coroutine[None, None, int]) -> int:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(command)
    asked: list[int] = []

    def stop(number: int) -> None:
        if not asked:
            task.cancel()
        asked.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    return await task


@contextmanager
def ended_by_a_signal() -> Iterator[None]:
    """Take a signal as the end that the block waits for."""
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.uncancel() > 0:
            raise


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.get_running_loop().create_future()
