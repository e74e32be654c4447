"""Pages of entries: what a filter admits, in order, whatever comes and goes between them."""

from __future__ import annotations

import asyncio
import uuid

from entry_changes import key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import EntryFilter
from durable_memory.stores import PostgresEntryStore


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
@given(
    paths=st.sets(
        st.sampled_from(["/a", "/a/b", "/a-b", "/a/b/c", "/a0", "/b", "/a/가", "/A", "/a/%"]),
        max_size=9,
    ),
    sessions=st.sets(st.sampled_from([None, "s", "t"]), min_size=1),
    where=st.sampled_from(
        [
            EntryFilter(),
            EntryFilter(path_prefix="/"),
            EntryFilter(path_prefix="/a"),
            EntryFilter(path_prefix="/a/"),
            EntryFilter(path_prefix="/a/b", session="s"),
            EntryFilter(session="t"),
            EntryFilter(path="/a"),
            EntryFilter(path="/a", session="s"),
        ]
    ),
    limit=st.integers(1, 5),
)
async def test_pages_show_what_the_filter_admits(
    entries: PostgresEntryStore,
    paths: set[str],
    sessions: set[str | None],
    where: EntryFilter,
    limit: int,
) -> None:
    """Pages of any size show each entry that is admitted once, in order, and search the same."""
    store = f"p-{uuid.uuid4().hex[:16]}"
    await entries.create_store(store, creator="USER:someone")
    places = sorted(
        ((path, session) for path in paths for session in sessions),
        key=lambda place: (place[0].encode(), (place[1] or "").encode()),
    )
    await asyncio.gather(*(entries.put(key(store, *place), content="word") for place in places))
    expected = [place for place in places if where.admits(*place)]
    seen, after = [], None
    while True:
        page = await entries.list_entries(
            store, "someone", limit=limit, where=where, after=after, content=False
        )
        assert all(each.content is None for each in page.entries)
        seen += [(each.key.path, each.key.session) for each in page.entries]
        if page.next is None:
            break
        after = page.next
    assert seen == expected
    matches = await entries.search(store, "someone", "word", where=where, limit=100)
    assert sorted((m.entry.key.path, m.entry.key.session or "") for m in matches) == sorted(
        (path, session or "") for path, session in expected
    )


async def test_page_goes_on_behind_rows_that_came_and_went(
    entries: PostgresEntryStore, store: str
) -> None:
    """Rows that are deleted or added between pages neither shift nor repeat what follows."""
    for n in range(6):
        await entries.create(key(store, f"/{n}"))
    first = await entries.list_entries(store, "someone", limit=2)
    await entries.forget(store, "someone", "/1")
    await entries.create(key(store, "/00"))
    rest = await entries.list_entries(store, "someone", limit=10, after=first.next)
    assert [each.key.path for each in rest.entries] == ["/2", "/3", "/4", "/5"]
