"""Which files answer a query, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    MemoryRefusal,
    SearchOutcome,
    count_terms,
    fold,
    parse_query,
    search_files,
)

WORDS = ["tea", "TEA", "steam", "milk", "한글", "한글을", "Straße", "ﬃ", "\u1112\u1161\u11ab", "md"]
CONTENT = st.lists(st.sampled_from([*WORDS, "\n", "x" * 30]), max_size=80).map(" ".join)
NAMES = [f"{word}.md" for word in ("tea", "milk", "한글", "notes", "MEMORY", "md", "a-tea")]
FILES = st.dictionaries(st.sampled_from(NAMES), CONTENT, max_size=7)
QUERY = st.lists(st.sampled_from([*WORDS, "ss", "f", "absent"]), min_size=1, max_size=4).map(
    " ".join
)


def search(files: dict[str, str], query: str, **limits: int) -> SearchOutcome:
    """Search with the default limits, unless others are given."""
    usual = {"limit": 10, "max_files": 1_000, "max_chars": 4_000}
    return search_files(files.items(), query, **(usual | limits))


def names(outcome: SearchOutcome) -> list[str]:
    """The names of the matches."""
    return [match.name for match in outcome.matches]


@settings(deadline=None, max_examples=150)
@given(FILES, QUERY, st.integers(1, 8), st.integers(1, 8), st.integers(20, 800))
def test_bounds(
    files: dict[str, str], query: str, limit: int, max_files: int, max_chars: int
) -> None:
    """No limit is ever exceeded, and what is left out is told."""
    outcome = search(files, query, limit=limit, max_files=max_files, max_chars=max_chars)
    assert len(outcome.matches) <= limit
    assert outcome.scanned == min(len(files), max_files)
    assert sum(len(m.name) + len(m.snippet) for m in outcome.matches) <= max_chars
    found = search(dict(list(files.items())[:max_files]), query, max_chars=100_000)
    assert outcome.truncated == (
        len(files) > max_files or len(outcome.matches) < len(found.matches)
    )


@settings(deadline=None, max_examples=150)
@given(FILES, QUERY)
def test_matches(files: dict[str, str], query: str) -> None:
    """A file matches if a term is in its name or text, and its snippet shows one of the text."""
    terms = parse_query(query)
    outcome = search(files, query)
    expected = {
        name
        for name, text in files.items()
        if any(term in fold(text) or term in fold(name[:-3]) for term in terms)
    }
    assert set(names(outcome)) == expected
    for match in outcome.matches:
        assert match.score > 0
        if any(term in fold(files[match.name]) for term in terms):
            assert any(term in fold(match.snippet) for term in terms)
    scores = [match.score for match in outcome.matches]
    assert scores == sorted(scores, reverse=True)


@settings(deadline=None)
@given(FILES, QUERY, st.randoms())
def test_order_of_files(files: dict[str, str], query: str, random: Random) -> None:
    """The order in which a store gives its files does not matter."""
    shuffled = list(files.items())
    random.shuffle(shuffled)
    assert search(dict(shuffled), query) == search(files, query)


@settings(deadline=None)
@given(FILES, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_repeated_terms(files: dict[str, str], words: list[str]) -> None:
    """A term that is repeated in another case or spelling counts once."""
    query = " ".join(words)
    assert search(files, f"{query} {query.upper()}") == search(files, query)


def test_ten_large_files() -> None:
    """Ten files of full size give ten matches with the default limits."""
    text = ("lorem ipsum " * 5_000) + "tea" + (" dolor sit amet" * 300)
    files = {f"{'n' * 75}{number}.md": text for number in range(10)}
    outcome = search(files, "tea")
    assert len(outcome.matches) == 10
    assert not outcome.truncated
    assert all("tea" in match.snippet for match in outcome.matches)
    assert 3_900 < sum(len(m.name) + len(m.snippet) for m in outcome.matches) <= 4_000


def test_short_files_leave_room() -> None:
    """What short files do not need is given to long ones."""
    files = {"long.md": "tea " * 2_000} | {f"{number}.md": "tea" for number in range(9)}
    shown = {match.name: len(match.snippet) for match in search(files, "tea").matches}
    assert shown["long.md"] > 3_900


def test_rare_term_ranks_first() -> None:
    """The file with the rare term ranks above those with the common one."""
    files = {f"{number}.md": "tea " * 50 for number in range(20)} | {"z.md": "oolong"}
    assert names(search(files, "tea oolong"))[0] == "z.md"


def test_repetition_does_not_win() -> None:
    """A file with both terms ranks above one that repeats one of them."""
    files = {"a.md": "tea " * 10_000, "b.md": "tea milk", "c.md": "milk " * 10_000}
    assert names(search(files, "milk tea"))[0] == "b.md"


def test_whole_word_ranks_first() -> None:
    """A file with the word ranks above one with many words that hold it."""
    files = {"a.md": "steam " * 1_000, "b.md": "a cup of tea."}
    assert names(search(files, "tea")) == ["b.md", "a.md"]


def test_name_ranks_first() -> None:
    """A file named after the term ranks above one that mentions it."""
    files = {"a.md": "tea and tea", "tea.md": "oolong"}
    assert names(search(files, "TEA")) == ["tea.md", "a.md"]


@pytest.mark.parametrize("query", ["md", ".md", "memory.md", "d"])
def test_the_ending_never_matches(query: str) -> None:
    """The `.md` of a name is not searched."""
    assert search({"MEMORY.md": "x", "a.md": "x"}, query).matches == ()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Die Straße", "STRASSE"),
        ("Die STRASSE", "straße"),
        ("eﬃcient", "EFFI"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("한글을 배운다", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("İstanbul", "i\u0307stanbul"),
        ("ＷＩＤＥ", "wide"),
        ("cafe\u0301", "CAFÉ"),
        ("100㎨", "m∕s2"),
    ],
)
def test_spellings(text: str, query: str) -> None:
    """Terms are found in whatever case, width and composition, and the snippet is as stored."""
    long = "x " * 400 + text + " y" * 400
    (match,) = search({"a.md": long}, query, max_chars=100).matches
    assert text in match.snippet


@pytest.mark.parametrize("query", [".*", "a%b", "a_b", "\\", "(", "[a-z]", "'", '"a', "$1"])
def test_terms_are_literal(query: str) -> None:
    """No character of a term means anything but itself."""
    assert search({"a.md": "aXb tea"}, query).matches == ()
    assert names(search({"a.md": f"tea {query} milk"}, query)) == ["a.md"]


@settings(deadline=None, max_examples=200)
@given(FILES, QUERY, st.sampled_from(["tea", "milk/tea", "md"]))
def test_scope_never_matters(files: dict[str, str], query: str, key: str) -> None:
    """What a scope is called has no part in a score: a name with it in it is not looked at."""
    scoped = {f"{key}/{name}": text for name, text in files.items()}
    assert search(scoped | files, query) == search(files, query)


def test_names_that_tools_cannot_spell() -> None:
    """Files under names the tools cannot spell are passed over, and not counted."""
    outcome = search({"a b.md": "tea", "memory.md": "tea", "x.txt": "tea", "b.md": "tea"}, "tea")
    assert (names(outcome), outcome.scanned) == (["b.md"], 1)


def test_no_more_files_are_taken() -> None:
    """A scan takes one file more than it looks at, and no other."""
    taken = 0

    def files() -> Iterator[tuple[str, str]]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield f"{number}.md", "tea"

    outcome = search_files(files(), "tea", limit=1, max_files=5, max_chars=100)
    assert (taken, outcome.scanned, outcome.truncated) == (6, 5, True)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Tea  TEA\ttea", ("tea",)),
        ("b a", ("b", "a")),
        ("STRASSE straße", ("strasse",)),
        ("x\u3000y", ("x", "y")),
        (" ".join(map(str, range(32))) + " 0", tuple(map(str, range(32)))),
        ("x" * 1_000, ("x" * 1_000,)),
    ],
)
def test_queries(query: str, terms: tuple[str, ...]) -> None:
    """A query is folded, split at spaces, and each term taken once, in order."""
    assert parse_query(query) == terms


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "invalid_query"),
        (" \n\u3000", "invalid_query"),
        ("x" * 1_001, "invalid_query"),
        (" " * 1_001, "invalid_query"),
        (" ".join(map(str, range(33))), "invalid_query"),
        ("a\0", "invalid_text"),
        ("\ud800", "invalid_text"),
    ],
)
def test_refused_queries(query: str, code: str) -> None:
    """A query that is empty, too long or cannot be text is refused before any file is read."""

    def unread() -> Iterator[tuple[str, str]]:
        raise AssertionError("a file was read")
        yield ("", "")

    with pytest.raises(MemoryRefusal) as refusal:
        search_files(unread(), query, limit=1, max_files=1, max_chars=100)
    assert refusal.value.code == code


@settings(deadline=None)
@given(CONTENT, QUERY)
def test_counts_of_a_file(content: str, query: str) -> None:
    """Only terms that occur are counted, in content and name together."""
    terms = parse_query(query)
    counts = count_terms("tea.md", content, terms)
    assume(counts)
    assert all(counts.values())
    assert set(counts) == {t for t in terms if t in fold(content) or t in "tea"}
