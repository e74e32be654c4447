"""The form in which text is compared, and the way back."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import fold
from durable_memory.notebook.folding import unfold_span

PIECES = [
    "a",
    "ß",
    "ﬃ",
    "İ",
    "한",
    "\u1112\u1161\u11ab",
    "\u1100",
    "\u1161",
    "e",
    "\u0301",
    "\u0345",
]
PIECES += [
    "ΐ",
    "㎨",
    "Å",
    "ﾊ",
    "\uff9e",
    "\u3099",
    "か",
    "😀",
    "\u0338",
    "<",
    " ",
    "ǰ",
    "\u09c7",
    "\u09be",
]
TEXT = st.one_of(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.text(max_size=30))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("HeLLo", "hello"),
        ("Straße", "strasse"),
        ("ﬃ", "ffi"),
        ("İ", "i\u0307"),
        ("ＡＢＣ", "abc"),
        ("\u1112\u1161\u11ab", "한"),
        ("ς", "σ"),
        ("ℌ", "h"),
        ("\u00a0", " "),
    ],
)
def test_folds(text: str, folded: str) -> None:
    """Case, width, ligatures and composition do not matter."""
    assert fold(text) == folded


def test_every_character_is_stable() -> None:
    """Folding twice is folding once, for every character there is."""
    characters = map(chr, range(sys.maxunicode + 1))
    assert [c for c in characters if fold(fold(c)) != fold(c)] == []


@settings(deadline=None, max_examples=150)
@given(TEXT)
@example("\u0345\u0301")
def test_stable(text: str) -> None:
    """Folding twice is folding once."""
    assert fold(fold(text)) == fold(text)


@settings(deadline=None, max_examples=200)
@given(TEXT, st.data())
def test_spans_lead_back(text: str, data: st.DataObject) -> None:
    """The span found for a piece of folded text folds to it in its place, alone and in between."""
    folded = fold(text)
    if not folded:
        return
    start = data.draw(st.integers(0, len(folded) - 1))
    end = data.draw(st.integers(start + 1, len(folded)))
    left, right = unfold_span(text, start, end)
    before, found = fold(text[:left]), fold(text[left:right])
    assert before + found + fold(text[right:]) == folded
    assert len(before) <= start
    assert end <= len(before) + len(found)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
def test_spans_in_long_texts(piece: str) -> None:
    """A span far into a long text leads back as it does in a short one."""
    text = "가나ﬃ " * 700 + f"[{piece}]" + " ß" * 900
    start = fold(text).index("[")
    left, right = unfold_span(text, start, start + len(fold(f"[{piece}]")))
    assert fold(text[left:right]) == fold(f"[{piece}]")


def test_every_composition_is_known() -> None:
    """No two characters that compose are ever taken for pieces that fold on their own."""
    for character in map(chr, range(sys.maxunicode + 1)):
        parts = unicodedata.normalize("NFD", character)
        if len(parts) > 1 and unicodedata.normalize("NFC", parts) == character:
            assert unfold_span(parts, 0, 1) == (0, len(parts)), hex(ord(character))
