"""Migrations on real databases: once, from many sides at once, and never behind a long reader."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from backends import beside

from durable_memory.notebook import (
    Append,
    InvalidMemoryRequest,
    MemoryStoreUnavailable,
    Remove,
    Replace,
)
from durable_memory.stores import (
    MemorySchemaMismatch,
    PostgresMemoryStore,
    create_pool,
    ensure_compatible,
    migrate,
)
from durable_memory.stores.postgres.schema import (
    Migration,
    SchemaState,
    apply,
    check_state,
    migrations,
)
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_operation, new_scope

NEWEST = migrations()[-1].version
WIDER = Migration(
    version=NEWEST + 1,
    oldest_release="0.1.0",
    script="ALTER TABLE durable_memory.documents ADD COLUMN extra text",
)
"""What a later release might do: it needs a lock that every reader is in the way of."""

SCHEMA = """
SELECT array_agg(line ORDER BY line) FROM (
    SELECT table_name || ' ' || column_name || ' ' || data_type AS line
    FROM information_schema.columns WHERE table_schema = 'durable_memory'
    UNION ALL
    SELECT proname || ' ' || md5(prosrc) FROM pg_proc
    WHERE pronamespace = 'durable_memory'::regnamespace
    UNION ALL
    SELECT 'applied ' || xmin::text FROM durable_memory.meta
) AS lines
"""


@pytest_asyncio.fixture
async def connection(fresh_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection to a migrated database of the test's own."""
    opened = await asyncpg.connect(fresh_url)
    yield opened
    await opened.close()


def test_migrations_are_numbered_without_gaps() -> None:
    """The files are 1, 2, 3 and so on, and each names the oldest release it serves."""
    assert [step.version for step in migrations()] == list(range(1, NEWEST + 1))
    assert all(step.oldest_release for step in migrations())


async def test_migrating_again_changes_nothing(empty_database_url: str) -> None:
    """The first run applies everything, the next one nothing, and the schema stays as it is."""
    admin = await asyncpg.connect(empty_database_url)
    assert await migrate(empty_database_url) == [step.version for step in migrations()]
    before = await admin.fetchval(SCHEMA)
    assert await migrate(empty_database_url) == []
    assert await admin.fetchval(SCHEMA) == before
    await admin.close()


async def test_migrators_take_turns(empty_database_url: str) -> None:
    """Of many migrators at once each migration is applied by exactly one."""
    done = await asyncio.gather(*(migrate(empty_database_url) for _ in range(4)))
    assert sorted(number for applied in done for number in applied) == [
        step.version for step in migrations()
    ]


async def test_failed_migration_leaves_nothing(connection: asyncpg.Connection) -> None:
    """A migration is applied whole or not at all."""
    broken = Migration(
        version=NEWEST + 1,
        oldest_release="0.1.0",
        script="CREATE TABLE durable_memory.half (id int); SELECT 1 / 0",
    )
    with pytest.raises(asyncpg.DivisionByZeroError):
        await apply(connection, [*migrations(), broken], patience=5, lock_timeout=1)
    assert await connection.fetchval("SELECT to_regclass('durable_memory.half')") is None
    version = await connection.fetchval("SELECT schema_version FROM durable_memory.meta")
    assert version == NEWEST


async def test_migration_gives_up_behind_a_long_reader(
    fresh_url: str, connection: asyncpg.Connection
) -> None:
    """A transaction that is idle after a read holds a migration up, but nobody else."""
    async with beside(fresh_url) as held:
        await held.hold_query("SELECT count(*) FROM durable_memory.documents")
        migrating = asyncio.ensure_future(
            apply(connection, [WIDER], patience=0.5, lock_timeout=0.1)
        )
        await held.waiting(1)
        await asyncio.wait_for(
            held.watcher.fetch("SELECT count(*) FROM durable_memory.documents"), 10
        )
        with pytest.raises(MemoryStoreUnavailable) as fault:
            await migrating
        assert "another transaction" in str(fault.value)
        await held.waiting(0)
        await held.commit()
    assert await apply(connection, [WIDER], patience=5, lock_timeout=1) == [WIDER.version]


