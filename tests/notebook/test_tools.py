"""What a model is offered, and the reading of what it calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    Append,
    InvalidMemoryRequest,
    MemoryRefusal,
    Remove,
    Replace,
    ToolCall,
    fingerprint,
    parse_tool_call,
    tool_definitions,
)
from durable_memory.notebook.toolkits import tool_name

TOOLS = ["write_memory", "read_memory", "delete_memory", "search_memory"]
VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.lists(st.text(max_size=2))
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["content", "file", "old_text", "query", "namespace", ""]), VALUE
)


def test_definitions() -> None:
    """Four tools are offered, each with a closed schema that says nothing of scopes."""
    tools = tool_definitions()
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.parameters["additionalProperties"] is False
        assert json.loads(json.dumps(tool.parameters)) == tool.parameters
        assert not {"scope", "namespace", "agent_name"} & set(str(tool).split("'"))


def test_schemas() -> None:
    """The fields are those of the reference document."""
    fields = {
        tool.name: (set(schema["properties"]), schema["required"])
        for tool in tool_definitions()
        for schema in [dict[str, Any](tool.parameters)]
    }
    assert fields == {
        "write_memory": ({"content", "file", "old_text"}, ["content"]),
        "read_memory": ({"file"}, ["file"]),
        "delete_memory": ({"file"}, ["file"]),
        "search_memory": ({"query"}, ["query"]),
    }


def test_prefix() -> None:
    """With a prefix, names and the names in descriptions have it."""
    tools = tool_definitions("org")
    assert [tool.name for tool in tools] == [f"org_{name}" for name in TOOLS]
    for tool in tools:
        words = [word.strip("`.,;") for word in tool.description.split()]
        assert all(word.startswith("org_") for word in words if word.endswith("_memory"))
        assert "{" not in tool.description


@pytest.mark.parametrize("prefix", ["1a", "_a", "a b", "é", "a" * 42, "a\n", None, "a."])
def test_malformed_prefixes(prefix: Any) -> None:
    """A prefix that providers would not take in a tool's name is refused."""
    with pytest.raises(InvalidMemoryRequest, match="prefix"):
        tool_definitions(prefix)


@pytest.mark.parametrize("prefix", ["", "a", "org-2_X", "p" * 41])
def test_calls_by_prefixed_name(prefix: str) -> None:
    """A call is read by the name its tool was offered under."""
    for tool in tool_definitions(prefix):
        arguments = {"content": "x", "file": "a", "query": "x"}
        fields = dict[str, Any](tool.parameters)["properties"]
        taken = {key: value for key, value in arguments.items() if key in fields}
        assert tool_name(parse_tool_call(tool.name, taken, prefix=prefix).tool, prefix) == tool.name


@pytest.mark.parametrize(
    ("name", "prefix"), [("write_memory", "org"), ("org_write_memory", ""), ("", ""), ("write", "")]
)
def test_unknown_tools(name: str, prefix: str) -> None:
    """A name that was not offered is refused with those that were."""
    with pytest.raises(MemoryRefusal, match=tool_name("write_memory", prefix)) as refusal:
        parse_tool_call(name, {"content": "x"}, prefix=prefix)
    assert refusal.value.code == "unknown_tool"


@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        (
            "write_memory",
            {"content": "tea"},
            {"file": "MEMORY.md", "content": "tea"},
        ),
        (
            "write_memory",
            {"content": "", "file": " notes ", "old_text": "tea"},
            {"file": "notes.md", "content": "", "old_text": "tea"},
        ),
        ("read_memory", {"file": "MEMORY"}, {"file": "MEMORY.md"}),
        ("delete_memory", {"file": "notes"}, {"file": "notes.md"}),
        ("search_memory", {"query": "Tea"}, {"query": "Tea"}),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_calls(
    name: str, arguments: dict[str, str], call: dict[str, str], *, as_text: bool
) -> None:
    """A call's values are put in their one form, and its arguments kept as they were given."""
    given = json.dumps(arguments) if as_text else arguments
    assert parse_tool_call(name, given) == ToolCall(tool=name, arguments=arguments, **call)


