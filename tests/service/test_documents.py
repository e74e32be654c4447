"""Our own routes: atomic, conditional and repeatable writes, and the versions of entries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from services import STORES, Caller, code

KEY = {"actor_id": "you@example.com", "path": "/notes.md"}
INVALID = (400, "INVALID_PARAMETER_VALUE")
REUSED = (409, "IDEMPOTENCY_KEY_REUSED")
FAILED = (412, "FAILED_PRECONDITION")


class Own:
    """Alice's calls of our own routes of one memory store."""

    def __init__(self, caller: Caller, store: str) -> None:
        self.caller = caller
        self.root = f"/v1/memory-stores/{store}/entries"

    def post(self, verb: str, headers: dict[str, str] | None = None, **body: object) -> Any:
        """Call a verb on the entry."""
        url = f"{self.root}:{verb}"
        return self.caller.http.post(url, json={**KEY, **body}, headers=headers)

    def content(self) -> str | None:
        """Return what is stored."""
        found = self.post("find")
        return str(found.json()["entry"]["content"]) if found.status_code == 200 else None


@pytest.fixture
def own(alice: Caller, store: str) -> Own:
    """The routes of a new memory store."""
    return Own(alice, store)


def test_put_creates_and_replaces(own: Own) -> None:
    """One call creates or replaces, says which, and gives the version as an ETag."""
    first = own.post("put", content="one", description="d")
    assert first.json()["existed"] is False
    second = own.post("put", content="two")
    said = second.json()
    assert (said["existed"], said["replayed"]) == (True, False)
    assert (said["entry"]["content"], said["entry"]["description"]) == ("two", "d")
    assert second.headers["etag"] == f'"{said["version"]}"' != first.headers["etag"]
    got = own.caller.http.get(f"/v1/{said['entry']['name']}")
    assert (got.headers["etag"], got.json()["version"]) == (second.headers["etag"], said["version"])
    assert got.json()["entry"] == said["entry"]


def test_a_version_is_demanded(own: Own) -> None:
    """`If-Match` lets one of two writers through; the other is told, and changes nothing."""
    made = own.post("put", content="one")
    seen = {"If-Match": made.headers["etag"]}
    entry = f"/v1/{made.json()['entry']['name']}"
    assert own.post("put", seen, content="two").status_code == 200
    http = own.caller.http
    for refused in (
        own.post("put", seen, content="three"),
        own.post("append", seen, content="three"),
        http.patch(entry, json={"content": "three"}, headers=seen),
        http.delete(entry, headers=seen),
    ):
        assert code(refused) == FAILED
    assert own.content() == "two"
    assert code(own.post("put", seen, content="x", path="/other")) == FAILED


def test_absence_is_demanded(own: Own) -> None:
    """`If-None-Match: *` creates only: what exists is a condition that failed, as RFC 9110 says."""
    only = {"If-None-Match": "*"}
    assert own.post("put", only, content="one").status_code == 200
    assert code(own.post("put", only, content="two")) == FAILED
    assert own.content() == "one"


@pytest.mark.parametrize(
    "headers",
    [
        {"If-Match": "*"},
        {"If-Match": "1"},
        {"If-Match": 'W/"1"'},
        {"If-Match": '"1", "2"'},
        {"If-Match": ""},
        {"If-None-Match": '"1"'},
        {"If-None-Match": "*", "If-Match": '"1"'},
        {"Idempotency-Key": ""},
        {"Idempotency-Key": "a b"},
        {"Idempotency-Key": "k" * 201},
    ],
)
def test_bad_conditions_are_invalid(own: Own, headers: dict[str, str]) -> None:
    """A condition that cannot be kept is refused, never ignored."""
    assert code(own.post("put", headers, content="x")) == INVALID
    assert own.content() is None


def test_appends_never_lose_a_race(own: Own) -> None:
    """Ten appends at once all land, each on a line."""
    lines = [f"line {number}" for number in range(10)]
    with ThreadPoolExecutor(10) as threads:
        done = list(threads.map(lambda line: own.post("append", content=line), lines))
    assert [each.status_code for each in done] == [200] * 10
    assert sorted((own.content() or "").splitlines()) == sorted(lines)


@pytest.mark.parametrize("verb", ["put", "append"])
def test_a_retry_is_answered_by_its_receipt(own: Own, verb: str) -> None:
    """A request sent again is told the same, also after others have written, and does nothing."""
    key = {"Idempotency-Key": f"request-{verb}"}
    first = own.post(verb, key, content="mine").json()
    later = own.post("put", content="later").json()
    again = own.post(verb, key, content="mine")
    assert again.json() == {**first, "replayed": True}
    assert again.headers["etag"] == f'"{first["version"]}"'
    assert own.content() == later["entry"]["content"]


