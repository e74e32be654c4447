"""Attempts to cross: other principals, memory stores, actors, sessions, pages and routes."""

from __future__ import annotations

import itertools

import httpx
import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import InvalidParameterValue, NotFound
from services import AGENTS, STORES, Caller, Service, code, forged, raw

INVALID = (400, "INVALID_PARAMETER_VALUE")
DENIED = (403, "PERMISSION_DENIED")


def _add(caller: Caller, store: str, actor: str, path: str, **fields: str) -> str:
    body = {"actor_id": actor, "path": path, "content": "text", **fields}
    made = caller.http.post(f"{STORES}/{store}/entries", json=body)
    assert made.status_code == 200, made.text
    return str(made.json()["name"])


def _page(caller: Caller, store: str, **query: str | int) -> httpx.Response:
    return caller.http.get(f"{STORES}/{store}/entries", params=query)


def _found(caller: Caller, store: str, **query: str | int) -> list[tuple[str, str, str | None]]:
    listed = _page(caller, store, page_size=100, **query).json()["managed_memory_entries"]
    return [(each["actor_id"], each["path"], each.get("session_id")) for each in listed]


@pytest.fixture
def other(alice: Caller, store: str) -> str:
    """Another memory store of alice's."""
    name = f"other-{store}"
    alice.http.post(STORES, params={"managed_memory_store_id": name}, json={})
    return name


@pytest.mark.parametrize("granted", [None, "READ"])
def test_principals_cannot_do_what_was_not_granted(
    alice: Caller, bob: Caller, store: str, granted: str | None
) -> None:
    """Without WRITE nothing is written, without READ nothing is read, and nobody grants himself."""
    name = _add(alice, store, "u", "/p")
    whom = {"principal": {"name": bob.name, "type": "USER"}, "permission": granted or "READ"}
    if granted:
        alice.http.post(f"{STORES}/{store}/permissions:grant", json=whom)
    root, entry = f"{STORES}/{store}", f"{AGENTS}/{name}"
    own = entry.replace(AGENTS, "/v1")
    key = {"actor_id": "u", "path": "/p"}
    reads = [
        bob.http.get(f"{root}/entries", params={"actor_id": "u"}),
        bob.http.post(f"{root}/entries:search", json={"actor_id": "u", "query": "text"}),
        bob.http.get(entry),
        bob.http.get(own),
        bob.http.get(f"{own}/versions"),
        bob.http.post(f"/v1/memory-stores/{store}/entries:find", json=key),
    ]
    writes = [
        bob.http.post(f"{root}/entries", json={**key, "path": "/q"}),
        bob.http.patch(entry, params={"update_mask": "content"}, json={"content": "x"}),
        bob.http.patch(root, params={"update_mask": "description"}, json={"description": "x"}),
        bob.http.delete(entry),
        bob.http.delete(root),
        bob.http.get(f"{root}/permissions"),
        bob.http.post(f"{root}/permissions:grant", json={**whom, "permission": "WRITE"}),
        bob.http.post(f"{root}/permissions:revoke", json=whom),
        bob.http.delete(own),
        bob.http.patch(own, json={"content": "x"}),
        *(
            bob.http.post(f"/v1/memory-stores/{store}/entries:{verb}", json={**key, "content": "x"})
            for verb in ("put", "append", "forget")
        ),
    ]
    assert [code(each) for each in writes] == [DENIED] * len(writes)
    if granted:
        assert [each.status_code for each in reads] == [200] * len(reads)
    else:
        assert [code(each) for each in reads] == [DENIED] * len(reads)
    assert alice.http.get(entry).json()["content"] == "text"
    assert bob.http.get(root).json() == alice.http.get(root).json()


def test_an_administrator_sees_no_data(alice: Caller, admin: Caller, store: str) -> None:
    """An administrator manages grants, has no READ by that, and can grant it to itself."""
    name = _add(alice, store, "u", "/p")
    assert code(admin.http.get(f"{AGENTS}/{name}")) == DENIED
    assert code(_page(admin, store, actor_id="u")) == DENIED
    own = admin.http.get(f"{STORES}/{store}/permissions/self").json()
    assert own["permission"] == "PERMISSION_LEVEL_UNSPECIFIED"
    whom = {"principal": {"name": admin.name, "type": "USER"}, "permission": "READ"}
    assert admin.http.post(f"{STORES}/{store}/permissions:grant", json=whom).json() == {}
    assert admin.http.get(f"{AGENTS}/{name}").status_code == 200
    assert code(admin.http.delete(f"{AGENTS}/{name}")) == DENIED


