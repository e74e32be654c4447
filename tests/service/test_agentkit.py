"""The AgentKit SDK of databricks-agentbricks, unmodified, against the service."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from databricks.sdk import WorkspaceClient
from databricks_agentbricks.errors import AgentCliError
from databricks_agentkit import AgentKitClient, MemoryStore
from services import Caller, Service

ACTOR = "user-123"
PATH = "/preferences/communication.md"


def _client(service: Service, caller: Caller) -> AgentKitClient:
    return AgentKitClient(WorkspaceClient(host=service.url, token=caller.token))


@pytest.fixture(scope="module")
def client(service: Service, alice: Caller) -> AgentKitClient:
    """Alice's client."""
    return _client(service, alice)


@pytest.fixture
def memory(client: AgentKitClient, store: str) -> Iterator[MemoryStore]:
    """A new memory store, deleted at the end."""
    found = client.memory_stores.get(store)
    yield found
    found.delete()


def _failure(error: pytest.ExceptionInfo[AgentCliError]) -> str | None:
    return error.value.error_code


def test_a_store_is_made_read_changed_and_deleted(client: AgentKitClient) -> None:
    """A memory store goes through its life: create, get, update, list, delete."""
    made = client.memory_stores.create("support-agent-memory", description="first")
    assert (made.id, made.display_name, made.workspace_id) == (
        "support-agent-memory",
        "support-agent-memory",
        1,
    )
    assert made.update(description="second").description == "second"
    got = client.memory_stores.get(made.id)
    assert got.description == "second"
    assert got.owner_user_id == "alice@example.com"
    assert got.create_time is not None
    assert got.storage_backend == {
        "backend_type": "STORAGE_BACKEND_TYPE_LAKEBASE",
        "backend_id": "postgres",
    }
    assert made.id in [each.id for each in client.memory_stores.list(page_size=1)]
    made.delete()
    with pytest.raises(AgentCliError) as error:
        client.memory_stores.get(made.id)
    assert _failure(error) == "NOT_FOUND"


def test_a_store_id_is_taken_once(client: AgentKitClient, memory: MemoryStore) -> None:
    """A second memory store of one id is ALREADY_EXISTS, and the first is as it was."""
    with pytest.raises(AgentCliError) as error:
        client.memory_stores.create(memory.id, description="other")
    assert _failure(error) == "ALREADY_EXISTS"
    assert client.memory_stores.get(memory.id).description == memory.description


def test_add_is_exclusive(memory: MemoryStore) -> None:
    """`add` creates, and answers ALREADY_EXISTS for the same actor, session and path."""
    made = memory.add(
        actor_id=ACTOR, path=PATH, content="Prefers email.", description="Communication"
    )
    assert (made.actor_id, made.path, made.session_id) == (ACTOR, PATH, None)
    assert made.source_type == "MANAGED_MEMORY_ENTRY_SOURCE_TYPE_AGENT"
    with pytest.raises(AgentCliError) as error:
        memory.add(actor_id=ACTOR, path=PATH, content="other")
    assert _failure(error) == "ALREADY_EXISTS"
    assert memory.get(made.id).content == "Prefers email."
    memory.add(actor_id=ACTOR, path=PATH, content="of one session", session_id="s1")
    memory.add(actor_id="user-124", path=PATH, content="of another actor")


def test_put_creates_and_then_replaces(memory: MemoryStore) -> None:
    """`put` goes through its loop: create, ALREADY_EXISTS, look up by path, update."""
    first = memory.put(actor_id=ACTOR, path=PATH, content="one", description="kept")
    second = memory.put(actor_id=ACTOR, path=PATH, content="two")
    assert second.id == first.id
    assert (second.content, second.description) == ("two", "kept")
    of_session = memory.put(actor_id=ACTOR, path=PATH, content="s", session_id="s1")
    again = memory.put(actor_id=ACTOR, path=PATH, content="t", session_id="s1")
    assert again.id == of_session.id != first.id
    assert memory.get(first.id).content == "two"


def test_put_appends_lines_once(memory: MemoryStore) -> None:
    """`put(append=True)` adds lines, and a repeated one is no second line."""
    for line in ("one", "two", "two"):
        memory.put(actor_id=ACTOR, path=PATH, content=line, append=True)
    (found,) = memory.list(actor_id=ACTOR, path=PATH)
    assert found.content == "one\ntwo"


def test_lists_by_path_prefix_and_session(memory: MemoryStore) -> None:
    """Filters find what the contract says: paths in all sessions, prefixes at segments."""
    for path, session in (
        ("/a", None),
        ("/a/b", None),
        ("/a/b", "s1"),
        ("/ab", "s1"),
        ("/A/b", None),
    ):
        memory.add(actor_id=ACTOR, path=path, content="c", session_id=session)

    def found(**filters: str) -> list[tuple[str, str | None]]:
        listed = memory.list(actor_id=ACTOR, page_size=2, **filters)
        return [(each.path, each.session_id) for each in listed]

    assert found(path="/a/b") == [("/a/b", None), ("/a/b", "s1")]
    assert found(path="/a/b", session_id="s2") == [("/a/b", None), ("/a/b", "s1")]
    assert found(path_prefix="/a") == [("/a", None), ("/a/b", None), ("/a/b", "s1")]
    assert found(session_id="s1") == [("/a/b", "s1"), ("/ab", "s1")]
    assert found(path_prefix="/a", session_id="s1") == [("/a/b", "s1")]
    assert len(found(path_prefix="/")) == len(found()) == 5
    assert list(memory.list(actor_id="nobody")) == []


