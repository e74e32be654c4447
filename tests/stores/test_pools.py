"""Pools, the driver's errors, and what the table can hold."""

from __future__ import annotations

import asyncio
import random
import string
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from backends import Beside, SingleConnection

from durable_memory.notebook import (
    Append,
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryFault,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryStoreRefused,
    MemoryStoreUnavailable,
    Replace,
)
from durable_memory.stores import (
    InMemoryStore,
    PostgresMemoryStore,
    PostgresTokenStore,
    check_store_url,
    create_pool,
    migrate,
    open_store,
)
from durable_memory.stores.postgres.errors import translate, translated
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_operation, new_scope

SETTINGS = "SELECT current_setting($1)"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("application_name", "memory test"),
        ("default_transaction_isolation", "read committed"),
        ("statement_timeout", "7s"),
        ("idle_in_transaction_session_timeout", "7s"),
        ("jit", "off"),
    ],
)
async def test_our_pools_are_set_for_the_store(migrated_url: str, name: str, value: str) -> None:
    """Every connection of our pools has the store's settings."""
    opened = await create_pool(migrated_url, application_name="memory test", statement_timeout=7)
    async with opened as pool:
        assert await pool.fetchval(SETTINGS, name) == value


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"min_size": 11}, "min_size"),
        ({"min_size": -1}, "min_size"),
        ({"max_size": 0}, "max_size"),
        ({"connect_timeout": 0}, "connect_timeout"),
        ({"statement_timeout": -1}, "statement_timeout"),
    ],
    ids=str,
)
async def test_each_mistake_is_named(wrong: dict[str, Any], named: str) -> None:
    """A size or a time that cannot be is said to be so, and the URL is not blamed for it."""
    with pytest.raises(InvalidMemoryRequest, match=named) as error:
        await create_pool("postgresql://nobody@127.0.0.1:1/none", **wrong)
    assert "URL" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "banana",
        "mysql://user:hunter2@db/memory",
        "postgresql:db",
        "postgresql://user:hunter2@db:port/memory",
        "postgresql://user:hunter2@db:99999/memory",
        "postgresql://user:hunter2@[db/memory",
        "postgresql://user:hunter2@db/memory?port=many",
        "postgresql://user:hunter2@db/memory?sslmode=hunter2",
    ],
)
@pytest.mark.parametrize("use", [create_pool, migrate])
async def test_url_that_is_none_is_not_repeated(
    url: str, use: Callable[[str], Awaitable[object]]
) -> None:
    """A URL that is none is named as such, without the password that it may hold."""
    with pytest.raises(InvalidMemoryRequest, match="URL") as error:
        await use(url)
    assert "hunter2" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "postgres:///memory?host=/tmp&port=5432",
        "postgresql://user@one:5432,two:5433/memory",
        "postgresql://user@[::1]:5432/memory",
    ],
)
def test_urls_with_several_hosts_sockets_and_ipv6_are_urls(url: str) -> None:
    """What the driver connects to is not refused."""
    check_store_url(url)


async def test_proxy_is_sent_no_settings(migrated_url: str) -> None:
    """A pool for a proxy that pools transactions asks for nothing that such a proxy refuses."""
    opened = await create_pool(migrated_url, transaction_pooling=True)
    async with opened as pool:
        assert await pool.fetchval(SETTINGS, "application_name") == "durable-memory"
        assert await pool.fetchval(SETTINGS, "statement_timeout") == "0"
        async with pool.acquire() as connection:
            assert connection._con._stmt_cache.get_max_size() == 0


async def test_any_pool_of_that_shape_will_do(migrated_url: str) -> None:
    """The store needs no more of a pool than its protocol says."""
    connection = await asyncpg.connect(migrated_url)
    store = PostgresMemoryStore(SingleConnection(connection))
    path = new_scope().path("notes.md")
    await store.edit(path, Append(content="one"), max_chars=100, operation=new_operation())
    await store.edit(path, Replace(old_text="one", content="two"), max_chars=100)
    assert await content_of(store, path) == "two\n"
    await connection.close()


async def test_pool_that_is_closed_is_unavailable(migrated_url: str) -> None:
    """A store whose pool was closed raises an error that can be retried elsewhere."""
    pool = await create_pool(migrated_url)
    await pool.close()
    with pytest.raises(MemoryStoreUnavailable):
        await PostgresMemoryStore(pool).read("agent/notes.md", max_chars=1)