def test_grants_go_with_their_store(alice: Caller, bob: Caller, store: str) -> None:
    """A memory store that is deleted and made again has neither its entries nor its grants."""
    name = _add(alice, store, "u", "/p")
    whom = {"principal": {"name": bob.name, "type": "USER"}, "permission": "WRITE"}
    alice.http.post(f"{STORES}/{store}/permissions:grant", json=whom)
    assert alice.http.delete(f"{STORES}/{store}").json() == {}
    alice.http.post(STORES, params={"managed_memory_store_id": store}, json={})
    assert code(bob.http.get(f"{AGENTS}/{name}")) == DENIED
    assert code(alice.http.get(f"{AGENTS}/{name}")) == (404, "NOT_FOUND")
    assert _found(alice, store, actor_id="u") == []


def test_types_keep_principals_apart(alice: Caller, bob: Caller, store: str) -> None:
    """A service principal is not the user of its name."""
    whom = {"principal": {"name": bob.name, "type": "SERVICE_PRINCIPAL"}, "permission": "WRITE"}
    alice.http.post(f"{STORES}/{store}/permissions:grant", json=whom)
    assert code(_page(bob, store, actor_id="u")) == DENIED


def test_actors_are_apart(alice: Caller, store: str) -> None:
    """Every list and search is of exactly one actor, whatever the names look like."""
    actors = ["acme", "acme-corp", "acme%", "ac_e", "ACME", "acme/x", "acme:x", " acme", "아크메"]
    for actor in actors:
        _add(alice, store, actor, "/p")
    for actor in actors:
        assert _found(alice, store, actor_id=actor) == [(actor, "/p", None)]
        body = {"actor_id": actor, "query": "text"}
        found = alice.http.post(f"{STORES}/{store}/entries:search", json=body).json()
        assert [each["actor_id"] for each in found["managed_memory_entries"]] == [actor]
    assert _found(alice, store, actor_id="acm") == []


def test_stores_are_apart(alice: Caller, store: str, other: str) -> None:
    """An entry is reached through its own memory store only."""
    entry_id = _add(alice, store, "u", "/p").rpartition("/")[2]
    for base in (STORES, "/v1/memory-stores"):
        url = f"{base}/{other}/entries/{entry_id}"
        assert code(alice.http.get(url)) == (404, "NOT_FOUND")
        assert code(alice.http.delete(url)) == (404, "NOT_FOUND")
    assert _found(alice, other, actor_id="u") == []
    assert len(_found(alice, store, actor_id="u")) == 1


def test_sessions_are_apart(alice: Caller, store: str) -> None:
    """A session's filter finds no other session's entries, and none without a session."""
    for session in (None, "s", "s1", "S", "s%", "_"):
        fields = {} if session is None else {"session_id": session}
        _add(alice, store, "u", "/p", **fields)
    for session in ("s", "s1", "S", "s%", "_"):
        assert _found(alice, store, actor_id="u", session_id=session) == [("u", "/p", session)]
        body = {"actor_id": "u", "query": "text", "session_id": session}
        found = alice.http.post(f"{STORES}/{store}/entries:search", json=body).json()
        assert [each["session_id"] for each in found["managed_memory_entries"]] == [session]
    assert _found(alice, store, actor_id="u", session_id="t") == []


@pytest.mark.parametrize(
    ("prefix", "paths"),
    [
        ("/a", {"/a", "/a/b"}),
        ("/a/", {"/a", "/a/b"}),
        ("/a%", {"/a%"}),
        ("/a_", {"/a_"}),
        ("/%", set()),
        ("/_", set()),
        ("/a\\", set()),
        ("/A", {"/A/b"}),
        ("/", {"/a", "/a/b", "/ab", "/a%", "/a_", "/A/b", "/a-b"}),
    ],
)
def test_prefixes_are_literal_and_end_at_segments(
    alice: Caller, store: str, prefix: str, paths: set[str]
) -> None:
    """`%` and `_` are ordinary, case matters, and a prefix never ends within a segment."""
    for path in ("/a", "/a/b", "/ab", "/a%", "/a_", "/A/b", "/a-b"):
        _add(alice, store, "u", path)
    found = _found(alice, store, actor_id="u", path_prefix=prefix)
    assert {path for _, path, _ in found} == paths
    body = {"actor_id": "u", "query": "text", "path_prefix": prefix}
    searched = alice.http.post(f"{STORES}/{store}/entries:search", json=body).json()
    assert {each["path"] for each in searched["managed_memory_entries"]} == paths


