"""Names on disk: read back exactly, never two for one, ordinary ones as they are."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.stores.file.spelling import (
    MAX_PIECE_BYTES,
    read_file,
    read_segment,
    spell_file,
    spell_path,
    spell_segment,
)

DIFFICULT = "aAbBmMdD.. ~%-+éÉßẞſKkΣσςİiıﬁ가e\u0301\u1100\u1161\u200d\u00ad"
KNOWN = [
    *("MEMORY.md", "memory.md", "Memory.md", "MEMORY.MD", "con.md", "CON", "a", "A", "a.md"),
    *("A.md", "a.MD", ".md", "a~1.md", "a%41.md", ".memory-store.sqlite3", "a.", "a ", "nul"),
]
CHARACTERS = st.one_of(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0/"),
    st.sampled_from(DIFFICULT),
)
NAMES = st.one_of(
    st.sampled_from(KNOWN),
    st.text(CHARACTERS, min_size=1, max_size=60),
    st.text(st.sampled_from(DIFFICULT), min_size=1, max_size=5),
).filter(lambda name: len(name.encode()) <= 200 and name not in {".", ".."})
SEGMENTS = st.one_of(
    st.sampled_from(["notes.md", "NOTES.MD", "Alice", "alice", ".git", "a.", "con", "x" * 200]),
    st.text(string.ascii_letters + string.digits + "_.@:+-", min_size=1, max_size=200),
).filter(lambda segment: segment != "." and ".." not in segment)


def folded(pieces: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return pieces as disks compare them: without case, in one normalisation or another."""
    return [
        tuple(unicodedata.normalize("NFD", piece.casefold()) for piece in pieces),
        tuple(unicodedata.normalize("NFC", piece.upper()) for piece in pieces),
        tuple(unicodedata.normalize("NFKC", piece.casefold()).casefold() for piece in pieces),
        tuple(piece.lower().rstrip(". ") for piece in pieces),
    ]


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "notes.md", "project-plan_2.md", "가나다.md", "café.md", "a b.md"]
)
def test_ordinary_names_are_spelled_as_they_are(name: str) -> None:
    """What a person reads in the folder is the file's name."""
    assert spell_path("acme/you@example.com/support", name) == (
        *("acme", "you@example.com", "support"),
        name,
    )


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("Alice.md", "Alice~1.md"),
        ("README.md", "README~3f.md"),
        ("memory.md", "memory~0.md"),
        ("notes", "notes~0-.md"),
        (".hidden.md", "%2Ehidden.md"),
        ("con.md", "%63on.md"),
        ("straße.md", "stra%C3%9Fe.md"),
        ("what?.md", "what%3F.md"),
    ],
)
def test_other_names_stay_readable(name: str, spelled: str) -> None:
    """What a disk could mix up is marked, and the rest of the name is as it is."""
    assert spell_file(name) == (spelled,)


@settings(max_examples=200)
@given(name=NAMES)
def test_file_names_are_read_back(name: str) -> None:
    """A spelling says which name it stands for, and fits any disk."""
    pieces = spell_file(name)
    assert read_file(pieces) == name
    assert all(_fits(piece) for piece in pieces)
    assert pieces[-1].endswith(".md")


@settings(max_examples=150)
@given(segment=SEGMENTS)
def test_segments_are_read_back(segment: str) -> None:
    """A folder says which segment it stands for, and never looks like a file."""
    pieces = spell_segment(segment)
    assert read_segment(pieces) == segment
    assert all(_fits(piece) for piece in pieces)
    assert not any(piece.lower().endswith(".md") for piece in pieces)


@settings(max_examples=600)
@given(one=NAMES, two=NAMES)
def test_no_disk_takes_two_files_for_one(one: str, two: str) -> None:
    """Different names differ after any folding that a disk may do."""
    same = [a == b for a, b in zip(folded(spell_file(one)), folded(spell_file(two)), strict=True)]
    assert any(same) == (one == two)


@settings(max_examples=200)
@given(one=SEGMENTS, two=SEGMENTS)
def test_no_disk_takes_two_scopes_for_one(one: str, two: str) -> None:
    """Different segments differ after any folding that a disk may do."""
    pairs = zip(folded(spell_segment(one)), folded(spell_segment(two)), strict=True)
    assert any(a == b for a, b in pairs) == (one == two)


@settings(max_examples=200)
@given(segment=SEGMENTS, name=NAMES)
def test_no_disk_takes_a_scope_for_a_file(segment: str, name: str) -> None:
    """A folder of a scope is never where a file of the same folder is."""
    pairs = zip(folded(spell_segment(segment)), folded(spell_file(name)), strict=True)
    assert not any(a[0] == b[0] for a, b in pairs)


@settings(max_examples=150)
@given(text=st.text(st.sampled_from("aA~%.+-0f12EMmd\n"), min_size=1, max_size=12))
def test_only_the_one_spelling_is_read(text: str) -> None:
    """What a person named otherwise stands for no name, so that no file has two."""
    name, segment = read_file((text,)), read_segment((text,))
    assert name is None or spell_file(name) == (text,)
    assert segment is None or spell_segment(segment) == (text,)


def _fits(piece: str) -> bool:
    small = len(piece.encode()) <= MAX_PIECE_BYTES
    return small and piece[0] not in ". " and piece[-1] not in ". " and "/" not in piece
