"""Every store is held to the published contract, and to the plain model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bare_store import BareStore

from durable_memory.notebook import MemoryFault
from durable_memory.stores import (
    FileMemoryStore,
    HistoryStore,
    InMemoryStore,
    MemoryMutation,
    MemoryStore,
    MemoryVersion,
    PostgresMemoryStore,
    SqliteMemoryStore,
    open_store,
)
from durable_memory.testing import StoreContract, check_against_model
from durable_memory.testing.base import ABILITIES
from durable_memory.testing.editing import REFUSED
from durable_memory.testing.samples import past


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


def test_file_store_against_the_model(tmp_path: Path) -> None:
    """The file store answers as the plain model does."""
    check_against_model(lambda: open_store(f"file://{tmp_path}/memory"), examples=20)


def test_sqlite_store_against_the_model(tmp_path: Path) -> None:
    """The SQLite store answers as the plain model does."""
    check_against_model(lambda: open_store(f"sqlite://{tmp_path}/memory.db"), examples=30)


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


class StoreWithoutDeletions(InMemoryStore):
    """A store at fault: its histories do not say that a file was deleted."""

    async def history(
        self, path: str, *, limit: int, before: str | None = None
    ) -> list[MemoryVersion]:
        """Return the other steps."""
        steps = await super().history(path, limit=limit, before=before)
        return [step for step in steps if step.exists]


def test_model_finds_a_history_without_deletions() -> None:
    """A store whose history leaves a deletion out fails the comparison."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[MemoryStore]:
        yield StoreWithoutDeletions()

    with pytest.raises(AssertionError):
        check_against_model(opened, examples=200, steps=8)


@pytest.mark.parametrize("refused", REFUSED)
async def test_late_edit_that_does_not_fit_has_one_answer(
    file_store: FileMemoryStore, sqlite_store: SqliteMemoryStore, path: str, refused: str
) -> None:
    """Stores that plan an edit themselves look at the clock and at the text in the same order."""
    before, edit = REFUSED[refused]
    faults = set()
    for store in (InMemoryStore(), file_store, sqlite_store):
        if before is not None:
            await store.write(path, before, expected_version=None)
        with pytest.raises(MemoryFault) as fault:
            await store.edit(path, edit, max_chars=100, deadline=past())
        faults.add(fault.type)
    assert len(faults) == 1


class TestFileMemoryStore(StoreContract):
    """The store in a directory of files."""

    abilities = frozenset(ABILITIES) - {HistoryStore}

    @pytest.fixture
    def store(self, file_store: FileMemoryStore) -> FileMemoryStore:
        """The session's store: each test has a scope of its own."""
        return file_store


class TestSqliteMemoryStore(StoreContract):
    """The store in a SQLite database."""

    abilities = frozenset(ABILITIES)

    @pytest.fixture
    def store(self, sqlite_store: SqliteMemoryStore) -> SqliteMemoryStore:
        """The session's store: each test has a scope of its own."""
        return sqlite_store


class TestSqliteMemoryStoreOnAConnection(StoreContract):
    """The store on a connection of the caller's."""

    abilities = frozenset(ABILITIES)

    @pytest.fixture
    def store(self, borrowing_store: SqliteMemoryStore) -> SqliteMemoryStore:
        """A new store."""
        return borrowing_store
