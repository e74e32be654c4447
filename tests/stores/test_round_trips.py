"""Round trips, counted at the wire, with what the pool sends when a connection comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from wires import Wire, wire

from durable_memory.notebook import Append, Remove, Replace
from durable_memory.stores import PostgresMemoryStore, create_pool
from durable_memory.testing.samples import new_operation, new_scope

MAX_CHARS = 65_536


@pytest_asyncio.fixture
async def laid(migrated_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    """A wire to the shared database."""
    async with wire(migrated_url, Path(tmp_path_factory.mktemp("w"))) as through:
        yield through


@pytest_asyncio.fixture
async def wired(laid: Wire) -> AsyncIterator[PostgresMemoryStore]:
    """A store whose one connection goes over the wire."""
    async with await create_pool(laid.url, min_size=1, max_size=1) as pool:
        yield PostgresMemoryStore(pool)


async def _append(store: PostgresMemoryStore, path: str) -> None:
    deadline = datetime.now(UTC) + timedelta(minutes=1)
    await store.edit(
        path,
        Append(content="note"),
        max_chars=MAX_CHARS,
        operation=new_operation(),
        deadline=deadline,
    )


async def _replace(store: PostgresMemoryStore, path: str) -> None:
    await store.write(path, "[old]", expected_version=None)
    await store.edit(
        path,
        Replace(old_text="[old]", content="[new]"),
        max_chars=MAX_CHARS,
        operation=new_operation(),
    )


async def test_append_is_one_round_trip(wired: PostgresMemoryStore, laid: Wire) -> None:
    """An append, receipt and deadline included, is one round trip, also to a new file."""
    scope = new_scope()
    await _append(wired, scope.path("warm.md"))
    laid.round_trips()
    await _append(wired, scope.path("new.md"))
    assert laid.round_trips() == 1
    await _append(wired, scope.path("new.md"))
    assert laid.round_trips() == 1


async def test_replace_is_two_round_trips(wired: PostgresMemoryStore, laid: Wire) -> None:
    """A replacement reads and splices; its receipt is asked for with the read."""
    scope = new_scope()
    await _replace(wired, scope.path("warm.md"))
    await wired.write(scope.path("a.md"), "[old]", expected_version=None)
    operation = new_operation()
    edit = Replace(old_text="[old]", content="[new]")
    laid.round_trips()
    await wired.edit(scope.path("a.md"), edit, max_chars=MAX_CHARS, operation=operation)
    assert laid.round_trips() == 2
    await wired.edit(scope.path("a.md"), edit, max_chars=MAX_CHARS, operation=operation)
    assert laid.round_trips() == 1


async def test_every_other_call_is_one_round_trip(wired: PostgresMemoryStore, laid: Wire) -> None:
    """Snapshots, reads, listings, searches, removals, receipts and settling are one each."""
    scope, operation = new_scope(), new_operation()
    path = scope.path("a.md")

    async def calls() -> AsyncIterator[object]:
        yield await wired.write(path, "text", expected_version=None)
        yield await wired.view(scope.prefix, tail_chars=100, max_names=10)
        yield await wired.read(path, max_chars=100)
        yield await wired.list_paths(scope.prefix, limit=10)
        yield await wired.search(
            scope.prefix, "text", limit=10, max_files=10, max_chars=1000, max_file_chars=1000
        )
        yield (steps := await wired.history(path, limit=10))
        yield await wired.read_version(path, steps[0].version)
        yield await wired.get_operation(operation)
        yield await wired.settle(operation)
        yield await wired.edit(path, Remove(), max_chars=MAX_CHARS, operation=new_operation())

    _ = [called async for called in calls()]
    laid.round_trips()
    assert [laid.round_trips() async for _ in calls()] == [1] * 10


async def test_proxy_that_pools_transactions_costs_one_more(laid: Wire) -> None:
    """With the statement cache off a statement is prepared anew for each call."""
    scope = new_scope()
    pool = await create_pool(laid.url, min_size=1, max_size=1, transaction_pooling=True)
    async with pool:
        store = PostgresMemoryStore(pool)
        await _append(store, scope.path("warm.md"))
        laid.round_trips()
        await _append(store, scope.path("a.md"))
        assert laid.round_trips() == 2


async def test_search_moves_bounded_text(wired: PostgresMemoryStore, laid: Wire) -> None:
    """What a search moves is bounded by what it shows, however large the files are."""
    scope = new_scope()
    for number in range(10):
        text = "walrus " + "filler " * 9000 + str(number)
        await wired.write(scope.path(f"{number}.md"), text, expected_version=None)
    before = laid.received
    await wired.search(
        scope.prefix, "walrus", limit=10, max_files=10, max_chars=4000, max_file_chars=65_536
    )
    assert laid.received - before < 64 * 1024
