"""How well a file answers a query."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.notebook import MAX_TERMS, WORD_BOUNDARY, rank, rarity
from durable_memory.notebook.scoring import (
    TermCounts,
    file_counts,
    first_occurrence,
    presence,
    term_counts,
)

COUNT = st.integers(0, 10**6)
FEW = st.text("ab. ", max_size=14)


def boundary(character: str) -> bool:
    """Whether a character, or an end of the text, is between words."""
    return not character or re.fullmatch(WORD_BOUNDARY, character) is not None


def whole_words(text: str, term: str) -> list[int]:
    """Where a term stands as a whole word, none within another, found position by position."""
    found, at = [], 0
    while at < len(text):
        end = at + len(term)
        if (
            text.startswith(term, at)
            and boundary(text[at - 1 : at] if at else "")
            and boundary(text[end : end + 1])
        ):
            found.append(at)
            at = end
        else:
            at += 1
    return found


@settings(deadline=None, max_examples=200)
@given(FEW, st.text("ab.", min_size=1, max_size=3))
def test_counts(text: str, term: str) -> None:
    """Every occurrence is counted once, as a whole word or as a part."""
    counts, whole = term_counts(text, term), whole_words(text, term)
    assert counts.whole == len(whole)
    assert counts.whole + counts.part == text.count(term)
    assert first_occurrence(text, term) == (whole[0] if whole else text.find(term))


@pytest.mark.parametrize("character", [*" \t\n.,;:!?()[]{}'\"/_-", "、", "。", "「", "—", "…", "¿"])
def test_between_words(character: str) -> None:
    """Spaces and punctuation of several scripts are between words."""
    assert term_counts(f"x{character}tea{character}x", "tea") == TermCounts(whole=1)


@pytest.mark.parametrize("character", [*"az09é", "ß", "가", "か", "々", "字", "я", "ª", "µ", "º"])
def test_within_words(character: str) -> None:
    """Letters and digits of several scripts are not."""
    assert term_counts(f"tea{character}", "tea") == TermCounts(part=1)
    assert term_counts(f"{character}tea", "tea") == TermCounts(part=1)


@settings(deadline=None)
@given(COUNT, COUNT)
def test_repetition_saturates(whole: int, part: int) -> None:
    """Repetition is worth something, but never more than a thirty-second."""
    counts = TermCounts(whole=whole, part=part)
    more = TermCounts(whole=whole + bool(whole), part=part + (not whole))
    assert presence(counts) < presence(more) < 1
    if counts:
        assert presence(more) - presence(counts) < 1 / MAX_TERMS


@settings(deadline=None)
@given(st.integers(1, 10**6), COUNT)
def test_whole_words_before_parts(whole: int, part: int) -> None:
    """One whole word is worth more than any number of parts."""
    assert presence(TermCounts(whole=whole)) > presence(TermCounts(part=part))


def test_names_weigh_more() -> None:
    """A word in a file's name counts as eight in its text."""
    counts = file_counts(TermCounts(whole=1, part=2), TermCounts(whole=3, part=4))
    assert counts == TermCounts(whole=25, part=34)


@settings(deadline=None)
@given(st.integers(2, 10**6), st.data())
def test_rare_terms_weigh_more(files: int, data: st.DataObject) -> None:
    """The fewer files have a term, the more it weighs, and it always weighs something."""
    common = data.draw(st.integers(2, files))
    rare = data.draw(st.integers(1, common - 1))
    assert rarity(files, rare) > rarity(files, common) > 0


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_more_terms_rank_first(data: st.DataObject) -> None:
    """A file with the words of another and one more ranks above it, whatever is repeated."""
    terms = [f"t{number}" for number in range(data.draw(st.integers(2, MAX_TERMS)))]
    held = data.draw(st.integers(1, len(terms) - 1))
    repeats = data.draw(st.lists(st.integers(1, 10**6), min_size=held, max_size=held))
    fewer = {t: TermCounts(whole=n) for t, n in zip(terms, repeats, strict=False)}
    more = {t: TermCounts(whole=1) for t in terms[: held + 1]}
    others = data.draw(
        st.lists(st.sets(st.sampled_from(terms)), max_size=8), label="terms of other files"
    )
    counts = {
        f"other{at}": {t: TermCounts(whole=1) for t in have} for at, have in enumerate(others)
    }
    ranked = rank({"a": fewer, "b": more, **counts}, terms, files=100)
    scores = dict(ranked)
    assert scores["b"] > scores["a"]


def test_ties_go_by_name() -> None:
    """Files that answer equally well are in the order of their names."""
    counts = {name: {"t": TermCounts(whole=1)} for name in ("b.md", "a.md", "c.md")}
    assert [name for name, _ in rank(counts, ["t"], files=3)] == ["a.md", "b.md", "c.md"]


def test_formula() -> None:
    """Scores are those of the documented formula."""
    counts = {
        "a.md": {"x": TermCounts(whole=1), "y": TermCounts(part=1)},
        "b.md": {"x": TermCounts(whole=3, part=9)},
    }
    x, y = 0.6931471805599453, 1.2039728043259361  # The logarithms of 2 and of 10/3.
    assert rank(counts, ["x", "y"], files=4) == [
        ("a.md", round(x * (1 - 1 / 64) + y * (0.5 - 1 / 64), 9)),
        ("b.md", round(0.5 * x * (1 - 1 / 128), 9)),
    ]
