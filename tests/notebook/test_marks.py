"""Long runs of marks, which make normalising quadratic, are cut."""

from __future__ import annotations

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import fold, search_files
from durable_memory.notebook.folding import unfold_span
from durable_memory.notebook.marks import (
    JOINER,
    MAX_RUN,
    NON_STARTER_CLASS,
    NON_STARTERS,
    cut_runs,
    has_long_run,
)

ALL = [chr(code) for code in range(sys.maxunicode + 1)]
# Of all kinds: sorted, doubled by decomposition, turned into letters, known to newer Unicode only.
STACK = "\u0301\u0327\u0344\u0f73\u0f81\u0345\uff9e\u3099\u0951\U0001d16e\U0001e08f\u034f"
RUNS = st.builds("".join, st.lists(st.sampled_from(STACK), max_size=70))
TEXTS = st.lists(st.one_of(RUNS, st.sampled_from("aᾂǖΐ가か\u1161\U0001d160ΣA ")), max_size=6).map(
    "".join
)
MANY = 64_000
SECONDS = 5.0
"""Of the processor's time: sorted in one piece, a run of 64,000 takes over a minute."""


def longest_run(text: str) -> int:
    """The most non-starters that follow each other."""
    return max(map(len, re.findall(f"{NON_STARTER_CLASS}+", text)), default=0)


def test_class_is_every_non_starter() -> None:
    """The characters are those that normalise to a non-starter, as far as this Python knows."""
    known = {
        character
        for character in ALL
        if unicodedata.combining(unicodedata.normalize("NFKD", character)[0])
    }
    assert {each for each in NON_STARTERS if unicodedata.category(each) != "Cn"} == known
    assert set(re.findall(NON_STARTER_CLASS, "".join(ALL))) == NON_STARTERS


def test_decomposition_is_bounded() -> None:
    """A non-starter is two at most once it is decomposed, and what is before it brings three."""
    normal = {character: unicodedata.normalize("NFKD", character) for character in ALL}
    for character, parts in normal.items():
        if character in NON_STARTERS:
            assert len(parts) <= 2
            assert set(parts) <= NON_STARTERS
        elif parts != character:
            assert longest_run(parts) <= 3
            assert parts[0] not in NON_STARTERS


@settings(deadline=None, max_examples=200)
@given(TEXTS)
@example("a" + "\u0301" * (MAX_RUN + 1))
@example("\u0301" * 2 * MAX_RUN)
def test_cuts(text: str) -> None:
    """No run is longer than allowed, nothing else is changed, and cutting twice is cutting once."""
    cut = cut_runs(text)
    assert longest_run(cut) <= MAX_RUN
    assert cut.replace(JOINER, "") == text.replace(JOINER, "")
    assert (cut == text) == (longest_run(text) <= MAX_RUN)
    assert cut_runs(cut) == cut


@pytest.mark.parametrize("before", range(30))
@pytest.mark.parametrize("after", [0, 1, 5, 12, 40])
def test_long_runs_are_seen(before: int, after: int) -> None:
    """A run of 13 is seen wherever it stands, and ordinary text has none."""
    assert has_long_run("é" * before + "\u0301" * 13 + "é" * after)
    assert not has_long_run("e\u0302\u0301" * before + "नि्" * after)


@settings(deadline=None, max_examples=300)
@given(TEXTS)
@example("ᾂ" + "\u0344" * 12)
@example("ǖ" + "\u0328" * 30)
@example("\U0001d160" + "\U0001d16e" * 30)
@example("a" + "\u0344" * 16)
def test_folds_stream_safe(text: str) -> None:
    """A folded text is stable, and has no long run however it is decomposed."""
    folded = fold(text)
    assert fold(folded) == folded
    assert longest_run(unicodedata.normalize("NFKD", folded)) <= MAX_RUN


@settings(deadline=None, max_examples=300)
@given(TEXTS)
@example("ᾂ" + "\u0344" * 12)
def test_other_texts_fold_as_ever(text: str) -> None:
    """Where no run is long, a text folds as by the plain formula; where one is, it is cut twice."""
    normal = unicodedata.normalize
    folded = normal("NFKD", normal("NFKC", cut_runs(text)).casefold())
    assert fold(text) == normal("NFKC", cut_runs(folded))
    if longest_run(text) <= MAX_RUN and longest_run(folded) <= MAX_RUN:
        assert fold(text) == normal("NFKC", normal("NFKC", text).casefold())


@settings(deadline=None, max_examples=100)
@given(TEXTS, st.data())
def test_spans_lead_back(text: str, data: st.DataObject) -> None:
    """Pieces of a text with long runs fold on their own as they do in it."""
    folded = fold(text)
    if not folded:
        return
    start = data.draw(st.integers(0, len(folded) - 1))
    left, right = unfold_span(text, start, start + 1)
    before, found = fold(text[:left]), fold(text[left:right])
    assert before + found + fold(text[right:]) == folded
    assert len(before) <= start < len(before) + len(found)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0344\u0327", "\u0951\u0952", "\u0345\u0301"])
def test_run_as_long_as_a_file_takes_bounded_time(marks: str) -> None:
    """Searching a file of 64,000 marks takes no more than a moment, and finds what is behind."""
    text = "a" + marks * (MANY // len(marks)) + " walrus"
    start = time.thread_time()
    found = search_files([("a.md", text)], "walrus", limit=1, max_files=1, max_chars=200)
    assert time.thread_time() - start < SECONDS
    assert "walrus" in found.matches[0].snippet
