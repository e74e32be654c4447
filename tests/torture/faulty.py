"""A store that does to a note what the note's last word says."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from temporalio import activity

from durable_memory.notebook import Append, Edit, MemoryStoreUnavailable
from durable_memory.stores import EditingStore, MemoryMutation, MemoryStore

Write = Callable[[], Awaitable[MemoryMutation]]


class FaultyStore:
    """Passes everything on to a store, and some edits late, or without saying so.

    An edit that is late goes on by itself, whatever becomes of the activity that began it.

    Args:
        inner: The store.
        name: Its name in the log.
        log: File that each fault is noted in, as `store fault`.
    """

    def __init__(self, inner: MemoryStore, name: str, log: Path) -> None:
        assert isinstance(inner, EditingStore)
        self._inner = inner
        self._name = name
        self._log = log
        self._late: set[asyncio.Task[MemoryMutation]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def edit(
        self, path: str, edit: Edit, *, deadline: datetime | None, **others: Any
    ) -> MemoryMutation:
        """Apply the edit as its fault lets it."""

        async def write() -> MemoryMutation:
            return await self._inner.edit(path, edit, deadline=deadline, **others)

        fault = edit.content.rsplit(" ", maxsplit=1)[-1] if isinstance(edit, Append) else ""
        first = activity.info().attempt == 1
        if fault == "zombie":
            seconds = _until(deadline) + random.uniform(-0.3, 0.5)
            return await self._later(fault, write, seconds, noted=first)
        if fault == "cancelled":
            await asyncio.sleep(random.uniform(0, 0.3))
        if fault == "late" and first:
            timeout = activity.info().start_to_close_timeout
            assert timeout is not None
            return await self._later(
                fault, write, timeout.total_seconds() * random.uniform(0.95, 1.3)
            )
        if fault == "fails" and first:
            self._note(fault)
            raise MemoryStoreUnavailable
        mutation = await write()
        if fault == "unreported" and first:
            self._note(fault)
            raise MemoryStoreUnavailable
        return mutation

    async def landed(self) -> None:
        """Wait until everything late has landed, or was refused."""
        await asyncio.gather(*self._late, return_exceptions=True)

    async def _later(
        self, fault: str, write: Write, seconds: float, *, noted: bool = True
    ) -> MemoryMutation:
        async def late() -> MemoryMutation:
            await asyncio.sleep(max(seconds, 0))
            return await write()

        if noted:
            self._note(fault)
        task = asyncio.ensure_future(late())
        self._late.add(task)
        task.add_done_callback(_retrieve)
        return await asyncio.shield(task)

    def _note(self, fault: str) -> None:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{self._name} {fault}\n")


def _until(deadline: datetime | None) -> float:
    assert deadline is not None
    return (deadline - datetime.now(UTC)).total_seconds()


def _retrieve(task: asyncio.Task[MemoryMutation]) -> None:
    """Nobody may be there any more to hear of it."""
    if not task.cancelled():
        task.exception()
