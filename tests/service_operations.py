"""The operations of the memory service, off its OpenAPI page, each with a request that succeeds."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from services import STORES, Caller

from durable_memory.service import routes

PAGE: dict[str, Any] = routes().openapi()

_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one route.

    Attributes:
        method: In capitals.
        path: With the names of its parameters.
    """

    method: str
    path: str

    @property
    def label(self) -> str:
        """Its name in the tests' reports."""
        return f"{self.method} {self.path}"

    @property
    def mutates(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET" and not self.path.endswith((":search", ":find"))

    @property
    def query(self) -> dict[str, Any]:
        """The query's parameters by name, as the page describes them."""
        return self._parameters("query")

    @property
    def headers(self) -> dict[str, Any]:
        """The headers by name, as the page describes them."""
        return self._parameters("header")

    @property
    def body(self) -> dict[str, Any]:
        """The schema of the body; empty for none."""
        described = self._described.get("requestBody")
        return _resolved(described["content"]["application/json"]["schema"]) if described else {}

    def _parameters(self, place: str) -> dict[str, Any]:
        listed = self._described.get("parameters", [])
        return {each["name"]: each for each in listed if each["in"] == place}

    @property
    def _described(self) -> dict[str, Any]:
        found: dict[str, Any] = PAGE["paths"][self.path][self.method.lower()]
        return found


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request.

    Attributes:
        operation: Of what.
        names: Values of the path's parameters.
        query: The query.
        body: The body; `None` for none.
    """

    operation: Operation
    names: dict[str, str]
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None

    def having(self, place: str, name: str, value: object) -> Call:
        """Return it with a field of its query or its body set."""
        if place == "query":
            return replace(self, query={**self.query, name: value})
        return replace(self, body={**(self.body or {}), name: value})

    def send(
        self, caller: Caller, headers: dict[str, str] | list[tuple[str, str]] | None = None
    ) -> httpx.Response:
        """Send it."""
        url = self.operation.path.format(**self.names)
        return caller.http.request(
            self.operation.method, url, params=self.query, json=self.body, headers=headers
        )


OPERATIONS = [
    Operation(method=method.upper(), path=path)
    for path, methods in PAGE["paths"].items()
    for method in methods
    # The others take nothing that could be wrong.
    if "/memory-stores" in path
]


def good_call(operation: Operation, caller: Caller, store: str) -> Call:
    """Return a request that succeeds, once, and has what must be there and no more.

    Args:
        operation: Of what.
        caller: May do everything in the memory store; makes what the request needs.
        store: A memory store; a deletion is of another one.
    """
    if operation.path.endswith("/{store}") and operation.method == "DELETE":
        store = _new_store(caller)
    names = {"store": store} | (_new_entry(caller, store) if "{entry}" in operation.path else {})
    good = {
        "managed_memory_store_id": f"made-{uuid.uuid4().hex[:12]}",
        "update_mask": "description",
        "actor_id": "u",
        "path": f"/good/{next(_numbers)}",
        "content": "text",
        "query": "text",
        "principal": {"name": "someone@example.com", "type": "USER"},
        "permission": "READ",
    }
    if operation.path.endswith(":find"):
        good["path"] = _new_entry(caller, store)["path"]
    query = {name: good[name] for name, each in operation.query.items() if each["required"]}
    needed = operation.body.get("required", [])
    if operation.label.startswith("PATCH /v1/"):
        needed = ["content"]
    body = {name: good[name] for name in needed} if operation.body else None
    return Call(operation=operation, names=names, query=query, body=body)


def optional_texts(operation: Operation) -> Iterator[tuple[str, str]]:
    """Give place and name of every text that an operation's query or body may leave out."""
    for name, each in operation.query.items():
        if not each["required"] and _is_text(each["schema"]):
            yield "query", name
    required = operation.body.get("required", [])
    for name, schema in operation.body.get("properties", {}).items():
        if name not in required and _is_text(schema):
            yield "body", name


def _new_store(caller: Caller) -> str:
    name = f"gone-{uuid.uuid4().hex[:12]}"
    made = caller.http.post(STORES, params={"managed_memory_store_id": name})
    assert made.status_code == 200, made.text
    return name


def _new_entry(caller: Caller, store: str) -> dict[str, str]:
    path = f"/made/{next(_numbers)}"
    body = {"actor_id": "u", "path": path, "content": "text"}
    made = caller.http.post(f"/v1/memory-stores/{store}/entries:put", json=body)
    assert made.status_code == 200, made.text
    said = made.json()
    return {"entry": said["entry_ids"][0], "version": said["version"], "path": path}


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference, and what may also be nothing, to what it is."""
    for choice in schema.get("anyOf", []):
        if choice.get("type") != "null":
            return _resolved(choice)
    if "$ref" in schema:
        found: dict[str, Any] = PAGE["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return _resolved(found)
    return schema


def _is_text(schema: dict[str, Any]) -> bool:
    return _resolved(schema).get("type") == "string"
