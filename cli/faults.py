"""What can go wrong, brought about from outside: row locks held, workflows reset, waits bounded.

For the demo, the tests and the recorded histories. Nothing in the product has a hook for them:
what is needed from the database stands as SQL in `sql/`, since no store gives it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import asyncpg
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle

from ..notebook import COMPLETE, MAIN_FILENAME, Scope
from .errors import CommandError

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
        self._path = scope.path(MAIN_FILENAME)
        self._transaction = holder.transaction()

    async def hold(self) -> None:
        """Lock the row, after whoever holds it now."""
        self._transaction = self._holder.transaction()
        await self._transaction.start()
        await lock_row(self._holder, self._path)

    async def waiting_backend(self) -> int:
        """Wait until a backend waits for the row, and return its process id."""
        pids = await until(lambda: waiting_backends(self._watcher), "a waiting write")
        return pids[0]

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
        return await count_receipts(self._watcher, [workflow_id])

    async def wait_for_receipts(self, workflow_id: str, count: int) -> None:
        """Wait until `count` operations of a workflow are committed."""

        async def committed() -> bool:
            return await self.receipts(workflow_id) >= count

        await until(committed, "the receipt")


@asynccontextmanager
async def row_lock(store: str, scope: Scope) -> AsyncIterator[RowLock]:
    """Connect a `RowLock` to the database at the URL `store`."""
    async with connected(store) as holder, connected(store) as watcher:
        yield RowLock(holder=holder, watcher=watcher, scope=scope)


@asynccontextmanager
async def connected(store: str) -> AsyncIterator[asyncpg.Connection]:
    """Connect to the database at the URL `store`, and close the connection on leaving."""
    connection = await asyncpg.connect(store)
    try:
        yield connection
    finally:
        await connection.close()


async def lock_row(connection: asyncpg.Connection, path: str) -> None:
    """Lock the row of a file in the connection's transaction.

    Raises:
        CommandError: There is no such file.
    """
    scope, _, name = path.rpartition("/")
    if await connection.fetchval(_sql("lock_row"), scope, name) is None:
        raise CommandError("there is no file to lock: nothing was written before")


async def waiting_backends(connection: asyncpg.Connection) -> list[int]:
    """Return the process ids of the database's backends that wait for a lock."""
    return [row["pid"] for row in await connection.fetch(_sql("waiting_backends"))]


async def count_receipts(connection: asyncpg.Connection, workflow_ids: Iterable[str]) -> int:
    """Return how many operations of the workflows are committed."""
    return int(await connection.fetchval(_sql("count_receipts"), list(workflow_ids)))


async def reset_before_model_call(
    client: Client, handle: WorkflowHandle[Any, Any], call: int
) -> WorkflowHandle[Any, Any]:
    """Reset a run to just before one of its model requests, and return the new run.

    The workflow task that scheduled the request is undone, so the model is asked again.

    Args:
        client: Of the run's server.
        handle: The run.
        call: Which request, from 0; from the end when negative.
    """
    history = await handle.fetch_history()
    scheduled = (event.activity_task_scheduled_event_attributes for event in history.events)
    asked = [each for each in scheduled if each.activity_type.name == COMPLETE]
    response = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id=handle.id, run_id=handle.result_run_id or handle.run_id or ""
            ),
            reason="before a model call",
            request_id=uuid.uuid4().hex,
            workflow_task_finish_event_id=asked[call].workflow_task_completed_event_id,
        )
    )
    return client.get_workflow_handle(handle.id, run_id=response.run_id)


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


@cache
def _sql(name: str) -> str:
    return (files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
