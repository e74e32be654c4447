"""The SQLite store's database: its own file, or a connection of the caller's."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from moments import until_after
from store_child import PATH, run_child

from durable_memory.notebook import (
    Append,
    InvalidMemoryRequest,
    MemoryDeadlineExceeded,
    MemoryFault,
    MemoryStoreUnavailable,
)
from durable_memory.stores import SqliteMemoryStore
from durable_memory.testing.base import content_of, existing
from durable_memory.testing.samples import new_operation, past

SEARCH = {"limit": 1, "max_files": 1, "max_chars": 100, "max_file_chars": 100}
CALLS: dict[str, Callable[[SqliteMemoryStore], Awaitable[object]]] = {
    "read": lambda store: store.read(PATH, max_chars=10),
    "get_operation": lambda store: store.get_operation(new_operation()),
    "write": lambda store: store.write(PATH, "text", expected_version=None),
    "delete": lambda store: store.delete(PATH, expected_version=None),
    "list_paths": lambda store: store.list_paths(limit=10),
    "settle": lambda store: store.settle(new_operation()),
    "edit": lambda store: store.edit(PATH, Append(content="text"), max_chars=10),
    "view": lambda store: store.view("acme/support/", tail_chars=10, max_names=10),
    "search": lambda store: store.search("acme/support/", "walrus", **SEARCH),
    "history": lambda store: store.history(PATH, limit=10),
    "read_version": lambda store: store.read_version(PATH, "1"),
    "restore": lambda store: store.restore(PATH, "1", expected_version=None),
    "sweep_receipts": lambda store: store.sweep_receipts(),
}
"""Every call of the store."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "memory.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of the caller's."""
    with closing(sqlite3.connect(path, check_same_thread=False)) as opened:
        yield opened


@pytest_asyncio.fixture
async def borrowing(connection: sqlite3.Connection) -> AsyncIterator[SqliteMemoryStore]:
    """A store on the caller's connection, with one file in it."""
    async with SqliteMemoryStore(connection=connection) as store:
        await store.write(PATH, "start\n", expected_version=None)
        yield store


@pytest_asyncio.fixture
async def store(path: Path) -> AsyncIterator[SqliteMemoryStore]:
    """A store with a database of its own, with one file in it."""
    async with SqliteMemoryStore(path) as opened:
        await opened.write(PATH, "start\n", expected_version=None)
        yield opened


def test_every_call_is_tried() -> None:
    """The table of calls has every public method."""
    public = {name for name in vars(SqliteMemoryStore) if not name.startswith("_")}
    assert public - {"close"} == set(CALLS)


@pytest.mark.parametrize("call", CALLS)
async def test_connection_in_a_transaction_is_refused(
    borrowing: SqliteMemoryStore, connection: sqlite3.Connection, call: str
) -> None:
    """A call inside the caller's transaction is refused, and the transaction is left as it was."""
    connection.execute("CREATE TABLE theirs (x)")
    connection.execute("INSERT INTO theirs VALUES (1)")
    assert connection.in_transaction
    with pytest.raises(InvalidMemoryRequest, match="inside a transaction"):
        await CALLS[call](borrowing)
    assert connection.in_transaction
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM theirs").fetchone() == (0,)
    assert await content_of(borrowing, PATH) == "start\n"


@pytest.mark.parametrize("call", CALLS)
async def test_connection_is_idle_after_every_call(
    borrowing: SqliteMemoryStore, connection: sqlite3.Connection, call: str
) -> None:
    """Whatever a call does or raises, it leaves no transaction open."""
    # Some calls are refused: what they look for is not there.
    with suppress(MemoryFault):
        await CALLS[call](borrowing)
    assert not connection.in_transaction


async def test_connection_stays_open(
    borrowing: SqliteMemoryStore, connection: sqlite3.Connection
) -> None:
    """Closing the store does not close what is the caller's."""
    await borrowing.close()
    assert connection.execute("SELECT count(*) FROM documents").fetchone() == (1,)


async def test_connection_of_another_thread_is_refused(path: Path) -> None:
    """A connection that belongs to one thread is an error that says how to make another."""
    with closing(sqlite3.connect(path)) as connection:
        async with SqliteMemoryStore(connection=connection) as store:
            with pytest.raises(InvalidMemoryRequest, match="check_same_thread=False"):
                await store.read(PATH, max_chars=1)


async def test_closed_connection_is_refused(
    borrowing: SqliteMemoryStore, connection: sqlite3.Connection
) -> None:
    """A connection that the caller has closed is an error that says so."""
    connection.close()
    with pytest.raises(InvalidMemoryRequest, match="is closed"):
        await borrowing.read(PATH, max_chars=1)


async def test_settings_of_the_caller_do_not_matter(
    borrowing: SqliteMemoryStore, connection: sqlite3.Connection
) -> None:
    """Rows, isolation and traces of the caller's are not in the way, and stay."""
    connection.row_factory = lambda _cursor, _row: "theirs"
    connection.isolation_level = None
    await borrowing.edit(PATH, Append(content="line"), max_chars=100)
    assert await content_of(borrowing, PATH) == "start\nline\n"
    assert connection.execute("SELECT 1").fetchone() == "theirs"
    connection.text_factory = bytes
    with pytest.raises(InvalidMemoryRequest, match="text_factory"):
        await borrowing.read(PATH, max_chars=1)


