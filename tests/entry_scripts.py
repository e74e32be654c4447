"""Workflows on entries that tests start."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow

from durable_memory.notebook import COMPLETE, Message, ModelRequest, ModelResponse, ToolRecord
from durable_memory.workflows import EntryMemory, NotebookState, open_memories
from scripts import memory_of


@workflow.defn
class AskingForEntriesWorkflow:
    """An agent that is told what to call: each prompt is one model response."""

    @workflow.run
    async def run(self, memory: dict[str, Any], prompts: list[str]) -> list[str]:
        """Return what the model was told by each call."""
        entries = EntryMemory(**memory).open()
        told: list[str] = []
        for prompt in prompts:
            await entries.load_snapshot()
            request = ModelRequest(
                instructions=entries.instructions,
                messages=(Message(role="user", content=prompt),),
                tools=tuple(ToolRecord.of(tool) for tool in entries.tools),
            )
            raw = await workflow.execute_activity(
                COMPLETE, request.wire(), start_to_close_timeout=timedelta(seconds=30)
            )
            calls = [
                entries.call(each.name, each.arguments, tool_call_id=each.id)
                for each in ModelResponse.parse(raw).tool_calls
            ]
            told += [result.text for result in await asyncio.gather(*calls)]
        return told


@workflow.defn
class VerifiedWorkflow:
    """Resolves whose memory it is from its input."""

    @workflow.run
    async def run(self, user: dict[str, Any]) -> str:
        """Save for that user, and return what the model is told."""
        memory = EntryMemory(
            store=lambda given: given["store"],
            actor=lambda given: given["id"],
            session=lambda given: given.get("session"),
        )
        entries = memory.open(user)
        result = await entries.call("save_memory", {"path": "/hello.md", "content": "hello"})
        return result.text


@workflow.defn
class MixedWorkflow:
    """Makes calls through memories of both kinds."""

    @workflow.run
    async def run(self, memories: list[dict[str, Any]], calls: list[list[Any]]) -> dict[str, Any]:
        """Return what an agent would see."""
        opened = open_memories(*map(memory_of, memories))
        results = [await opened.call(name, arguments) for name, arguments in calls]
        return {
            "texts": [result.text for result in results],
            "blocks": [snapshot.text for snapshot in await opened.load_snapshots()],
            "tools": [tool.name for tool in opened.tools],
            "instructions": opened.instructions,
        }


@workflow.defn
class CarryingEntriesWorkflow:
    """Saves the same memory once in each of two runs, carrying the handle's counters."""

    @workflow.run
    async def run(self, store: str, state: NotebookState | None) -> str:
        """Save; in the first run, continue as new with the counters."""
        memory = EntryMemory(store=store, actor="carry", operation_scope="one-conversation")
        entries = memory.open(state=state)
        result = await entries.call("save_memory", {"path": "/a", "content": "again"})
        if state is None:
            workflow.continue_as_new(args=[store, entries.state])
        return str(result.data["status"])


@workflow.defn
class SessionsWorkflow:
    """Saves through handles on two sessions of one actor at once, then forgets."""

    @workflow.run
    async def run(self, store: str, contents: list[str]) -> list[Any]:
        """Return each call's data."""
        opened = [
            EntryMemory(store=store, actor="ann", session=session).open()
            for session in ("monday", "tuesday")
        ]
        saves = [
            entries.call("save_memory", {"path": "/plan", "content": content})
            for content in contents
            for entries in opened
        ]
        forget = opened[0].call("forget_memory", {"path": "/plan"})
        return [result.data for result in await asyncio.gather(*saves, forget)]
