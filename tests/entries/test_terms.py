"""Terms and stems."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    index_terms,
    query_terms,
    score_words,
    split_terms,
    stem,
    stored_vector,
)
from durable_memory.notebook.terms import MAX_TERMS_PER_TEXT
from durable_memory.stores import postgres

TEXTS = st.text(
    st.one_of(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
        st.sampled_from("ab _-결제東京\u0301\u3099\n"),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("preferences", "preference"),
        ("running", "runs"),
        ("Cafés", "cafe"),
        ("hobbies", "hobby"),
        ("likes", "liked"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("naïve", "naive"),
        ("\u1100\u1161", "가"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    """Case, width, accents, composition and English endings do not tell words apart."""
    assert list(split_terms(one)) == list(split_terms(other))


@pytest.mark.parametrize(("one", "other"), [("this", "thi"), ("bus", "bu"), ("glass", "gla")])
def test_stem_keeps_what_is_no_ending(one: str, other: str) -> None:
    """Short words and `-us`, `-is`, `-ss` keep their s."""
    assert stem(one) != stem(other)


def test_database_bounds_terms_as_the_rule_does() -> None:
    """What an append joins is cut at the bound that a text written at once is cut at."""
    sql = Path(postgres.__file__).parent / "migrations" / "0006_entry_mutations.sql"
    (bound,) = re.findall(r"most CONSTANT integer := (\d+);", sql.read_text(encoding="utf-8"))
    assert int(bound) == MAX_TERMS_PER_TEXT


def test_run_of_korean_is_single_characters_and_pairs() -> None:
    """A run without spaces is found by any word inside it."""
    assert set(split_terms("결제게이트")) == {*"결제게이트", "결제", "제게", "게이", "이트"}
    assert set(query_terms("게이트")) <= set(index_terms("결제게이트웨이").counts)
    assert set(query_terms("タワー")) <= set(index_terms("東京タワー").counts)


def test_underscore_joins_words() -> None:
    """`john_doe` is a word of its own, and a text that has it is found by its parts too."""
    assert query_terms("john_doe") == ("john_doe",)
    assert "john_doe" not in index_terms("john-doe").counts
    assert {"john_doe", "john", "doe"} <= set(index_terms("john_doe").counts)


@given(TEXTS, TEXTS)
def test_terms_of_lines_add_up(one: str, other: str) -> None:
    """No term crosses a line break: an append can be indexed by what it adds."""
    first, second, both = index_terms(one), index_terms(other), index_terms(f"{one}\n{other}")
    assert both.length == first.length + second.length
    names = {*first.counts, *second.counts}
    assert both.counts == {
        name: first.counts.get(name, 0) + second.counts.get(name, 0) for name in names
    }


@given(TEXTS)
def test_text_is_found_by_itself(text: str) -> None:
    """Every term of a query that repeats a text is a term of the text."""
    assert set(query_terms(text)) <= set(index_terms(text).counts)


@given(TEXTS)
def test_term_needs_no_quoting(text: str) -> None:
    """Terms have neither quotes, blanks nor backslashes, and a bounded length."""
    for term in index_terms(text).counts:
        assert term
        assert not set(term) & set("' \t\n\\:\"")
        assert len(term) <= 64 * 18


def test_terms_of_one_text_are_bounded() -> None:
    """A text of nothing but different words is indexed in part, and its length counted in whole."""
    text = "\n".join(chr(0x4E00 + at) for at in range(20_900))
    indexed = index_terms(text)
    assert len(indexed.counts) == 20_000
    assert indexed.length == 20_900


def test_rare_terms_weigh_more_and_length_counts() -> None:
    """The rare term wins over the common, the short text over the long, and none is over 1."""
    texts = {
        "rare": index_terms("cat zebra"),
        "common": index_terms("cat horse"),
        "long": index_terms("cat horse and a very long tail of other words here"),
        "none": index_terms("fish"),
    }
    scores = score_words(query_terms("cat zebra"), texts)
    assert scores["rare"] > scores["common"] > scores["long"]
    assert "none" not in scores
    assert all(0 < score < 1 for score in scores.values())


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=40))
def test_vector_keeps_its_direction(vector: list[float]) -> None:
    """A kept vector has length 1 up to rounding, and the signs of the given one."""
    kept = stored_vector(vector)
    assert kept.signature == "".join("1" if value > 0 else "0" for value in vector)
    length = math.hypot(*vector)
    if length > 0:
        for value, component in zip(vector, kept.components, strict=True):
            assert abs(component / 32_767 - value / length) < 1e-4


@pytest.mark.parametrize("vector", [[], [math.nan], [1.0, math.inf]])
def test_vector_of_no_numbers_is_refused(vector: list[float]) -> None:
    """What an embedder must not return is not kept."""
    with pytest.raises(ValueError, match="finite"):
        stored_vector(vector)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0951\u0952", "\u0301\u0951\u0952"])
def test_run_of_marks_takes_bounded_time(marks: str) -> None:
    """A text of 64,000 marks is indexed in a moment, which sorted in one piece takes minutes."""
    text = "a" + marks * (64_000 // len(marks)) + " walrus"
    start = time.thread_time()
    counts = index_terms(text).counts
    assert time.thread_time() - start < 5
    assert "walrus" in counts


@pytest.mark.parametrize("character", ["\ufdfa", "\u3316", "가", "\u0345", "\U0001d15e"])
def test_text_that_folds_into_more_is_bounded(character: str) -> None:
    """The longest content takes a bounded time, whatever its characters fold into."""
    plain, worst = ("x y " * 16_384, character * 65_536)
    index_terms(plain)
    began = time.perf_counter()
    index_terms(plain)
    middle = time.perf_counter()
    index_terms(worst)
    assert time.perf_counter() - middle < 60 * (middle - began)
