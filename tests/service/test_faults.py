"""Faults seen in the field, each visible over HTTP, each a test by its name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise

import asyncpg
import pytest
from services import AGENTS, STORES, Caller, code

from durable_memory.notebook import SOURCE_TYPES

SOURCE_TYPE = "MANAGED_MEMORY_ENTRY_SOURCE_TYPE"


def _entry(caller: Caller, store: str, **fields: object) -> dict[str, str]:
    body = {"actor_id": "u", "path": "/p", "content": "text", **fields}
    made = caller.http.post(f"{STORES}/{store}/entries", json=body)
    assert made.status_code == 200, made.text
    entry: dict[str, str] = made.json()
    return entry


def _search(caller: Caller, store: str, query: str, **fields: object) -> list[str]:
    body = {"actor_id": "u", "query": query, **fields}
    found = caller.http.post(f"{STORES}/{store}/entries:search", json=body).json()
    return [each["managed_memory_entry"]["path"] for each in found["results"]]


def test_duplicate_check_on_a_stale_read(alice: Caller, store: str) -> None:
    """Of twenty creations of one entry at once, one is made and the others are told."""
    body = {"actor_id": "u", "path": "/p", "content": "text"}
    with ThreadPoolExecutor(10) as threads:
        made = list(
            threads.map(
                lambda _: alice.http.post(f"{STORES}/{store}/entries", json=body), range(20)
            )
        )
    assert sorted(each.status_code for each in made) == [200] + [409] * 19
    listed = alice.http.get(f"{STORES}/{store}/entries", params={"actor_id": "u"}).json()
    assert len(listed["managed_memory_entries"]) == 1


@pytest.mark.parametrize(
    "query", ["actor_id=u", "filter=actor_id%3Du", "path=/p", "session_id=s", "path_prefix=/"]
)
def test_a_filtered_delete_wiped_every_user(alice: Caller, store: str, query: str) -> None:
    """There is no deletion by a filter: one that is tried is refused, and every entry stays."""
    for actor in ("u", "v"):
        _entry(alice, store, actor_id=actor)
    root = f"{STORES}/{store}"
    assert code(alice.http.delete(f"{root}/entries?{query}"))[0] == 405
    assert code(alice.http.delete(f"{root}?{query}"))[0] == 400
    forget = alice.http.post(f"/v1/memory-stores/{store}/entries:forget", json={"path": "/p"})
    assert code(forget)[0] == 400
    for actor in ("u", "v"):
        listed = alice.http.get(f"{root}/entries", params={"actor_id": actor}).json()
        assert len(listed["managed_memory_entries"]) == 1


def test_deleted_still_found_by_search(alice: Caller, store: str) -> None:
    """What was deleted is found no more, and what was updated is found by its new text only."""
    gone = _entry(alice, store, path="/gone", content="a zebra")
    changed = _entry(alice, store, path="/changed", content="a zebra", description="striped")
    assert sorted(_search(alice, store, "zebra")) == ["/changed", "/gone"]
    alice.http.delete(f"{AGENTS}/{gone['name']}")
    alice.http.patch(
        f"{AGENTS}/{changed['name']}",
        params={"update_mask": "content,description"},
        json={"content": "a giraffe", "description": "tall"},
    )
    assert _search(alice, store, "zebra striped") == []
    assert _search(alice, store, "giraffe") == ["/changed"]


def test_unescaped_like(alice: Caller, store: str) -> None:
    """A path or prefix with `_` or `%` is literal: `john_doe` never matches `john-doe`."""
    for path in ("/john_doe/a", "/john-doe/a", "/john%doe/a"):
        _entry(alice, store, path=path)
    for name in ("john_doe", "john-doe", "john%doe"):
        for query in ({"path_prefix": f"/{name}"}, {"path": f"/{name}/a"}):
            url = f"{STORES}/{store}/entries"
            listed = alice.http.get(url, params={"actor_id": "u", **query}).json()
            paths = [each["path"] for each in listed["managed_memory_entries"]]
            assert paths == [f"/{name}/a"]


def test_prefix_off_a_segment_boundary(alice: Caller, store: str) -> None:
    """`/acme` never shows what lies below `/acme-corp`."""
    for path in ("/acme/a", "/acme-corp/a", "/acme.corp/a", "/acmecorp"):
        _entry(alice, store, path=path)
    for prefix in ("/acme", "/acme/"):
        url = f"{STORES}/{store}/entries"
        listed = alice.http.get(url, params={"actor_id": "u", "path_prefix": prefix}).json()
        assert [each["path"] for each in listed["managed_memory_entries"]] == ["/acme/a"]
        assert _search(alice, store, "text", path_prefix=prefix) == ["/acme/a"]


def test_one_tenants_write_landed_in_another(alice: Caller, bob: Caller, store: str) -> None:
    """Callers and actors that share one connection at once each write to their own place."""
    mine = f"{store}-b"
    bob.http.post(STORES, params={"managed_memory_store_id": mine}, json={})
    jobs = [
        (caller, place, f"user-{number}")
        for number in range(10)
        for caller, place in ((alice, store), (bob, mine))
    ]
    with ThreadPoolExecutor(8) as threads:
        list(
            threads.map(
                lambda job: _entry(job[0], job[1], actor_id=job[2], content=f"{job[1]} {job[2]}"),
                jobs,
            )
        )
    for caller, place, actor in jobs:
        url = f"{STORES}/{place}/entries"
        listed = caller.http.get(url, params={"actor_id": actor}).json()
        contents = [each["content"] for each in listed["managed_memory_entries"]]
        assert contents == [f"{place} {actor}"]


def test_a_cjk_run_indexed_as_one_token(alice: Caller, store: str) -> None:
    """Part of a run of Chinese, Japanese or Korean finds the whole."""
    for path, content in (
        ("/ko", "사용자는짧은답변을선호합니다"),
        ("/zh", "用户喜欢简短的回答"),
        ("/ja", "利用者は短い回答を好みます"),
    ):
        _entry(alice, store, path=path, content=content)
    for path, query in (("/ko", "답변"), ("/zh", "简短"), ("/ja", "好み")):
        assert _search(alice, store, query)[:1] == [path]


def test_reingest_and_queue_retries_duplicated_memories(alice: Caller, store: str) -> None:
    """An append that its queue delivers three times is one line."""
    body = {"actor_id": "u", "path": "/p", "content": "once"}
    url = f"/v1/memory-stores/{store}/entries:append"
    headers = {"Idempotency-Key": "message-17"}
    done = [alice.http.post(url, json=body, headers=headers).json() for _ in range(3)]
    assert [each["replayed"] for each in done] == [False, True, True]
    assert done[2]["entry"]["content"] == "once\n"


def test_consolidation_wrote_back_what_it_had_read(alice: Caller, store: str) -> None:
    """A write for a version that is gone is refused, and the newer text stays."""
    made = _entry(alice, store, content="old")
    seen = alice.http.get(f"/v1/{made['name']}").headers["etag"]
    url = f"/v1/memory-stores/{store}/entries:put"
    key = {"actor_id": "u", "path": "/p"}
    alice.http.post(url, json={**key, "content": "new"})
    stale = {**key, "content": "old, summed up"}
    assert code(alice.http.post(url, json=stale, headers={"If-Match": seen}))[0] == 412
    assert alice.http.get(f"{AGENTS}/{made['name']}").json()["content"] == "new"


async def test_order_by_each_processs_clock(
    alice: Caller, store: str, service_pool: asyncpg.Pool
) -> None:
    """Versions are listed by the database's order, in pages too, where a clock was years ahead."""
    url = f"/v1/memory-stores/{store}/entries:append"
    body = {"actor_id": "u", "path": "/p"}
    with ThreadPoolExecutor(8) as threads:
        done = list(
            threads.map(
                lambda number: alice.http.post(url, json={**body, "content": f"{number}"}).json(),
                range(16),
            )
        )
    order = sorted((int(each["version"]) for each in done), reverse=True)
    await service_pool.execute(
        "UPDATE durable_memory.history SET written_at = $1 WHERE version = $2",
        datetime(2100, 1, 1, tzinfo=UTC),
        order[-1],
    )
    versions = f"/v1/{done[0]['entry']['name']}/versions"
    listed: list[dict[str, str]] = []
    query: dict[str, str | int] = {"page_size": 5}
    while "page_token" in query or not listed:
        page = alice.http.get(versions, params=query).json()
        listed.extend(page["versions"])
        query = {"page_size": 5}
        if token := page.get("next_page_token"):
            query["page_token"] = token
    assert [int(each["version"]) for each in listed] == order
    assert listed[-1]["write_time"] > listed[0]["write_time"]
    contents = {int(each["version"]): each["entry"]["content"] for each in done}
    grown = [contents[version] for version in reversed(order)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(grown))


