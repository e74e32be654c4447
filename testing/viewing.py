"""The contract of what a snapshot shows."""

from __future__ import annotations

import pytest

from ..notebook import MAIN_FILENAME, InvalidMemoryRequest, NotebookView, Scope
from ..stores import MemoryStore, SnapshotStore
from .base import Contract


class ViewContract(Contract):
    """Views in one call."""

    @pytest.fixture
    def viewing(self, store: MemoryStore) -> SnapshotStore:
        """The store, if it declares the ability."""
        able: SnapshotStore = self.need(store, SnapshotStore)
        return able

    async def test_empty_notebook_has_an_empty_view(
        self, viewing: SnapshotStore, scope: Scope
    ) -> None:
        """A scope without files is no error."""
        assert await viewing.view(scope.prefix, tail_chars=10, max_names=10) == NotebookView()

    async def test_view_has_the_newest_characters(
        self, store: MemoryStore, viewing: SnapshotStore, scope: Scope
    ) -> None:
        """The main file's end is shown, in characters, and whether there is more before it."""
        await store.write(scope.path(MAIN_FILENAME), "old 가나👩다라", expected_version=None)
        short = await viewing.view(scope.prefix, tail_chars=3, max_names=10)
        whole = await viewing.view(scope.prefix, tail_chars=9, max_names=10)
        assert (short.tail, short.tail_truncated) == ("👩다라", True)
        assert (whole.tail, whole.tail_truncated) == ("old 가나👩다라", False)

    async def test_view_names_the_other_files(
        self, store: MemoryStore, viewing: SnapshotStore, scope: Scope
    ) -> None:
        """Names are in bytewise order, bounded, and tell whether there are more."""
        for name in ("b.md", "a.md", MAIN_FILENAME, "Z.md", "é.md"):
            await store.write(scope.path(name), "text", expected_version=None)
        all_names = await viewing.view(scope.prefix, tail_chars=10, max_names=4)
        some = await viewing.view(scope.prefix, tail_chars=10, max_names=3)
        assert (all_names.names, all_names.names_truncated) == (
            ("Z.md", "a.md", "b.md", "é.md"),
            False,
        )
        assert (some.names, some.names_truncated) == (("Z.md", "a.md", "b.md"), True)

    async def test_view_shows_only_what_the_tools_can_read(
        self, store: MemoryStore, viewing: SnapshotStore, scope: Scope
    ) -> None:
        """Nested files, deleted ones, and names the tools cannot spell are not shown."""
        for name in ("nested/a.md", "nested/MEMORY.md", "memory.md", "a b.md", "a", "e\u0301.md"):
            await store.write(f"{scope.prefix}{name}", "text", expected_version=None)
        gone = await store.write(scope.path("gone.md"), "text", expected_version=None)
        await store.delete(scope.path("gone.md"), expected_version=gone.version)
        assert await viewing.view(scope.prefix, tail_chars=10, max_names=10) == NotebookView()

    async def test_deleted_main_file_is_not_shown(
        self, store: MemoryStore, viewing: SnapshotStore, scope: Scope
    ) -> None:
        """A main file that was deleted through the store is not there."""
        path = scope.path(MAIN_FILENAME)
        written = await store.write(path, "text", expected_version=None)
        await store.delete(path, expected_version=written.version)
        assert await viewing.view(scope.prefix, tail_chars=2, max_names=10) == NotebookView()

    async def test_malformed_view_is_refused(self, viewing: SnapshotStore, scope: Scope) -> None:
        """A malformed prefix or bound is refused."""
        for prefix, chars, names in (("a//", 1, 1), (scope.prefix, 0, 1), (scope.prefix, 1, 0)):
            with pytest.raises(InvalidMemoryRequest):
                await viewing.view(prefix, tail_chars=chars, max_names=names)
