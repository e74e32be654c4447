"""What a write is bound to is kept or refused, on every route, and never ignored."""

from __future__ import annotations

import httpx
import pytest
from service_operations import OPERATIONS, Operation, good_call
from services import AGENTS, STORES, Caller, code

INVALID = (400, "INVALID_PARAMETER_VALUE")
REUSED = (409, "IDEMPOTENCY_KEY_REUSED")
MUTATIONS = [operation for operation in OPERATIONS if operation.mutates]
GOOD = {"If-Match": '"1"', "If-None-Match": "*", "Idempotency-Key": "request-1"}
BAD = {"If-Match": "1", "If-None-Match": "1", "Idempotency-Key": "a b"}


def _taken(operation: Operation) -> set[str]:
    return {name for name in GOOD if name.lower() in operation.headers}


def _refused(response: httpx.Response, header: str) -> None:
    assert code(response) == INVALID
    assert response.json()["message"].startswith(f"{header}: ")


@pytest.mark.parametrize("header", GOOD)
@pytest.mark.parametrize("operation", MUTATIONS, ids=lambda operation: operation.label)
def test_no_mutation_ignores_what_it_is_bound_to(
    alice: Caller, store: str, operation: Operation, header: str
) -> None:
    """A header that a mutation does not take, or cannot read, is refused by its name."""
    call = good_call(operation, alice, store)
    _refused(call.send(alice, {header: BAD[header]}), header)
    twice = [(header, GOOD[header]), (header, GOOD[header])]
    _refused(call.send(alice, twice), header)
    if header not in _taken(operation):
        _refused(call.send(alice, {header: GOOD[header]}), header)
    # It would have been done.
    assert call.send(alice).status_code == 200


def test_every_write_of_entries_can_be_sent_again() -> None:
    """Every mutation of entries takes a key; those of memory stores and grants take nothing."""
    for operation in MUTATIONS:
        keyed = "Idempotency-Key" in _taken(operation)
        assert keyed == ("/entries" in operation.path), operation.label


@pytest.mark.parametrize(
    "operation",
    [operation for operation in MUTATIONS if "/entries" in operation.path],
    ids=lambda operation: operation.label,
)
def test_a_write_sent_again_is_done_once(alice: Caller, store: str, operation: Operation) -> None:
    """Every write of an entry with a key, sent again, is answered by its receipt; others go on."""
    call = good_call(operation, alice, store)
    key = {"Idempotency-Key": f"again {operation.label}".replace(" ", "-")}
    first = call.send(alice, key)
    assert first.status_code == 200, first.text
    again = call.send(alice, key)
    assert again.status_code == 200, again.text
    said = again.json()
    assert said.pop("replayed", True) is True
    assert said == {name: part for name, part in first.json().items() if name != "replayed"}


def test_a_late_retry_changes_nothing(alice: Caller, store: str) -> None:
    """A compatible write that arrives again is told the same, and leaves what was written since."""
    body = {"actor_id": "u", "path": "/p", "content": "one"}
    url = f"{STORES}/{store}/entries"
    made = alice.http.post(url, json=body, headers={"Idempotency-Key": "k1"}).json()
    entry, mask = f"{AGENTS}/{made['name']}", {"update_mask": "content"}
    two, second = {"content": "two"}, {"Idempotency-Key": "k2"}
    updated = alice.http.patch(entry, params=mask, json=two, headers=second).json()
    alice.http.patch(entry, params=mask, json={"content": "three"})
    again = alice.http.patch(entry, params=mask, json=two, headers=second).json()
    assert again == updated
    assert alice.http.get(entry).json()["content"] == "three"
    key = {"Idempotency-Key": "k3"}
    assert alice.http.delete(entry, headers=key).json() == {}
    assert alice.http.delete(entry, headers=key).json() == {}
    assert code(alice.http.delete(entry)) == (404, "NOT_FOUND")
    assert alice.http.post(url, json=body, headers={"Idempotency-Key": "k1"}).json() == made
    assert alice.http.get(url, params={"actor_id": "u"}).json() == {"managed_memory_entries": []}


def test_a_late_retry_makes_nothing_in_a_new_store(alice: Caller, store: str) -> None:
    """A creation that arrives again in a memory store that was deleted and made anew is none."""
    body = {"actor_id": "u", "path": "/p", "content": "one"}
    url, key = f"{STORES}/{store}/entries", {"Idempotency-Key": "k"}
    assert alice.http.post(url, json=body, headers=key).status_code == 200
    alice.http.delete(f"{STORES}/{store}")
    alice.http.post(STORES, params={"managed_memory_store_id": store})
    assert code(alice.http.post(url, json=body, headers=key)) == (404, "NOT_FOUND")
    assert alice.http.get(url, params={"actor_id": "u"}).json() == {"managed_memory_entries": []}


def test_a_key_is_of_one_request_on_either_route(alice: Caller, store: str) -> None:
    """A key that was used for another request is refused by the header's name."""
    body = {"actor_id": "u", "path": "/p", "content": "one"}
    key = {"Idempotency-Key": "k"}
    url, own = f"{STORES}/{store}/entries", f"/v1/memory-stores/{store}/entries"
    made = alice.http.post(url, json=body, headers=key).json()
    entry = f"{AGENTS}/{made['name']}"
    for refused in (
        alice.http.post(url, json={**body, "content": "two"}, headers=key),
        alice.http.post(url, json=body, params={"managed_memory_entry_id": "mine"}, headers=key),
        alice.http.patch(entry, json=body, params={"update_mask": "content"}, headers=key),
        alice.http.delete(entry, headers=key),
        alice.http.post(f"{own}:put", json=body, headers=key),
    ):
        assert code(refused) == REUSED
        assert refused.json()["message"].startswith("Idempotency-Key: ")
    assert alice.http.get(entry).json() == made
