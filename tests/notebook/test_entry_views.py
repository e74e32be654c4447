"""What is shown of entries that were listed or found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    MAX_RECORD_BYTES,
    EntryLimits,
    EntryListResponse,
    EntryRecord,
    InvalidMemoryRequest,
    check_limit,
    encoded_size,
    show_found,
    show_listed,
)

TEXT = st.text(st.sampled_from("ab 가\U0001f600\n"), max_size=400)
ENTRIES = st.lists(
    st.builds(
        EntryRecord,
        path=st.text(st.sampled_from("abc"), min_size=1, max_size=40).map("/".__add__),
        session=st.none() | st.text(st.sampled_from("xyz"), min_size=1, max_size=20),
        description=TEXT,
        content=TEXT,
    ),
    max_size=12,
)


def length(entry: EntryRecord, *, found: bool) -> int:
    """Characters that an entry takes of the budget."""
    content = len(entry.content or "") if found else 0
    return len(entry.path) + len(entry.session or "") + len(entry.description) + content


@given(entries=ENTRIES, max_chars=st.integers(500, 3_000))
def test_lists_keep_to_their_budget(entries: list[EntryRecord], max_chars: int) -> None:
    """The first entries are shown whole or with a cut description, never over the budget."""
    shown = show_listed(entries, max_chars=max_chars)
    assert sum(length(entry, found=False) for entry in shown) <= max_chars
    assert [entry.path for entry in shown] == [entry.path for entry in entries[: len(shown)]]
    for before, after in zip(entries, shown, strict=False):
        assert after.truncated == (after.description != before.description)


@given(entries=ENTRIES, max_chars=st.integers(1_000, 4_000))
def test_searches_keep_to_their_budget(entries: list[EntryRecord], max_chars: int) -> None:
    """The best are shown, whole where there is room, never over the budget."""
    shown = show_found(entries, "b 가", max_chars=max_chars)
    assert sum(length(entry, found=True) for entry in shown) <= max_chars
    assert shown or not entries
    for before, after in zip(entries, shown, strict=False):
        assert after.truncated == (after.content != before.content)
        assert after.model_copy(update={"content": before.content, "truncated": False}) == before
    if sum(length(entry, found=True) for entry in entries) <= max_chars:
        assert shown == tuple(entries)


def test_ten_long_entries_are_ten_matches() -> None:
    """Long contents share the budget, and each shows what was looked for where it has it."""
    entries = [
        EntryRecord(path=f"/{i}", content="x " * 20_000 + f"needle {i} " + "y " * 10_000)
        for i in range(10)
    ]
    shown = show_found(entries, "the Needle", max_chars=20_000)
    assert len(shown) == 10
    assert all(f"needle {i} " in (entry.content or "") for i, entry in enumerate(shown))
    assert min(len(entry.content or "") for entry in shown) > 1_900


def test_found_by_meaning_shows_its_start() -> None:
    """A long content without the query's words shows its beginning."""
    (shown,) = show_found([EntryRecord(path="/a", content="가" * 9_000)], "coffee", max_chars=6_000)
    assert (shown.content or "").startswith("가")
    assert (shown.content or "").endswith("...")
    assert shown.truncated


@pytest.mark.parametrize("character", ["\U0001f600", "\x01"])
def test_the_largest_list_fits_a_record(character: str) -> None:
    """A list of as many entries and characters as may be asked for fits one record as JSON."""
    limits = EntryLimits(max_listed_entries=400, max_entry_result_chars=81_920)
    entries = [
        EntryRecord(
            path=f"/{i:03}", session=character, description=character * 4_000, version="9" * 18
        )
        for i in range(limits.max_listed_entries)
    ]
    shown = show_listed(entries, max_chars=limits.max_entry_result_chars)
    assert len(shown) == 400
    size = encoded_size(EntryListResponse(status="ok", entries=shown).wire())
    assert size <= MAX_RECORD_BYTES
    with pytest.raises(InvalidMemoryRequest):
        check_limit("max_entry_result_chars", 81_921)