def test_recalled_text_was_ingested_again(alice: Caller, store: str) -> None:
    """Recalled text that is written again is told from what was said by its provenance.

    It is not refused: that takes whoever writes to say where its text comes from.
    """
    url, agent = f"/v1/memory-stores/{store}/entries:put", f"{SOURCE_TYPE}_AGENT"
    said = {"actor_id": "u", "path": "/said", "content": "Drinks green tea."}
    alice.http.post(url, json=said)
    search = {"actor_id": "u", "query": "green tea"}
    recalled = alice.http.post(f"{STORES}/{store}/entries:search", json=search).json()
    (entry,) = recalled["managed_memory_entries"]
    again = {
        "actor_id": "u",
        "content": entry["content"],
        "source_type": f"{SOURCE_TYPE}_DREAMER",
        "origin": entry["name"],
    }
    for path in ("/summary", "/said"):
        alice.http.post(url, json={**again, "path": path})
    found = alice.http.post(f"{STORES}/{store}/entries:search", json=search).json()
    sources = {each["path"]: each["source_type"] for each in found["managed_memory_entries"]}
    assert sources == {"/summary": again["source_type"], "/said": again["source_type"]}
    steps = alice.http.get(f"/v1/{entry['name']}/versions").json()["versions"]
    assert [(step["source_type"], step["origin"]) for step in steps] == [
        (again["source_type"], entry["name"]),
        (agent, ""),
    ]
    first = alice.http.get(f"/v1/{entry['name']}/versions/{steps[-1]['version']}").json()["entry"]
    assert (first["content"], first["source_type"]) == (said["content"], agent)
    assert {step["source_type"].rpartition("_")[2] for step in steps} == SOURCE_TYPES
