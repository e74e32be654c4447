"""Mutations of entries: versions, bounds, and what a sequence of them leaves."""

from __future__ import annotations

import asyncio
import uuid

import asyncpg
import pytest
from backends import SingleConnection
from entry_changes import key
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryNotFound,
    MemoryRefusal,
    append_addition,
)
from durable_memory.stores import (
    EntryStore,
    EntryWrite,
    MemoryOperation,
    PostgresEntryStore,
    create_pool,
)

SHARED = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)


def test_store_is_a_store_of_entries(entries: PostgresEntryStore) -> None:
    """The store has every method of the protocol."""
    assert isinstance(entries, EntryStore)


async def test_id_is_another_after_delete_and_create(
    entries: PostgresEntryStore, store: str
) -> None:
    """The old id finds nothing, and versions are never used again."""
    first = await entries.create(key(store), content="one")
    await entries.delete(store, first.entry_ids[0])
    second = await entries.create(key(store), content="two")
    assert second.entry_ids != first.entry_ids
    assert int(second.version or 0) > int(first.version or 0)
    assert await entries.get(store, first.entry_ids[0]) is None
    with pytest.raises(MemoryNotFound):
        await entries.update(store, first.entry_ids[0], content="x")
    with pytest.raises(MemoryNotFound):
        await entries.history(store, first.entry_ids[0], limit=1)


async def test_chosen_id_is_taken_once(entries: PostgresEntryStore, store: str) -> None:
    """A chosen id names one entry of its store; another store may use it too."""
    made = await entries.create(key(store), entry_id="chosen.1")
    assert made.entry_ids == ("chosen.1",)
    with pytest.raises(MemoryAlreadyExists):
        await entries.create(key(store, "/other"), entry_id="chosen.1")
    assert await entries.find(key(store, "/other")) is None
    other = await entries.create_store(f"o-{uuid.uuid4().hex[:12]}", creator="USER:x")
    await entries.create(key(other.id), entry_id="chosen.1")


async def test_put_keeps_the_description_it_is_not_given(
    entries: PostgresEntryStore, store: str
) -> None:
    """`None` keeps a description, an empty one clears it, and search follows both."""
    await entries.put(key(store), content="one", description="stripes")
    second = await entries.put(key(store), content="two")
    assert second.entry is not None
    assert second.entry.description == "stripes"
    assert len(await entries.search(store, "someone", "stripes two")) == 1
    assert await entries.search(store, "someone", "one") == []
    third = await entries.put(key(store), content="two", description="")
    assert third.entry is not None
    assert third.entry.description == ""
    assert await entries.search(store, "someone", "stripes") == []


async def test_append_bounds_the_whole(entries: PostgresEntryStore, store: str) -> None:
    """An append that would make the entry too long is refused, and changes nothing."""
    made = await entries.create(key(store), content="x" * 65_530)
    for description in (None, "d"):
        with pytest.raises(MemoryRefusal) as refusal:
            await entries.append(key(store), content="y" * 20, description=description)
        assert refusal.value.code == "oversize"
    with pytest.raises(MemoryRefusal):
        await entries.append(key(store), content=" \n")
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.version == made.version


async def test_update_of_nothing_is_refused(entries: PostgresEntryStore, store: str) -> None:
    """An update names a field."""
    with pytest.raises(InvalidMemoryRequest):
        await entries.update(store, "some-id")


async def test_history_rebuilds_every_version(entries: PostgresEntryStore, store: str) -> None:
    """Content and description of every version come back, and a deletion is none."""
    made = await entries.create(key(store), content="one", description="d1")
    states = {made.version: ("one", "d1")}
    entry_id = made.entry_ids[0]
    for content, description in (("one\ntwo", None), (None, "d2"), ("three", "d3")):
        done = await entries.update(store, entry_id, content=content, description=description)
        assert done.entry is not None
        states[done.version] = (done.entry.content or "", done.entry.description)
    for version, state in states.items():
        then = await entries.read_version(store, entry_id, version or "")
        assert then is not None
        assert (then.content, then.description) == state
    for version in ("", "0", "-1", "1", "x", "9" * 17, "9" * 40):
        with pytest.raises(MemoryNotFound):
            await entries.read_version(store, entry_id, version)
    await entries.delete(store, entry_id)
    again = await entries.create(key(store), content="four")
    steps = await entries.history(store, again.entry_ids[0], limit=100)
    assert [step.exists for step in steps] == [True, False, True, True, True, True]
    assert await entries.read_version(store, again.entry_ids[0], steps[1].version) is None


