"""Several memories on one agent: one set of tools, one list of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import InvalidMemoryRequest, MemoryRefusal, ToolDefinition

from .errors import failing_the_workflow
from .handle import Notebook
from .memory import Memory
from .results import Snapshot, ToolResult


class Notebooks:
    """The handles of several memories, used as one.

    Give each memory an `id`, a `heading`, and all but one a `prefix`.
    """

    def __init__(self, notebooks: Sequence[Notebook]) -> None:
        self._notebooks = tuple(notebooks)
        self._by_tool = {
            tool.name: notebook for notebook in self._notebooks for tool in notebook.tools
        }

    @property
    def instructions(self) -> str:
        """The guidance of all, for the model's instructions."""
        texts = (notebook.instructions for notebook in self._notebooks)
        return "\n\n".join(text for text in texts if text)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools of all."""
        return tuple(tool for notebook in self._notebooks for tool in notebook.tools)

    async def load_snapshots(self) -> list[Snapshot]:
        """Begin a model request: load all; of two on one scope the later replaces the earlier."""
        blocks: dict[str, Snapshot] = {}
        for notebook in self._notebooks:
            snapshot = await notebook.load_snapshot()
            blocks.pop(notebook.scope.key, None)
            blocks[notebook.scope.key] = snapshot
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
        notebook = self._by_tool.get(name)
        if notebook is None:
            return ToolResult.of_refusal(_unknown(name))
        return await notebook.call(name, arguments, tool_call_id=tool_call_id, request=request)


def open_memories(*memories: Memory, context: Any = None) -> Notebooks:
    """Open several memories of one agent; only inside a workflow.

    Raises:
        ApplicationError: `InvalidMemoryRequest` when two have the same id or tool names, or as
            `Memory.open`.
    """
    with failing_the_workflow():
        _distinct("id", [memory.id for memory in memories])
        _distinct("prefix", [memory.prefix for memory in memories])
    return Notebooks([memory.open(context) for memory in memories])


def _distinct(field: str, values: Sequence[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise InvalidMemoryRequest(
            f"two memories of one agent have the {field} {twice[0]!r}; give each its own {field}"
        )


def _unknown(name: str) -> MemoryRefusal:
    return MemoryRefusal("unknown_tool", f"There is no tool named {name!r}.")
