"""Faults seen in the field, each one a test of that name."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime

import asyncpg
import pytest

from durable_memory.notebook import (
    EntryFilter,
    EntryKey,
    InvalidMemoryRequest,
    MemoryAlreadyExists,
    MemoryConflictError,
    MemoryRefusal,
    Provenance,
    stored_vector,
)
from durable_memory.stores import (
    EmbeddedTask,
    EntryWrite,
    MemoryOperation,
    PostgresEmbeddingQueue,
    PostgresEntryStore,
)


def key(
    store: str, path: str = "/a.md", actor: str = "someone", session: str | None = None
) -> EntryKey:
    """A key with what does not matter filled in."""
    return EntryKey(store=store, actor=actor, path=path, session=session)


def new_write(**fields: object) -> EntryWrite:
    """A write with an operation of its own."""
    operation = MemoryOperation(id=uuid.uuid4().hex, fingerprint="f")
    return EntryWrite(**{"operation": operation, **fields})  # type: ignore[arg-type]


async def found(
    entries: PostgresEntryStore, store: str, query: str, **options: object
) -> list[str]:
    """Paths that a search finds, best first."""
    matches = await entries.search(store, "someone", query, **options)  # type: ignore[arg-type]
    return [match.entry.key.path for match in matches]


async def test_duplicate_check_on_a_stale_read(entries: PostgresEntryStore, store: str) -> None:
    """Of 32 that create one entry at once one does, and the others are told that it exists."""
    outcomes = await asyncio.gather(
        *(entries.create(key(store), content=str(n)) for n in range(32)), return_exceptions=True
    )
    errors = [each for each in outcomes if isinstance(each, BaseException)]
    assert len(errors) == 31
    assert all(isinstance(error, MemoryAlreadyExists) for error in errors)
    page = await entries.list_entries(store, "someone", limit=10)
    assert len(page.entries) == 1


async def test_same_path_in_two_sessions_is_two_entries(
    entries: PostgresEntryStore, store: str
) -> None:
    """A path with a session, with another and without one are three entries."""
    for session in (None, "s1", "s2"):
        await entries.create(key(store, session=session), content=str(session))
    with pytest.raises(MemoryAlreadyExists):
        await entries.create(key(store, session="s1"))
    page = await entries.list_entries(store, "someone", limit=10, where=EntryFilter(path="/a.md"))
    assert [each.key.session for each in page.entries] == [None, "s1", "s2"]


async def test_filtered_delete_wiped_every_user(entries: PostgresEntryStore, store: str) -> None:
    """To forget touches one path of one actor in one store, and without a filter is refused."""
    other = await entries.create_store(f"o-{uuid.uuid4().hex[:12]}", creator="USER:someone")
    kept = [
        key(store, "/b.md"),
        key(store, "/a.md/c"),
        key(store, actor="another"),
        key(other.id),
    ]
    for each in [*kept, key(store), key(store, session="s1")]:
        await entries.create(each, content="text")
    for actor, path in (("", "/a.md"), ("someone", ""), ("someone", "/")):
        with pytest.raises((InvalidMemoryRequest, MemoryRefusal)):
            await entries.forget(store, actor, path)
    gone = await entries.forget(store, "someone", "/a.md")
    assert len(gone.entry_ids) == 2
    assert gone.existed
    assert await entries.find(key(store)) is None
    for each in kept:
        assert await entries.find(each) is not None


async def test_deleted_still_found_by_search(entries: PostgresEntryStore, store: str) -> None:
    """What is deleted, forgotten or replaced is found no more, in the same moment."""
    made = await entries.create(key(store), content="zebra", description="stripes")
    assert await found(entries, store, "zebra stripes") == ["/a.md"]
    await entries.update(store, made.entry_ids[0], content="horse")
    assert await found(entries, store, "zebra") == []
    assert await found(entries, store, "stripes") == ["/a.md"]
    await entries.update(store, made.entry_ids[0], description="hooves")
    assert await found(entries, store, "stripes") == []
    assert await found(entries, store, "horse") == ["/a.md"]
    await entries.delete(store, made.entry_ids[0])
    assert await found(entries, store, "horse hooves") == []
    await entries.create(key(store), content="lion")
    await entries.forget(store, "someone", "/a.md")
    assert await found(entries, store, "lion") == []


async def test_stale_vector_after_an_update(
    entries: PostgresEntryStore,
    store: str,
    queue: PostgresEmbeddingQueue,
    pool: asyncpg.Pool,
) -> None:
    """A vector goes with the text it was made of, and one that comes too late is not kept."""
    made = await entries.create(key(store), content="zebra")
    (task,) = await queue.claim()
    await entries.update(store, made.entry_ids[0], content="horse")
    assert (
        await queue.keep("test:2", [EmbeddedTask(task=task, vector=stored_vector([1.0, 0.0]))]) == 0
    )
    (again,) = await queue.claim()
    assert "horse" in again.text
    assert (
        await queue.keep("test:2", [EmbeddedTask(task=again, vector=stored_vector([0.0, 1.0]))])
        == 1
    )
    vectors = "SELECT count(*) FROM durable_memory.entry_vectors WHERE store = $1"
    assert await pool.fetchval(vectors, store) == 1
    await entries.append(key(store), content="saddle")
    assert await pool.fetchval(vectors, store) == 0
    assert len(await queue.claim()) == 1


async def test_unescaped_like_john_doe(entries: PostgresEntryStore, store: str) -> None:
    """`john_doe` is not `john-doe`, in search, paths and prefixes; nor is `%` anything else."""
    await entries.create(key(store, "/john_doe/a.md"), content="wrote john_doe")
    await entries.create(key(store, "/john-doe/a.md"), content="wrote john-doe")
    assert await found(entries, store, "john_doe") == ["/john_doe/a.md"]
    for prefix, expected in (("/john_doe", 1), ("/john%doe", 0), ("/john%", 0), ("/%", 0)):
        where = EntryFilter(path_prefix=prefix)
        page = await entries.list_entries(store, "someone", limit=10, where=where)
        assert len(page.entries) == expected
        assert len(await found(entries, store, "wrote", where=where)) == expected
    exact = EntryFilter(path="/john_doe/a%")
    assert (await entries.list_entries(store, "someone", limit=10, where=exact)).entries == []


async def test_prefix_off_a_segment_boundary(entries: PostgresEntryStore, store: str) -> None:
    """`/acme` shows what `/acme` and what lies below it hold, and never `/acme-corp`."""
    paths = ["/acme", "/acme-corp/plan.md", "/acme/plan.md", "/acme0", "/acme/x/y", "/Acme/a"]
    for path in paths:
        await entries.create(key(store, path), content="plan")
    where = EntryFilter(path_prefix="/acme")
    page = await entries.list_entries(store, "someone", limit=10, where=where)
    expected = ["/acme", "/acme/plan.md", "/acme/x/y"]
    assert [each.key.path for each in page.entries] == expected
    assert sorted(await found(entries, store, "plan", where=where)) == expected


async def test_one_tenants_write_through_a_shared_handle(
    entries: PostgresEntryStore, store: str
) -> None:
    """Calls of many actors at once through one handle land each in its own actor's memory."""
    actors = [f"tenant:{n}" for n in range(24)]
    await asyncio.gather(
        *(entries.put(key(store, actor=actor), content=f"secret {actor}") for actor in actors)
    )
    for actor in actors:
        page = await entries.list_entries(store, actor, limit=10)
        assert [each.content for each in page.entries] == [f"secret {actor}"]
        (match,) = await entries.search(store, actor, "secret")
        assert match.entry.key.actor == actor


