"""What an entry is found by follows it through every sequence of changes."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Mapping

import asyncpg
from entry_changes import key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import index_terms
from durable_memory.stores import PostgresEntryStore

WORDS = st.lists(st.sampled_from(["cat", "dog", "결제", "a_b", "cat"]), min_size=1, max_size=4)
TEXT = WORDS.map(" ".join)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "append", "update"]),
        st.one_of(st.none(), TEXT),
        st.one_of(st.none(), st.just(""), TEXT),
    ),
    min_size=1,
    max_size=10,
)
INDEXED = """
SELECT length, description_length, (
    SELECT coalesce(json_object_agg(lexeme, cardinality(positions)), '{}')
    FROM unnest(terms))::text AS counts
FROM durable_memory.entry_terms WHERE store = $1
"""


async def change(
    entries: PostgresEntryStore, store: str, kind: str, text: str | None, words: str | None
) -> None:
    """Take one step; one without a text changes the description alone."""
    current = await entries.find(key(store))
    if kind == "update" or text is None:
        if current is not None and (text is not None or words is not None):
            await entries.update(store, current.id, content=text, description=words)
    elif kind == "put":
        await entries.put(key(store), content=text, description=words)
    else:
        await entries.append(key(store), content=text, description=words)


def together(*texts: str) -> tuple[int, Mapping[str, int]]:
    """Length and counts of several texts."""
    indexed = [index_terms(text) for text in texts]
    terms = {term for each in indexed for term in each.counts}
    counts = {term: sum(each.counts.get(term, 0) for each in indexed) for term in terms}
    return sum(each.length for each in indexed), counts


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
@given(steps=STEPS)
async def test_any_sequence_is_indexed_as_what_it_leaves(
    entries: PostgresEntryStore, pool: asyncpg.Pool, steps: list[tuple[str, str | None, str | None]]
) -> None:
    """Counts and lengths are those of content and description written at once."""
    store = f"i-{uuid.uuid4().hex[:16]}"
    await entries.create_store(store, creator="USER:someone")
    for step in steps:
        await change(entries, store, *step)
    entry = await entries.find(key(store))
    row = await pool.fetchrow(INDEXED, store)
    assert (entry is None) == (row is None)
    if entry is not None:
        length, counts = together(entry.content or "", entry.description)
        assert row["length"] == length
        assert row["description_length"] == index_terms(entry.description).length
        assert json.loads(row["counts"]) == counts


async def test_long_text_does_not_hold_up_the_others(
    entries: PostgresEntryStore, store: str
) -> None:
    """While the slowest content there is is split into terms, the event loop goes on."""
    slow = "結済" * 32_768
    began = time.perf_counter()
    index_terms(slow)
    alone = time.perf_counter() - began
    gaps = [0.0]

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - before)

    ticking = asyncio.create_task(tick())
    await entries.put(key(store), content=slow)
    ticking.cancel()
    assert max(gaps) < alone
