"""Several memories on one agent: one set of tools, one list of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import InvalidMemoryRequest, MemoryRefusal, ToolDefinition

from .entries import Entries, EntryMemory
from .errors import failing_the_workflow
from .handle import Notebook
from .memory import Memory
from .results import Snapshot, ToolResult


class Notebooks:
    """The handles of several memories, used as one.

    Give each memory an `id`, a `heading`, and a `tool_prefix` wherever two have a tool of one name.
    """

    def __init__(self, handles: Sequence[Notebook | Entries]) -> None:
        self._handles = tuple(handles)
        self._by_tool = {tool.name: handle for handle in self._handles for tool in handle.tools}

    @property
    def instructions(self) -> str:
        """The guidance of all, for the model's instructions."""
        texts = (handle.instructions for handle in self._handles)
        return "\n\n".join(text for text in texts if text)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools of all."""
        return tuple(tool for handle in self._handles for tool in handle.tools)

    async def load_snapshots(self) -> list[Snapshot]:
        """Begin a model request: load all; of two on one scope the later replaces the earlier."""
        blocks: dict[str, Snapshot] = {}
        for handle in self._handles:
            snapshot = await handle.load_snapshot()
            blocks.pop(handle.key, None)
            blocks[handle.key] = snapshot
        return [snapshot for snapshot in blocks.values() if snapshot.text]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str,
        *,
        tool_call_id: str | None = None,
        request: str | None = None,
    ) -> ToolResult:
        """Carry out a tool call by the memory that has the tool; see `Notebook.call`."""
        handle = self._by_tool.get(name)
        if handle is None:
            return ToolResult.of_refusal(_unknown(name))
        return await handle.call(name, arguments, tool_call_id=tool_call_id, request=request)


def open_memories(*memories: Memory | EntryMemory, context: Any = None) -> Notebooks:
    """Open several memories of one agent, of either kind; only inside a workflow.

    Raises:
        ApplicationError: `InvalidMemoryRequest` when two have the same id, the same heading, or a
            tool of the same name; or as `Memory.open`.
    """
    with failing_the_workflow():
        _distinct("id", [memory.id for memory in memories], cure="an id of its own")
        # Of notebooks one may go without: their blocks stand beside each other.
        headed = [each for each in memories if each.heading or isinstance(each, Memory)]
        headings = [each.heading for each in headed]
        _distinct("heading", headings, cure="a heading of its own")
        tools = [tool.name for memory in memories for tool in memory.tools]
        _distinct("tool", tools, cure="a tool_prefix")
    return Notebooks([memory.open(context) for memory in memories])


def _distinct(what: str, values: Sequence[str], *, cure: str) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise InvalidMemoryRequest(
            f"two memories of one agent have the {what} {twice[0]!r}; give one of them {cure}"
        )


def _unknown(name: str) -> MemoryRefusal:
    return MemoryRefusal("unknown_tool", f"There is no tool named {name!r}.")
