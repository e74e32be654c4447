"""What any store can do, with no more than the base protocol."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from bare_store import BareStore
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    MAIN_FILENAME,
    Append,
    Edit,
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryFault,
    MemoryRefusal,
    MemoryScopeViolation,
    NotebookView,
    Remove,
    Replace,
)
from durable_memory.stores import (
    InMemoryStore,
    MemorySearchMatch,
    MemorySearchResult,
    MemoryStore,
    apply_edit,
    search_notebook,
    settle_operation,
    view_notebook,
)
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import future, new_operation, new_scope, past, reused

PATH = "agent/notes.md"
TEXTS = st.text(st.sampled_from("ab \n\rλ"), max_size=12)
EDITS = st.one_of(
    st.builds(Append, content=TEXTS),
    st.builds(Replace, old_text=TEXTS, content=TEXTS),
    st.just(Remove()),
)


async def outcome_of(store: MemoryStore, edit: Edit) -> tuple[object, ...]:
    """Return what an edit says and leaves behind."""
    try:
        done = await apply_edit(store, PATH, edit, max_chars=30, operation=new_operation())
    except MemoryRefusal as refusal:
        return refusal.code, str(refusal), await content_of(store, PATH)
    return done.existed, done.version is None, await content_of(store, PATH)


@given(edits=st.lists(EDITS, max_size=6))
async def test_edits_are_the_same_on_every_store(edits: list[Edit]) -> None:
    """A store without edits does what one with edits does, and refuses what that refuses."""
    bare, able = BareStore(), InMemoryStore()
    for edit in edits:
        assert await outcome_of(bare, edit) == await outcome_of(able, edit)


async def test_lost_race_is_run_again() -> None:
    """An edit that others came before is planned on what they left."""
    store = BareStore(before_write=["theirs\n", "theirs again\n"])
    done = await apply_edit(store, PATH, Append(content="ours"), max_chars=100)
    assert done.existed
    assert await content_of(store, PATH) == "theirs again\nours\n"


async def test_races_are_not_run_for_ever() -> None:
    """An edit that loses every race is a conflict."""
    store = BareStore(before_write=[f"theirs {n}\n" for n in range(100)])
    with pytest.raises(MemoryConflictError):
        await apply_edit(store, PATH, Append(content="ours"), max_chars=100)
    assert 0 < len(store.before_write) < 100


async def test_edit_arriving_again_is_answered_by_its_receipt() -> None:
    """The receipt is asked for before anything is planned."""
    store, operation = BareStore(), new_operation()
    await store.write(PATH, "old", expected_version=None)
    edit = Replace(old_text="old", content="new")
    first = await apply_edit(store, PATH, edit, max_chars=100, operation=operation)
    again = await apply_edit(store, PATH, edit, max_chars=100, operation=operation)
    assert (again.version, again.replayed) == (first.version, True)
    assert await content_of(store, PATH) == "new"


async def test_edit_reads_no_more_than_it_may_change() -> None:
    """One character beyond the limit is read, to know that a file is too large."""
    store = BareStore()
    await apply_edit(store, PATH, Append(content="note"), max_chars=100)
    assert store.reads == [101]


async def test_late_edit_changes_nothing() -> None:
    """The deadline is the store's to keep, and reaches it."""
    store = BareStore()
    with pytest.raises(MemoryDeadlineExceeded):
        await apply_edit(store, PATH, Append(content="note"), max_chars=100, deadline=past())
    assert await content_of(store, PATH) is None


async def test_view_is_the_same_on_every_store() -> None:
    """A store without views shows what one with views shows, and is asked for bounded answers."""
    store, scope = BareStore(), new_scope()
    for name in (MAIN_FILENAME, "a.md", "b.md", "a b.md", "nested/c.md", "z.md"):
        await store.write(f"{scope.prefix}{name}", f"text of {name}", expected_version=None)
    for tail_chars, max_names in ((5, 1), (7, 2), (100, 10)):
        bounds = {"tail_chars": tail_chars, "max_names": max_names}
        able = await view_notebook(store.inner, scope.prefix, **bounds)
        assert await view_notebook(store, scope.prefix, **bounds) == able
    assert store.listings == [3, 4, 12]
    assert await view_notebook(store, "none/", tail_chars=1, max_names=1) == NotebookView()


async def test_view_says_that_there_may_be_more() -> None:
    """Names that the tools cannot spell may fill a listing, behind which there may be others."""
    store, scope = BareStore(), new_scope()
    for name in (MAIN_FILENAME, "a b.md", "a.md", "b.md"):
        await store.write(scope.path(name), "text", expected_version=None)
    full = await view_notebook(store, scope.prefix, tail_chars=10, max_names=2)
    whole = await view_notebook(store, scope.prefix, tail_chars=10, max_names=3)
    assert (full.names, full.names_truncated) == (("a.md", "b.md"), True)
    assert (whole.names, whole.names_truncated) == (("a.md", "b.md"), False)


