"""Tools: what a model is offered, and the reading of what it calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .edits import Append, Edit, Remove, Replace, check_edit, check_removable
from .names import MAIN_FILENAME, normalize_filename
from .search import parse_query
from .text import check_text
from .toolkits import Parameter, Tool, ToolDefinition, Toolkit


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


_TOOLS = {
    "write_memory": Tool(
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
    "read_memory": Tool(
        description=(
            "Read a memory file from its start; a very long one is cut. Memory may be out of "
            "date: check what may have changed before you rely on it."
        ),
        required=("file",),
    ),
    "delete_memory": Tool(
        description=(
            f"Delete a memory file that is of no more use. {MAIN_FILENAME} cannot be deleted; "
            "remove or correct its text with {write_memory}."
        ),
        required=("file",),
    ),
    "search_memory": Tool(
        description=(
            "Search the names and texts of all memory files for words, taken literally. Gives "
            "short pieces of the best matches; {read_memory} gives the file."
        ),
        required=("query",),
    ),
}

_PARAMETERS = {
    "content": Parameter(description="Text to append, or to put in the place of `old_text`."),
    "file": Parameter(
        description='Name of the memory file, for example "project-notes.md".',
        default=MAIN_FILENAME,
    ),
    "old_text": Parameter(
        description="Passage to replace, copied exactly; it must occur once in the file."
    ),
    "query": Parameter(description="Words to look for, with spaces between them."),
}

_KIT = Toolkit(tools=_TOOLS, parameters=_PARAMETERS)


def with_tool_names(text: str, prefix: str) -> str:
    """Return `text` with the tools' names in braces, `{read_memory}`, as the model knows them."""
    return _KIT.named(text, prefix)


def tool_definitions(prefix: str = "") -> tuple[ToolDefinition, ...]:
    """Return the definitions of the four memory tools.

    Args:
        prefix: Sets the tools of several notebooks of one agent apart, see `check_tool_prefix`.

    Raises:
        InvalidMemoryRequest: The prefix is malformed.
    """
    return _KIT.definitions(prefix)


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
    tool, given = _KIT.parse(name, arguments, prefix)
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
