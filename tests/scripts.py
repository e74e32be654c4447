"""A workflow that does what its input says, so that tests read as scripts.

A step is one of:

* `{"do": "snapshot"}`
* `{"do": "call", "name": ..., "arguments": {...}, "id": ..., "request": ...}`
* `{"do": "together", "calls": [call, ...]}`: awaited together
* `{"do": "cancelled", "call": call}`: the call's task is cancelled by the signal `cancel`
* `{"do": "wait", "for": name}`: until the signal `go` with that name

It returns what each step returned.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory.notebook import COMPLETE, Message, ModelRequest, ModelResponse
from durable_memory.workflows import (
    Entries,
    EntryMemory,
    Memory,
    Notebook,
    NotebookState,
    Timeouts,
    ToolResult,
    open_memories,
)


def call(
    name: str,
    /,
    *,
    call_id: str | None = None,
    request: str | None = None,
    **arguments: str,
) -> dict[str, Any]:
    """A step that calls one tool."""
    return {"do": "call", "name": name, "arguments": arguments, "id": call_id, "request": request}


def write(content: str, /, **others: str) -> dict[str, Any]:
    """A step that writes."""
    return call("write_memory", content=content, **others)


def save(path: str, content: str, /, **others: str) -> dict[str, Any]:
    """A step that saves an entry."""
    return call("save_memory", path=path, content=content, **others)


def memory_of(options: dict[str, Any]) -> Memory | EntryMemory:
    """A memory from plain JSON, of entries when it has a store; `seconds` are time-outs."""
    options = dict(options)
    seconds = options.pop("seconds", {})
    timeouts = {name: timedelta(seconds=value) for name, value in seconds.items()}
    kind = EntryMemory if "store" in options else Memory
    return kind(timeouts=Timeouts(**timeouts), **options)


@workflow.defn
class ScriptWorkflow:
    """Runs a script against one memory."""

    def __init__(self) -> None:
        self._heard: set[str] = set()
        self._results: list[Any] = []

    @workflow.run
    async def run(self, memory: dict[str, Any], steps: list[dict[str, Any]]) -> list[Any]:
        """Do the steps and return what each returned."""
        notebook = memory_of(memory).open()
        for step in steps:
            self._results.append(await self._do(notebook, step))
        return self._results

    @workflow.signal
    def go(self, name: str) -> None:
        """Let a step that waits for this name go on."""
        self._heard.add(name)

    @workflow.query
    def results(self) -> list[Any]:
        """What the steps so far returned."""
        return self._results

    async def _do(self, notebook: Notebook | Entries, step: dict[str, Any]) -> Any:
        match step["do"]:
            case "snapshot":
                return asdict(await notebook.load_snapshot())
            case "together":
                calls = [self._call(notebook, each) for each in step["calls"]]
                return [asdict(result) for result in await asyncio.gather(*calls)]
            case "cancelled":
                return await self._cancelled(notebook, step["call"])
            case "wait":
                await workflow.wait_condition(lambda: step["for"] in self._heard)
                return None
            case _:
                return asdict(await self._call(notebook, step))

    async def _cancelled(self, notebook: Notebook | Entries, step: dict[str, Any]) -> str:
        task = asyncio.ensure_future(self._call(notebook, step))
        await workflow.wait_condition(lambda: "cancel" in self._heard)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"
        return "not cancelled"

    async def _call(self, notebook: Notebook | Entries, step: dict[str, Any]) -> ToolResult:
        return await notebook.call(
            step["name"], step["arguments"], tool_call_id=step["id"], request=step["request"]
        )


@workflow.defn
class CarryingWorkflow:
    """Writes the same note once in each of two runs, carrying the handle's counters."""

    @workflow.run
    async def run(self, note: str, state: NotebookState | None) -> str:
        """Write the note; in the first run, continue as new with the counters."""
        notebook = Memory(namespace="carry", operation_scope="one-conversation").open(state=state)
        result = await notebook.call("write_memory", {"content": note})
        if state is None:
            workflow.continue_as_new(args=[note, notebook.state])
        return result.text