async def test_search_is_the_same_on_every_store() -> None:
    """A store without search finds what one with search finds."""
    store, scope = BareStore(), new_scope()
    for number, text in enumerate(("walrus", "walrus carpenter", "x" * 50 + "walrus", "oyster")):
        await store.write(scope.path(f"{number}.md"), text, expected_version=None)
    await store.write(f"{scope.prefix}nested/a.md", "walrus", expected_version=None)
    for max_files in (2, 4, 10):
        bounds = {"limit": 2, "max_files": max_files, "max_chars": 100, "max_file_chars": 40}
        able = await search_notebook(store.inner, scope.prefix, "walrus carpenter", **bounds)
        assert await search_notebook(store, scope.prefix, "walrus carpenter", **bounds) == able


async def test_search_asks_for_bounded_answers() -> None:
    """At most one path more than may be looked at is asked for, and no more than those are read."""
    store, scope = BareStore(), new_scope()
    for number in range(10):
        await store.write(scope.path(f"{number}.md"), "walrus", expected_version=None)
    found = await search_notebook(
        store, scope.prefix, "walrus", limit=10, max_files=4, max_chars=1000, max_file_chars=7
    )
    assert store.listings == [5]
    assert store.reads == [7] * 4
    assert (found.scanned, found.truncated) == (4, True)


@pytest.mark.parametrize("bound", ["limit", "max_files", "max_chars", "max_file_chars"])
async def test_search_refuses_malformed_arguments(bound: str) -> None:
    """A malformed bound, prefix or query is refused before the store is asked."""
    good = {"limit": 1, "max_files": 1, "max_chars": 1, "max_file_chars": 1}
    store = BareStore()
    with pytest.raises(InvalidMemoryRequest):
        await search_notebook(store, "a/", "walrus", **{**good, bound: 0})
    with pytest.raises(InvalidMemoryRequest):
        await search_notebook(store, "a", "walrus", **good)
    with pytest.raises(MemoryRefusal):
        await search_notebook(store, "a/", " ", **good)
    assert store.listings == []


class LeakingStore(BareStore):
    """A store at fault: it answers with what is another tenant's, and with too much."""

    def __init__(self, *matches: MemorySearchMatch) -> None:
        super().__init__()
        self.matches: Sequence[MemorySearchMatch] = matches

    async def list_paths(self, prefix: str = "", *, limit: int) -> list[str]:
        """Return a file of another scope."""
        return [f"{prefix}a.md", "other/secret.md"][:limit]

    async def search(self, *_where: str, **_bounds: int) -> MemorySearchResult:
        """Return what it was made with."""
        return MemorySearchResult(matches=self.matches, scanned=1, truncated=False)


async def test_files_of_another_scope_are_never_shown() -> None:
    """A store that returns a path outside the scope is at fault, and nothing is shown."""
    secret = LeakingStore(MemorySearchMatch(path="other/secret.md", snippet="s", score=1.0))
    bounds = {"limit": 5, "max_files": 5, "max_chars": 50, "max_file_chars": 50}
    with pytest.raises(MemoryScopeViolation) as fault:
        await search_notebook(secret, "agent/", "walrus", **bounds)
    assert "secret" not in str(fault.value)
    with pytest.raises(MemoryScopeViolation):
        await view_notebook(secret, "agent/", tail_chars=10, max_names=10)


async def test_too_much_from_a_store_is_cut() -> None:
    """A store that returns more than was asked for does not break the bounds."""
    match = [MemorySearchMatch(path=f"agent/{n}.md", snippet="s" * 20, score=1.0) for n in range(9)]
    bounds = {"max_files": 5, "max_chars": 80, "max_file_chars": 50}
    some = await search_notebook(LeakingStore(*match), "agent/", "walrus", limit=9, **bounds)
    two = await search_notebook(LeakingStore(*match), "agent/", "walrus", limit=2, **bounds)
    assert (len(some.matches), some.truncated) == (3, True)
    assert (len(two.matches), two.truncated) == (2, True)


async def test_settling_waits_out_the_deadline() -> None:
    """A store that cannot settle is asked for the receipt once the deadline has passed."""
    store, operation = BareStore(), new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=200)
    settled = await settle_operation(store, operation, deadline=deadline)
    assert settled.abandoned
    assert datetime.now(UTC) >= deadline


async def test_settling_finds_the_receipt_on_every_store() -> None:
    """An operation that was applied is settled as applied, with or without the ability."""
    operation = new_operation()
    for store in (BareStore(), InMemoryStore()):
        done = await store.write(
            PATH, "text", expected_version=None, operation=operation, deadline=future()
        )
        settled = await settle_operation(store, operation, deadline=past())
        assert (settled.version, settled.replayed, settled.abandoned) == (done.version, True, False)
        with pytest.raises(MemoryFault):
            await settle_operation(store, reused(operation), deadline=past())
