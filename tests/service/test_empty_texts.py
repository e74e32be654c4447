"""Empty texts: the clients drop them from queries and send them in bodies."""

from __future__ import annotations

from typing import Any

import pytest
from service_operations import OPERATIONS, Operation, good_call, optional_texts
from services import AGENTS, STORES, Caller

VARYING = frozenset(
    {"name", "display_name", "path", "version", "entry_ids"}
    | {"create_time", "update_time", "write_time"}
)
"""Fields that differ between two answers to one request."""

CASES = [
    (operation, place, name)
    for operation in OPERATIONS
    for place, name in optional_texts(operation)
    # An empty content is a change: the last test but one.
    if (operation.method, name) != ("PATCH", "content")
]


def _constant(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {
            name: None if name in VARYING else _constant(value) for name, value in answer.items()
        }
    return [_constant(each) for each in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize(
    ("operation", "place", "name"),
    CASES,
    ids=[f"{operation.label} {name}" for operation, _, name in CASES],
)
def test_empty_texts_are_absent(
    alice: Caller, store: str, operation: Operation, place: str, name: str
) -> None:
    """Every optional text of every route may be empty, and is answered as if it were missing."""
    without = good_call(operation, alice, store).send(alice)
    assert without.status_code == 200, without.text
    empty = good_call(operation, alice, store).having(place, name, "").send(alice)
    assert empty.status_code == 200, empty.text
    assert _constant(empty.json()) == _constant(without.json())


def test_every_kind_of_text_is_tried() -> None:
    """The page describes the optional texts, so that the test above meets them."""
    tried = {name for _, _, name in CASES}
    assert {"view", "source_type", "session_id", "read_mask", "path_prefix", "origin"} <= tried
    assert {"managed_memory_entry_id", "page_token", "display_name", "permission"} <= tried


@pytest.mark.parametrize("empty", ["type", "principal_type"])
def test_an_empty_type_of_a_principal_is_absent(alice: Caller, store: str, empty: str) -> None:
    """The clients differ in the name of a principal's type: the other one may be empty."""
    principal = {"name": "x@example.com", "type": "USER", "principal_type": "USER", empty: ""}
    url = f"{STORES}/{store}/permissions:grant"
    granted = alice.http.post(url, json={"principal": principal, "permission": "READ"})
    assert granted.json() == {}


def test_empty_contents_and_descriptions_are_values(alice: Caller, store: str) -> None:
    """An update that says an empty content or description makes it empty, on either route."""
    body = {"actor_id": "u", "path": "/p", "content": "c", "description": "d"}
    name = alice.http.post(f"{STORES}/{store}/entries", json=body).json()["name"]
    done = alice.http.patch(f"/v1/{name}", json={"description": ""}).json()["entry"]
    assert ("description" in done, done["content"]) == (False, "c")
    mask = {"update_mask": "content"}
    done = alice.http.patch(f"{AGENTS}/{name}", params=mask, json={"content": ""}).json()
    assert done["content"] == ""


def test_an_empty_session_is_none(alice: Caller, store: str) -> None:
    """An entry with an empty session is the one that applies to all sessions."""
    body = {"actor_id": "u", "path": "/p", "session_id": "", "description": ""}
    made = alice.http.post(f"{STORES}/{store}/entries", json=body).json()
    assert "session_id" not in made
    filters = {"actor_id": "u", "session_id": "", "path": "", "path_prefix": "", "read_mask": ""}
    listed = alice.http.get(f"{STORES}/{store}/entries", params={**filters, "view": ""}).json()
    assert listed["managed_memory_entries"] == [made]
