"""The contract of settling operations whose outcome is unknown."""

from __future__ import annotations

import asyncio

import pytest

from ..notebook import MemoryOperationAbandonedError, MemoryOperationConflictError
from ..stores import MemoryStore, SettlingStore
from .base import Contract, content_of
from .samples import future, new_operation, reused


class SettlingContract(Contract):
    """Closing cases."""

    @pytest.fixture
    def settling(self, store: MemoryStore) -> SettlingStore:
        """The store, if it declares the ability."""
        able: SettlingStore = self.need(store, SettlingStore)
        return able

    async def test_settling_an_applied_operation_returns_its_receipt(
        self, store: MemoryStore, settling: SettlingStore, path: str
    ) -> None:
        """An operation that was applied is settled as such."""
        operation = new_operation()
        done = await store.write(path, "one", expected_version=None, operation=operation)
        settled = await settling.settle(operation, deadline=future())
        assert (settled.version, settled.existed) == (done.version, False)
        assert settled.replayed
        assert not settled.abandoned

    async def test_settled_operation_can_never_be_applied(
        self, store: MemoryStore, settling: SettlingStore, path: str
    ) -> None:
        """An operation that was not applied is abandoned, and refused from then on."""
        operation = new_operation()
        settled = await settling.settle(operation)
        assert (settled.abandoned, settled.version) == (True, None)
        with pytest.raises(MemoryOperationAbandonedError):
            await store.write(path, "one", expected_version=None, operation=operation)
        with pytest.raises(MemoryOperationAbandonedError):
            await store.delete(path, expected_version=None, operation=operation)
        assert await content_of(store, path) is None

    async def test_settling_again_says_the_same(
        self, store: MemoryStore, settling: SettlingStore
    ) -> None:
        """An abandoned operation stays abandoned, also for whoever asks for its receipt."""
        operation = new_operation()
        await settling.settle(operation)
        again = await settling.settle(operation)
        receipt = await store.get_operation(operation)
        assert again.abandoned
        assert receipt is not None
        assert receipt.abandoned

    async def test_settling_a_reused_operation_is_a_conflict(
        self, store: MemoryStore, settling: SettlingStore, path: str
    ) -> None:
        """An operation's id with other arguments cannot be settled."""
        operation = new_operation()
        await store.write(path, "one", expected_version=None, operation=operation)
        with pytest.raises(MemoryOperationConflictError):
            await settling.settle(reused(operation))

    async def test_settling_and_applying_at_once_agree(
        self, store: MemoryStore, settling: SettlingStore, path: str
    ) -> None:
        """Whichever comes first, the settled outcome is what happened."""
        operation = new_operation()
        applied, settled = await asyncio.gather(
            store.write(path, "one", expected_version=None, operation=operation),
            settling.settle(operation),
            return_exceptions=True,
        )
        assert not isinstance(settled, BaseException)
        assert settled.abandoned == isinstance(applied, MemoryOperationAbandonedError)
        assert (await content_of(store, path) is None) == settled.abandoned
