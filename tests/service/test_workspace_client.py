"""databricks-sdk's `WorkspaceClient().agent_kit`, unmodified, against the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.common.types.fieldmask import FieldMask
from databricks.sdk.errors import (
    AlreadyExists,
    InvalidParameterValue,
    NotFound,
    NotImplemented,  # noqa: A004  (the SDK's name)
    PermissionDenied,
    Unauthenticated,
)
from databricks.sdk.service.agentkit import (
    AgentKitAPI,
    ManagedMemoryEntry,
    ManagedMemoryEntrySourceType,
    ManagedMemoryEntryView,
    ManagedMemoryStore,
    PermissionLevel,
    PrincipalType,
    StorePrincipal,
)
from services import Caller, Service

ACTOR = "you@example.com"


def _kit(service: Service, caller: Caller) -> AgentKitAPI:
    return WorkspaceClient(host=service.url, token=caller.token).agent_kit


@pytest.fixture(scope="module")
def kit(service: Service, alice: Caller) -> AgentKitAPI:
    """Alice's client."""
    return _kit(service, alice)


@pytest.fixture
def parent(store: str) -> str:
    """Name of a new memory store."""
    return f"memory-stores/{store}"


def _mask(paths: list[str]) -> FieldMask:
    mask = FieldMask()  # type: ignore[no-untyped-call]
    mask.paths = paths
    return mask


def _entry(path: str = "/p", content: str | None = "text", **fields: object) -> ManagedMemoryEntry:
    return ManagedMemoryEntry(actor_id=ACTOR, path=path, content=content, **fields)  # type: ignore[arg-type]


def test_stores(kit: AgentKitAPI) -> None:
    """Create, get, list over pages, update with the whole resource, delete."""
    made = kit.create_memory_store(ManagedMemoryStore(description="d"), "sdk-store")
    assert (made.name, made.display_name, made.workspace_id) == (
        "memory-stores/sdk-store",
        "sdk-store",
        1,
    )
    assert made.create_time is not None
    assert "memory-stores/sdk-store" in [each.name for each in kit.list_memory_stores(page_size=1)]
    made.description = "other"
    kit.update_memory_store(str(made.name), made, _mask(["description"]))
    assert kit.get_memory_store(str(made.name)).description == "other"
    kit.delete_memory_store(str(made.name))
    with pytest.raises(NotFound):
        kit.get_memory_store(str(made.name))


def test_entries(kit: AgentKitAPI, parent: str) -> None:
    """Create with a chosen id, get in both views, list, update with the whole resource, delete."""
    made = kit.create_memory(parent, _entry(), managed_memory_entry_id="chosen.id_1")
    assert made.name == f"{parent}/entries/chosen.id_1"
    basic = kit.get_memory(
        str(made.name), view=ManagedMemoryEntryView.MANAGED_MEMORY_ENTRY_VIEW_BASIC
    )
    assert (basic.content, basic.path) == (None, "/p")
    made.content = "changed"
    made.description = "said"
    kit.update_memory(str(made.name), made, _mask(["content", "description"]))
    full = kit.get_memory(str(made.name))
    assert (full.content, full.description) == ("changed", "said")
    (listed,) = kit.list_memories(
        parent, ACTOR, view=ManagedMemoryEntryView.MANAGED_MEMORY_ENTRY_VIEW_FULL
    )
    assert listed.content == "changed"
    kit.delete_memory(str(made.name))
    assert list(kit.list_memories(parent, ACTOR)) == []


def test_creation_is_exclusive(kit: AgentKitAPI, parent: str) -> None:
    """One actor, session and path is one entry, and so is one id; no session is its own key."""
    kit.create_memory(parent, _entry(), managed_memory_entry_id="one")
    with pytest.raises(AlreadyExists):
        kit.create_memory(parent, _entry(content="other"))
    with pytest.raises(AlreadyExists):
        kit.create_memory(parent, _entry("/other"), managed_memory_entry_id="one")
    kit.create_memory(parent, _entry(session_id="s"))
    assert kit.get_memory(f"{parent}/entries/one").content == "text"


def test_source_types_are_kept(kit: AgentKitAPI, parent: str) -> None:
    """An entry says who wrote it."""
    dreamer = ManagedMemoryEntrySourceType.MANAGED_MEMORY_ENTRY_SOURCE_TYPE_DREAMER
    made = kit.create_memory(parent, _entry(source_type=dreamer))
    assert kit.get_memory(str(made.name)).source_type is dreamer


def test_search_takes_page_size_or_limit(kit: AgentKitAPI, parent: str) -> None:
    """`limit` is an old name of `page_size`; both must agree, and neither is ten."""
    for number in range(12):
        kit.create_memory(parent, _entry(f"/{number}", "the same words"))
    wanted: list[tuple[dict[str, Any], int]] = [
        ({}, 10),
        ({"limit": 3}, 3),
        ({"page_size": 12}, 12),
        ({"limit": 2, "page_size": 2}, 2),
    ]
    for bounds, count in wanted:
        found = list(kit.search_memories(parent, ACTOR, "words", **bounds))
        assert len(found) == count
        assert all(each.score is not None for each in found)
    with pytest.raises(InvalidParameterValue):
        list(kit.search_memories(parent, ACTOR, "words", limit=2, page_size=3))