def test_null_is_not_supplied() -> None:
    """A field that is null is the same as one that is left out, in its fingerprint too."""
    bare = parse_tool_call("write_memory", {"content": "tea"})
    nulls = parse_tool_call("write_memory", {"content": "tea", "file": None, "old_text": None})
    assert nulls == bare
    assert fingerprint("write_memory", nulls.arguments) == fingerprint(
        "write_memory", {"content": "tea"}
    )


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("write_memory", {}, "invalid_arguments"),
        ("write_memory", {"content": None}, "invalid_arguments"),
        ("write_memory", {"content": 1}, "invalid_arguments"),
        ("write_memory", {"content": "x", "filename": "a"}, "invalid_arguments"),
        ("write_memory", {"content": "x", "namespace": "other"}, "invalid_arguments"),
        ("write_memory", {"content": " \n"}, "invalid_arguments"),
        ("write_memory", {"content": "x", "old_text": ""}, "invalid_arguments"),
        ("write_memory", {"content": "x\0"}, "invalid_text"),
        ("write_memory", {"content": "x", "old_text": "\ud800"}, "invalid_text"),
        ("write_memory", {"content": "x", "file": "../a"}, "invalid_name"),
        ("write_memory", {"content": "x", "file": ""}, "invalid_name"),
        ("write_memory", {"content": "x", "file": "memory.md"}, "invalid_name"),
        ("read_memory", {}, "invalid_arguments"),
        ("read_memory", {"file": "a/b"}, "invalid_name"),
        ("read_memory", {"file": "\ud800"}, "invalid_name"),
        ("delete_memory", {"file": "MEMORY"}, "protected"),
        ("search_memory", {"query": " "}, "invalid_query"),
        ("search_memory", {"query": "x" * 1_001}, "invalid_query"),
        ("search_memory", {"query": "\0"}, "invalid_text"),
        ("search_memory", {"query": "x", "limit": "5"}, "invalid_arguments"),
    ],
)
def test_refused_calls(name: str, arguments: dict[str, object], code: str) -> None:
    """A call that breaks a rule is refused with its reason, given as a mapping or as JSON."""
    for form in (arguments, json.dumps(arguments)):
        with pytest.raises(MemoryRefusal) as refusal:
            parse_tool_call(name, form)
        assert refusal.value.code == code


@pytest.mark.parametrize(
    "text", ["", "  ", "[]", "null", "1", "{", '"content"', "{'content': 'x'}", "[" * 100_000]
)
def test_text_that_is_no_object(text: str) -> None:
    """Arguments that are not one JSON object are refused."""
    with pytest.raises(MemoryRefusal) as refusal:
        parse_tool_call("write_memory", text)
    assert refusal.value.code == "invalid_arguments"


def test_huge_number() -> None:
    """A number too long to be read is a refused argument, not a failure."""
    with pytest.raises(MemoryRefusal) as refusal:
        parse_tool_call("write_memory", '{"content": ' + "1" * 5_000 + "}")
    assert refusal.value.code == "invalid_arguments"


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([*TOOLS, "other"]), st.one_of(ARGUMENTS, st.text(max_size=20)))
def test_every_call_is_read_or_refused(name: str, arguments: Mapping[str, object] | str) -> None:
    """No call of a model raises anything but a refusal."""
    try:
        call = parse_tool_call(name, arguments)
    except MemoryRefusal:
        return
    assert call.tool == name
    assert isinstance(arguments, Mapping)
    assert call.arguments == {key: value for key, value in arguments.items() if value is not None}


@pytest.mark.parametrize(
    ("name", "arguments", "edit"),
    [
        ("write_memory", {"content": "tea"}, Append(content="tea")),
        (
            "write_memory",
            {"content": "tea", "old_text": "milk"},
            Replace(old_text="milk", content="tea"),
        ),
        ("delete_memory", {"file": "a"}, Remove()),
    ],
)
def test_edits(name: str, arguments: dict[str, str], edit: object) -> None:
    """A call that changes a file says by which edit."""
    call = parse_tool_call(name, arguments)
    assert (call.changes, call.edit) == (True, edit)


@pytest.mark.parametrize(
    ("name", "arguments"), [("read_memory", {"file": "a"}), ("search_memory", {"query": "a"})]
)
def test_calls_that_only_look(name: str, arguments: dict[str, str]) -> None:
    """Reading and searching change nothing."""
    assert not parse_tool_call(name, arguments).changes
