"""Every store is held to the published contract, and to the plain model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bare_store import BareStore

from durable_memory.stores import (
    InMemoryStore,
    MemoryMutation,
    MemoryStore,
    PostgresMemoryStore,
    open_store,
)
from durable_memory.testing import StoreContract, check_against_model
from durable_memory.testing.base import ABILITIES


class TestInMemoryStore(StoreContract):
    """The store in the process's memory."""

    abilities = frozenset(ABILITIES)

    @pytest.fixture
    def store(self) -> InMemoryStore:
        """A new store."""
        return InMemoryStore()


class TestPostgresMemoryStore(StoreContract):
    """The store on PostgreSQL."""

    abilities = frozenset(ABILITIES)

    @pytest.fixture
    def store(self, postgres_store: PostgresMemoryStore) -> PostgresMemoryStore:
        """The session's store: each test has a scope of its own."""
        return postgres_store


def test_in_memory_store_against_the_model() -> None:
    """The in-memory store answers as the plain model does."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[MemoryStore]:
        yield InMemoryStore()

    check_against_model(opened, examples=100)


def test_postgres_store_against_the_model(migrated_url: str) -> None:
    """The Postgres store answers as the plain model does."""
    check_against_model(lambda: open_store(migrated_url, migrate=False), examples=40)


class TestBareStore(StoreContract):
    """A store with the base protocol only: what it lacks is skipped, visibly."""

    @pytest.fixture
    def store(self) -> BareStore:
        """A new store."""
        return BareStore()


class ForgetfulStore(InMemoryStore):
    """A store at fault: it applies every arrival of an operation."""

    async def write(
        self, path: str, content: str, *, expected_version: str | None, **_identity: object
    ) -> MemoryMutation:
        """Write without a receipt."""
        return await super().write(path, content, expected_version=expected_version)


def test_model_finds_a_store_that_forgets_receipts() -> None:
    """A store that applies an operation twice fails the comparison."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[MemoryStore]:
        yield ForgetfulStore()

    with pytest.raises(AssertionError):
        check_against_model(opened, examples=200)
