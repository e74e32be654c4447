"""Every error is the contract's JSON, and nothing is changed by what is refused."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from services import AGENTS, STORES, Caller, Service, code
from starlette.requests import Request

from durable_memory import notebook
from durable_memory.notebook import MemoryFault, MemoryRefusal
from durable_memory.service.bodies import MAX_BODY_BYTES
from durable_memory.service.errors import handle

MISSING = "missing-store"
INVALID = (400, "INVALID_PARAMETER_VALUE")
JSON = {"Content-Type": "application/json"}


def _entry(alice: Caller, store: str, **fields: object) -> httpx.Response:
    body = {"actor_id": "u", "path": "/p", "content": "c", **fields}
    return alice.http.post(f"{STORES}/{store}/entries", json=body)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/nothing/here"),
        ("GET", f"{STORES}/"),
        ("GET", f"{STORES}/a-store/entries/x/"),
        ("GET", f"{STORES}/a-store/entries/x/y"),
        ("POST", f"{STORES}/a-store/entries:burn"),
        ("GET", "/v1/memory-stores/a-store/nothing"),
        ("GET", "/redoc"),
    ],
)
def test_unknown_routes_are_not_found(alice: Caller, method: str, path: str) -> None:
    """A route that is none is NOT_FOUND."""
    assert code(alice.http.request(method, path)) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", STORES),
        ("DELETE", STORES),
        ("DELETE", f"{STORES}/a-store/entries"),
        ("PUT", f"{STORES}/a-store/entries/x"),
        ("GET", f"{STORES}/a-store/entries:search"),
        ("DELETE", f"{STORES}/a-store/permissions"),
    ],
)
def test_unknown_methods_are_refused(alice: Caller, method: str, path: str) -> None:
    """A method that a route does not have is METHOD_NOT_ALLOWED: there is no deletion in bulk."""
    assert code(alice.http.request(method, path)) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        "/memory-pipelines",
        "/memory-pipelines/p-1",
        "/memory-pipelines/p-1/run",
        "/memory-pipelines/p-1/runs/456",
        "/session-stores",
        "/session-stores/s",
        "/session-stores/s/sessions/1/extractions",
        "/session-stores/s/sessions:fork",
        "/session-stores/s/sessions/1/items:append",
    ],
)
def test_absent_parts_say_so(alice: Caller, method: str, path: str) -> None:
    """Pipelines, session stores and extractions are NOT_IMPLEMENTED."""
    assert code(alice.http.request(method, AGENTS + path)) == (501, "NOT_IMPLEMENTED")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"actor_id": "u"}',
        b'{"actor_id": "u", "path": 1}',
        b'{"actor_id": "", "path": "/p"}',
        b'{"actor_id": " ", "path": "/p"}',
        b'{"actor_id": "u", "path": "/p", "content": 1}',
        b'{"actor_id": "u", "path": "/p", "content": "\\ud800"}',
        b'{"actor_id": "u", "path": "/p", "content": "\\u0000"}',
        b'{"actor_id": "u\\u0000", "path": "/p"}',
        b'{"actor_id": "u", "path": "/p", "source_type": "DREAMER"}',
        b'{"actor_id": "u", "path": "p"}',
        b'{"actor_id": "u", "path": "/p/"}',
        b'{"actor_id": "u", "path": "/a//b"}',
        b'{"actor_id": "u", "path": "/a/./b"}',
        b'{"actor_id": "u", "path": "/%s"}' % (b"p" * 1000),
        b'{"actor_id": "%s", "path": "/p"}' % (b"u" * 513),
        b'{"actor_id": "u", "path": "/p", "session_id": "%s"}' % (b"s" * 257),
        b'{"actor_id": "u", "path": "/p", "content": "%s"}' % (b"c" * 65_537),
        b'{"a":' * 3_000,
        b"[" * 100_000,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_bad_bodies_are_invalid(alice: Caller, store: str, body: bytes) -> None:
    """A body that breaks a rule is INVALID_PARAMETER_VALUE, and no entry is made."""
    url = f"{STORES}/{store}/entries"
    assert code(alice.http.post(url, content=body, headers=JSON)) == INVALID
    listed = alice.http.get(url, params={"actor_id": "u"}).json()
    assert listed == {"managed_memory_entries": []}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "actor_id=",
        "actor_id=%20",
        "actor_id=%00",
        "actor_id=%ff",
        "actor_id=u&page_size=0",
        "actor_id=u&page_size=101",
        "actor_id=u&page_size=x",
        "actor_id=u&page_size=1e1",
        "actor_id=u&path=p",
        "actor_id=u&path=/a/../b",
        "actor_id=u&path=/a&path_prefix=/a",
        "actor_id=u&path_prefix=a",
        "actor_id=u&path_prefix=//",
        "actor_id=u&read_mask=secret",
        "actor_id=u&read_mask=content,,path",
        "actor_id=u&view=SOME",
        "actor_id=u&session_id=" + "s" * 257,
        "actor_id=" + "u" * 513,
    ],
)
def test_bad_queries_are_invalid(alice: Caller, store: str, query: str) -> None:
    """A query that breaks a rule is INVALID_PARAMETER_VALUE; without an actor nothing is listed."""
    assert code(alice.http.get(f"{STORES}/{store}/entries?{query}")) == INVALID


@pytest.mark.parametrize(
    ("mask", "body"),
    [
        ("", {"content": "x"}),
        ("path", {"path": "/q"}),
        ("content,actor_id", {"content": "x", "actor_id": "v"}),
        ("*", {"content": "x"}),
        ("content", {"description": "x"}),
        ("content", {"content": None}),
        ("content", {"content": "x" * 65_537}),
        ("description", {"description": "x" * 4_001}),
    ],
)
def test_bad_updates_change_nothing(
    alice: Caller, store: str, mask: str, body: dict[str, object]
) -> None:
    """An update that names another field, or lacks a masked content, leaves the entry as it was."""
    made = _entry(alice, store).json()
    url = f"{AGENTS}/{made['name']}"
    assert code(alice.http.patch(url, params={"update_mask": mask}, json=body)) == INVALID
    assert code(alice.http.patch(url, json=body)) == INVALID
    assert alice.http.get(url).json() == made


def test_a_masked_description_that_is_missing_is_removed(alice: Caller, store: str) -> None:
    """The whole resource without a description takes the description away."""
    made = _entry(alice, store, description="d").json()
    whole = {name: value for name, value in made.items() if name != "description"}
    url = f"{AGENTS}/{made['name']}"
    done = alice.http.patch(url, params={"update_mask": "content,description"}, json=whole)
    assert "description" not in done.json()


@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, 8 * MAX_BODY_BYTES])
def test_oversized_bodies_are_refused_whole(alice: Caller, store: str, size: int) -> None:
    """A body over the limit is read to its end and refused, so that no client sends it again."""
    url = f"{STORES}/{store}/entries"
    assert code(alice.http.post(url, content=b" " * size, headers=JSON)) == (
        413,
        "INVALID_PARAMETER_VALUE",
    )
    anonymous = httpx.post(f"{alice.http.base_url}{url}", content=b" " * size)
    assert code(anonymous) == (401, "UNAUTHENTICATED")


def test_the_largest_body_fits(alice: Caller, store: str) -> None:
    """The longest content fits a body, however its JSON is spelled, and comes out as it went in."""
    content = "\N{GRINNING FACE}" * 65_536
    made = alice.http.post(
        f"{STORES}/{store}/entries",
        content=json.dumps({"actor_id": "u", "path": "/p", "content": content}),
        headers=JSON,
    )
    assert made.json()["content"] == content


def test_a_client_that_goes_away_changes_nothing(
    service: Service, alice: Caller, store: str
) -> None:
    """A request that breaks off before its end is none, even where what came is a whole body."""
    body = json.dumps({"actor_id": "u", "path": "/p", "content": "c"})
    address = urlsplit(service.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0))) as connection:
        head = (
            f"POST {STORES}/{store}/entries HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {alice.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body) + 1}\r\n\r\n"
        )
        connection.sendall(head.encode() + body.encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    listed = alice.http.get(f"{STORES}/{store}/entries", params={"actor_id": "u"})
    assert listed.json() == {"managed_memory_entries": []}


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Basic dTpw",
        "Bearer none",
        f"Bearer dm_{'0' * 16}_{'a' * 43}",
    ],
    ids=repr,
)
def test_a_valid_token_is_needed_everywhere(service: Service, header: str | None) -> None:
    """Without a token that is known nothing answers but what clients ask first."""
    headers = {} if header is None else {"Authorization": header}
    with httpx.Client(base_url=service.url, headers=headers) as stranger:
        for method, path in (
            ("GET", STORES),
            ("GET", f"{STORES}/a-store"),
            ("POST", f"{STORES}/a-store/entries:search"),
            ("GET", "/v1/memory-stores/a-store/entries/x"),
            ("GET", f"{AGENTS}/memory-pipelines"),
            ("GET", "/api/2.0/preview/scim/v2/Me"),
            ("GET", "/nothing"),
        ):
            refused = stranger.request(method, path)
            assert code(refused) == (401, "UNAUTHENTICATED")
            assert refused.headers["www-authenticate"] == "Bearer"


def test_what_clients_ask_first_needs_no_token(service: Service) -> None:
    """Where this is, how to call it, whether it is up, and telemetry that is dropped."""
    with httpx.Client(base_url=service.url) as stranger:
        found = stranger.get("/.well-known/databricks-config").json()
        assert found == {"workspace_id": "1", "oidc_endpoint": f"{service.url}/oidc"}
        assert stranger.post("/telemetry-ext", json={"items": []}).json() == {}
        assert stranger.get("/healthz").json() == {"status": "ok"}
        assert stranger.get("/openapi.json").json()["info"]["title"] == "durable-memory"
        assert stranger.get("/docs").status_code == 200


def test_missing_things_are_not_found(alice: Caller, store: str) -> None:
    """A memory store or an entry that is not there is NOT_FOUND on every route, in one sentence."""
    entries, here = f"{STORES}/{MISSING}/entries", f"{STORES}/{store}/entries/missing"
    own = f"/v1/memory-stores/{store}/entries/missing"
    key = {"actor_id": "u", "path": "/p"}
    who = {"principal": {"name": "x", "type": "USER"}, "permission": "READ"}
    for method, url, extra in (
        ("GET", f"{STORES}/{MISSING}", {}),
        ("PATCH", f"{STORES}/{MISSING}?update_mask=description", {"json": {}}),
        ("DELETE", f"{STORES}/{MISSING}", {}),
        ("POST", entries, {"json": key}),
        ("GET", f"{entries}?actor_id=u", {}),
        ("POST", f"{entries}:search", {"json": {"actor_id": "u", "query": "q"}}),
        ("GET", f"{STORES}/{MISSING}/permissions", {}),
        ("GET", f"{STORES}/{MISSING}/permissions/self", {}),
        ("POST", f"{STORES}/{MISSING}/permissions:grant", {"json": who}),
        ("POST", f"{STORES}/{MISSING}/permissions:revoke", {"json": who}),
        ("GET", here, {}),
        ("PATCH", f"{here}?update_mask=content", {"json": {"content": "x"}}),
        ("DELETE", here, {}),
        ("GET", own, {}),
        ("PATCH", own, {"json": {"content": "x"}}),
        ("DELETE", own, {}),
        ("GET", f"{own}/versions", {}),
        ("POST", f"/v1/memory-stores/{store}/entries:find", {"json": key}),
    ):
        response = alice.http.request(method, url, **extra)
        assert code(response) == (404, "NOT_FOUND"), url
        what = "memory store" if MISSING in url else "entry"
        assert response.json()["message"] == f"No such {what}.", url


def test_missing_versions_are_not_found(alice: Caller, store: str) -> None:
    """A version that an entry never had is NOT_FOUND, and so is one of no entry."""
    made = _entry(alice, store).json()
    for name in (made["name"], f"memory-stores/{store}/entries/missing"):
        for version in ("1", "999999999", "x", "%20"):
            refused = alice.http.get(f"/v1/{name}/versions/{version}")
            assert code(refused) == (404, "NOT_FOUND")
            assert "version" in refused.json()["message"]


@pytest.mark.parametrize(
    "kind",
    [
        each
        for each in vars(notebook).values()
        if isinstance(each, type) and issubclass(each, MemoryFault) and each is not MemoryRefusal
    ],
    ids=lambda kind: kind.__name__,
)
async def test_no_fault_speaks_of_what_callers_do_not_have(kind: type[MemoryFault]) -> None:
    """What a fault says of itself over HTTP is of requests, not of tool calls and workers."""
    response = await handle(Request({"type": "http"}), kind())
    said = json.loads(bytes(response.body))
    assert set(said) == {"error_code", "message"}
    foreign = ("tool", "worker", "workflow", "document", "file", "scope")
    assert not [word for word in foreign if word in said["message"].lower()]


@pytest.mark.parametrize(
    "principal",
    [
        {},
        {"name": "x"},
        {"name": "", "type": "USER"},
        {"name": " x", "type": "USER"},
        {"name": "x\n", "type": "USER"},
        {"name": "x" * 257, "type": "USER"},
        {"name": "x", "type": "GROUP"},
        {"name": "x", "type": "USER", "principal_type": "SERVICE_PRINCIPAL"},
    ],
)
def test_bad_principals_are_invalid(alice: Caller, store: str, principal: dict[str, str]) -> None:
    """A grant needs a name and one type; there are no groups."""
    body = {"principal": principal, "permission": "READ"}
    assert code(alice.http.post(f"{STORES}/{store}/permissions:grant", json=body)) == INVALID
    assert alice.http.get(f"{STORES}/{store}/permissions").json() == {
        "memory_store_permissions": []
    }


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"actor_id": "ann", "content": "x"}, "path: "),
        ({"path": "/a", "content": "x"}, "actor_id: "),
        ({"actor_id": "ann", "path": "/a", "content": 5}, "content: "),
        ([], "body: "),
        ("text", "body: "),
    ],
)
def test_what_is_missing_is_named(alice: Caller, store: str, sent: object, said: str) -> None:
    """A body that lacks a field, or is none, is told what and where."""
    answer = alice.http.post(f"/v1/memory-stores/{store}/entries:put", json=sent)
    assert code(answer) == (400, "INVALID_PARAMETER_VALUE")
    assert answer.json()["message"].startswith(said)


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_body_that_is_no_json_is_told_so(alice: Caller, store: str, kind: str) -> None:
    """Neither half a document nor a form is taken for a body."""
    answer = alice.http.post(
        f"/v1/memory-stores/{store}/entries:put",
        content=b'{"actor_id"',
        headers={"Content-Type": kind},
    )
    assert code(answer) == (400, "INVALID_PARAMETER_VALUE")
    assert "JSON" in answer.json()["message"]
