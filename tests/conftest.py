"""Real servers for every test: PostgreSQL and Temporal, once a session."""

from __future__ import annotations

import atexit
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from backends import database_url, new_database
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from durable_memory.cli.embedded import postgres_server, temporal_server
from durable_memory.exits import end
from durable_memory.stores import PostgresEntryStore, create_pool, migrate


def pytest_sessionfinish(exitstatus: int) -> None:
    """Keep the exit code of the tests: see `durable_memory.exits`."""
    atexit.register(end, int(exitstatus))


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the server's maintenance database."""
    with postgres_server(Path(tmp_path_factory.mktemp("postgres")) / "data", keep=False) as url:
        yield url


@pytest_asyncio.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    """URL of a new, empty database that goes with the test."""
    async with new_database(postgres_url) as name:
        yield database_url(postgres_url, name)


@pytest_asyncio.fixture(scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal dev server."""
    async with temporal_server() as environment:
        yield environment


@pytest.fixture(scope="session")
def temporal_client(temporal: WorkflowEnvironment) -> Client:
    """A client of the dev server."""
    return temporal.client


@pytest_asyncio.fixture(scope="session")
async def entries_url(postgres_url: str) -> AsyncIterator[str]:
    """URL of a migrated database for entries, that tests share; memory stores keep them apart."""
    async with new_database(postgres_url) as name:
        await migrate(url := database_url(postgres_url, name))
        yield url


@pytest_asyncio.fixture(scope="session")
async def entries(entries_url: str) -> AsyncIterator[PostgresEntryStore]:
    """The store of entries on that database."""
    async with await create_pool(entries_url) as pool:
        yield PostgresEntryStore(pool)


@pytest_asyncio.fixture
async def memory_store(entries: PostgresEntryStore) -> str:
    """Id of a memory store of the test's own."""
    made = await entries.create_store(f"store-{uuid.uuid4().hex[:12]}", creator="USER:tests")
    return made.id
