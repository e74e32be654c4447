"""Real servers for every test: PostgreSQL and Temporal, once a session."""

from __future__ import annotations

import atexit
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from durable_memory.cli.embedded import postgres_server, temporal_server
from durable_memory.exits import end


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
    name = f"test_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(postgres_url)
    try:
        await admin.execute(f'CREATE DATABASE "{name}"')
        yield postgres_url.replace("/postgres?", f"/{name}?")
        await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await admin.close()


@pytest_asyncio.fixture(scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal dev server."""
    async with temporal_server() as environment:
        yield environment


@pytest.fixture(scope="session")
def temporal_client(temporal: WorkflowEnvironment) -> Client:
    """A client of the dev server."""
    return temporal.client
