"""The part of the contract that the others build on."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from ..notebook import Scope
from ..stores import (
    EditingStore,
    HistoryStore,
    MemoryFile,
    MemoryStore,
    SearchableMemoryStore,
    SettlingStore,
    SnapshotStore,
    SweepingStore,
)
from .samples import new_scope

ABILITIES: tuple[type, ...] = (
    SettlingStore,
    EditingStore,
    SearchableMemoryStore,
    SnapshotStore,
    HistoryStore,
    SweepingStore,
)
"""The optional protocols."""

EVERYTHING = 1_000_000
"""More characters than any file of the contract has."""


class Contract:
    """What a test class of the contract has.

    Attributes:
        abilities: The optional protocols that the store declares.
    """

    abilities: ClassVar[frozenset[type]] = frozenset()

    @pytest.fixture
    def store(self) -> MemoryStore:
        """The store under test; override it."""
        raise LookupError("override the fixture `store` with one that returns your store")

    @pytest.fixture
    def scope(self) -> Scope:
        """A scope of the test's own, so that one database serves all tests."""
        return new_scope()

    @pytest.fixture
    def path(self, scope: Scope) -> str:
        """A file of the test's own."""
        return scope.path("notes.md")

    def need(self, store: MemoryStore, ability: type) -> Any:
        """Return the store if it declares an ability; skip the test if not."""
        if ability not in self.abilities:
            pytest.skip(f"{type(store).__name__} does not declare {ability.__name__}")
        return store


async def content_of(store: MemoryStore, path: str) -> str | None:
    """Return the whole text of a file, `None` when there is none."""
    found = await store.read(path, max_chars=EVERYTHING)
    return None if found is None else found.content


async def existing(store: MemoryStore, path: str) -> MemoryFile:
    """Return a file that is there."""
    found = await store.read(path, max_chars=EVERYTHING)
    assert found is not None
    return found
