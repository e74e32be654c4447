"""The contract of listings."""

from __future__ import annotations

import pytest

from ..notebook import InvalidMemoryRequest, Scope
from ..stores import MemoryStore
from .base import Contract


class ListingContract(Contract):
    """Listings by prefix."""

    async def test_listing_is_bounded_and_in_order(self, store: MemoryStore, scope: Scope) -> None:
        """A listing has at most as many paths as were asked for, in bytewise order."""
        names = ["b.md", "a.md", "B.md", "é.md", "Z.md", "a-b.md", "가.md", "a.b.md"]
        await _make(store, [scope.path(name) for name in names])
        ordered = [scope.path(name) for name in sorted(names, key=str.encode)]
        assert await store.list_paths(scope.prefix, limit=100) == ordered
        assert await store.list_paths(scope.prefix, limit=3) == ordered[:3]

    async def test_own_files_come_before_nested_ones(
        self, store: MemoryStore, scope: Scope
    ) -> None:
        """The files of a scope come first, whatever is nested below it."""
        own = [f"{scope.prefix}{name}" for name in ("a.md", "m.md", "z.md")]
        nested = [
            f"{scope.prefix}{name}" for name in ("a/z.md", "a-b/a.md", "a/b/a.md", "m.md/a.md")
        ]
        await _make(store, nested + own)
        expected = sorted(nested, key=lambda path: path.encode().rsplit(b"/", 1))
        assert await store.list_paths(scope.prefix, limit=3) == own
        assert await store.list_paths(scope.prefix, limit=100) == own + expected

    async def test_prefix_ends_at_a_segment(self, store: MemoryStore, scope: Scope) -> None:
        """A prefix never reaches a scope whose name only begins the same."""
        own = f"{scope.key}/acme/agent/a.md"
        others = [
            f"{scope.key}/acme{more}/agent/a.md" for more in ("-corp", ".x", "0", "+", "x", "_")
        ]
        await _make(store, [own, *others])
        assert await store.list_paths(f"{scope.key}/acme/", limit=100) == [own]

    async def test_deleted_files_are_not_listed(self, store: MemoryStore, scope: Scope) -> None:
        """A deleted file is in no listing."""
        kept, gone = scope.path("kept.md"), scope.path("gone.md")
        await _make(store, [kept])
        written = await store.write(gone, "text", expected_version=None)
        await store.delete(gone, expected_version=written.version)
        assert await store.list_paths(scope.prefix, limit=100) == [kept]

    async def test_empty_prefix_lists_everything(self, store: MemoryStore, scope: Scope) -> None:
        """Without a prefix every scope's files are listed."""
        await _make(store, [scope.path("a.md")])
        assert scope.path("a.md") in await store.list_paths(limit=100_000)

    async def test_unknown_prefix_lists_nothing(self, store: MemoryStore, scope: Scope) -> None:
        """A prefix without files is an empty listing."""
        assert await store.list_paths(scope.prefix, limit=10) == []

    @pytest.mark.parametrize(
        "prefix", ["a", "/", "a//", "../", "a/../", "a b/", "a/\0/"], ids=ascii
    )
    async def test_malformed_prefix_is_refused(self, store: MemoryStore, prefix: str) -> None:
        """A prefix is empty, or a scope's key and a slash."""
        with pytest.raises(InvalidMemoryRequest):
            await store.list_paths(prefix, limit=10)


async def _make(store: MemoryStore, paths: list[str]) -> None:
    for path in paths:
        await store.write(path, "text", expected_version=None)