def test_search_views(kit: AgentKitAPI, parent: str) -> None:
    """A BASIC view leaves the content out of what is found."""
    kit.create_memory(parent, _entry(content="the same words"))
    basic = ManagedMemoryEntryView.MANAGED_MEMORY_ENTRY_VIEW_BASIC
    (found,) = kit.search_memories(parent, ACTOR, "words", view=basic)
    assert found.managed_memory_entry is not None
    assert found.managed_memory_entry.content is None


def test_grants(kit: AgentKitAPI, service: Service, parent: str, bob: Caller) -> None:
    """READ lets read, WRITE lets write, revoking takes both; the creator stays what it is."""
    made = kit.create_memory(parent, _entry())
    as_bob, whom = _kit(service, bob), StorePrincipal(bob.name, PrincipalType.USER)
    with pytest.raises(PermissionDenied):
        as_bob.get_memory(str(made.name))
    kit.grant_memory_store_permission(parent, whom, PermissionLevel.READ)
    assert as_bob.get_memory(str(made.name)).content == "text"
    assert as_bob.get_memory_store_permission(parent).permission is PermissionLevel.READ
    with pytest.raises(PermissionDenied):
        as_bob.delete_memory(str(made.name))
    kit.grant_memory_store_permission(parent, whom, PermissionLevel.WRITE)
    (granted,) = kit.list_memory_store_permissions(parent, page_size=1)
    assert granted.permission is PermissionLevel.WRITE
    as_bob.update_memory(str(made.name), _entry(content="bob's"), _mask(["content"]))
    with pytest.raises(PermissionDenied):
        list(as_bob.list_memory_store_permissions(parent))
    kit.revoke_memory_store_permission(parent, whom)
    assert as_bob.get_memory_store_permission(parent).permission is None
    with pytest.raises(PermissionDenied):
        list(as_bob.list_memories(parent, ACTOR))
    creator = StorePrincipal("alice@example.com", PrincipalType.USER)
    kit.revoke_memory_store_permission(parent, creator)
    assert kit.get_memory_store_permission(parent).permission is PermissionLevel.WRITE


@pytest.mark.parametrize(
    "call",
    [
        lambda kit, _: kit.get_memory_store("memory-stores/_notebooks"),
        lambda kit, name: list(kit.list_memories(name, "")),
        lambda kit, name: list(kit.list_memories(name, "a", page_size=101)),
        lambda kit, name: list(kit.list_memories(name, "a", path_prefix="a")),
        lambda kit, name: list(kit.search_memories(name, "a", "")),
        lambda kit, name: kit.create_memory(name, _entry("no-slash")),
        lambda kit, name: kit.create_memory(name, _entry("/a/../b")),
        lambda kit, name: kit.create_memory(name, _entry(), managed_memory_entry_id="a/b"),
        lambda kit, name: kit.create_memory(name, _entry(content="\0")),
    ],
)
def test_what_breaks_a_rule_is_invalid(
    kit: AgentKitAPI, parent: str, call: Callable[[AgentKitAPI, str], object]
) -> None:
    """Each rule of the contract refuses with the SDK's own exception."""
    with pytest.raises(InvalidParameterValue):
        call(kit, parent)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda kit, name: kit.get_memory(f"{name}/entries/missing"), NotFound),
        (lambda kit, _: kit.get_memory("memory-stores/missing-store/entries/e"), NotFound),
        (lambda kit, _: list(kit.list_session_stores()), NotImplemented),
        (lambda kit, _: kit.get_session_store("session-stores/s"), NotImplemented),
        (lambda kit, name: kit.extract_memories("session-stores/s", "i", name), NotImplemented),
    ],
)
def test_errors_are_those_of_the_sdk(
    kit: AgentKitAPI,
    parent: str,
    call: Callable[[AgentKitAPI, str], object],
    kind: type[Exception],
) -> None:
    """Every refusal arrives as the SDK's own exception for its code."""
    with pytest.raises(kind):
        call(kit, parent)


def test_a_wrong_token_is_unauthenticated(service: Service) -> None:
    """A token that is none is refused before anything else."""
    stranger = WorkspaceClient(host=service.url, token="none")  # noqa: S106
    with pytest.raises(Unauthenticated):
        list(stranger.agent_kit.list_memory_stores())


def test_me(service: Service, alice: Caller) -> None:
    """`agentbricks login` learns who the token belongs to."""
    me = WorkspaceClient(host=service.url, token=alice.token).current_user.me()
    assert me.user_name == "alice@example.com"
