"""Holding a worker between its commit and its report, without hooks in the product.

The demo locks the notebook's row in a transaction of its own. The worker's next write waits for
that lock inside PostgreSQL. The worker is stopped there, the lock let go: the database commits what
it was sent, and the stopped worker cannot tell anyone. Then it is killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import asyncpg

from ...notebook import MAIN_FILENAME, Scope
from ..errors import CommandError

_NOTEBOOKS = "_notebooks"
_LOCK = """
SELECT id FROM durable_memory.documents
WHERE store = $1 AND actor = $2 AND session = '' AND path = $3 FOR UPDATE
"""
_WAITING = "SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
_RECEIPTS = "SELECT count(*) FROM durable_memory.receipts WHERE workflow_id = $1"
_PATIENCE = 60.0
_PAUSE = 0.005

T = TypeVar("T")


class RowLock:
    """A transaction that can hold the main file of a scope.

    Args:
        holder: Connection of the transaction.
        watcher: Connection that looks on.
        scope: Whose notebook.
    """

    def __init__(
        self, *, holder: asyncpg.Connection, watcher: asyncpg.Connection, scope: Scope
    ) -> None:
        self._holder = holder
        self._watcher = watcher
        self._scope = scope
        self._transaction = holder.transaction()

    async def hold(self) -> None:
        """Lock the row, after whoever holds it now."""
        self._transaction = self._holder.transaction()
        await self._transaction.start()
        if await self._holder.fetchval(_LOCK, _NOTEBOOKS, self._scope.key, MAIN_FILENAME) is None:
            raise CommandError("there is no notebook to lock: the session before wrote nothing")

    async def waiting_backend(self) -> int:
        """Wait until a backend waits for the row, and return its process id."""
        own = self._holder.get_server_pid()

        async def waiting() -> int:
            return int(await self._watcher.fetchval(_WAITING, own) or 0)

        return await until(waiting, "a waiting write")

    async def release(self) -> None:
        """Let go of the row."""
        await self._transaction.commit()

    async def let_through(self, workflow_id: str, writes: int) -> int:
        """Let at least as many writes of a workflow pass; then hold the row again.

        Returns:
            How many passed. The next write may overtake the lock when it is asked for again, and
            the lock may overtake a write that waits: so what has passed is counted.
        """
        while (passed := await self.receipts(workflow_id)) < writes:
            await self.waiting_backend()
            await self.release()
            await self.wait_for_receipts(workflow_id, passed + 1)
            await self.hold()
        return passed

    async def receipts(self, workflow_id: str) -> int:
        """Return how many operations of a workflow are committed."""
        return int(await self._watcher.fetchval(_RECEIPTS, workflow_id))

    async def wait_for_receipts(self, workflow_id: str, count: int) -> None:
        """Wait until `count` operations of a workflow are committed."""

        async def committed() -> bool:
            return await self.receipts(workflow_id) >= count

        await until(committed, "the receipt")


@asynccontextmanager
async def row_lock(store: str, scope: Scope) -> AsyncIterator[RowLock]:
    """Connect a `RowLock` to the database at the URL `store`."""
    holder = await asyncpg.connect(store)
    try:
        watcher = await asyncpg.connect(store)
        try:
            yield RowLock(holder=holder, watcher=watcher, scope=scope)
        finally:
            await watcher.close()
    finally:
        await holder.close()


async def until(condition: Callable[[], Awaitable[T]], what: str) -> T:
    """Ask until the answer is true, and return it.

    Raises:
        CommandError: It did not become true within a minute.
    """
    try:
        async with asyncio.timeout(_PATIENCE):
            while not (answer := await condition()):  # noqa: ASYNC110  (another process's state)
                await asyncio.sleep(_PAUSE)
    except TimeoutError:
        raise CommandError(f"waited {_PATIENCE:.0f} s for {what}") from None
    return answer
