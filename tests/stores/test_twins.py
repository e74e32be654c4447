"""The rules that have a twin in SQL, each held equal to the notebook's."""

from __future__ import annotations

import unicodedata

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    Append,
    append_addition,
    apply_splice,
    fold,
    search_files,
    undo_splice,
)
from durable_memory.notebook.marks import NON_STARTER_CLASS, NON_STARTERS, cut_runs
from durable_memory.stores import PostgresMemoryStore
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_scope

SHARED = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150
)
STORABLE = st.characters(exclude_characters="\0", exclude_categories=["Cs", "Cn"])
LINES = st.text(st.sampled_from("ab \t\n\r\x85\u2028가é"), max_size=20)
WORDS = st.one_of(
    st.sampled_from(["ab", "AB", "aba", "b", "a-b", "a.b", "a_b", "(", "\\", "²", "2"]),
    st.sampled_from(["é", "e\u0301", "ﬁ", "fi", "ß", "SS", "İ", "i\u0307", "Σ", "ς"]),
    st.sampled_from(["가", "\u1100\u1161", "가나", "ｱ", "ア", "\u3099", "👩"]),
)
TEXTS = st.lists(
    st.one_of(WORDS, st.sampled_from([" ", "\n", ", ", "、", "-", "", "'", "\u00a0", "\u200b"])),
    max_size=25,
).map("".join)


@SHARED
@given(current=st.none() | LINES, content=LINES)
async def test_append_joins_as_the_notebook_does(
    pool: asyncpg.Pool, current: str | None, content: str
) -> None:
    """What SQL adds to a text is what the notebook adds."""
    added = await pool.fetchval(
        "SELECT durable_memory.append_addition_v1($1, $2)", current, content
    )
    assert added == append_addition(current or "", content)


STACKS = st.text(sorted(NON_STARTERS), min_size=5, max_size=70) | st.text(
    "\u0301\u0327\u0344\u0f73\u0345\uff9e\u3099\u034f", max_size=70
)
STACKED = st.lists(STACKS | st.sampled_from("aᾂǖΐ가か\u1161\U0001d160ΣA "), max_size=5).map("".join)


@SHARED
@given(
    text=st.text(
        st.one_of(STORABLE, st.sampled_from("é\u0301\u0327가\u1161\u11a8ΣİßﬁＡ")), max_size=40
    )
)
async def test_text_folds_as_in_the_notebook(pool: asyncpg.Pool, text: str) -> None:
    """The database folds as Python does, for every character that both know."""
    assert await pool.fetchval("SELECT durable_memory.fold_v1($1)", text) == fold(text)


async def test_non_starters_are_those_of_the_notebook(pool: asyncpg.Pool) -> None:
    """The database cuts runs of the same characters, and knows of no other non-starters."""
    assert await pool.fetchval("SELECT durable_memory.non_starters_v1()") == NON_STARTER_CLASS
    matched, known = await pool.fetchrow(
        """
        SELECT string_agg(one, '') FILTER (WHERE one ~ durable_memory.non_starters_v1()),
            -- Sorted before one of the highest class, or behind one of the lowest.
            string_agg(one, '') FILTER (WHERE
                left(normalize(U&'\\0345' || one, NFKD), 1) <> U&'\\0345'
                OR left(normalize(one || U&'\\0334', NFKD), 1) = U&'\\0334')
        FROM (SELECT chr(code) AS one FROM generate_series(1, x'1ffff'::integer) AS code
            WHERE code NOT BETWEEN x'd800'::integer AND x'dfff'::integer) AS every
        """
    )
    assert set(matched) == NON_STARTERS
    assert set(known) <= NON_STARTERS


@SHARED
@given(text=STACKED)
async def test_long_runs_are_cut_as_in_the_notebook(pool: asyncpg.Pool, text: str) -> None:
    """The database cuts the same runs at the same places, also in what it folds."""
    assert await pool.fetchval("SELECT durable_memory.cut_marks_v1($1)", text) == cut_runs(text)
    known = "".join(each for each in text if unicodedata.category(each) != "Cn")
    assert await pool.fetchval("SELECT durable_memory.fold_v1($1)", known) == fold(known)


@pytest.mark.parametrize("marks", ["\u0301\u0327", "\u0344\u0327", "\U0001e08f\U00010efd"])
async def test_run_as_long_as_a_file_is_searched_in_bounded_time(
    pool: asyncpg.Pool, marks: str
) -> None:
    """A file of 64,000 marks is searched within the store's deadline, where it took minutes."""
    store, scope = PostgresMemoryStore(pool, timeout=10), new_scope()
    text = "a" + marks * 32_000 + " walrus"
    await store.write(scope.path("a.md"), text, expected_version=None)
    found = await store.search(
        scope.prefix, "walrus", limit=1, max_files=1, max_chars=200, max_file_chars=65_536
    )
    assert "walrus" in found.matches[0].snippet
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = '10s'")
        folded = await connection.fetchval("SELECT durable_memory.fold_v1($1)", text)
    assert folded.endswith(" walrus")


