"""Tools: what a model is offered, and the reading of what it calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .edits import Append, Edit, Remove, Replace, check_edit, check_removable
from .errors import InvalidMemoryRequest, MemoryRefusal
from .names import MAIN_FILENAME, normalize_filename
from .search import parse_query
from .text import check_text

_PREFIX = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]{0,40})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDefinition:
    """A tool as it is offered to a model of any provider.

    Attributes:
        name: Its name, with the prefix.
        description: What it does, for the model.
        parameters: JSON schema of its arguments, an object.
    """

    name: str
    description: str
    parameters: dict[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool call that keeps the rules.

    Attributes:
        tool: The tool's name, without a prefix.
        arguments: The arguments that were supplied, as the model gave them; what the fingerprint
            covers.
        file: Name of the file, in its one spelling; `MEMORY.md` where none was given.
        content: What to write.
        old_text: The passage to replace; `None` to append.
        query: What to look for.
    """

    tool: str
    arguments: Mapping[str, str]
    file: str = MAIN_FILENAME
    content: str = ""
    old_text: str | None = None
    query: str = ""

    @property
    def changes(self) -> bool:
        """Whether the tool changes anything."""
        return self.tool in ("write_memory", "delete_memory")

    @property
    def edit(self) -> Edit:
        """The edit that a call which changes something asks for."""
        if self.tool == "delete_memory":
            return Remove()
        if self.old_text is None:
            return Append(content=self.content)
        return Replace(old_text=self.old_text, content=self.content)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tool:
    description: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


# `{write_memory}` and the like stand for the names with the prefix.
_TOOLS = {
    "write_memory": _Tool(
        description=(
            "Write to persistent memory. Without `old_text`, `content` is appended to the file as "
            "new lines; the file is made if it is missing. With `old_text`, the one passage that "
            "is exactly that text is replaced with `content`; an empty `content` removes it. Keep "
            f"short lasting facts in {MAIN_FILENAME}, and longer topics in files of their own. "
            "Correct an entry that is out of date; do not add one that contradicts it."
        ),
        required=("content",),
        optional=("file", "old_text"),
    ),
    "read_memory": _Tool(
        description=(
            "Read a memory file from its start; a very long one is cut. Memory may be out of "
            "date: check what may have changed before you rely on it."
        ),
        required=("file",),
    ),
    "delete_memory": _Tool(
        description=(
            f"Delete a memory file that is of no more use. {MAIN_FILENAME} cannot be deleted; "
            "remove or correct its text with {write_memory}."
        ),
        required=("file",),
    ),
    "search_memory": _Tool(
        description=(
            "Search the names and texts of all memory files for words, taken literally. Gives "
            "short pieces of the best matches; {read_memory} gives the file."
        ),
        required=("query",),
    ),
}

_PARAMETERS = {
    "content": "Text to append, or to put in the place of `old_text`.",
    "file": 'Name of the memory file, for example "project-notes.md".',
    "old_text": "Passage to replace, copied exactly; it must occur once in the file.",
    "query": "Words to look for, with spaces between them.",
}


def check_tool_prefix(prefix: str) -> str:
    """Return `prefix` if tool names may start with it.

    It is empty, or a letter and at most 40 letters, digits, `_` and `-`.

    Raises:
        InvalidMemoryRequest: It may not.
    """
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InvalidMemoryRequest(
            "a tool prefix is empty, or a letter and at most 40 letters, digits, '_' and '-'"
        )
    return prefix


def tool_name(tool: str, prefix: str = "") -> str:
    """Return the name under which a tool is offered: `prefix_tool`, or `tool` without a prefix."""
    return f"{prefix}_{tool}" if prefix else tool


def with_tool_names(text: str, prefix: str) -> str:
    """Return `text` with the tools' names in braces, `{read_memory}`, as the model knows them."""
    for tool in _TOOLS:
        text = text.replace(f"{{{tool}}}", tool_name(tool, prefix))
    return text


