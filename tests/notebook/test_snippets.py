"""The pieces of files that show why they matched."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import Passage, fold, show_matches

PIECES = [
    "a",
    "ß",
    "ﬃ",
    "İ",
    "한",
    "\u1112\u1161\u11ab",
    "e",
    "\u0301",
    "㎨",
    " ",
    "\n",
    "tea",
    ".",
    "ΐ",
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
TERM = st.sampled_from(
    ["tea", "ss", "ffi", "f", "한", "e\u0301", "s2", "zzz", "\u0307", "i", "é", "ea"]
)


def show(text: str, terms: list[str], max_chars: int) -> str:
    """Return the snippet of the only file that matched, whose name is empty."""
    shown = show_matches([Passage(name="", text=text, score=1)], terms, max_chars)
    return shown[0].snippet if shown else ""


@settings(deadline=None, max_examples=250)
@given(TEXT, st.lists(TERM, min_size=1, max_size=3), st.integers(-1, 60))
@example("x" * 100 + "ﬃ", ["f"], 10)
def test_snippet(text: str, terms: list[str], max_chars: int) -> None:
    """A snippet keeps its budget, is as stored, and shows a match whenever the text has one."""
    terms = [fold(term) for term in terms]
    snippet = show(text, terms, max_chars)
    assert len(snippet) <= max(0, max_chars)
    assert snippet.removeprefix("...").removesuffix("...") in text
    # The longest piece of these texts that folds on its own is a base letter with its marks.
    marks = max(map(len, text.replace("\u0301", " \u0301").split(" "))) if text else 0
    if any(term in fold(text) for term in terms) and max_chars >= 6 + marks:
        assert any(term in fold(snippet) for term in terms)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 90), st.integers(0, 90), st.integers(9, 60))
def test_match_anywhere(before: int, after: int, max_chars: int) -> None:
    """Wherever the match is, it is shown, with dots where text was cut, and the budget is used."""
    text = "x" * before + "tea" + "y" * after
    snippet = show(text, ["tea"], max_chars)
    assert "tea" in snippet
    assert snippet.startswith("...") != text.startswith(snippet[:3])
    assert snippet.endswith("...") != text.endswith(snippet[-3:])
    assert len(snippet) == min(len(text), max_chars)


def test_company() -> None:
    """The piece is from where most of the terms are together."""
    text = "tea " + "x " * 200 + "milk and sugar and cake" + " y" * 200
    assert "milk and sugar" in show(text, ["tea", "milk", "sugar"], 80)


def test_whole_words_are_shown_first() -> None:
    """A whole word is shown rather than a part that comes before it."""
    text = "steamed " + "x " * 200 + "green tea"
    assert "green tea" in show(text, ["tea"], 40)


def test_name_match() -> None:
    """When only the name matched, the start of the text is shown."""
    assert show("one two three four five six", ["zzz"], 20) == "one two three fou..."


def test_match_before_dots() -> None:
    """Where there is no room for dots, the match is shown and not they."""
    assert show("xxxxxxxxteaxxxxxxxx", ["tea"], 4) == "teax"
    assert show("xxxxxxxxteaxxxxxxxx", ["tea"], 2) == "te"


def test_parts_of_files() -> None:
    """The text around the part of a file that was given is marked as cut."""
    passage = Passage(name="a", text="some tea", score=1, cut_before=True, cut_after=True)
    assert show_matches([passage], ["tea"], 100)[0].snippet == "...some tea..."
    assert show_matches([passage], ["tea"], 13)[0].snippet == "...me tea..."


PASSAGE = st.builds(
    Passage,
    name=st.text("abc", min_size=1, max_size=30),
    text=TEXT,
    score=st.just(1.0),
    cut_before=st.booleans(),
    cut_after=st.booleans(),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(PASSAGE, max_size=8), st.integers(0, 400))
def test_budget(passages: list[Passage], max_chars: int) -> None:
    """Names and snippets keep the budget together, and are shown from the best on."""
    shown = show_matches(passages, ["tea"], max_chars)
    assert sum(len(match.name) + len(match.snippet) for match in shown) <= max_chars
    assert [match.name for match in shown] == [one.name for one in passages[: len(shown)]]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=10))
def test_fair_shares(sizes: list[int]) -> None:
    """No text is cut more than another, and nothing is cut while there is room."""
    passages = [Passage(name="n", text="x" * size, score=1) for size in sizes]
    lengths = [len(match.snippet) for match in show_matches(passages, ["zzz"], 4_000)]
    cut = [length for length, size in zip(lengths, sizes, strict=True) if length < size]
    assert not cut or max(lengths) - min(cut) <= 1
    assert sum(lengths) + len(sizes) >= min(sum(sizes) + len(sizes), 4_000 - len(sizes))


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 40), st.integers(0, 40), st.booleans(), st.booleans(), st.integers(9, 60))
def test_match_in_a_part(
    before: int, after: int, cut_before: bool, cut_after: bool, max_chars: int
) -> None:
    """The match is shown and the budget used, whatever of the file is outside the part."""
    part = Passage(
        name="n",
        text="x" * before + "tea" + "y" * after,
        score=1,
        cut_before=cut_before,
        cut_after=cut_after,
    )
    snippet = show_matches([part], ["tea"], 1 + max_chars)[0].snippet
    assert "tea" in snippet
    assert len(snippet) == min(part.need, max_chars)
    assert snippet.startswith("...") == (cut_before or not snippet.startswith(part.text[:3]))
    assert snippet.endswith("...") == (cut_after or not snippet.endswith(part.text[-3:]))


def test_term_that_does_not_fit() -> None:
    """A term that fits is shown rather than one that does not."""
    text = "t" * 60 + " x" * 100 + " milk and " + "y " * 100
    assert "milk" in show(text, ["t" * 60, "milk"], 50)


def test_long_match_among_short_ones() -> None:
    """A long match is shown whole where an equal share would cut it."""
    term = "t" * 60
    texts = [f"{'x ' * 200}{found}" for found in ("tea", term, "tea", "tea", "tea")]
    passages = [Passage(name="n", text=text, score=1) for text in texts]
    shown = show_matches(passages, ["tea", term], 5 * 41 + 30)
    assert len(shown) == 5
    assert term in shown[1].snippet


@pytest.mark.parametrize("max_chars", [100, 150])
def test_long_terms(max_chars: int) -> None:
    """Fewer matches are shown when each needs the room to show itself."""
    term = "t" * 60
    passages = [Passage(name="n", text=f"{'x' * 500} {term}", score=1) for _ in range(3)]
    shown = show_matches(passages, [term], max_chars)
    assert len(shown) == max_chars // 61
    assert all(term in match.snippet for match in shown)
