"""The rules of entries: who, where and what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    MAX_ACTOR_BYTES,
    MAX_CONTENT_CHARS,
    MAX_ENTRY_PATH_BYTES,
    MAX_SESSION_BYTES,
    EntryFilter,
    EntryKey,
    InvalidMemoryRequest,
    MemoryRefusal,
    Provenance,
    check_actor,
    check_content,
    check_entry_id,
    check_entry_path,
    check_entry_query,
    check_path_prefix,
    check_store_id,
    is_below,
)

SEGMENT = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)
PATHS = (
    st.lists(SEGMENT.filter(lambda s: s not in {".", ".."}), min_size=1, max_size=4)
    .map(lambda parts: "/" + "/".join(parts))
    .filter(lambda path: len(path.encode()) <= MAX_ENTRY_PATH_BYTES)
)
STORE_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-"


@given(st.text(st.sampled_from(STORE_ALPHABET + "A_. /"), max_size=60))
def test_store_id_is_what_the_pattern_says(store: str) -> None:
    """An id of a store is 3 to 56 of a-z, 0-9, '-', from a letter to a letter or digit."""
    good = (
        3 <= len(store) <= 56
        and set(store) <= set(STORE_ALPHABET)
        and store[0].isalpha()
        and store[-1] != "-"
    )
    if good:
        assert check_store_id(store) == store
    else:
        with pytest.raises(InvalidMemoryRequest):
            check_store_id(store)


@pytest.mark.parametrize("store", ["_notebooks", "abc\n", "äbc", "ab", "a" * 57, None])
def test_reserved_and_odd_store_ids_are_refused(store: str) -> None:
    """The store of notebooks cannot be named, nor can what only resembles an id."""
    with pytest.raises(InvalidMemoryRequest):
        check_store_id(store)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_actor_is_any_text_that_says_something(actor: str) -> None:
    """Any storable text up to 512 bytes is an actor, unless it is nothing but whitespace."""
    if actor.strip() and len(actor.encode()) <= MAX_ACTOR_BYTES:
        assert check_actor(actor) == actor
    else:
        with pytest.raises(InvalidMemoryRequest):
            check_actor(actor)


@pytest.mark.parametrize("actor", ["", " ", "\t\n", "a\0b", "\ud800", None, 5, "é" * 257])
def test_missing_actor_is_refused(actor: str) -> None:
    """An actor that is missing, empty or cannot be stored is refused, and never replaced."""
    with pytest.raises(InvalidMemoryRequest):
        check_actor(actor)


@given(PATHS)
def test_path_is_kept_as_it_is(path: str) -> None:
    """A path of proper segments has one spelling: its own."""
    assert check_entry_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "a", "//", "/a/", "/a//b", "/.", "/a/..", "/../a", "/a/./b"),
        *("/a\0", "/\udc00", None, "/" + "x" * MAX_ENTRY_PATH_BYTES),
    ],
)
def test_malformed_path_is_refused(path: str) -> None:
    """A path with an empty, '.' or '..' segment is told to the model, not stored."""
    with pytest.raises(MemoryRefusal) as refusal:
        check_entry_path(path)
    assert refusal.value.code == "invalid_name"


@given(PATHS, PATHS)
def test_prefix_matches_at_segments(path: str, prefix: str) -> None:
    """A path is below a prefix if and only if the prefix's segments begin the path's."""
    expected = path.split("/")[: prefix.count("/") + 1] == prefix.split("/")
    assert is_below(path, prefix) is expected
    assert is_below(f"{prefix}/x", prefix)
    assert not is_below(f"{prefix}x", prefix)
    assert is_below(path, "/")


def test_prefix_may_end_in_a_slash() -> None:
    """`/a/` is the prefix `/a`; `//` is none."""
    assert check_path_prefix("/a/") == "/a"
    assert check_path_prefix("/") == "/"
    for prefix in ("", "//", "a", "/a//"):
        with pytest.raises(MemoryRefusal):
            check_path_prefix(prefix)


def test_path_filter_excludes_a_prefix_and_ignores_the_session() -> None:
    """A path filter spans all sessions; together with a prefix it is malformed."""
    exact = EntryFilter(path="/a", session="s")
    assert exact.admits("/a", None)
    assert exact.admits("/a", "other")
    assert not exact.admits("/a/b", "s")
    with pytest.raises(InvalidMemoryRequest):
        EntryFilter(path="/a", path_prefix="/a")


def test_session_filter_never_admits_entries_without_one() -> None:
    """A filter by session admits that session and nothing else."""
    assert EntryFilter(session="s").admits("/a", "s")
    assert not EntryFilter(session="s").admits("/a", None)
    assert not EntryFilter(session="s").admits("/a", "S")
    with pytest.raises(InvalidMemoryRequest):
        EntryFilter(session="")


@pytest.mark.parametrize("entry_id", ["..", ".", "x?y", "a/b", "", "-a", "a" * 65, "ä", "a\n"])
def test_id_that_needs_quoting_is_refused(entry_id: str) -> None:
    """An id is safe in a URL as it stands."""
    with pytest.raises(InvalidMemoryRequest):
        check_entry_id(entry_id)


def test_key_checks_every_part() -> None:
    """No key exists whose parts break their rules, and none without an actor."""
    EntryKey(store="abc", actor="you@example.com", path="/a.md", session="s" * MAX_SESSION_BYTES)
    for wrong in (
        {"store": "_notebooks"},
        {"actor": ""},
        {"session": ""},
        {"session": "s" * (MAX_SESSION_BYTES + 1)},
    ):
        with pytest.raises(InvalidMemoryRequest):
            EntryKey(**{"store": "abc", "actor": "a", "path": "/a", **wrong})
    with pytest.raises(MemoryRefusal):
        EntryKey(store="abc", actor="a", path="a")


def test_content_and_query_are_bounded() -> None:
    """Text that cannot be stored, is too long or asks nothing is refused with what to do."""
    assert check_content("") == ""
    for text, code in (("x" * (MAX_CONTENT_CHARS + 1), "oversize"), ("\0", "invalid_text")):
        with pytest.raises(MemoryRefusal) as refusal:
            check_content(text)
        assert refusal.value.code == code
    for query in ("", " \n", "x" * 2_001):
        with pytest.raises(MemoryRefusal):
            check_entry_query(query)


def test_provenance_names_a_known_writer() -> None:
    """A source type is one of those that are known."""
    assert Provenance().source_type == "AGENT"
    with pytest.raises(InvalidMemoryRequest):
        Provenance(source_type="HUMAN")