async def test_deadline_is_compared_after_the_caller_s_wait(
    borrowing: SqliteMemoryStore, path: Path
) -> None:
    """On a connection that waits longer than the deadline, a late mutation changes nothing."""
    operation = new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=100)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        call = borrowing.edit(
            PATH, Append(content="late"), max_chars=100, operation=operation, deadline=deadline
        )
        waiting = asyncio.ensure_future(call)
        await until_after(deadline)
        other.execute("ROLLBACK")
        with pytest.raises(MemoryDeadlineExceeded):
            await waiting
    assert await content_of(borrowing, PATH) == "start\n"
    assert await borrowing.get_operation(operation) is None


def test_store_takes_a_path_or_a_connection(connection: sqlite3.Connection) -> None:
    """Neither and both are refused, and so is a path that names no file."""
    with pytest.raises(InvalidMemoryRequest):
        SqliteMemoryStore()
    with pytest.raises(InvalidMemoryRequest):
        SqliteMemoryStore("a.db", connection=connection)
    for name in ("", ":memory:"):
        with pytest.raises(InvalidMemoryRequest, match="without a file"):
            SqliteMemoryStore(name)


async def test_own_database_is_safe_from_a_loss_of_power(
    store: SqliteMemoryStore, path: Path
) -> None:
    """It is in WAL mode, and its commits wait for the disk."""
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    lent = store._database.connections  # type: ignore[attr-defined]
    with lent.borrow() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


async def test_database_replaced_under_an_open_store_is_opened_again(
    store: SqliteMemoryStore, path: Path
) -> None:
    """What is written goes to the file that has the name, never to one that is gone."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink()
    assert await store.read(PATH, max_chars=10) is None
    await store.write(PATH, "anew", expected_version=None)
    async with SqliteMemoryStore(path) as other:
        assert await content_of(other, PATH) == "anew"


async def test_database_of_another_program_is_left_alone(path: Path) -> None:
    """A database with other tables is refused, and not changed."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE documents (x)")
        other.commit()
        async with SqliteMemoryStore(path) as store:
            with pytest.raises(MemoryStoreUnavailable, match="another program"):
                await store.write(PATH, "text", expected_version=None)
        assert other.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (1,)


async def test_database_of_a_newer_release_is_left_alone(
    store: SqliteMemoryStore, path: Path
) -> None:
    """A worker that is too old says so."""
    await store.close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 1000")
    with pytest.raises(MemoryStoreUnavailable, match="newer release"):
        await store.read(PATH, max_chars=10)


async def test_damaged_database_is_an_error(store: SqliteMemoryStore, path: Path) -> None:
    """A file that is no database is an error that says what to do."""
    await store.close()
    path.write_bytes(b"damaged" * 1000)
    with pytest.raises(MemoryStoreUnavailable, match="backup"):
        await store.read(PATH, max_chars=10)


async def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    """A database is not made in a folder that does not exist."""
    async with SqliteMemoryStore(tmp_path / "missing" / "memory.db") as store:
        with pytest.raises(MemoryStoreUnavailable, match="check that its directory exists"):
            await store.write(PATH, "text", expected_version=None)


async def test_database_that_cannot_be_written_is_read(open_folder: Path) -> None:
    """A user who may only read does, and is told what to do to write."""
    path = open_folder / "memory.db"
    known = new_operation()
    async with SqliteMemoryStore(path) as store:
        await store.write(PATH, "one", expected_version=None, operation=known)
        open_folder.chmod(0o555)
        live = run_child("read-only", f"sqlite://{path}")
    closed = run_child("read-only", f"sqlite://{path}")
    for text, listed, told, new, _, after in (live, closed):
        assert (text, listed, after) == ("one", PATH, "one")
        assert told.startswith("MemoryStoreUnavailable: The database cannot be written")
        assert new.startswith("MemoryStoreUnavailable: The database cannot be written")


async def test_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A write that finds no room fails and changes nothing, and succeeds when there is room."""
    told, after, receipt, replayed, again = run_child("full", f"sqlite://{tmp_path}/m.db", "200000")
    assert told.startswith("MemoryStoreUnavailable: The disk")
    assert (after, receipt, replayed, again) == ("start\n", None, "False", "room again\n")


async def test_history_outlives_the_process(store: SqliteMemoryStore, path: Path) -> None:
    """Every version can be read and restored by the next one that opens the database."""
    first = await existing(store, PATH)
    await store.edit(PATH, Append(content="line"), max_chars=100)
    await store.close()
    async with SqliteMemoryStore(path) as other:
        old = await other.read_version(PATH, first.version)
        assert old is not None
        assert old.content == "start\n"


async def test_receipt_answers_after_the_deadline(store: SqliteMemoryStore) -> None:
    """What was applied in time is answered at any time."""
    operation = new_operation()
    line = Append(content="line")
    await store.edit(PATH, line, max_chars=100, operation=operation)
    again = await store.edit(PATH, line, max_chars=100, operation=operation, deadline=past())
    assert again.replayed
