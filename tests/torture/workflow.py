"""The workflow that is tortured: it asks, writes, and remembers what it was told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import workflow

from durable_memory.notebook import COMPLETE
from durable_memory.workflows import Memory, Notebook, Timeouts, ToolResult

UNDECIDED = "not known whether"
"""In the text of a result that says that it does not know."""

OUTCOMES = ("written", "not written", "undecided", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a workflow is to do, as plain JSON; see `plan.Plan`."""

    namespace: str
    turns: list[dict[str, Any]]
    reworded: bool
    attempt_seconds: float
    mutation_seconds: float

    def memory(self) -> Memory:
        """Return the memory's configuration."""
        return Memory(
            namespace=self.namespace,
            timeouts=Timeouts(
                attempt=timedelta(seconds=self.attempt_seconds),
                mutation=timedelta(seconds=self.mutation_seconds),
                settle=timedelta(seconds=self.mutation_seconds * 0.6),
                local_snapshot=timedelta(seconds=1),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the workflow was told of one note.

    Attributes:
        text: The note.
        outcome: One of `OUTCOMES`.
        replayed: Whether a receipt answered.
    """

    text: str
    outcome: str
    replayed: bool = False


@workflow.defn
class TorturedWorkflow:
    """Does what its order says."""

    @workflow.run
    async def run(self, order: Order) -> list[Told]:
        """Return what this run was told, in the order of its calls."""
        notebook = order.memory().open()
        told: list[Told] = []
        for turn in order.turns:
            await notebook.load_snapshot()
            calls = await workflow.execute_activity(
                COMPLETE,
                {"notes": turn["notes"], "reworded": order.reworded},
                start_to_close_timeout=timedelta(seconds=3),
            )
            tasks = [asyncio.ensure_future(_call(notebook, call)) for call in calls]
            if turn["cancel_ms"] is not None:
                await asyncio.sleep(turn["cancel_ms"] / 1000)
                for task in tasks:
                    task.cancel()
            told += [await _told(call, task) for call, task in zip(calls, tasks, strict=True)]
        return told


async def _call(notebook: Notebook, call: dict[str, str]) -> ToolResult:
    return await notebook.call(
        "write_memory", {"content": call["content"]}, tool_call_id=call["id"]
    )


async def _told(call: dict[str, str], task: asyncio.Task[ToolResult]) -> Told:
    try:
        result = await task
    except asyncio.CancelledError:
        return Told(text=call["content"], outcome="cancelled")
    outcome = "written"
    if result.is_error:
        outcome = "undecided" if UNDECIDED in result.text else "not written"
    return Told(text=call["content"], outcome=outcome, replayed=bool(result.data.get("replayed")))
