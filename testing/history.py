"""The contract of histories."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ..notebook import (
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryNotFound,
    undo_splice,
)
from ..stores import HistoryStore, MemoryStore
from .base import Contract, content_of
from .samples import new_operation

TEXTS = ("one\n", "one\ntwo\n", "two\n", None, "가나다", "가👩다", "", None, "three")
"""What a file becomes, step by step; `None` is deleted."""


class HistoryContract(Contract):
    """Every version of a file."""

    @pytest.fixture
    def keeping(self, store: MemoryStore) -> HistoryStore:
        """The store, if it declares the ability."""
        able: HistoryStore = self.need(store, HistoryStore)
        return able

    async def test_every_version_can_be_rebuilt(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """Each version reads as it was when it was made."""
        await become(store, path, TEXTS)
        steps = await keeping.history(path, limit=100)
        rebuilt = [await keeping.read_version(path, step.version) for step in reversed(steps)]
        assert [found and found.content for found in rebuilt] == list(TEXTS)
        assert {found.version for found in rebuilt if found} <= {step.version for step in steps}

    async def test_long_history_is_rebuilt(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """However many steps came after a version, it reads as it was."""
        await become(store, path, TEXTS * 11)
        steps = await keeping.history(path, limit=100)
        first, second = [await keeping.read_version(path, step.version) for step in steps[:-3:-1]]
        assert first is not None
        assert second is not None
        assert [first.content, second.content] == list(TEXTS[:2])

    async def test_history_is_steps_that_can_be_undone(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """Undoing the steps from the newest on leads back to no file."""
        await become(store, path, TEXTS)
        content = TEXTS[-1] or ""
        steps = await keeping.history(path, limit=100)
        for step, expected in zip(steps, [*reversed(TEXTS[:-1]), None], strict=True):
            content = undo_splice(content, step.change)
            assert content == (expected or "")
            assert step.existed_before == (expected is not None)
        assert [step.exists for step in reversed(steps)] == [text is not None for text in TEXTS]

    async def test_history_pages_from_the_newest(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A page is bounded, and the next one begins below its last version."""
        await become(store, path, TEXTS)
        every = await keeping.history(path, limit=100)
        first = await keeping.history(path, limit=4)
        second = await keeping.history(path, limit=100, before=first[-1].version)
        assert first + second == every
        assert await keeping.history(path, limit=1, before="x") == []

    async def test_history_names_operations_and_times(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A step names the operation that made it, and when."""
        operation = new_operation()
        before = datetime.now(UTC)
        done = await store.write(path, "one", expected_version=None, operation=operation)
        await store.write(path, "two", expected_version=done.version)
        second, first = await keeping.history(path, limit=10)
        assert (first.version, first.operation_id) == (done.version, operation.id)
        assert second.operation_id is None
        assert before - timedelta(minutes=1) < first.written_at <= second.written_at

    async def test_replayed_operation_is_no_step(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """An operation that arrives again is in the history once."""
        operation = new_operation()
        for _ in range(2):
            await store.write(path, "one", expected_version=None, operation=operation)
        assert len(await keeping.history(path, limit=10)) == 1

    async def test_unknown_version_is_not_found(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A version that the file never had is an error, another file's and malformed text too."""
        other = await store.write(path + "x", "other", expected_version=None)
        await store.write(path, "one", expected_version=None)
        for version in ("x", "", "\ud800", "a\0b", "9" * 30, str(other.version)):
            with pytest.raises(MemoryNotFound):
                await keeping.read_version(path, version)
            with pytest.raises(MemoryNotFound):
                await keeping.restore(path, version, expected_version=None)
            assert await keeping.history(path, limit=1, before=version) == []
        assert await keeping.history(path + "y", limit=1) == []

    async def test_restored_version_is_a_new_one(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A restore makes the file what it was, as a step of its own."""
        versions = await become(store, path, ("one", "two"))
        done = await keeping.restore(path, versions[0], expected_version=versions[1])
        assert done.existed
        assert done.version not in versions
        assert await content_of(store, path) == "one"
        assert len(await keeping.history(path, limit=10)) == 3

    async def test_deleted_file_can_be_restored(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A deleted file comes back, and a restore to a deletion deletes."""
        versions = await become(store, path, ("one", None))
        gone = (await keeping.history(path, limit=1))[0].version
        back = await keeping.restore(path, versions[0], expected_version=None)
        assert await content_of(store, path) == "one"
        await keeping.restore(path, gone, expected_version=back.version)
        assert await content_of(store, path) is None

    async def test_restore_is_compare_and_swap_and_applied_once(
        self, store: MemoryStore, keeping: HistoryStore, path: str
    ) -> None:
        """A restore checks the version, and its operation is applied once."""
        versions = await become(store, path, ("one", "two"))
        with pytest.raises(MemoryConflictError):
            await keeping.restore(path, versions[0], expected_version=versions[0])
        operation = new_operation()
        done = await keeping.restore(
            path, versions[0], expected_version=versions[1], operation=operation
        )
        await store.write(path, "three", expected_version=done.version)
        again = await keeping.restore(
            path, versions[0], expected_version=versions[1], operation=operation
        )
        assert (again.version, again.replayed) == (done.version, True)
        assert await content_of(store, path) == "three"

    async def test_malformed_history_is_refused(self, keeping: HistoryStore, path: str) -> None:
        """A malformed path or bound is refused."""
        with pytest.raises(InvalidMemoryRequest):
            await keeping.history(path, limit=0)
        with pytest.raises(InvalidMemoryRequest):
            await keeping.read_version("notes.md", "1")


async def become(store: MemoryStore, path: str, texts: tuple[str | None, ...]) -> list[str]:
    """Make a file each of `texts` in turn; return the versions of those that are text."""
    version: str | None = None
    versions: list[str] = []
    for text in texts:
        if text is None:
            version = (await store.delete(path, expected_version=version)).version
        else:
            version = (await store.write(path, text, expected_version=version)).version
            versions.append(version or "")
    return versions
