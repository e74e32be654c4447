"""Memory stores that are deleted and made again by another, while requests are under way."""

from __future__ import annotations

import asyncio
import uuid

import asyncpg
import httpx
import pytest
from services import STORES, Caller, Service

from durable_memory.cli.faults import until

HOLD = "SELECT pg_advisory_xact_lock(1684890989, hashtext($1))"
"""What a deletion of a memory store holds, and every write of its entries waits for."""

WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'
"""


async def swap(holder: asyncpg.Connection, store: str, owner: str) -> None:
    """Delete the store and make it again for another, in one step, and let those who wait go."""
    await holder.execute("SELECT durable_memory.delete_memory_store_v1($1, NULL)", store)
    await holder.execute(
        "INSERT INTO durable_memory.memory_stores (id, creator) VALUES ($1, $2)",
        store,
        f"USER:{owner}",
    )
    await holder.execute("COMMIT")


@pytest.mark.parametrize(
    ("method", "path", "json"),
    [
        ("POST", "/v1/memory-stores/{}/entries:put", {"path": "/a", "content": "x"}),
        ("POST", "/v1/memory-stores/{}/entries:append", {"path": "/a", "content": "x"}),
        ("POST", STORES + "/{}/entries", {"path": "/a", "content": "x"}),
        ("POST", "/v1/memory-stores/{}/entries:forget", {"path": "/a"}),
        ("DELETE", STORES + "/{}", None),
    ],
)
async def test_a_right_in_what_was_is_none_in_what_came(  # noqa: PLR0917  (fixtures)
    service: Service,
    alice: Caller,
    bob: Caller,
    store: str,
    method: str,
    path: str,
    json: dict[str, str] | None,
) -> None:
    """A request that waits for a deletion does not land in the store that another makes next."""
    headers = {"Authorization": f"Bearer {alice.token}"}
    body = None if json is None else {"actor_id": "ann", **json}
    holder = await asyncpg.connect(service.database)
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30) as http:
        await holder.execute("BEGIN")
        await holder.execute(HOLD, store)
        sent = asyncio.ensure_future(http.request(method, path.format(store), json=body))
        await until(lambda: holder.fetchval(WAITING), "a waiting request")
        await swap(holder, store, bob.name)
        answer = await sent
    assert (answer.status_code, answer.json()["error_code"]) == (404, "NOT_FOUND")
    assert (
        await holder.fetchval(
            "SELECT count(*) FROM durable_memory.documents WHERE store = $1", store
        )
        == 0
    )
    await holder.close()
    assert bob.http.get(f"{STORES}/{store}").json()["creator_user_id"] == bob.name


async def test_a_grant_during_a_deletion_finds_no_store(
    service: Service, alice: Caller, bob: Caller, store: str
) -> None:
    """Whoever grants while the store is deleted is told that there is none."""
    headers = {"Authorization": f"Bearer {alice.token}"}
    given = {"principal": {"name": bob.name, "type": "USER"}, "permission": "READ"}
    holder = await asyncpg.connect(service.database)
    async with httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30) as http:
        await holder.execute("BEGIN")
        await holder.execute("SELECT durable_memory.delete_memory_store_v1($1, NULL)", store)
        sent = asyncio.ensure_future(http.post(f"{STORES}/{store}/permissions:grant", json=given))
        await until(lambda: holder.fetchval(ROW_WAITING), "a waiting request")
        await holder.execute("COMMIT")
        answer = await sent
    await holder.close()
    assert (answer.status_code, answer.json()["error_code"]) == (404, "NOT_FOUND")


ROW_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event <> 'advisory'
"""


def test_store_can_be_made_again(alice: Caller, bob: Caller) -> None:
    """Who makes a store of an id that was free again has it for himself."""
    name = f"again-{uuid.uuid4().hex[:8]}"
    for caller in (alice, bob):
        made = caller.http.post(STORES, params={"managed_memory_store_id": name}, json={})
        assert made.status_code == 200
        if caller is alice:
            assert alice.http.delete(f"{STORES}/{name}").status_code == 200
    put = {"actor_id": "ann", "path": "/a", "content": "x"}
    assert alice.http.post(f"/v1/memory-stores/{name}/entries:put", json=put).status_code == 403
    assert bob.http.post(f"/v1/memory-stores/{name}/entries:put", json=put).status_code == 200


@pytest.mark.parametrize(
    ("path", "json"),
    [
        ("/v1/memory-stores/{}/entries:put", {"content": "x"}),
        ("/v1/memory-stores/{}/entries:append", {"content": "x"}),
        ("/v1/memory-stores/{}/entries:forget", {}),
        (STORES + "/{}/entries", {"content": "x"}),
    ],
)
def test_what_was_done_in_what_was_is_not_done_in_what_came(
    alice: Caller, path: str, json: dict[str, str]
) -> None:
    """A key used before a store was made again is refused in it, and another key works."""
    name = f"again-{uuid.uuid4().hex[:8]}"
    sent = {"actor_id": "ann", "path": "/a", **json}
    answers = []
    for _ in range(2):
        made = alice.http.post(STORES, params={"managed_memory_store_id": name}, json={})
        assert made.status_code == 200
        for key in ("seed", "seed"):
            headers = {"Idempotency-Key": key}
            answers.append(alice.http.post(path.format(name), json=sent, headers=headers))
        if len(answers) == 2:
            assert alice.http.delete(f"{STORES}/{name}").status_code == 200
    assert [answer.status_code for answer in answers] == [200, 200, 404, 404]
    assert "deleted since" in answers[-1].json()["message"]
    listed = alice.http.get(f"{STORES}/{name}/entries", params={"actor_id": "ann"})
    assert listed.json()["managed_memory_entries"] == []
    other = alice.http.post(path.format(name), json=sent, headers={"Idempotency-Key": "other"})
    assert other.status_code == 200