async def test_store_recovers_when_its_connections_are_lost(
    migrated_url: str, pool: asyncpg.Pool
) -> None:
    """After every connection was ended by the server, the store works again."""
    opened = await create_pool(migrated_url, min_size=2, application_name="to be ended")
    async with opened as ended:
        store = PostgresMemoryStore(ended)
        await pool.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = 'to be ended'"
        )
        path = new_scope().path("notes.md")
        for _ in range(3):
            try:
                await store.write(path, "text", expected_version=None)
                break
            except MemoryStoreUnavailable:
                continue
        assert await content_of(store, path) == "text"


async def test_database_without_a_connection_left_is_unavailable(
    migrated_url: str, pool: asyncpg.Pool
) -> None:
    """A limit that is used up is named as such: a retry may find a connection."""
    role = f"limited_{uuid.uuid4().hex}"
    await pool.execute(f'CREATE ROLE "{role}" LOGIN CONNECTION LIMIT 1')
    url = migrated_url.replace("postgres:@", f"{role}:@")
    first = await asyncpg.connect(url)
    with pytest.raises(MemoryStoreUnavailable, match="no connection left"):
        await create_pool(url)
    await first.close()
    await pool.execute(f'DROP ROLE "{role}"')


async def test_read_only_database_is_unavailable(migrated_url: str) -> None:
    """A standby is named as such: a retry may find the primary."""
    settings = {"default_transaction_read_only": "on"}
    async with asyncpg.create_pool(migrated_url, min_size=1, server_settings=settings) as pool:
        store = PostgresMemoryStore(pool)
        with pytest.raises(MemoryStoreUnavailable, match="read-only"):
            await store.write(new_scope().path("a.md"), "text", expected_version=None)


class StateError(Exception):
    """A driver's error, as far as it is looked at."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("the driver's words")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StateError("DM001"), MemoryConflictError),
        (StateError("DM002"), MemoryOperationConflictError),
        (StateError("DM003"), MemoryOperationAbandonedError),
        (StateError("DM004"), MemoryDeadlineExceeded),
        (StateError("23514"), InvalidMemoryRequest),
        (StateError("40001"), MemoryStoreUnavailable),
        (StateError("3D000"), MemoryStoreRefused),
        (StateError("28P01"), MemoryStoreRefused),
        (StateError("53300"), MemoryStoreUnavailable),
        (StateError("57014"), MemoryStoreUnavailable),
        (StateError("57P01"), MemoryStoreUnavailable),
        (StateError("XX000"), MemoryStoreUnavailable),
        (ConnectionResetError("reset by peer"), MemoryStoreUnavailable),
        (TimeoutError("timed out"), MemoryStoreUnavailable),
        (asyncpg.InterfaceError("pool is closed"), MemoryStoreUnavailable),
        (asyncpg.InternalClientError("out of step"), MemoryStoreUnavailable),
        (asyncpg.ConnectionDoesNotExistError("gone"), MemoryStoreUnavailable),
    ],
    ids=lambda each: getattr(each, "sqlstate", None) or getattr(each, "__name__", repr(each)),
)
def test_driver_errors_become_the_projects(error: Exception, expected: type[MemoryFault]) -> None:
    """Every error of a driver has one meaning, and keeps its cause but not its words."""
    with pytest.raises(expected) as fault, translated():
        raise error
    assert type(fault.value) is expected
    assert fault.value.__cause__ is error
    assert str(error) not in str(fault.value)


@pytest.mark.parametrize("text", ["secret\0", "\ud800secret"])
async def test_malformed_value_is_refused_and_not_quoted(pool: asyncpg.Pool, text: str) -> None:
    """Text that no database takes is refused for ever, and the driver's words for it stay here."""
    with pytest.raises(InvalidMemoryRequest) as fault:
        await PostgresTokenStore(pool).find_token(text)
    assert fault.value.__cause__ is None
    assert "secret" not in str(fault.value)