async def test_migration_goes_on_when_the_reader_is_done(
    fresh_url: str, connection: asyncpg.Connection
) -> None:
    """A migration is tried again until the transaction in its way has ended."""
    async with beside(fresh_url) as held:
        await held.hold_query("SELECT count(*) FROM durable_memory.documents")
        migrating = asyncio.ensure_future(
            apply(connection, [WIDER], patience=60, lock_timeout=0.05)
        )
        await held.waiting(1)
        await held.waiting(0)
        await held.commit()
        assert await migrating == [WIDER.version]


async def test_store_works_on_while_the_schema_grows(fresh_url: str) -> None:
    """Prepared statements of a running worker survive the migration of the next release."""
    scope = new_scope()
    async with await create_pool(fresh_url, max_size=1) as pool:
        store = PostgresMemoryStore(pool)
        await _use(store, scope.path("before.md"))
        admin = await asyncpg.connect(fresh_url)
        await apply(admin, [WIDER], patience=5, lock_timeout=1)
        await admin.close()
        await _use(store, scope.path("after.md"))


async def test_database_without_schema_is_told_apart(empty_database_url: str) -> None:
    """A database that was never migrated is named as such, at the start and by every call."""
    async with await create_pool(empty_database_url) as pool:
        with pytest.raises(MemorySchemaMismatch, match="no durable_memory schema"):
            await ensure_compatible(pool)
        store = PostgresMemoryStore(pool)
        with pytest.raises(MemoryStoreUnavailable, match="migrate"):
            await store.read("agent/notes.md", max_chars=1)
        with pytest.raises(MemoryStoreUnavailable, match="migrate"):
            await store.write("agent/notes.md", "text", expected_version=None)


async def test_migrated_database_is_compatible(pool: asyncpg.Pool) -> None:
    """A database of this release serves this release."""
    await ensure_compatible(pool)


async def test_database_of_a_newer_release_says_whom_it_serves(
    fresh_url: str, connection: asyncpg.Connection
) -> None:
    """A worker that is too old for the schema is told to be upgraded; one that is not works on."""
    newer = Migration(version=NEWEST + 1, oldest_release="0.0.1", script="SELECT 1")
    newest = Migration(version=NEWEST + 2, oldest_release="999.1.0", script="SELECT 1")
    async with await create_pool(fresh_url) as pool:
        await apply(connection, [newer], patience=5, lock_timeout=1)
        await ensure_compatible(pool)
        assert await migrate(fresh_url) == []
        await apply(connection, [newest], patience=5, lock_timeout=1)
        with pytest.raises(MemorySchemaMismatch, match=r"from 999\.1\.0 on.*upgrade the worker"):
            await ensure_compatible(pool)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, "no durable_memory schema"),
        (SchemaState(schema_version=2, oldest_release="0.1.0"), "migrate"),
        (SchemaState(schema_version=9, oldest_release="0.10.0"), "upgrade the worker"),
    ],
)
def test_mismatch_is_one_line(state: SchemaState | None, message: str) -> None:
    """What does not fit is said in one line that says what to do."""
    with pytest.raises(MemorySchemaMismatch, match=message) as fault:
        check_state(state, needed=3, release="0.9.2")
    assert "\n" not in str(fault.value)


def test_releases_are_ordered_by_number() -> None:
    """Release 0.10 is newer than 0.9."""
    check_state(SchemaState(schema_version=3, oldest_release="0.9.0"), needed=3, release="0.10.0")


async def test_database_in_another_encoding_is_refused(postgres_url: str) -> None:
    """A database that cannot hold every text is refused before anything is made in it."""
    name = f"latin_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(postgres_url)
    await admin.execute(
        f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
    )
    with pytest.raises(MemorySchemaMismatch, match="UTF8"):
        await migrate(postgres_url.replace("/postgres?", f"/{name}?"))
    await admin.execute(f'DROP DATABASE "{name}"')
    await admin.close()


class OldServer:
    """A connection to a server of another age, which cannot be had here."""

    async def fetchrow(self, *_query: object) -> Mapping[str, Any]:
        """Say what the server is."""
        return {"version": 170_006, "encoding": "UTF8"}