@workflow.defn
class ByNameWorkflow:
    """Calls one activity by its name with plain JSON, as a program in another language does."""

    @workflow.run
    async def run(self, activity: str, record: Any, attempts: int) -> Any:
        """Run the activity and return its result."""
        return await workflow.execute_activity(
            activity,
            record,
            schedule_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(milliseconds=50), maximum_attempts=attempts
            ),
        )


@workflow.defn
class SeveralWorkflow:
    """Makes calls through several memories, then loads their snapshots."""

    @workflow.run
    async def run(self, memories: list[dict[str, Any]], calls: list[list[str]]) -> dict[str, Any]:
        """Return what an agent would see."""
        notebooks = open_memories(*map(memory_of, memories))
        results = [await notebooks.call(name, {"content": text}) for name, text in calls]
        blocks = [snapshot.text for snapshot in await notebooks.load_snapshots()]
        return {
            "errors": [result.is_error for result in results],
            "blocks": blocks,
            "tools": [tool.name for tool in notebooks.tools],
            "instructions": notebooks.instructions,
        }


@workflow.defn
class ResolvingWorkflow:
    """Resolves its namespace from its input."""

    @workflow.run
    async def run(self, user: dict[str, str]) -> str:
        """Write as that user, and return the scope's key."""
        notebook = Memory(namespace=lambda given: given["id"]).open(user)
        await notebook.call("write_memory", {"content": "hello"})
        return notebook.scope.key


@workflow.defn
class OversizeWorkflow:
    """Writes a text that it makes itself, since a script could not carry it."""

    @workflow.run
    async def run(self, character: str, count: int, writes: int) -> list[str]:
        """Write it to as many scopes at once, and return what became of each."""
        notebooks = [
            Memory(namespace=f"wide/{i}", max_memory_size=1_000_000).open() for i in range(writes)
        ]
        content = character * count
        results = await asyncio.gather(
            *(each.call("write_memory", {"content": content}) for each in notebooks)
        )
        return [str(result.data.get("code", result.data["status"])) for result in results]


@workflow.defn
class AskingWorkflow:
    """Asks the model once, without a snapshot, and makes the calls it asks for."""

    @workflow.run
    async def run(self, memory: dict[str, Any]) -> list[str]:
        """Return the status of each call."""
        notebook = memory_of(memory).open()
        request = ModelRequest(messages=(Message(role="user", content="go on"),))
        raw = await workflow.execute_activity(
            COMPLETE, request.wire(), start_to_close_timeout=timedelta(seconds=30)
        )
        results = [
            await notebook.call(each.name, each.arguments, tool_call_id=each.id)
            for each in ModelResponse.parse(raw).tool_calls
        ]
        return [str(result.data["status"]) for result in results]


@workflow.defn
class InsistingWorkflow:
    """Writes a note into a file that may be full: makes room when told so, and tries again."""

    @workflow.run
    async def run(self, note: str, filler: str) -> list[str]:
        """Return the status of each call."""
        notebook = Memory(namespace="insist", max_memory_size=100).open()
        calls = [{"content": note}, {"content": "", "old_text": filler}, {"content": note}]
        statuses = []
        for arguments in calls:
            result = await notebook.call("write_memory", arguments)
            statuses.append(str(result.data["status"]))
            if statuses[0] != "refused":
                break
        return statuses


@workflow.defn
class GivingUpWorkflow:
    """Gives up a write that waits behind another, then makes it after all."""

    def __init__(self) -> None:
        self._given_up = False

    @workflow.signal
    def give_up(self) -> None:
        """Cancel the waiting write."""
        self._given_up = True

    @workflow.run
    async def run(self) -> list[str]:
        """Return the status of each write that was made."""
        notebook = Memory(namespace="waiting").open()
        first = asyncio.ensure_future(notebook.call("write_memory", {"content": "first"}))
        second = asyncio.ensure_future(notebook.call("write_memory", {"content": "second"}))
        await workflow.wait_condition(lambda: self._given_up)
        second.cancel()
        results = [await first, await notebook.call("write_memory", {"content": "second"})]
        return [str(result.data["status"]) for result in results]