def test_read_mask_leaves_content_out(memory: MemoryStore) -> None:
    """A read mask returns what it names, and what the client cannot do without."""
    made = memory.add(actor_id=ACTOR, path=PATH, content="text", description="d")
    (listed,) = memory.list(actor_id=ACTOR, read_mask="path,description")
    assert (listed.content, listed.description, listed.actor_id) == (None, "d", ACTOR)
    got = memory.get(made.id, read_mask="content")
    assert (got.content, got.description, got.id) == ("text", None, made.id)
    (found,) = memory.search(actor_id=ACTOR, query="text", read_mask="path")
    assert found.memory.content is None


def test_search_ranks_entries_of_one_actor(memory: MemoryStore) -> None:
    """Search finds in content and description, best first, within the actor and the filters."""
    memory.add(actor_id=ACTOR, path="/tea", content="Drinks green tea every morning.")
    memory.add(actor_id=ACTOR, path="/work", content="Works nights.", description="tea shop")
    memory.add(actor_id=ACTOR, path="/pets", content="Has a dog.", session_id="s1")
    memory.add(actor_id="user-124", path="/tea", content="Hates green tea.")
    results = memory.search(actor_id=ACTOR, query="green tea", limit=10)
    assert [each.memory.path for each in results][:2] == ["/tea", "/work"]
    assert {each.memory.actor_id for each in results} == {ACTOR}
    scores = [each.score or 0 for each in results]
    assert scores == sorted(scores, reverse=True)
    within = memory.search(actor_id=ACTOR, query="dog tea", session_id="s1")
    assert [each.memory.path for each in within] == ["/pets"]
    below = memory.search(actor_id=ACTOR, query="tea", path_prefix="/work")
    assert [each.memory.path for each in below] == ["/work"]
    assert len(memory.search(actor_id=ACTOR, query="tea", limit=1)) == 1


def test_update_and_delete_an_entry(memory: MemoryStore) -> None:
    """An entry is changed by its fields and deleted by its id; then it is NOT_FOUND."""
    made = memory.add(actor_id=ACTOR, path=PATH, content="one", description="d")
    assert made.update(content="two").description == "d"
    assert made.update(description="e").content == "two"
    assert made.update(content="").content == ""
    made.delete()
    for call in (made.delete, lambda: memory.get(made.id), lambda: made.update(content="x")):
        with pytest.raises(AgentCliError) as error:
            call()
        assert _failure(error) == "NOT_FOUND"
    assert list(memory.list(actor_id=ACTOR, path=PATH)) == []


def test_a_grant_opens_a_store(
    client: AgentKitClient, memory: MemoryStore, service: Service, bob: Caller
) -> None:
    """`grant_permission` grants to a service principal; a user of the same name has nothing."""
    memory.add(actor_id=ACTOR, path=PATH, content="one")
    memory.grant_permission(bob.name, permission="READ")
    as_bob = _client(service, bob).memory_stores.get(memory.id)
    with pytest.raises(AgentCliError) as error:
        list(as_bob.list(actor_id=ACTOR))
    assert _failure(error) == "PERMISSION_DENIED"


def test_ten_clients_put_at_once(memory: MemoryStore) -> None:
    """The clients' `put` loop survives others at the same path: one entry, nobody fails."""
    with ThreadPoolExecutor(10) as threads:
        contents = [f"writer {number}" for number in range(10)]
        list(
            threads.map(
                lambda content: memory.put(actor_id=ACTOR, path=PATH, content=content), contents
            )
        )
    (found,) = memory.list(actor_id=ACTOR)
    assert found.content in contents


@pytest.mark.parametrize("name", ["ab", "Abc", "1abc", "abc-", "a_b", "a" * 57, "abc!"])
def test_store_ids_follow_their_rule(client: AgentKitClient, name: str) -> None:
    """An id outside the pattern is INVALID_PARAMETER_VALUE."""
    with pytest.raises(AgentCliError) as error:
        client.memory_stores.create(name)
    assert _failure(error) == "INVALID_PARAMETER_VALUE"


def test_display_names_never_change(memory: MemoryStore) -> None:
    """Only the description of a memory store can be updated."""
    with pytest.raises(AgentCliError) as error:
        memory.update(display_name="other")
    assert _failure(error) == "INVALID_PARAMETER_VALUE"


def test_what_is_not_here_says_so(client: AgentKitClient) -> None:
    """Session stores answer NOT_IMPLEMENTED, which the clients show as a preview that is off."""
    with pytest.raises(AgentCliError) as error:
        client.session_stores.create("sessions")
    assert _failure(error) == "NOT_IMPLEMENTED"
    assert "preview" in (error.value.hint or "")


def test_a_wrong_token_is_shown(service: Service) -> None:
    """A token that is none is UNAUTHENTICATED."""
    stranger = AgentKitClient(WorkspaceClient(host=service.url, token="dm_0000"))  # noqa: S106
    with pytest.raises(AgentCliError) as error:
        stranger.memory_stores.get("some-store")
    assert _failure(error) == "UNAUTHENTICATED"
