"""The tools for entries: what a model is offered, and the reading of what it calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .entries import check_content, check_description, check_entry_path, check_entry_query
from .errors import MemoryRefusal
from .text import check_text
from .toolkits import Parameter, Tool, ToolDefinition, Toolkit

SAVE_TOOL = "save_memory"
FORGET_TOOL = "forget_memory"
LIST_TOOL = "list_memories"
SEARCH_TOOL = "search_memory"

_KIT = Toolkit(
    tools={
        SEARCH_TOOL: Tool(
            description=(
                "Search long-term memory for what answers a question, in natural language. Gives "
                "the best memories with their paths and contents; a long content is cut around "
                "what was found. Memory may be out of date: check what may have changed."
            ),
            required=("query",),
        ),
        SAVE_TOOL: Tool(
            description=(
                "Save a lasting memory at a path, in place of any memory that is there. To change "
                "or extend one, look for it with {search_memory} first and save its whole new "
                "text at the same path."
            ),
            required=("path", "content"),
            optional=("description",),
        ),
        LIST_TOOL: Tool(
            description=(
                "List the paths and descriptions of long-term memories, in order of their paths; "
                "{search_memory} finds those that a long list leaves out."
            ),
        ),
        FORGET_TOOL: Tool(
            description=(
                "Delete the memory at a path for good, such as when you are asked to forget it or "
                "when it is no longer true."
            ),
            required=("path",),
        ),
    },
    parameters={
        "content": Parameter(description="The memory's whole text."),
        "description": Parameter(
            description=(
                "A short text that says what the memory is about, for lists and search; left out, "
                "the one that is there stays."
            )
        ),
        "path": Parameter(
            description='Where the memory lies, for example "/preferences/style.md".'
        ),
        "query": Parameter(description="What to look for."),
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryCall:
    """A call of a tool for entries that keeps the rules.

    Attributes:
        tool: The tool's name, without a prefix.
        arguments: The arguments that were supplied, as the model gave them.
        path: Where the memory lies.
        content: Its whole new text.
        description: Its new description; `None` keeps what is there.
        query: What to look for.
    """

    tool: str
    arguments: Mapping[str, str]
    path: str = ""
    content: str = ""
    description: str | None = None
    query: str = ""

    @property
    def changes(self) -> bool:
        """Whether the tool changes anything."""
        return self.tool in (SAVE_TOOL, FORGET_TOOL)


def entry_tool_definitions(prefix: str = "") -> tuple[ToolDefinition, ...]:
    """Return the definitions of the four tools for entries.

    Args:
        prefix: Sets the tools of several memories of one agent apart, see `check_tool_prefix`. A
            notebook has a `search_memory` too: beside one, one of them needs a prefix.

    Raises:
        InvalidMemoryRequest: The prefix is malformed.
    """
    return _KIT.definitions(prefix)


def with_entry_tool_names(text: str, prefix: str) -> str:
    """Return `text` with the tools' names in braces, `{save_memory}`, as the model knows them."""
    return _KIT.named(text, prefix)


def parse_entry_call(
    name: str, arguments: Mapping[str, object] | str, *, prefix: str = ""
) -> EntryCall:
    """Return the call a model made, checked by every rule that needs no store.

    Args:
        name: The tool's name as the model gave it, with the prefix.
        arguments: The arguments, or their JSON text. `null` is the same as leaving one out.
        prefix: The prefix the tools were offered with.

    Raises:
        MemoryRefusal: `unknown_tool`, `invalid_arguments`, `invalid_name`, `invalid_text`,
            `invalid_query` or `oversize`.
    """
    tool, given = _KIT.parse(name, arguments, prefix)
    for field, value in given.items():
        check_text(value, field=field)
    call = EntryCall(
        tool=tool,
        arguments=given,
        path=given.get("path", ""),
        content=given.get("content", ""),
        description=given.get("description") or None,
        query=given.get("query", ""),
    )
    _check_call(call)
    return call


def _check_call(call: EntryCall) -> None:
    if call.tool == SEARCH_TOOL:
        check_entry_query(call.query)
    if call.changes:
        check_entry_path(call.path)
    if call.tool == SAVE_TOOL:
        check_content(call.content)
        check_description(call.description or "")
        if not call.content.strip():
            raise MemoryRefusal(
                "invalid_arguments",
                "There is no text to save. Pass the memory's text as `content`; a memory that is "
                "of no more use is forgotten, not emptied.",
            )
