"""A database, a fleet of workers on it, and a worker for memories of entries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import runs
from entry_workers import WORKFLOWS, ToldModel
from fleets import Fleet, Reader
from temporalio.client import Client

from durable_memory.activities import EntryActivities, MemoryActivities, ModelActivities
from durable_memory.stores import EntryStore, InMemoryStore, MemoryStore, open_store


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


@pytest_asyncio.fixture(scope="module")
async def queue(temporal_client: Client, entries: EntryStore) -> AsyncIterator[str]:
    """The queue of a worker that serves both kinds of memories."""
    activities = [
        *EntryActivities(entries).activities,
        *MemoryActivities(InMemoryStore()).activities,
        ModelActivities(ToldModel()).complete,
    ]
    async with runs.worker(
        temporal_client, name := runs.unique("queue"), activities=activities, workflows=WORKFLOWS
    ):
        yield name


@pytest.fixture
def memory(memory_store: str) -> dict[str, Any]:
    """Ann's memory in the test's memory store."""
    return {"store": memory_store, "actor": "ann@example.com"}