async def test_long_history_is_rebuilt(entries: PostgresEntryStore, store: str) -> None:
    """However many steps came after a version, it reads as it was, and its receipt answers."""
    write = EntryWrite(operation=MemoryOperation(id=uuid.uuid4().hex, fingerprint="f"))
    first = await entries.put(key(store), content="one", write=write)
    for n in range(100):
        await entries.put(key(store), content=f"one {n}" * (n % 3))
    assert await entries.read_version(store, first.entry_ids[0], first.version or "") == first.entry
    again = await entries.put(key(store), content="one", write=write)
    assert (again.replayed, again.entry) == (True, first.entry)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["create", "put", "append", "update", "describe", "delete", "forget"]),
        st.sampled_from(["/a", "/a/b", "/ab", "/b"]),
        st.sampled_from([None, "s1", "s2"]),
        st.text(st.sampled_from("ab \n\r가é"), max_size=8),
    ),
    max_size=14,
)


@SHARED
@given(calls=CALLS)
async def test_any_sequence_leaves_what_the_model_says(
    entries: PostgresEntryStore, calls: list[tuple[str, str, str | None, str]]
) -> None:
    """Whatever is done, in any order, entries are as in a dictionary, and search finds the same."""
    store = f"m-{uuid.uuid4().hex[:16]}"
    await entries.create_store(store, creator="USER:someone")
    model: dict[tuple[str, str | None], tuple[str, str]] = {}
    for call in calls:
        await _both(entries, store, model, call)
    page = await entries.list_entries(store, "someone", limit=100)
    assert {(e.key.path, e.key.session): (e.content, e.description) for e in page.entries} == model
    order = [(e.key.path, e.key.session or "") for e in page.entries]
    assert order == sorted(order, key=lambda pair: tuple(part.encode() for part in pair))
    for term in ("a", "b", "가"):
        matches = await entries.search(store, "someone", term, limit=100)
        found = {(m.entry.key.path, m.entry.key.session) for m in matches}
        assert found == {place for place, texts in model.items() if _has(term, texts)}


def _has(term: str, texts: tuple[str, str]) -> bool:
    return any(
        term in words if term != "가" else "가" in text
        for text in texts
        for words in [_words(text)]
    )


def _words(text: str) -> list[str]:
    return text.replace("é", "e").replace("가", " ").split()


async def _both(  # noqa: C901  (one branch for each kind)
    entries: PostgresEntryStore,
    store: str,
    model: dict[tuple[str, str | None], tuple[str, str]],
    call: tuple[str, str, str | None, str],
) -> None:
    kind, path, session, text = call
    where, place = key(store, path, session), (path, session)
    before = model.get(place)
    current = await entries.find(where)
    assert (current is None) == (before is None)
    if kind == "create":
        if before is None:
            await entries.create(where, content=text, description="d")
            model[place] = (text, "d")
        else:
            with pytest.raises(MemoryAlreadyExists):
                await entries.create(where, content=text)
    elif kind == "put":
        await entries.put(where, content=text)
        model[place] = (text, before[1] if before else "")
    elif kind == "append" and text.strip():
        await entries.append(where, content=text)
        old = before[0] if before else ""
        model[place] = (old + append_addition(old, text), before[1] if before else "")
    elif kind == "forget":
        gone = await entries.forget(store, "someone", path)
        places = [each for each in model if each[0] == path]
        assert len(gone.entry_ids) == len(places)
        for each in places:
            del model[each]
    elif current is not None and before is not None:
        if kind == "update":
            await entries.update(store, current.id, content=text)
            model[place] = (text, before[1])
        elif kind == "describe":
            await entries.update(store, current.id, description=text)
            model[place] = (before[0], text)
        elif kind == "delete":
            await entries.delete(store, current.id)
            del model[place]


async def test_stricter_isolation_of_a_callers_pool(entries_url: str, store: str) -> None:
    """On a pool whose default is SERIALIZABLE mutations are repeated under READ COMMITTED."""
    pool = await asyncpg.create_pool(
        entries_url,
        min_size=1,
        max_size=8,
        server_settings={"default_transaction_isolation": "serializable"},
    )
    async with pool:
        entries = PostgresEntryStore(pool)
        await asyncio.gather(*(entries.append(key(store), content=str(n)) for n in range(8)))
        entry = await entries.find(key(store))
    assert entry is not None
    assert sorted((entry.content or "").split()) == [str(n) for n in range(8)]


async def test_store_needs_no_more_than_one_round_trip(entries_url: str, store: str) -> None:
    """Mutations, reads, lists and searches are one statement each."""
    counted: list[str] = []
    async with await create_pool(entries_url, max_size=1) as pool, pool.acquire() as connection:
        connection.add_query_logger(lambda record: counted.append(record.query))
        entries = PostgresEntryStore(SingleConnection(connection))
        made = await entries.put(key(store), content="one", description="d")
        await entries.append(key(store), content="two")
        await entries.update(store, made.entry_ids[0], content="three")
        await entries.get(store, made.entry_ids[0])
        await entries.list_entries(store, "someone", limit=5)
        await entries.search(store, "someone", "three")
        await entries.delete(store, made.entry_ids[0])
        await entries.forget(store, "someone", "/a.md")
    # The driver asks for types it has not met, once for each connection.
    assert len([query for query in counted if query.startswith("-- ")]) == 8