async def test_document_frequencies_stay_in_the_partition(
    entries: PostgresEntryStore, store: str
) -> None:
    """What other actors write changes no score."""
    await entries.create(key(store, "/1"), content="zebra horse")
    await entries.create(key(store, "/2"), content="horse")
    before = await entries.search(store, "someone", "zebra horse")
    for n in range(20):
        await entries.create(key(store, f"/{n}", actor="another"), content="zebra zebra")
    after = await entries.search(store, "someone", "zebra horse")
    assert [match.score for match in before] == [match.score for match in after]


async def test_cjk_run_indexed_as_one_token(entries: PostgresEntryStore, store: str) -> None:
    """A word inside a run without spaces is found, a single character too."""
    await entries.create(key(store, "/ko"), content="결제게이트웨이는서연님팀이소유한다")
    await entries.create(key(store, "/ja"), content="東京タワーの近くに住んでいる")
    await entries.create(key(store, "/zh"), content="他喜欢喝绿茶不喜欢咖啡")
    assert await found(entries, store, "게이트웨이") == ["/ko"]
    assert (await found(entries, store, "タワー"))[0] == "/ja"
    assert (await found(entries, store, "绿茶"))[0] == "/zh"
    assert await found(entries, store, "茶") == ["/zh"]


async def test_queue_retries_duplicated_memories(entries: PostgresEntryStore, store: str) -> None:
    """Any mutation that arrives again with its operation changes nothing and says the same."""
    write = new_write()
    first = await entries.append(key(store), content="note", write=write)
    await entries.append(key(store), content="more")
    again = await entries.append(key(store), content="note", write=write)
    assert again.replayed
    assert (again.version, again.existed, again.entry_ids, again.entry) == (
        first.version,
        False,
        first.entry_ids,
        first.entry,
    )
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.content == "note\nmore\n"


