"""Many at once on PostgreSQL: writers of one file, arrivals of one operation, lost connections.

Backends are held up by row locks and seen to wait before the next thing happens, so that what is
meant to overlap does.
"""

from __future__ import annotations

import asyncio
import random
from itertools import chain
from pathlib import Path

import asyncpg
import pytest
from backends import LOCK_RECEIPT, Beside
from wires import wire

from durable_memory.notebook import (
    Append,
    Edit,
    MemoryConflictError,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryRefusal,
    MemoryStoreUnavailable,
    Remove,
    Replace,
    apply_splice,
)
from durable_memory.stores import (
    MemoryMutation,
    MemoryOperation,
    MemoryVersion,
    PostgresMemoryStore,
    create_pool,
)
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_operation, reused

MAX_CHARS = 65_536
SETTLE = "SELECT * FROM durable_memory.settle_v1($1, $2, '', '', 0)"


def edit(
    store: PostgresMemoryStore, path: str, edit: Edit, operation: MemoryOperation | None = None
) -> asyncio.Task[MemoryMutation]:
    """Begin an edit."""
    call = store.edit(path, edit, max_chars=MAX_CHARS, operation=operation)
    return asyncio.ensure_future(call)


async def forwards(store: PostgresMemoryStore, path: str) -> list[tuple[MemoryVersion, str | None]]:
    """Return every step of a file with the text it made, from the first step on."""
    steps = (await store.history(path, limit=10_000))[::-1]
    text: str | None = None
    made: list[tuple[MemoryVersion, str | None]] = []
    for step in steps:
        assert step.existed_before == (text is not None)
        text = apply_splice(text or "", step.change)
        if not step.exists:
            assert text == ""
            text = None
        made.append((step, text))
    return made


async def test_32_writers_of_one_file_lose_nothing(
    postgres_store: PostgresMemoryStore, path: str
) -> None:
    """Every append of 32 writers lands once, and every version is rebuilt from the history."""
    operations = {f"writer {w} line {n}": new_operation() for w in range(32) for n in range(5)}

    async def writer(number: int) -> list[tuple[str, MemoryMutation]]:
        return [
            (line, await edit(postgres_store, path, Append(content=line), operations[line]))
            for line in (f"writer {number} line {n}" for n in range(5))
        ]

    done = dict(chain.from_iterable(await asyncio.gather(*map(writer, range(32)))))
    made = await forwards(postgres_store, path)
    lines = [step.change.added.removesuffix("\n") for step, _ in made]
    assert sorted(lines) == sorted(operations)
    versions = [int(step.version) for step, _ in made]
    assert versions == sorted(set(versions))
    for line, (step, text) in zip(lines, made, strict=True):
        assert step.version == done[line].version
        assert step.operation_id == operations[line].id
        assert done[line].existed == step.existed_before
        rebuilt = await postgres_store.read_version(path, step.version)
        assert rebuilt is not None
        assert rebuilt.content == text
    assert await content_of(postgres_store, path) == made[-1][1]


async def test_32_writers_of_every_kind_leave_a_whole_history(
    postgres_store: PostgresMemoryStore, path: str
) -> None:
    """Appends, replacements, whole writes and removals at once make one chain of versions."""

    async def writer(number: int) -> None:
        rng = random.Random(number)
        for step in range(6):
            kind = rng.choice(["append", "append", "replace", "write", "remove"])
            try:
                await asyncio.wait_for(act(kind, f"{number}.{step}"), 60)
            except (MemoryConflictError, MemoryRefusal):
                continue

    async def act(kind: str, mark: str) -> None:
        operation = new_operation()
        if kind == "append":
            await edit(postgres_store, path, Append(content=f"[{mark}]"), operation)
        elif kind == "replace":
            await edit(postgres_store, path, Replace(old_text="[1.0]", content=mark), operation)
        elif kind == "remove":
            await edit(postgres_store, path, Remove(), operation)
        else:
            found = await postgres_store.read(path, max_chars=MAX_CHARS)
            version = found.version if found else None
            await postgres_store.write(
                path, f"whole [{mark}]\n", expected_version=version, operation=operation
            )

    await asyncio.gather(*map(writer, range(32)))
    made = await forwards(postgres_store, path)
    versions = [int(step.version) for step, _ in made]
    assert versions == sorted(set(versions))
    for step, text in made:
        rebuilt = await postgres_store.read_version(path, step.version)
        assert (rebuilt and rebuilt.content) == text
    assert await content_of(postgres_store, path) == made[-1][1]