@pytest.mark.parametrize(
    "entry", ["..", ".", "", "../", "%2e%2e", "..%2f..", "x%3Fy", "x%00", "-x", "%20", "%C3%BC"]
)
def test_entry_ids_that_are_none_reach_nothing(alice: Caller, store: str, entry: str) -> None:
    """Ids like `..` name neither an entry nor the memory store, as they are sent or resolved."""
    _add(alice, store, "u", "/p")
    for base, method in itertools.product((STORES, "/v1/memory-stores"), ("GET", "DELETE")):
        assert code(raw(alice, method, f"{base}/{store}/entries/{entry}"))[0] in {400, 404}
        # What a client makes of `entries/..`, if it resolves it as the standard says.
        assert code(raw(alice, method, f"{base}/{store}/")) == (404, "NOT_FOUND")
    assert alice.http.get(f"{STORES}/{store}").status_code == 200
    assert len(_found(alice, store, actor_id="u")) == 1


@pytest.mark.parametrize("entry", ["..", ".", "x?y", "x#y", "a b"])
def test_the_sdk_deletes_nothing_by_an_id_that_is_none(
    service: Service, alice: Caller, store: str, entry: str
) -> None:
    """The public client does not quote ids: what it makes of such a one deletes nothing."""
    _add(alice, store, "u", "/p")
    kit = WorkspaceClient(host=service.url, token=alice.token).agent_kit
    with pytest.raises((NotFound, InvalidParameterValue)):
        kit.delete_memory(f"memory-stores/{store}/entries/{entry}")
    assert len(_found(alice, store, actor_id="u")) == 1


@pytest.mark.parametrize("query", ["y", "actor_id=u", "path=/p", "force=true"])
def test_deletions_take_no_query(alice: Caller, store: str, query: str) -> None:
    """`entries/x?y`, or a deletion with a filter, is refused: what is ignored deletes too much."""
    name = _add(alice, store, "u", "/p")
    for url in (f"{AGENTS}/{name}", f"{STORES}/{store}", f"/v1/{name}"):
        assert code(alice.http.delete(f"{url}?{query}")) == INVALID
    assert len(_found(alice, store, actor_id="u")) == 1


@pytest.mark.parametrize("store", ["_notebooks", "%5Fnotebooks", "..", "A", "a", "x" * 57, "a_b"])
@pytest.mark.parametrize("base", [STORES, "/v1/memory-stores"])
def test_notebooks_are_out_of_reach(alice: Caller, admin: Caller, base: str, store: str) -> None:
    """No route takes an id outside the pattern: the store of notebooks is one of those."""
    body = {"actor_id": "user/main", "path": "/MEMORY.md", "content": "x", "query": "x"}
    for caller, (method, place) in itertools.product(
        (alice, admin),
        (
            ("GET", ""),
            ("DELETE", ""),
            ("GET", "/entries?actor_id=user/main"),
            ("POST", "/entries"),
            ("POST", "/entries:search"),
            ("POST", "/entries:put"),
            ("POST", "/entries:find"),
            ("GET", "/permissions"),
        ),
    ):
        response = caller.http.request(method, f"{base}/{store}{place}", json=body)
        assert code(response)[0] in {400, 404, 405}
    made = alice.http.post(STORES, params={"managed_memory_store_id": "_notebooks"}, json={})
    assert code(made) == INVALID


def test_page_tokens_cannot_be_made_up(alice: Caller, store: str) -> None:
    """A token that was changed or invented is INVALID_PARAMETER_VALUE."""
    for number in range(3):
        _add(alice, store, "u", f"/{number}")
    token = _page(alice, store, actor_id="u", page_size=1).json()["next_page_token"]
    assert _page(alice, store, actor_id="u", page_token=token).status_code == 200
    for text in forged(token):
        assert code(_page(alice, store, actor_id="u", page_token=text)) == INVALID, text


def test_page_tokens_stay_in_their_list(alice: Caller, store: str, other: str) -> None:
    """A token of one list goes on in no other: not of another store, actor, filter or route."""
    for place, actor in ((store, "u"), (store, "v"), (other, "u")):
        for number in range(3):
            _add(alice, place, actor, f"/a/{number}", session_id="s")
    token = _page(alice, store, actor_id="u", page_size=1).json()["next_page_token"]
    for place, query in (
        (other, {"actor_id": "u"}),
        (store, {"actor_id": "v"}),
        (store, {"actor_id": "u", "session_id": "s"}),
        (store, {"actor_id": "u", "path_prefix": "/a"}),
        (store, {"actor_id": "u", "path": "/a/0"}),
    ):
        assert code(_page(alice, place, page_token=token, **query)) == INVALID
    for url in (STORES, f"{STORES}/{store}/permissions"):
        assert code(alice.http.get(url, params={"page_token": token})) == INVALID