async def test_timeout_bounds_all_waits_of_a_call(
    migrated_url: str, postgres_store: PostgresMemoryStore, held: Beside, path: str
) -> None:
    """The wait for a connection and that for a row have one budget."""
    await postgres_store.write(path, "start\n", expected_version=None)
    await held.hold(path)
    async with asyncpg.create_pool(migrated_url, min_size=1, max_size=1) as single:
        lent = await single.acquire()
        began = time.monotonic()
        store = PostgresMemoryStore(single, timeout=1.0)
        waiting = asyncio.ensure_future(store.edit(path, Append(content="x"), max_chars=100))
        asyncio.get_running_loop().call_later(0.7, asyncio.ensure_future, single.release(lent))
        with pytest.raises(MemoryStoreUnavailable):
            await waiting
        assert time.monotonic() - began < 1.6
    await held.commit()


def test_errors_of_nobody_pass() -> None:
    """A mistake of the program's own is not dressed up as the database's."""
    assert translate(KeyError("x")) is None
    with pytest.raises(KeyError), translated():
        raise KeyError("x")


async def test_no_error_quotes_what_is_stored(pool: asyncpg.Pool) -> None:
    """The database quotes the row that it refuses: that is not carried on."""
    with pytest.raises(InvalidMemoryRequest) as fault, translated():
        await pool.execute(
            "INSERT INTO durable_memory.documents (store, actor, path, version, content)"
            " VALUES ('', $1, $2, 0, $3)",
            "the actor",
            "the path",
            "the secret",
        )
    cause = fault.value.__cause__
    assert isinstance(cause, asyncpg.CheckViolationError)
    for word in ("the actor", "the path", "the secret"):
        assert word not in str(cause)
        assert word not in repr(vars(cause))


def _random(characters: str, length: int) -> str:
    rng = random.Random(length)
    return "".join(rng.choices(characters, k=length))


async def test_longest_path_can_be_stored(postgres_store: PostgresMemoryStore) -> None:
    """A key and a name of the greatest lengths fit the index, however random they are."""
    segments = [_random(string.ascii_letters + string.digits, 199) for _ in range(5)]
    name = _random("가나다라마바사아자차카타파하", 66)
    path = f"{'/'.join(segments)}/{name}"
    await postgres_store.write(path, "text", expected_version=None)
    assert await content_of(postgres_store, path) == "text"


@pytest.mark.parametrize(
    ("column", "longest"), [("store", 64), ("actor", 1000), ("session", 500), ("path", 1000)]
)
async def test_parts_of_a_key_are_bounded_in_bytes(
    pool: asyncpg.Pool, column: str, longest: int
) -> None:
    """All parts at their greatest length fit the index together, and none may be longer."""
    lengths = {"store": 64, "actor": 1000, "session": 500, "path": 1000}
    insert = (
        "INSERT INTO durable_memory.documents (store, actor, session, path, version)"
        " VALUES ($1, $2, $3, $4, 0)"
    )
    letters = string.ascii_letters + string.digits
    parts = {name: (column + _random(letters, length))[:length] for name, length in lengths.items()}
    await pool.execute(insert, *parts.values())
    parts[column] = _random("é", longest // 2) + "xx"
    with pytest.raises(asyncpg.CheckViolationError):
        await pool.execute(insert, *parts.values())


def test_importing_the_stores_imports_no_driver() -> None:
    """Whoever uses the in-memory store does not pay for the driver, nor for Temporal."""
    program = (
        "import sys, durable_memory.stores;"
        "sys.exit(any(name in sys.modules for name in ('asyncpg', 'temporalio', 'pytest')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_store_is_opened_by_its_url(empty_database_url: str) -> None:
    """A URL names the store, its schema is made, and its pool closed in the end."""
    async with open_store("memory:") as store:
        assert isinstance(store, InMemoryStore)
    async with open_store(empty_database_url) as store:
        assert isinstance(store, PostgresMemoryStore)
        await store.write("agent/notes.md", "text", expected_version=None)
    with pytest.raises(MemoryStoreUnavailable):
        await store.read("agent/notes.md", max_chars=1)


@pytest.mark.parametrize("url", ["", "memories", "mysql://secret@host/x", "/secret/path"])
async def test_url_of_no_store_is_refused(url: str) -> None:
    """A URL of an unknown kind is malformed, and is not repeated."""
    with pytest.raises(InvalidMemoryRequest) as fault:
        async with open_store(url):
            pass
    assert "secret" not in str(fault.value)