async def test_server_that_is_too_old_is_refused() -> None:
    """A server without what search needs is named as too old."""
    with pytest.raises(MemorySchemaMismatch, match="PostgreSQL 18"):
        await apply(OldServer(), migrations(), patience=1, lock_timeout=1)  # type: ignore[arg-type]


async def test_wrong_address_is_an_error_that_says_so() -> None:
    """A URL that is none is malformed; one that leads nowhere is unavailable."""
    for url in ("nonsense", "http://localhost/x", "postgresql://localhost:port/x"):
        with pytest.raises(InvalidMemoryRequest):
            await migrate(url)
        with pytest.raises(InvalidMemoryRequest):
            await create_pool(url)
    for url in ("postgresql:///x?host=/nowhere", "postgresql://127.0.0.1:1/x"):
        with pytest.raises(MemoryStoreUnavailable):
            await migrate(url)
        with pytest.raises(MemoryStoreUnavailable):
            await create_pool(url)


async def test_wrong_password_or_database_says_what_is_wrong(postgres_url: str) -> None:
    """A database that is not there is named as the fault."""
    with pytest.raises(MemoryStoreUnavailable, match="does not exist"):
        await create_pool(postgres_url.replace("/postgres?", "/nowhere?"))


GRANTS = """
GRANT USAGE ON SCHEMA durable_memory TO "{role}";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA durable_memory TO "{role}";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA durable_memory TO "{role}";
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA durable_memory TO "{role}";
"""


async def test_migrated_database_needs_row_rights_only(
    fresh_url: str, connection: asyncpg.Connection
) -> None:
    """A role without any right to change the schema can do everything the store does."""
    role = f"worker_{uuid.uuid4().hex}"
    await connection.execute(f'CREATE ROLE "{role}" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE')
    url = fresh_url.replace("postgres:@", f"{role}:@")
    async with await create_pool(url) as pool:
        store = PostgresMemoryStore(pool)
        with pytest.raises(MemoryStoreUnavailable, match="lacks a right"):
            await store.read("agent/notes.md", max_chars=1)
        await connection.execute(
            f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA durable_memory FROM PUBLIC;"
            f"{GRANTS.format(role=role)}"
        )
        await ensure_compatible(pool)
        assert await migrate(url) == []
        await _use(store, new_scope().path("notes.md"))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pool.execute("CREATE TABLE durable_memory.more (id int)")
    await connection.execute(f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')


async def test_schema_can_be_made_by_someone_else(
    empty_database_url: str, postgres_url: str
) -> None:
    """A migrator that owns the schema needs no right on the database itself."""
    role = f"owner_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(empty_database_url)
    await admin.execute(
        f'CREATE ROLE "{role}" LOGIN; CREATE SCHEMA durable_memory AUTHORIZATION "{role}"'
    )
    await migrate(empty_database_url.replace("postgres:@", f"{role}:@"))
    owner = await admin.fetchval(
        "SELECT relowner::regrole::text FROM pg_class"
        " WHERE oid = 'durable_memory.documents'::regclass"
    )
    assert owner == role
    await admin.execute(f'DROP OWNED BY "{role}"; DROP ROLE "{role}"')
    await admin.close()


async def _use(store: PostgresMemoryStore, path: str) -> None:
    """Call everything that the store offers."""
    prefix = path.rpartition("/")[0] + "/"
    for edit in (Append(content="one two"), Replace(old_text="two", content="three")):
        await store.edit(path, edit, max_chars=100, operation=new_operation())
    assert await content_of(store, path) == "one three\n"
    steps = await store.history(path, limit=10)
    await store.view(prefix, tail_chars=100, max_names=10)
    found = await store.search(
        prefix, "three", limit=1, max_files=10, max_chars=100, max_file_chars=100
    )
    assert found.matches
    assert path in await store.list_paths(prefix, limit=10)
    await store.restore(path, steps[-1].version, expected_version=steps[0].version)
    assert await content_of(store, path) == "one two\n"
    await store.edit(path, Remove(), max_chars=100)
    await store.write(path, "new", expected_version=None)
    assert (await store.settle(new_operation())).abandoned