async def test_consolidation_wrote_back_what_it_had_read(
    entries: PostgresEntryStore, store: str
) -> None:
    """A write that names the version it read is refused once another came between."""
    made = await entries.create(key(store), content="read")
    await entries.append(key(store), content="meanwhile")
    calls = [
        entries.put(key(store), content="stale", expected_version=made.version),
        entries.append(key(store), content="stale", expected_version=made.version),
        entries.update(store, made.entry_ids[0], content="stale", expected_version=made.version),
        entries.update(store, made.entry_ids[0], description="x", expected_version=made.version),
        entries.delete(store, made.entry_ids[0], expected_version=made.version),
        entries.put(key(store, "/new"), content="x", expected_version="1"),
    ]
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(outcome, MemoryConflictError)
    entry = await entries.find(key(store))
    assert entry is not None
    assert entry.content == "read\nmeanwhile\n"


async def test_order_by_each_processs_clock(
    entries: PostgresEntryStore, store: str, pool: asyncpg.Pool
) -> None:
    """History is ordered by the database's sequence, whatever the clocks say."""
    made = await entries.create(key(store), content="0")
    for n in range(1, 5):
        await entries.put(key(store), content=str(n))
    await pool.execute(
        "UPDATE durable_memory.history SET written_at = $1 WHERE version = $2",
        datetime(2100, 1, 1, tzinfo=UTC),
        int(made.version or 0),
    )
    steps = await entries.history(store, made.entry_ids[0], limit=10)
    versions = [int(step.version) for step in steps]
    assert versions == sorted(versions, reverse=True)
    assert steps[-1].version == made.version


async def test_junk_has_a_provenance(entries: PostgresEntryStore, store: str) -> None:
    """Every write says who wrote it and from what, in the entry and in each step."""
    dreamt = Provenance(source_type="DREAMER", origin="session-stores/s/sessions/1")
    operation = MemoryOperation(id=uuid.uuid4().hex, fingerprint="f", workflow_id="w", run_id="r")
    made = await entries.create(key(store), content="told")
    await entries.put(
        key(store),
        content="dreamt",
        write=EntryWrite(operation=operation, provenance=dreamt),
    )
    entry = await entries.get(store, made.entry_ids[0])
    assert entry is not None
    assert entry.provenance == dreamt
    newest, oldest = await entries.history(store, made.entry_ids[0], limit=10)
    assert (newest.provenance, newest.workflow_id) == (dreamt, "w")
    assert oldest.provenance == Provenance()
    before = await entries.read_version(store, made.entry_ids[0], oldest.version)
    assert before is not None
    assert (before.content, before.provenance) == ("told", Provenance())


async def test_session_filter_never_returns_entries_without_a_session(
    entries: PostgresEntryStore, store: str
) -> None:
    """A search or list of one session shows that session only."""
    for session in (None, "s1", "s2"):
        await entries.create(key(store, f"/{session}", session=session), content="plan")
    where = EntryFilter(session="s1")
    assert await found(entries, store, "plan", where=where) == ["/s1"]
    page = await entries.list_entries(store, "someone", limit=10, where=where)
    assert [each.key.path for each in page.entries] == ["/s1"]


async def test_id_of_another_store_finds_nothing(entries: PostgresEntryStore, store: str) -> None:
    """An entry's id means nothing in another memory store."""
    other = await entries.create_store(f"o-{uuid.uuid4().hex[:12]}", creator="USER:someone")
    made = await entries.create(key(store), content="text")
    assert await entries.get(other.id, made.entry_ids[0]) is None
