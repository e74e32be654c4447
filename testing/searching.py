"""The contract of search."""

from __future__ import annotations

import asyncio

import pytest

from ..notebook import InvalidMemoryRequest, MemoryRefusal, Scope
from ..stores import MemorySearchResult, MemoryStore, SearchableMemoryStore
from .base import Contract


class SearchContract(Contract):
    """Search within one notebook."""

    @pytest.fixture
    def searching(self, store: MemoryStore) -> SearchableMemoryStore:
        """The store, if it declares the ability."""
        able: SearchableMemoryStore = self.need(store, SearchableMemoryStore)
        return able

    async def test_search_finds_only_files_of_the_scope(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """Files of nested scopes, and of scopes whose name begins the same, are never found."""
        own = scope.path("own.md")
        others = [f"{scope.prefix}nested/other.md", f"{scope.key}x/other.md"]
        await _make(store, dict.fromkeys([own, *others], "a walrus"))
        found = await _search(searching, scope, "walrus")
        assert [match.path for match in found.matches] == [own]

    async def test_search_finds_content_and_names(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """A term is found in the text or in the name, and the ending of names never matches."""
        content, name = scope.path("a.md"), scope.path("walrus.md")
        await _make(store, {content: "I saw a walrus", name: "nothing", scope.path("c.md"): "none"})
        found = await _search(searching, scope, "walrus")
        assert {match.path for match in found.matches} == {content, name}
        assert (await _search(searching, scope, ".md")).matches == ()

    async def test_search_ignores_case_and_composition(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """Text and query are compared folded, and the snippet shows the text as it is."""
        await _make(store, {scope.path("a.md"): "Das Cafe\u0301 STRASSE"})
        found = await _search(searching, scope, "café straße")
        assert [match.snippet for match in found.matches] == ["Das Cafe\u0301 STRASSE"]

    async def test_search_is_not_held_up_by_marks(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """A file of nothing but marks on one letter is searched in a moment, not in minutes."""
        await _make(store, {scope.path("a.md"): "a" + "\u0301\u0327" * 32_000 + " walrus"})
        async with asyncio.timeout(15):
            found = await _search(searching, scope, "walrus")
        assert found.matches[0].snippet.endswith("walrus")

    @pytest.mark.parametrize("text", ["a%b", "a_b", "a.b", "a*b", "(a", "a\\b", "[a-b]", "$1"])
    async def test_terms_are_literal(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope, text: str
    ) -> None:
        """No character of a term has a meaning of its own."""
        await _make(store, {scope.path("a.md"): f"x {text} y", scope.path("b.md"): "a-b aXb axxb"})
        found = await _search(searching, scope, text)
        assert [match.path for match in found.matches] == [scope.path("a.md")]

    async def test_files_with_more_terms_rank_first(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """A file with both terms ranks above files that repeat one."""
        await _make(
            store,
            {
                scope.path("a.md"): "walrus " * 100,
                scope.path("b.md"): "walrus and carpenter",
                scope.path("c.md"): "carpenter " * 100,
            },
        )
        found = await _search(searching, scope, "walrus carpenter")
        assert found.matches[0].path == scope.path("b.md")
        assert len(found.matches) == 3

    async def test_search_keeps_its_budgets(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """Matches, and the characters of their names and snippets together, are bounded."""
        text = "before " * 2000 + "walrus " + "after " * 2000
        await _make(store, {scope.path(f"{n:02}.md"): text for n in range(12)})
        found = await _search(searching, scope, "walrus", limit=10, max_chars=1000)
        shown = [match.path.removeprefix(scope.prefix) + match.snippet for match in found.matches]
        assert len(found.matches) == 10
        assert sum(map(len, shown)) <= 1000
        assert all("walrus" in match.snippet for match in found.matches)
        assert found.truncated

    async def test_search_passes_over_names_the_tools_cannot_spell(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """Files that the memory tools could not read are skipped, and are no error."""
        names = ["walrus", "memory.md", ".hidden.md", "a b.md", "e\u0301.md", "walrus.txt"]
        await _make(store, {f"{scope.prefix}{name}": "walrus" for name in names})
        assert (await _search(searching, scope, "walrus")).matches == ()

    async def test_search_sees_only_the_bounded_part(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """A scan looks at the beginning of a file, and says that it left some out."""
        long = "x" * 100 + " walrus"
        await _make(store, {scope.path("a.md"): long, scope.path("b.md"): "walrus"})
        found = await _search(searching, scope, "walrus", max_file_chars=50)
        assert scope.path("b.md") in [match.path for match in found.matches]
        assert len(found.matches) == 2 or found.truncated

    async def test_search_follows_every_change(
        self, store: MemoryStore, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """What was replaced or deleted is found no longer."""
        path = scope.path("a.md")
        first = await store.write(path, "walrus", expected_version=None)
        second = await store.write(path, "carpenter", expected_version=first.version)
        assert (await _search(searching, scope, "walrus")).matches == ()
        assert len((await _search(searching, scope, "carpenter")).matches) == 1
        await store.delete(path, expected_version=second.version)
        assert (await _search(searching, scope, "carpenter")).matches == ()

    @pytest.mark.parametrize("query", ["", " \n", "x" * 1001, " ".join(map(str, range(33)))])
    async def test_malformed_query_is_refused(
        self, searching: SearchableMemoryStore, scope: Scope, query: str
    ) -> None:
        """A query without terms, or with too much, is refused."""
        with pytest.raises(MemoryRefusal) as refusal:
            await _search(searching, scope, query)
        assert refusal.value.code == "invalid_query"

    async def test_malformed_bounds_are_refused(
        self, searching: SearchableMemoryStore, scope: Scope
    ) -> None:
        """A bound below 1 is refused."""
        with pytest.raises(InvalidMemoryRequest):
            await _search(searching, scope, "walrus", limit=0)
        with pytest.raises(InvalidMemoryRequest):
            await _search(searching, scope, "walrus", max_chars=0)


async def _make(store: MemoryStore, files: dict[str, str]) -> None:
    for path, content in files.items():
        await store.write(path, content, expected_version=None)


async def _search(
    store: SearchableMemoryStore,
    scope: Scope,
    query: str,
    *,
    limit: int = 10,
    max_chars: int = 4000,
    max_file_chars: int = 65_536,
) -> MemorySearchResult:
    return await store.search(
        scope.prefix,
        query,
        limit=limit,
        max_files=1000,
        max_chars=max_chars,
        max_file_chars=max_file_chars,
    )
