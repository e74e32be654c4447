"""Mutations of entries: receipts, versions, deadlines, and what a sequence of them leaves."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    EntryFilter,
    EntryKey,
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryDeadlineExceeded,
    MemoryNotFound,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryRefusal,
    append_addition,
)
from durable_memory.stores import (
    EntryMutation,
    EntryStore,
    EntryWrite,
    MemoryOperation,
    PostgresEntryStore,
    create_pool,
)

SHARED = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)


def key(store: str, path: str = "/a.md", session: str | None = None) -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor="someone", path=path, session=session)


def new_operation(fingerprint: str = "f") -> MemoryOperation:
    """An operation that nobody has used."""
    return MemoryOperation(id=uuid.uuid4().hex, fingerprint=fingerprint)


def mutations(
    entries: PostgresEntryStore, store: str, entry_id: str, write: EntryWrite
) -> dict[str, object]:
    """Every mutation of entries, as coroutines."""
    return {
        "create": entries.create(key(store, "/new"), content="x", write=write),
        "put": entries.put(key(store), content="x", write=write),
        "append": entries.append(key(store), content="x", write=write),
        "append described": entries.append(key(store), content="x", description="d", write=write),
        "update": entries.update(store, entry_id, content="x", write=write),
        "describe": entries.update(store, entry_id, description="x", write=write),
        "delete": entries.delete(store, entry_id, write=write),
        "forget": entries.forget(store, "someone", "/a.md", write=write),
    }


KINDS = ["create", "put", "append", "append described", "update", "describe", "delete", "forget"]


async def mutate(
    kind: str, entries: PostgresEntryStore, store: str, entry_id: str, write: EntryWrite
) -> EntryMutation:
    """Run one of the mutations."""
    chosen = None
    for name, coroutine in mutations(entries, store, entry_id, write).items():
        if name == kind:
            chosen = coroutine
        else:
            coroutine.close()  # type: ignore[attr-defined]
    assert chosen is not None
    return await chosen  # type: ignore[misc, no-any-return]


def test_store_is_a_store_of_entries(entries: PostgresEntryStore) -> None:
    """The store has every method of the protocol."""
    assert isinstance(entries, EntryStore)


@pytest.mark.parametrize("kind", KINDS)
async def test_mutation_arriving_again_is_answered_by_its_receipt(
    entries: PostgresEntryStore, store: str, kind: str
) -> None:
    """The same operation changes nothing the second time, and says what it said."""
    made = await entries.create(key(store), content="start")
    write = EntryWrite(operation=new_operation())
    first = await mutate(kind, entries, store, made.entry_ids[0], write)
    steps = await _history_length(entries, store)
    again = await mutate(kind, entries, store, made.entry_ids[0], write)
    assert again.replayed
    assert not first.replayed
    assert (again.version, again.existed, again.entry_ids, again.entry) == (
        first.version,
        first.existed,
        first.entry_ids,
        first.entry,
    )
    assert await _history_length(entries, store) == steps
    assert write.operation is not None
    assert await entries.get_operation(write.operation) == again
    assert await entries.settle(write.operation) == again


async def _history_length(entries: PostgresEntryStore, store: str) -> int:
    page = await entries.list_entries(store, "someone", limit=100)
    return sum([len(await entries.history(store, e.id, limit=100)) for e in page.entries])


@pytest.mark.parametrize("kind", KINDS)
async def test_late_mutation_changes_nothing(
    entries: PostgresEntryStore, store: str, kind: str
) -> None:
    """After its deadline a mutation is refused and leaves no receipt."""
    made = await entries.create(key(store), content="start")
    late = EntryWrite(operation=new_operation(), deadline=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(MemoryDeadlineExceeded):
        await mutate(kind, entries, store, made.entry_ids[0], late)
    assert late.operation is not None
    assert await entries.get_operation(late.operation) is None
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.version == made.version


@pytest.mark.parametrize("kind", KINDS)
async def test_settled_operation_never_lands(
    entries: PostgresEntryStore, store: str, kind: str
) -> None:
    """What was settled before it was applied is abandoned for ever."""
    made = await entries.create(key(store), content="start")
    operation = new_operation()
    assert (await entries.settle(operation)).abandoned
    with pytest.raises(MemoryOperationAbandonedError):
        await mutate(kind, entries, store, made.entry_ids[0], EntryWrite(operation=operation))
    found = await entries.get_operation(operation)
    assert found is not None
    assert found.abandoned


@pytest.mark.parametrize("kind", KINDS)
async def test_mutation_of_no_store_is_refused(entries: PostgresEntryStore, kind: str) -> None:
    """Nothing is written into a memory store that does not exist."""
    with pytest.raises(MemoryNotFound):
        await mutate(kind, entries, "no-such-store", "some-id", EntryWrite())


async def test_operation_with_other_arguments_is_a_conflict(
    entries: PostgresEntryStore, store: str
) -> None:
    """An id that is used again with another fingerprint is refused everywhere."""
    operation = new_operation()
    await entries.put(key(store), content="x", write=EntryWrite(operation=operation))
    other = MemoryOperation(id=operation.id, fingerprint="other")
    for call in (
        entries.put(key(store), content="y", write=EntryWrite(operation=other)),
        entries.forget(store, "someone", "/a.md", write=EntryWrite(operation=other)),
        entries.get_operation(other),
        entries.settle(other),
    ):
        with pytest.raises(MemoryOperationConflictError):
            await call


async def test_receipt_of_a_deleted_store_still_answers(
    entries: PostgresEntryStore, store: str
) -> None:
    """A late retry writes nothing into a new store of the same id."""
    write = EntryWrite(operation=new_operation())
    first = await entries.put(key(store), content="x", write=write)
    assert await entries.delete_store(store)
    assert not await entries.delete_store(store)
    await entries.create_store(store, creator="another")
    again = await entries.put(key(store), content="x", write=write)
    assert (again.replayed, again.entry, again.version) == (True, None, first.version)
    assert (await entries.list_entries(store, "someone", limit=1)).entries == []


async def test_deleted_store_leaves_nothing(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """Documents, histories, terms, vectors and queued work go with their memory store."""
    made = await entries.put(key(store), content="secret")
    await entries.append(key(store), content="more")
    row = await pool.fetchrow("SELECT id FROM durable_memory.documents WHERE store = $1", store)
    await entries.delete_store(store)
    assert await entries.get_store(store) is None
    for table in ("documents", "entry_terms", "entry_vectors", "entry_embeddings"):
        count = f"SELECT count(*) FROM durable_memory.{table} WHERE store = $1"  # noqa: S608
        assert await pool.fetchval(count, store) == 0
    steps = "SELECT count(*) FROM durable_memory.history WHERE document_id = $1"
    assert await pool.fetchval(steps, row["id"]) == 0
    assert await entries.get(store, made.entry_ids[0]) is None


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
    other = await entries.create_store(f"o-{uuid.uuid4().hex[:12]}", creator="x")
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
    with pytest.raises(MemoryNotFound):
        await entries.read_version(store, entry_id, "9" * 17)
    await entries.delete(store, entry_id)
    again = await entries.create(key(store), content="four")
    steps = await entries.history(store, again.entry_ids[0], limit=100)
    assert [step.exists for step in steps] == [True, False, True, True, True, True]
    assert await entries.read_version(store, again.entry_ids[0], steps[1].version) is None


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
    await entries.create_store(store, creator="someone")
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


async def test_stores_are_listed_by_keyset(entries: PostgresEntryStore, store: str) -> None:
    """Pages of memory stores show each once, in order, and carry what they were made with."""
    prefix = f"z{uuid.uuid4().hex[:8]}"
    for n in range(5):
        await entries.create_store(f"{prefix}-{n}", creator="me", description=str(n))
    seen, after = [], prefix
    while True:
        page = await entries.list_stores(limit=2, after=after)
        seen += [each.id for each in page.stores if each.id.startswith(prefix)]
        if page.next is None:
            break
        after = page.next
    assert seen == [f"{prefix}-{n}" for n in range(5)]
    changed = await entries.update_store(f"{prefix}-0", description="new")
    assert (changed.description, changed.creator) == ("new", "me")
    assert changed.updated_at > changed.created_at
    with pytest.raises(MemoryNotFound):
        await entries.update_store("no-such-store", description="new")
    with pytest.raises(MemoryAlreadyExists):
        await entries.create_store(store, creator="another")


@SHARED
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
    await entries.create_store(store, creator="someone")
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
        entries = PostgresEntryStore(_Lent(connection))
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


class _Lent:
    """A pool of one connection that is not given back."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    def acquire(self, *, timeout: float | None = None) -> _Lent:  # noqa: ARG002
        """Lend it."""
        return self

    async def __aenter__(self) -> asyncpg.Connection:
        return self._connection

    async def __aexit__(self, *_args: object) -> None:
        return None
