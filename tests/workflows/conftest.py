"""A database, and a fleet of workers on it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from fleets import Fleet, Reader
from temporalio.client import Client

from durable_memory.stores import MemoryStore, open_store


@pytest_asyncio.fixture
async def store(empty_database_url: str) -> AsyncIterator[MemoryStore]:
    """A Postgres store in a database of the test's own."""
    async with open_store(empty_database_url) as opened:
        yield opened


@pytest.fixture
def fleet(temporal_client: Client, store: MemoryStore, empty_database_url: str) -> Fleet:
    """A fleet on that database, without workers yet."""
    return Fleet(address=temporal_client.service_client.config.target_host, url=empty_database_url)


@pytest.fixture
def reader(store: MemoryStore) -> Reader:
    """A reader of the test's database."""
    return Reader(store=store)
