"""The contract of sweeps: what is old goes, what may be asked for stays."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from ..notebook import InvalidMemoryRequest, MemoryOperationAbandonedError
from ..stores import MemoryOperation, MemoryStore, SettlingStore, SweepingStore
from .base import Contract, content_of
from .samples import new_operation

ANY_AGE = timedelta(0)
YOUNG = timedelta(days=1)
"""Older than anything a test makes."""


class SweepingContract(Contract):
    """Receipts are swept by age, in batches, but for those of open runs.

    The store may be shared with other tests, so the tests here count on no receipts but their own.
    """

    @pytest.fixture
    def sweeping(self, store: MemoryStore) -> SweepingStore:
        """The store, if it declares the ability."""
        able: SweepingStore = self.need(store, SweepingStore)
        return able

    async def test_young_receipts_are_kept(
        self, store: MemoryStore, sweeping: SweepingStore, path: str
    ) -> None:
        """A receipt is not swept before its age, whatever the number of others."""
        operation = new_operation()
        await store.write(path, "text", expected_version=None, operation=operation)
        await _sweep_all(sweeping, older_than=YOUNG)
        await sweeping.sweep_receipts()
        assert await store.get_operation(operation) is not None

    async def test_old_receipts_are_swept_and_nothing_else(
        self, store: MemoryStore, sweeping: SweepingStore, path: str
    ) -> None:
        """A swept operation has no receipt; the file and its version stay."""
        operation = new_operation()
        done = await store.write(path, "text", expected_version=None, operation=operation)
        await _sweep_all(sweeping)
        found = await store.read(path, max_chars=10)
        assert await store.get_operation(operation) is None
        assert found is not None
        assert (found.content, found.version) == ("text", done.version)

    async def test_receipts_of_open_runs_are_kept(
        self, store: MemoryStore, sweeping: SweepingStore, path: str
    ) -> None:
        """Receipts of a run that is named, or of a workflow whose every run is, are kept."""
        workflow, other = uuid.uuid4().hex, uuid.uuid4().hex
        runs = [(workflow, "open"), (workflow, "closed"), (other, "any"), ("", "open")]
        operations = [_of_run(*run) for run in runs]
        for operation in operations:
            await store.delete(path, expected_version=None, operation=operation)
        await _sweep_all(sweeping, open_runs=((workflow, "open"), (other, ""), ("", "")))
        kept = [await store.get_operation(operation) is not None for operation in operations]
        assert kept == [True, False, True, False]

    async def test_sweep_is_bounded(
        self, store: MemoryStore, sweeping: SweepingStore, path: str
    ) -> None:
        """A sweep forgets at most as many as were asked for, and says how many."""
        operations = [new_operation() for _ in range(3)]
        await _sweep_all(sweeping)
        for operation in operations:
            await store.delete(path, expected_version=None, operation=operation)
        assert await sweeping.sweep_receipts(ANY_AGE, limit=2) == 2
        kept = [await store.get_operation(operation) is not None for operation in operations]
        assert sum(kept) == 1
        assert await sweeping.sweep_receipts(ANY_AGE, limit=2) == 1
        assert await sweeping.sweep_receipts(ANY_AGE, limit=2) == 0

    async def test_abandoned_operations_are_swept(
        self, store: MemoryStore, sweeping: SweepingStore, path: str
    ) -> None:
        """An operation that was given up is remembered as long as any."""
        settling: SettlingStore = self.need(store, SettlingStore)
        operation = new_operation()
        await settling.settle(operation)
        await _sweep_all(sweeping, older_than=YOUNG)
        with pytest.raises(MemoryOperationAbandonedError):
            await store.write(path, "text", expected_version=None, operation=operation)
        await _sweep_all(sweeping)
        assert await store.get_operation(operation) is None
        assert await content_of(store, path) is None

    async def test_malformed_sweep_is_refused(self, sweeping: SweepingStore) -> None:
        """A negative age, or a bound below 1, is refused."""
        with pytest.raises(InvalidMemoryRequest):
            await sweeping.sweep_receipts(timedelta(seconds=-1))
        with pytest.raises(InvalidMemoryRequest):
            await sweeping.sweep_receipts(ANY_AGE, limit=0)


def _of_run(workflow_id: str, run_id: str) -> MemoryOperation:
    return MemoryOperation(
        id=uuid.uuid4().hex, fingerprint="f", workflow_id=workflow_id, run_id=run_id
    )


async def _sweep_all(
    store: SweepingStore,
    *,
    older_than: timedelta = ANY_AGE,
    open_runs: tuple[tuple[str, str], ...] = (),
) -> None:
    limit = 100
    while await store.sweep_receipts(older_than, open_runs=open_runs, limit=limit) == limit:
        pass
