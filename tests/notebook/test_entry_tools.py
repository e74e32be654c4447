"""What a model is offered for entries, and the reading of what it calls."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.notebook import (
    EntryCall,
    InvalidMemoryRequest,
    MemoryRefusal,
    entry_status,
    entry_tool_definitions,
    parse_entry_call,
    render_entry_guidance,
    tool_definitions,
)

TOOLS = ["search_memory", "save_memory", "list_memories", "forget_memory"]
VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just("/a/b"), st.just("/../a")
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "content", "description", "query", "actor", ""]), VALUE
)


def test_schemas() -> None:
    """The tools and their fields are those of the reference document; none says whose memory."""
    fields = {
        tool.name: (set(schema["properties"]), schema["required"])
        for tool in entry_tool_definitions()
        for schema in [dict[str, Any](tool.parameters)]
    }
    assert fields == {
        "search_memory": ({"query"}, ["query"]),
        "save_memory": ({"path", "content", "description"}, ["path", "content"]),
        "list_memories": (set(), []),
        "forget_memory": ({"path"}, ["path"]),
    }


def test_prefix_stands_everywhere() -> None:
    """A prefix is on each name, in the descriptions and guidance that name tools, and expected."""
    tools = entry_tool_definitions("kb")
    assert [tool.name for tool in tools] == [f"kb_{name}" for name in TOOLS]
    texts = [
        *(tool.description for tool in tools),
        render_entry_guidance(None, heading="", tool_prefix="kb"),
    ]
    assert any("kb_search_memory" in text for text in texts)
    for text in texts:
        assert "{" not in text
        assert "search_memory" not in text.replace("kb_search_memory", "")
    assert parse_entry_call("kb_list_memories", {}, prefix="kb").tool == "list_memories"
    with pytest.raises(MemoryRefusal, match="kb_save_memory"):
        parse_entry_call("list_memories", {}, prefix="kb")
    with pytest.raises(InvalidMemoryRequest):
        entry_tool_definitions("no spaces")


def test_notebooks_have_a_tool_of_the_same_name() -> None:
    """Both kinds of memories have a `search_memory`, and share no other name."""
    notebook = {tool.name for tool in tool_definitions()}
    assert notebook & set(TOOLS) == {"search_memory"}


def test_a_call_that_keeps_the_rules() -> None:
    """Arguments are taken as JSON text or a mapping; `null` and an empty description are none."""
    arguments = {"path": "/a/b.md", "content": "text", "description": ""}
    call = parse_entry_call("save_memory", json.dumps({**arguments, "description": None}))
    assert call == EntryCall(
        tool="save_memory",
        arguments={"path": "/a/b.md", "content": "text"},
        path="/a/b.md",
        content="text",
    )
    assert call.changes
    assert parse_entry_call("save_memory", arguments).description is None
    assert not parse_entry_call("search_memory", {"query": "x"}).changes
    assert not parse_entry_call("list_memories", "").changes


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("save_memory", {"path": "a", "content": "x"}, "invalid_name"),
        ("save_memory", {"path": "/a//b", "content": "x"}, "invalid_name"),
        ("save_memory", {"path": "/a", "content": "x\0"}, "invalid_text"),
        ("save_memory", {"path": "/a", "content": "x" * 65_537}, "oversize"),
        ("save_memory", {"path": "/a", "content": "x", "description": "x" * 4_001}, "oversize"),
        ("save_memory", {"path": "/a", "content": " "}, "invalid_arguments"),
        ("save_memory", {"path": "/a"}, "invalid_arguments"),
        ("save_memory", {"path": "/a", "content": 1}, "invalid_arguments"),
        ("save_memory", {"path": "/a", "content": "x", "actor": "bob"}, "invalid_arguments"),
        ("save_memory", "[]", "invalid_arguments"),
        ("save_memory", "{", "invalid_arguments"),
        ("list_memories", {"path": "/a"}, "invalid_arguments"),
        ("forget_memory", {"path": "/"}, "invalid_name"),
        ("forget_memory", {"path": "/a/.."}, "invalid_name"),
        ("search_memory", {"query": ""}, "invalid_query"),
        ("search_memory", {"query": "x" * 2_001}, "invalid_query"),
        ("write_memory", {"content": "x"}, "unknown_tool"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mistakes_are_refused(name: str, arguments: Any, code: str) -> None:
    """Each mistake has its code, and a message that says what to do."""
    with pytest.raises(MemoryRefusal) as refusal:
        parse_entry_call(name, arguments)
    assert refusal.value.code == code
    assert str(refusal.value).endswith(".")


@given(name=st.sampled_from([*TOOLS, "read_memory"]), arguments=st.one_of(ARGUMENTS, st.text()))
def test_whatever_a_model_calls_is_a_call_or_a_refusal(name: str, arguments: Any) -> None:
    """Nothing a model says raises anything but a refusal, and no argument names an actor."""
    with suppress(MemoryRefusal):
        call = parse_entry_call(name, arguments)
        assert set(call.arguments) <= {"path", "content", "description", "query"}
        assert not call.changes or call.path.startswith("/")


@pytest.mark.parametrize(
    ("tool", "existed", "status"),
    [
        ("save_memory", False, "created"),
        ("save_memory", True, "updated"),
        ("forget_memory", True, "deleted"),
        ("forget_memory", False, "not_found"),
    ],
)
def test_status(tool: str, existed: bool, status: str) -> None:
    """What a mutation did follows from its tool and whether an entry existed."""
    assert entry_status(tool, existed=existed) == status
