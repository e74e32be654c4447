"""One migrated database for all tests of the stores; a fresh copy of it where a test needs one."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import asyncpg
import pytest_asyncio

from durable_memory.stores import PostgresMemoryStore, create_pool, migrate


def database_url(postgres_url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return postgres_url.replace("/postgres?", f"/{name}?")


@pytest_asyncio.fixture(scope="session")
async def template_database(postgres_url: str) -> AsyncIterator[str]:
    """Name of a migrated database that nobody is connected to."""
    name = f"template_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(postgres_url)
    await admin.execute(f'CREATE DATABASE "{name}"')
    await migrate(database_url(postgres_url, name))
    yield name
    await admin.close()


@pytest_asyncio.fixture
async def fresh_url(postgres_url: str, template_database: str) -> AsyncIterator[str]:
    """URL of a migrated database that goes with the test."""
    name = f"test_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(postgres_url)
    try:
        await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template_database}"')
        yield database_url(postgres_url, name)
        await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await admin.close()


@pytest_asyncio.fixture(scope="session")
async def migrated_url(postgres_url: str, template_database: str) -> str:
    """URL of a migrated database that the tests share; scopes keep them apart."""
    name = f"shared_{uuid.uuid4().hex}"
    admin = await asyncpg.connect(postgres_url)
    await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template_database}"')
    await admin.close()
    return database_url(postgres_url, name)


@pytest_asyncio.fixture(scope="session")
async def pool(migrated_url: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool of our own making on the shared database."""
    async with await create_pool(migrated_url, max_size=40) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session")
async def postgres_store(pool: asyncpg.Pool) -> PostgresMemoryStore:
    """The store on that pool."""
    return PostgresMemoryStore(pool)