async def test_operation_arriving_twice_at_once_is_applied_once(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """The second arrival waits for the first one's receipt, and answers with it."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    first = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(1)
    second = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(2)
    await held.commit()
    assert not (await first).replayed
    assert (await second).replayed
    assert (await first).version == (await second).version
    assert await content_of(postgres_store, path) == "start\nnote\n"


async def test_operation_reused_while_it_is_applied_is_a_conflict(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """Other arguments under the same id wait for the first arrival, and then are an error."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    first = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(1)
    second = edit(postgres_store, path, Append(content="other"), reused(operation))
    await held.waiting(2)
    await held.commit()
    await first
    with pytest.raises(MemoryOperationConflictError):
        await second
    assert await content_of(postgres_store, path) == "start\nnote\n"


async def test_two_creators_of_one_file_both_append(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """Of two appends to a file that is just being made, the second waits and comes after."""
    scope, _, name = path.rpartition("/")
    await held.hold_query(
        "SELECT * FROM durable_memory.mutate_v1('append', '_notebooks', $1, '', $2, true, NULL,"
        " 'first', NULL, NULL, 1000, NULL, NULL, '', '', NULL)",
        scope,
        name,
    )
    second = edit(postgres_store, path, Append(content="second"))
    await held.waiting(1)
    await held.commit()
    assert (await second).existed
    assert await content_of(postgres_store, path) == "first\nsecond\n"


async def test_creator_that_is_rolled_back_leaves_the_file_to_the_next(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An append that waits for a creation which is undone makes the file itself."""
    scope, _, name = path.rpartition("/")
    await held.hold_query(
        "INSERT INTO durable_memory.documents (store, actor, path, version)"
        " VALUES ('_notebooks', $1, $2, 0)",
        scope,
        name,
    )
    second = edit(postgres_store, path, Append(content="second"))
    await held.waiting(1)
    await held.roll_back()
    assert not (await second).existed
    assert await content_of(postgres_store, path) == "second\n"


async def test_connection_killed_in_a_mutation_leaves_nothing(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """A mutation whose backend is ended is an error that can be retried, and changed nothing."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    attempt = edit(postgres_store, path, Append(content="note"), operation)
    (pid,) = await held.waiting(1)
    await held.terminate(pid)
    with pytest.raises(MemoryStoreUnavailable) as fault:
        await attempt
    assert fault.value.__cause__ is not None
    await held.commit()
    assert await postgres_store.get_operation(operation) is None
    again = await edit(postgres_store, path, Append(content="note"), operation)
    assert not again.replayed
    assert await content_of(postgres_store, path) == "start\nnote\n"


async def test_second_arrival_takes_over_from_a_killed_one(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An arrival that waited for a receipt which is rolled back applies the operation itself."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    first = edit(postgres_store, path, Append(content="note"), operation)
    (pid,) = await held.waiting(1)
    second = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(2)
    await held.terminate(pid)
    with pytest.raises(MemoryStoreUnavailable):
        await first
    await held.waiting(1)
    await held.commit()
    assert not (await second).replayed
    assert await content_of(postgres_store, path) == "start\nnote\n"


async def test_answer_lost_after_the_commit_is_found_by_the_next_arrival(
    migrated_url: str, path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """When the connection is lost between commit and answer, the receipt answers the retry."""
    operation = new_operation()
    folder = Path(tmp_path_factory.mktemp("w"))
    async with (
        wire(migrated_url, folder) as laid,
        await create_pool(laid.url, max_size=1) as pool,
    ):
        store = PostgresMemoryStore(pool)
        await edit(store, path, Append(content="start"))
        laid.mute()
        attempt = edit(store, path, Append(content="note"), operation)
        await laid.answered.wait()
        laid.cut()
        with pytest.raises(MemoryStoreUnavailable):
            await attempt
        again = await edit(store, path, Append(content="note"), operation)
        assert again.replayed
        assert await content_of(store, path) == "start\nnote\n"


async def test_settling_waits_for_an_attempt_that_lands(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An operation that is being applied while it is settled is settled as applied."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    attempt = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(1)
    settling = asyncio.ensure_future(postgres_store.settle(operation))
    await held.waiting(2)
    await held.commit()
    settled = await settling
    assert not settled.abandoned
    assert settled.version == (await attempt).version


async def test_settling_waits_for_an_attempt_that_is_rolled_back(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An operation whose attempt fails while it is settled is abandoned for good."""
    await postgres_store.write(path, "start\n", expected_version=None)
    operation = new_operation()
    await held.hold(path)
    attempt = edit(postgres_store, path, Append(content="note"), operation)
    (pid,) = await held.waiting(1)
    settling = asyncio.ensure_future(postgres_store.settle(operation))
    await held.waiting(2)
    await held.terminate(pid)
    with pytest.raises(MemoryStoreUnavailable):
        await attempt
    assert (await settling).abandoned
    await held.commit()
    with pytest.raises(MemoryOperationAbandonedError):
        await edit(postgres_store, path, Append(content="note"), operation)
    assert await content_of(postgres_store, path) == "start\n"


async def test_attempt_waits_for_a_settlement_under_way(
    postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """An attempt that arrives while its operation is settled as abandoned is refused."""
    operation = new_operation()
    await held.hold_query(SETTLE, operation.id, operation.fingerprint)
    attempt = edit(postgres_store, path, Append(content="note"), operation)
    await held.waiting(1)
    await held.commit()
    with pytest.raises(MemoryOperationAbandonedError):
        await attempt
    assert await content_of(postgres_store, path) is None


async def test_settling_gives_up_on_an_attempt_that_does_not_end(
    pool: asyncpg.Pool, postgres_store: PostgresMemoryStore, held: Beside
) -> None:
    """A settlement that waits too long is an error that can be retried."""
    operation = new_operation()
    await held.hold_query(LOCK_RECEIPT, operation.id, operation.fingerprint)
    impatient = PostgresMemoryStore(pool, timeout=0.2)
    with pytest.raises(MemoryStoreUnavailable):
        await impatient.settle(operation)
    await held.roll_back()
    assert (await postgres_store.settle(operation)).abandoned


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_pool_with_a_stricter_isolation_loses_nothing(
    migrated_url: str, held: Beside, path: str, isolation: str
) -> None:
    """On a caller's pool that defaults to stricter rules, races are repeated under the right ones.

    The pool is asyncpg's own, with nothing set but the isolation.
    """
    settings = {"default_transaction_isolation": isolation}
    async with asyncpg.create_pool(migrated_url, max_size=16, server_settings=settings) as pool:
        store = PostgresMemoryStore(pool)
        operation = new_operation()
        await edit(store, path, Append(content="start"))
        await held.hold(path)
        waiting = [edit(store, path, Append(content=f"line {n}")) for n in range(13)]
        twice = [edit(store, path, Append(content="once"), operation) for _ in range(2)]
        await held.waiting(15)
        scope, _, name = path.rpartition("/")
        await held.holder.execute(
            "UPDATE durable_memory.documents SET updated_at = now() WHERE actor = $1 AND path = $2",
            scope,
            name,
        )
        await held.commit()
        await asyncio.gather(*waiting)
        assert sorted([arrival.replayed for arrival in await asyncio.gather(*twice)]) == [
            False,
            True,
        ]
        content = await content_of(store, path)
        assert content is not None
        expected = ["start", "once", *(f"line {n}" for n in range(13))]
        assert sorted(content.splitlines()) == sorted(expected)


async def test_operations_of_one_file_pass_through_a_transaction_pooling_client(
    migrated_url: str, path: str
) -> None:
    """With the statement cache off, concurrent appends all land as well."""
    pool = await create_pool(migrated_url, max_size=8, transaction_pooling=True)
    async with pool:
        store = PostgresMemoryStore(pool)
        await asyncio.gather(*(edit(store, path, Append(content=f"line {n}")) for n in range(24)))
        content = await content_of(store, path)
        assert content is not None
        assert sorted(content.splitlines()) == sorted(f"line {n}" for n in range(24))
