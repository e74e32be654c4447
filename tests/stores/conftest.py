"""One migrated database for all tests of the stores; a fresh copy of it where a test needs one."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from backends import Beside, beside, database_url, new_database

from durable_memory.stores import (
    FileMemoryStore,
    PostgresMemoryStore,
    SqliteMemoryStore,
    create_pool,
    migrate,
)
from durable_memory.testing.samples import new_scope


@pytest_asyncio.fixture(scope="session")
async def template_database(postgres_url: str) -> AsyncIterator[str]:
    """Name of a migrated database that nobody is connected to."""
    async with new_database(postgres_url) as name:
        await migrate(database_url(postgres_url, name))
        yield name


@pytest_asyncio.fixture
async def fresh_url(postgres_url: str, template_database: str) -> AsyncIterator[str]:
    """URL of a migrated database that goes with the test."""
    async with new_database(postgres_url, template=template_database) as name:
        yield database_url(postgres_url, name)


@pytest_asyncio.fixture(scope="session")
async def migrated_url(postgres_url: str, template_database: str) -> AsyncIterator[str]:
    """URL of a migrated database that the tests share; scopes keep them apart."""
    async with new_database(postgres_url, template=template_database) as name:
        yield database_url(postgres_url, name)


@pytest_asyncio.fixture
async def held(migrated_url: str) -> AsyncIterator[Beside]:
    """Connections beside the store's."""
    async with beside(migrated_url) as opened:
        yield opened


@pytest.fixture
def path() -> str:
    """A file of the test's own."""
    return new_scope().path("notes.md")


@pytest_asyncio.fixture(scope="module")
async def pool(migrated_url: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool of our own making on the shared database; its connections go with the module."""
    async with await create_pool(migrated_url, max_size=40) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module")
async def postgres_store(pool: asyncpg.Pool) -> PostgresMemoryStore:
    """The store on that pool."""
    return PostgresMemoryStore(pool)


@pytest_asyncio.fixture(scope="session")
async def sqlite_store(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[SqliteMemoryStore]:
    """A store in a database file of the session's."""
    path = tmp_path_factory.mktemp("sqlite") / "memory.db"
    async with SqliteMemoryStore(path) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session")
async def file_store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FileMemoryStore]:
    """A store in a directory of the session's."""
    async with FileMemoryStore(tmp_path_factory.mktemp("files")) as opened:
        yield opened


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the system may enter."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest_asyncio.fixture
async def borrowing_store() -> AsyncIterator[SqliteMemoryStore]:
    """A store in a database in memory, on a connection that is not its own."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        async with SqliteMemoryStore(connection=connection) as opened:
            yield opened
