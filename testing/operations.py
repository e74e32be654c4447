"""The contract of operations: receipts, fingerprints and deadlines."""

from __future__ import annotations

import asyncio

import pytest

from ..notebook import (
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryOperationConflictError,
)
from ..stores import MemoryOperation, MemoryStore
from .base import Contract, content_of, existing
from .samples import future, new_operation, past, reused


class OperationContract(Contract):
    """Exactly once."""

    async def test_operation_arriving_again_is_answered_by_its_receipt(
        self, store: MemoryStore, path: str
    ) -> None:
        """The second arrival of a write changes nothing and says what the first one said."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None, operation=operation)
        again = await store.write(path, "one", expected_version=None, operation=operation)
        assert (again.version, again.existed) == (first.version, first.existed)
        assert (first.replayed, again.replayed) == (False, True)
        assert (await existing(store, path)).version == first.version

    async def test_receipt_outlives_later_changes(self, store: MemoryStore, path: str) -> None:
        """A receipt says what was so then: created stays created."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None, operation=operation)
        await store.write(path, "two", expected_version=first.version)
        again = await store.write(path, "one", expected_version=None, operation=operation)
        assert (again.version, again.existed, again.replayed) == (first.version, False, True)
        assert await content_of(store, path) == "two"

    async def test_delete_arriving_again_is_answered_by_its_receipt(
        self, store: MemoryStore, path: str
    ) -> None:
        """The second arrival of a delete does not delete what was written since."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None)
        await store.delete(path, expected_version=first.version, operation=operation)
        await store.write(path, "two", expected_version=None)
        again = await store.delete(path, expected_version=first.version, operation=operation)
        assert (again.version, again.existed, again.replayed) == (None, True, True)
        assert await content_of(store, path) == "two"

    async def test_delete_of_a_missing_file_leaves_a_receipt(
        self, store: MemoryStore, path: str
    ) -> None:
        """A delete that found nothing finds nothing when it arrives again."""
        operation = new_operation()
        await store.delete(path, expected_version=None, operation=operation)
        await store.write(path, "one", expected_version=None)
        again = await store.delete(path, expected_version=None, operation=operation)
        assert (again.existed, again.replayed) == (False, True)
        assert await content_of(store, path) == "one"

    async def test_reused_operation_is_a_conflict(self, store: MemoryStore, path: str) -> None:
        """An operation's id with other arguments is an error, and nothing changes."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None, operation=operation)
        with pytest.raises(MemoryOperationConflictError):
            await store.write(
                path, "two", expected_version=first.version, operation=reused(operation)
            )
        with pytest.raises(MemoryOperationConflictError):
            await store.delete(path, expected_version=first.version, operation=reused(operation))
        with pytest.raises(MemoryOperationConflictError):
            await store.get_operation(reused(operation))
        assert (await existing(store, path)).version == first.version

    async def test_get_operation_returns_the_receipt(self, store: MemoryStore, path: str) -> None:
        """The receipt of an operation can be asked for; there is none before it was applied."""
        operation = new_operation()
        assert await store.get_operation(operation) is None
        first = await store.write(path, "one", expected_version=None, operation=operation)
        receipt = await store.get_operation(operation)
        assert receipt is not None
        assert (receipt.version, receipt.existed) == (first.version, False)
        assert receipt.replayed
        assert not receipt.abandoned

    async def test_conflict_leaves_no_receipt(self, store: MemoryStore, path: str) -> None:
        """An operation that lost a race can be sent again with the right version."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryConflictError):
            await store.write(path, "two", expected_version=None, operation=operation)
        assert await store.get_operation(operation) is None
        done = await store.write(path, "two", expected_version=first.version, operation=operation)
        assert not done.replayed
        assert await content_of(store, path) == "two"

    async def test_operation_arriving_many_times_at_once_is_applied_once(
        self, store: MemoryStore, path: str
    ) -> None:
        """Of arrivals at the same time one is applied, and the others get its receipt."""
        operation = new_operation()
        arrivals = await asyncio.gather(
            *(
                store.write(path, "one", expected_version=None, operation=operation)
                for _ in range(8)
            )
        )
        assert sorted(arrival.replayed for arrival in arrivals) == [False] + [True] * 7
        assert {arrival.version for arrival in arrivals} == {(await existing(store, path)).version}

    async def test_passed_deadline_changes_nothing(self, store: MemoryStore, path: str) -> None:
        """A mutation after its deadline is refused and leaves no receipt."""
        operation = new_operation()
        first = await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryDeadlineExceeded):
            await store.write(
                path, "two", expected_version=first.version, operation=operation, deadline=past()
            )
        with pytest.raises(MemoryDeadlineExceeded):
            await store.delete(
                path, expected_version=first.version, operation=operation, deadline=past()
            )
        assert await store.get_operation(operation) is None
        assert (await existing(store, path)).version == first.version

    async def test_passed_deadline_creates_nothing(self, store: MemoryStore, path: str) -> None:
        """A file is not made after the deadline either."""
        with pytest.raises(MemoryDeadlineExceeded):
            await store.write(path, "one", expected_version=None, deadline=past())
        assert await store.read(path, max_chars=10) is None

    async def test_deadline_to_come_changes_nothing_else(
        self, store: MemoryStore, path: str
    ) -> None:
        """A mutation in time is applied."""
        done = await store.write(
            path, "one", expected_version=None, operation=new_operation(), deadline=future()
        )
        await store.delete(path, expected_version=done.version, deadline=future())
        assert await store.read(path, max_chars=10) is None

    async def test_deadline_without_time_zone_is_refused(
        self, store: MemoryStore, path: str
    ) -> None:
        """A deadline that different hosts would read differently is malformed."""
        naive = future().replace(tzinfo=None)
        with pytest.raises(InvalidMemoryRequest):
            await store.write(path, "one", expected_version=None, deadline=naive)
        assert await store.read(path, max_chars=10) is None

    @pytest.mark.parametrize("bad", ["", "a\0b", "\ud800", "x" * 1001], ids=ascii)
    async def test_malformed_operation_is_refused(
        self, store: MemoryStore, path: str, bad: str
    ) -> None:
        """An operation whose id or fingerprint cannot be stored is refused before any change."""
        for operation in (
            MemoryOperation(id=bad, fingerprint="f"),
            MemoryOperation(id="id", fingerprint=bad),
        ):
            with pytest.raises(InvalidMemoryRequest):
                await store.write(path, "one", expected_version=None, operation=operation)
        assert await store.read(path, max_chars=10) is None