def test_a_key_is_of_one_request(own: Own, store: str) -> None:
    """The same key with another body, verb or condition is a conflict, and changes nothing."""
    key = {"Idempotency-Key": "request-1"}
    made = own.post("put", key, content="one")
    for refused in (
        own.post("put", key, content="two"),
        own.post("put", key, content="one", description="d"),
        own.post("put", key, content="one", path="/other"),
        own.post("append", key, content="one"),
        own.post("put", {**key, "If-Match": made.headers["etag"]}, content="one"),
        own.caller.http.delete(f"/v1/{made.json()['entry']['name']}", headers=key),
    ):
        assert code(refused) == REUSED
    assert own.content() == "one"


def test_keys_of_two_callers_never_meet(own: Own, bob: Caller, store: str) -> None:
    """Each principal, and each memory store, has keys of its own."""
    grant = {"principal": {"name": bob.name, "type": "USER"}, "permission": "WRITE"}
    own.caller.http.post(f"{STORES}/{store}/permissions:grant", json=grant)
    key = {"Idempotency-Key": "request-1"}
    own.post("put", key, content="alice's")
    done = Own(bob, store).post("put", key, content="bob's")
    assert done.json()["replayed"] is False
    assert own.content() == "bob's"


def test_a_deletion_is_repeatable(own: Own) -> None:
    """A deletion sent again is answered by its receipt, and what was made since stays."""
    made = own.post("put", content="one").json()
    url, key = f"/v1/{made['entry']['name']}", {"Idempotency-Key": "gone"}
    first = own.caller.http.delete(url, headers=key).json()
    assert first["existed"] is True
    assert own.content() is None
    own.post("put", content="new")
    assert own.caller.http.delete(url, headers=key).json() == {**first, "replayed": True}
    assert own.content() == "new"


def test_forget_takes_every_session(own: Own) -> None:
    """One call deletes all entries at a path of one actor, once."""
    own.post("put", content="a")
    own.post("put", content="b", session_id="s")
    own.post("put", content="c", path="/other")
    own.post("put", content="d", actor_id="other")
    url, body = f"{own.root}:forget", KEY
    key = {"Idempotency-Key": "forget"}
    done = own.caller.http.post(url, json=body, headers=key).json()
    assert len(done["entry_ids"]) == 2
    own.post("put", content="new")
    again = own.caller.http.post(url, json=body, headers=key).json()
    assert again == {**done, "replayed": True}
    assert own.content() == "new"
    assert own.post("find", path="/other").json()["entry"]["content"] == "c"
    assert own.post("find", actor_id="other").json()["entry"]["content"] == "d"
    assert code(own.caller.http.post(url, json=body, headers={"If-Match": '"1"'})) == INVALID


def test_versions_are_kept(own: Own) -> None:
    """The history of an entry is listed newest first, in pages, and every version can be read."""
    contents = ["one", "one\ntwo\n", "three"]
    own.post("put", content="one", source_type="MANAGED_MEMORY_ENTRY_SOURCE_TYPE_DREAMER")
    own.post("append", content="two", origin="a conversation")
    made = own.post("put", content="three").json()
    url = f"/v1/{made['entry']['name']}/versions"
    http = own.caller.http
    first = http.get(url, params={"page_size": 2}).json()
    rest = http.get(url, params={"page_size": 2, "page_token": first["next_page_token"]}).json()
    assert "next_page_token" not in rest
    steps = [*first["versions"], *rest["versions"]]
    assert [int(step["version"]) for step in steps] == sorted(
        (int(step["version"]) for step in steps), reverse=True
    )
    read = [http.get(f"{url}/{step['version']}").json()["entry"]["content"] for step in steps]
    assert read == contents[::-1]
    assert steps[-1]["source_type"].endswith("DREAMER")
    assert steps[1]["origin"] == "a conversation"
    assert steps[0]["change"]["added"] != ""
    assert code(http.get(f"{url}/999999999")) == (404, "NOT_FOUND")
    assert code(http.get(f"{url}/x")) == (404, "NOT_FOUND")


def test_patch_changes_what_is_given(own: Own) -> None:
    """A change keeps the fields that are missing, and one of nothing is refused."""
    made = own.post("put", content="one", description="d").json()
    url = f"/v1/{made['entry']['name']}"
    done = own.caller.http.patch(url, json={"description": "e"}).json()
    assert (done["entry"]["content"], done["entry"]["description"]) == ("one", "e")
    assert code(own.caller.http.patch(url, json={})) == INVALID
