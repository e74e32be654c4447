"""Deadlines on PostgreSQL: a late writer changes nothing, and its backend does not wait on."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from backends import LOCK_RECEIPT, Beside, beside
from moments import until_after
from wires import wire

from durable_memory.notebook import (
    Append,
    Edit,
    MemoryDeadlineExceeded,
    MemoryStoreUnavailable,
    Remove,
    Replace,
)
from durable_memory.stores import PostgresMemoryStore, create_pool
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_operation

MAX_CHARS = 1000
APPEND = (
    "SELECT * FROM durable_memory.mutate_v1('append', '_notebooks', $1, '', $2, true, NULL,"
    " 'note', NULL, NULL, 1000, $3, $4, '', '', NULL)"
)
EDITS = [Append(content="note"), Replace(old_text="start", content="begin"), Remove()]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: type(edit).__name__)
async def test_deadline_that_passes_while_waiting_for_the_row_changes_nothing(
    postgres_store: PostgresMemoryStore, held: Beside, path: str, edit: Edit
) -> None:
    """A mutation that waits for a row beyond its deadline ends by itself, and never lands."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    deadline = datetime.now(UTC) + timedelta(milliseconds=300)
    with pytest.raises(MemoryDeadlineExceeded):
        await postgres_store.edit(
            path, edit, max_chars=MAX_CHARS, operation=operation, deadline=deadline
        )
    assert datetime.now(UTC) >= deadline
    await held.waiting(0)
    await held.commit()
    assert await content_of(postgres_store, path) == "start\n"
    assert await postgres_store.get_operation(operation) is None


async def test_deadline_is_compared_after_the_last_wait(
    postgres_store: PostgresMemoryStore, held: Beside, migrated_url: str, path: str
) -> None:
    """A row that becomes free after the deadline is not written, nor is the receipt.

    The mutation waits twice, for its receipt and for the row, so that it still waits when its
    deadline has passed.
    """
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    async with beside(migrated_url) as other:
        await held.hold_query(LOCK_RECEIPT, operation.id, operation.fingerprint)
        await other.hold(path)
        deadline = datetime.now(UTC) + timedelta(seconds=2)
        attempt = asyncio.ensure_future(
            postgres_store.edit(
                path,
                Append(content="late"),
                max_chars=MAX_CHARS,
                operation=operation,
                deadline=deadline,
            )
        )
        await held.waiting(1)
        await until_after(deadline - timedelta(seconds=1))
        await held.roll_back()
        await held.waiting(1)
        await until_after(deadline)
        await other.commit()
        with pytest.raises(MemoryDeadlineExceeded) as fault:
            await attempt
    assert getattr(fault.value.__cause__, "sqlstate", None) == "DM004"
    assert await content_of(postgres_store, path) == "start\n"
    assert await postgres_store.get_operation(operation) is None


async def test_deadline_that_passes_while_an_earlier_attempt_is_under_way_says_nothing(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An attempt that waited in vain for an earlier one does not say that nothing was changed."""
    operation = new_operation()
    scope, _, name = path.rpartition("/")
    await held.hold_query(APPEND, scope, name, operation.id, operation.fingerprint)
    with pytest.raises(MemoryStoreUnavailable):
        await postgres_store.edit(
            path,
            Append(content="note"),
            max_chars=MAX_CHARS,
            operation=operation,
            deadline=datetime.now(UTC) + timedelta(milliseconds=200),
        )
    await held.commit()
    assert not (await postgres_store.settle(operation)).abandoned
    assert await content_of(postgres_store, path) == "note\n"


async def test_receipt_answers_after_the_deadline(
    postgres_store: PostgresMemoryStore, path: str
) -> None:
    """What was applied in time is answered at any time."""
    operation = new_operation()
    await postgres_store.edit(
        path, Append(content="note"), max_chars=MAX_CHARS, operation=operation
    )
    again = await postgres_store.edit(
        path,
        Append(content="note"),
        max_chars=MAX_CHARS,
        operation=operation,
        deadline=datetime.now(UTC) - timedelta(days=1),
    )
    assert again.replayed


async def test_deadline_beyond_all_bounds_is_a_deadline(
    postgres_store: PostgresMemoryStore, path: str
) -> None:
    """A deadline in the farthest future is as good as any."""
    deadline = datetime.max.replace(tzinfo=UTC)
    await postgres_store.write(path, "text", expected_version=None, deadline=deadline)
    with pytest.raises(MemoryDeadlineExceeded):
        await postgres_store.delete(
            path, expected_version="1", deadline=datetime.min.replace(tzinfo=UTC)
        )


async def test_bound_of_a_lock_wait_ends_with_its_transaction(
    pool: asyncpg.Pool, postgres_store: PostgresMemoryStore, path: str
) -> None:
    """A deadline leaves no setting behind on the connection."""
    deadline = datetime.now(UTC) + timedelta(minutes=1)
    async with asyncio.TaskGroup() as tasks:
        for number in range(40):
            call = postgres_store.write(
                f"{path}{number}", "text", expected_version=None, deadline=deadline
            )
            tasks.create_task(call)
    async with pool.acquire() as connection:
        assert await connection.fetchval("SHOW lock_timeout") == "0"


async def test_call_without_deadline_is_bounded_by_the_store(
    pool: asyncpg.Pool, postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """A mutation without a deadline gives up after the store's own time, and is cancelled."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    impatient = PostgresMemoryStore(pool, timeout=0.3)
    with pytest.raises(MemoryStoreUnavailable):
        await impatient.edit(path, Append(content="note"), max_chars=MAX_CHARS, operation=operation)
    await held.waiting(0)
    await held.commit()
    assert await content_of(postgres_store, path) == "start\n"
    assert await postgres_store.get_operation(operation) is None


async def test_cancelled_call_is_cancelled_in_the_database(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """Cancelling the task ends the statement, and the connection can be used again."""
    await postgres_store.write(path, "start\n", expected_version=None)
    await held.hold(path)
    attempt = asyncio.ensure_future(
        postgres_store.edit(path, Append(content="note"), max_chars=MAX_CHARS)
    )
    await held.waiting(1)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    await held.waiting(0)
    await held.commit()
    assert await content_of(postgres_store, path) == "start\n"


async def test_server_that_does_not_answer_is_given_up(
    migrated_url: str, path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A server behind a dead wire is an error that can be retried, for reads and mutations."""
    folder = Path(tmp_path_factory.mktemp("w"))
    async with (
        wire(migrated_url, folder) as laid,
        await create_pool(laid.url, max_size=2, connect_timeout=1) as pool,
    ):
        patient, store = PostgresMemoryStore(pool), PostgresMemoryStore(pool, timeout=0.3)
        await patient.write(path, "text", expected_version=None)
        laid.mute()
        with pytest.raises(MemoryStoreUnavailable):
            await store.read(path, max_chars=10)
        with pytest.raises(MemoryStoreUnavailable):
            await store.edit(path, Append(content="note"), max_chars=MAX_CHARS)
        laid.cut()
        assert await content_of(patient, path) is not None