@SHARED
@given(before=LINES, after=LINES)
async def test_whole_write_is_kept_as_a_splice(
    postgres_store: PostgresMemoryStore, before: str, after: str
) -> None:
    """A whole write leaves a step that leads from the one text to the other and back, and no more.

    Beside the step lies nothing that the two texts have in common.
    """
    path = new_scope().path("a.md")
    first = await postgres_store.write(path, before, expected_version=None)
    await postgres_store.write(path, after, expected_version=first.version)
    step, _ = await postgres_store.history(path, limit=2)
    assert apply_splice(before, step.change) == after
    assert undo_splice(after, step.change) == before
    removed, added = step.change.removed, step.change.added
    if removed and added:
        assert removed[0] != added[0]
        assert removed[-1] != added[-1]


@SHARED
@given(
    files=st.dictionaries(
        st.sampled_from(
            ["a.md", "B.md", "ab.md", "a-b.md", "가.md", "é.md", "MEMORY.md", "no one"]
        ),
        TEXTS,
        max_size=6,
    ),
    query=st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
    bounds=st.fixed_dictionaries(
        {
            "limit": st.integers(1, 6),
            "max_files": st.integers(1, 7),
            "max_chars": st.integers(1, 200),
            "max_file_chars": st.integers(1, 60),
        }
    ),
)
async def test_search_ranks_and_shows_as_the_notebook_does(
    postgres_store: PostgresMemoryStore,
    files: dict[str, str],
    query: str,
    bounds: dict[str, int],
) -> None:
    """The database finds, scores and shows what the notebook's rule does."""
    scope = new_scope()
    for name, text in files.items():
        await postgres_store.write(scope.path(name), text, expected_version=None)
    found = await postgres_store.search(scope.prefix, query, **bounds)
    max_file_chars, max_files = bounds.pop("max_file_chars"), bounds["max_files"]
    ordered = [(name, files[name][:max_file_chars]) for name in sorted(files)]
    rule = search_files(ordered, query, **bounds)
    assert [(match.path, match.snippet, match.score) for match in found.matches] == [
        (scope.path(match.name), match.snippet, match.score) for match in rule.matches
    ]
    assert found.scanned == rule.scanned
    looked_at = [name for name in sorted(files) if name != "no one"][:max_files]
    cut = any(len(files[name]) > max_file_chars for name in looked_at)
    assert found.truncated == (rule.truncated or cut)


@SHARED
@given(
    around=st.tuples(st.integers(0, 3000), st.integers(0, 3000)),
    filler=st.sampled_from(["x ", "é ", "e\u0301 ", "가나 ", "\u1100\u1161 ", "ﬁ ", "ß", "👩 "]),
    needle=st.sampled_from(["walrus", "WALRUS", "바다코끼리", "wa\u0301lrus", "ﬀ"]),
    max_chars=st.integers(50, 400),
)
async def test_snippet_of_a_long_file_shows_its_match(
    postgres_store: PostgresMemoryStore,
    around: tuple[int, int],
    filler: str,
    needle: str,
    max_chars: int,
) -> None:
    """Wherever the match is in a long file, the piece that travels holds it."""
    scope = new_scope()
    text = f" {needle} ".join(filler * times for times in around)
    await postgres_store.write(scope.path("a.md"), text, expected_version=None)
    found = await postgres_store.search(
        scope.prefix, needle, limit=1, max_files=1, max_chars=max_chars, max_file_chars=100_000
    )
    (match,) = found.matches
    assert fold(needle) in fold(match.snippet)
    assert len("a.md" + match.snippet) <= max_chars


@SHARED
@given(texts=st.lists(st.one_of(LINES, LINES, st.none()), min_size=1, max_size=6))
async def test_appends_leave_what_the_notebook_says(
    postgres_store: PostgresMemoryStore, texts: list[str | None]
) -> None:
    """A file made by appends is the text that the notebook makes, character for character."""
    path = new_scope().path("a.md")
    expected = ""
    for text in texts:
        if text is None or not text.strip():
            continue
        await postgres_store.edit(path, Append(content=text), max_chars=10_000)
        expected += append_addition(expected, text)
    assert (await content_of(postgres_store, path) or "") == expected
