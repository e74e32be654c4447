"""Migrations, and whether a worker and a database fit each other.

Expand before contract: a migration only adds, and what the release before uses is dropped by a
later release, which raises `oldest release` in the head of its migration. So the workers of one
release go on while the next is rolled out.

Each migration is one transaction. It takes an advisory lock first, so that two migrators take
turns, and then what locks it needs. All of them are waited for at most `lock_timeout`: a statement
that waits for a strong lock makes everyone who comes after it wait too, so behind a long reader it
is given up, and tried again. The advisory lock belongs to the transaction, so that
no migrator that dies, and no proxy that pools transactions, can leave it behind.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as installed_version
from importlib.resources import files

from ...notebook import MemorySchemaMismatch, MemoryStoreUnavailable
from .errors import DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE, sqlstate, translated
from .pool import PostgresConnection, PostgresPool, connect
from .queries import query

OLDEST_SERVER = 180_000
"""PostgreSQL 18, the first with `casefold` and the collation `pg_unicode_fast`."""

_LOCK = 0x6475_7261_626C_656D  # "durablem"
_FILE = re.compile(r"(\d{4})_\w+\.sql")
_OLDEST_RELEASE = re.compile(r"^-- oldest release: (\S+)$", re.MULTILINE)
_NAME = "durable-memory migrate"
_CONNECT_TIMEOUT = 10.0
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One numbered file.

    Attributes:
        version: Its number, from 1; the schema's version once it is applied.
        oldest_release: The oldest release that still works with the schema after it.
        script: The statements.
    """

    version: int
    oldest_release: str
    script: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the migrations of this release, in order."""
    folder = files(__package__) / "migrations"
    found = ((_FILE.fullmatch(file.name), file) for file in folder.iterdir())
    numbered = {int(name[1]): file.read_text("utf-8") for name, file in found if name}
    return tuple(
        Migration(version=number, oldest_release=_oldest(script), script=script)
        for number, script in sorted(numbered.items())
    )


def _oldest(script: str) -> str:
    line = _OLDEST_RELEASE.search(script)
    if line is None:
        raise ValueError("a migration names the oldest release it serves in its head")
    return line[1]


async def migrate(url: str, *, patience: float = 60.0, lock_timeout: float = 1.0) -> list[int]:
    """Bring a database to the schema of this release.

    Idempotent, and safe to run from any number of processes at once. Needs the rights to make
    the schema (or to own it) and what is in it; afterwards the store needs `USAGE` on the schema,
    `SELECT, INSERT, UPDATE, DELETE` on its tables, `USAGE` on its sequences and `EXECUTE` on its
    functions.

    Args:
        url: A `postgresql://` URL, of the server itself or of a proxy.
        patience: Seconds to go on trying behind transactions that hold locks.
        lock_timeout: Seconds that one try waits for a lock, and so may make others wait.

    Returns:
        The numbers of the migrations that were applied now.

    Raises:
        InvalidMemoryRequest: The URL is not one.
        MemorySchemaMismatch: The server is too old, or the database is not in UTF8.
        MemoryStoreUnavailable: The database does not answer, refuses, or stayed locked.
    """
    with translated():
        connection = await connect(url, application_name=_NAME, connect_timeout=_CONNECT_TIMEOUT)
        try:
            return await apply(
                connection, migrations(), patience=patience, lock_timeout=lock_timeout
            )
        finally:
            await connection.close()


async def apply(
    connection: PostgresConnection,
    steps: Sequence[Migration],
    *,
    patience: float,
    lock_timeout: float,
) -> list[int]:
    """Apply those of `steps` that the database lacks; see `migrate`."""
    await _check_server(connection)
    end = time.monotonic() + patience
    return [
        step.version
        for step in steps
        if await _apply_one(connection, step, end=end, lock_timeout=lock_timeout)
    ]


async def _apply_one(
    connection: PostgresConnection, step: Migration, *, end: float, lock_timeout: float
) -> bool:
    """Apply one migration in one transaction, tried again while others hold its locks."""
    pause = _FIRST_PAUSE
    while True:
        try:
            async with connection.transaction(isolation="read_committed"):
                return await _apply_locked(connection, step, lock_timeout)
        except Exception as error:
            if sqlstate(error) not in (LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED):
                raise
            if time.monotonic() + pause > end:
                raise MemoryStoreUnavailable(_BLOCKED) from error
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _apply_locked(
    connection: PostgresConnection, step: Migration, lock_timeout: float
) -> bool:
    await connection.fetchrow(query("bound_migration"), f"{max(1, int(lock_timeout * 1000))}ms")
    await connection.fetchrow(query("lock_schema"), _LOCK)
    found = await _state(connection)
    if found is not None and found.schema_version >= step.version:
        return False
    await connection.execute(step.script)
    await connection.fetchrow(query("set_state"), step.version, step.oldest_release)
    return True


_BLOCKED = (
    "The schema could not be migrated, because another transaction holds locks on it: end that "
    "transaction and migrate again."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaState:
    """What a database says of its schema.

    Attributes:
        schema_version: The newest migration that was applied.
        oldest_release: The oldest release that still works with it.
    """

    schema_version: int
    oldest_release: str


async def _state(connection: PostgresConnection) -> SchemaState | None:
    row = await connection.fetchrow(query("has_state"))
    if row is None or not row["found"]:
        return None
    row = await connection.fetchrow(query("state"))
    if row is None:
        return None
    return SchemaState(schema_version=row["schema_version"], oldest_release=row["oldest_release"])


async def _check_server(connection: PostgresConnection) -> None:
    row = await connection.fetchrow(query("server"))
    if row is None or row["version"] < OLDEST_SERVER:
        raise MemorySchemaMismatch("The server is too old: PostgreSQL 18 or newer is needed.")
    if row["encoding"] != "UTF8":
        raise MemorySchemaMismatch(
            "The database is not in UTF8: create one with ENCODING 'UTF8' and use that."
        )


async def ensure_compatible(pool: PostgresPool) -> None:
    """Check that the database's schema and this release fit each other.

    Args:
        pool: The pool of the store.

    Raises:
        MemorySchemaMismatch: One line that says which of the two is too old, and what to do.
        MemoryStoreUnavailable: The database does not answer.
    """
    with translated():
        async with pool.acquire(timeout=_CONNECT_TIMEOUT) as connection:
            found = await _state(connection)
    check_state(found, needed=migrations()[-1].version, release=installed_version("durable-memory"))


def check_state(state: SchemaState | None, *, needed: int, release: str) -> None:
    """Raise `MemorySchemaMismatch` unless a worker of `release` can use that schema.

    Args:
        state: The database's; `None` when it has none.
        needed: The schema's version that the release was made for.
        release: The worker's release.
    """
    if state is None:
        raise MemorySchemaMismatch("The database has no durable_memory schema: migrate it.")
    if state.schema_version < needed:
        raise MemorySchemaMismatch(
            f"The database has version {state.schema_version} of the durable_memory schema, and "
            f"release {release} needs {needed}: migrate it."
        )
    if _order(release) < _order(state.oldest_release):
        raise MemorySchemaMismatch(
            f"The database serves releases from {state.oldest_release} on, and this is {release}: "
            "upgrade the worker."
        )


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release)[:3])