def tool_definitions(prefix: str = "") -> tuple[ToolDefinition, ...]:
    """Return the definitions of the four memory tools.

    Args:
        prefix: Sets the tools of several notebooks of one agent apart, see `check_tool_prefix`.

    Raises:
        InvalidMemoryRequest: The prefix is malformed.
    """
    check_tool_prefix(prefix)
    return tuple(
        ToolDefinition(
            name=tool_name(name, prefix),
            description=with_tool_names(tool.description, prefix),
            parameters=_schema(tool),
        )
        for name, tool in _TOOLS.items()
    )


def parse_tool_call(
    name: str, arguments: Mapping[str, object] | str, *, prefix: str = ""
) -> ToolCall:
    """Return the call a model made, checked by every rule that needs no file.

    Args:
        name: The tool's name as the model gave it, with the prefix.
        arguments: The arguments, or their JSON text. `null` is the same as leaving one out.
        prefix: The prefix the tools were offered with.

    Raises:
        MemoryRefusal: `unknown_tool`, `invalid_arguments`, `invalid_name`, `invalid_text`,
            `invalid_query`, or `protected` for deleting `MEMORY.md`.
    """
    tool = _tool_called(name, prefix)
    given = _arguments(_decoded(arguments), name, _TOOLS[tool])
    for field, value in given.items():
        if field != "file":
            check_text(value, field=field)
    if "query" in given:
        parse_query(given["query"])
    call = ToolCall(
        tool=tool,
        arguments=given,
        file=normalize_filename(given.get("file", MAIN_FILENAME)),
        content=given.get("content", ""),
        old_text=given.get("old_text"),
        query=given.get("query", ""),
    )
    _check_call(call)
    return call


def _check_call(call: ToolCall) -> None:
    if not call.changes:
        return
    if isinstance(call.edit, Remove):
        check_removable(call.file)
    else:
        check_edit(call.edit)


def _schema(tool: _Tool) -> dict[str, object]:
    fields = (*tool.required, *tool.optional)
    properties: dict[str, object] = {
        field: {"type": "string", "description": _PARAMETERS[field]} for field in fields
    }
    if "file" in tool.optional:
        properties["file"] = {
            "type": "string",
            "description": f"{_PARAMETERS['file']} {MAIN_FILENAME} when left out.",
            "default": MAIN_FILENAME,
        }
    return {
        "type": "object",
        "properties": properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }


def _tool_called(name: str, prefix: str) -> str:
    for tool in _TOOLS:
        if name == tool_name(tool, prefix):
            return tool
    names = ", ".join(tool_name(tool, prefix) for tool in _TOOLS)
    raise MemoryRefusal("unknown_tool", f"There is no such memory tool. Use one of: {names}.")


def _decoded(arguments: Mapping[str, object] | str) -> Mapping[str, object]:
    decoded: object = arguments
    if isinstance(arguments, str):
        try:
            decoded = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            decoded = None
    if not isinstance(decoded, Mapping):
        raise MemoryRefusal("invalid_arguments", "The arguments must be one JSON object.")
    return decoded


def _arguments(decoded: Mapping[str, object], name: str, tool: _Tool) -> dict[str, str]:
    """Return the supplied arguments, if they are what the tool takes."""
    known = (*tool.required, *tool.optional)
    supplied = {key: value for key, value in decoded.items() if value is not None}
    fits = all(key in known and isinstance(value, str) for key, value in supplied.items())
    if not fits or any(key not in supplied for key in tool.required):
        optional = f", and if needed {_listed(tool.optional)}" if tool.optional else ""
        raise MemoryRefusal(
            "invalid_arguments",
            f"`{name}` takes {_listed(tool.required)}{optional}, each a text, and nothing else.",
        )
    return {key: str(value) for key, value in supplied.items()}


def _listed(fields: tuple[str, ...]) -> str:
    return " and ".join(f"`{field}`" for field in fields)
