"""What a worker for workflows on entries runs, and what it kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

import runs
from entry_scripts import (
    AskingForEntriesWorkflow,
    CarryingEntriesWorkflow,
    MixedWorkflow,
    SessionsWorkflow,
    VerifiedWorkflow,
)

from durable_memory.notebook import ModelRequest, ModelResponse, ModelToolCall
from durable_memory.stores import Entry, EntryStore
from scripts import ScriptWorkflow

WORKFLOWS = [
    AskingForEntriesWorkflow,
    CarryingEntriesWorkflow,
    MixedWorkflow,
    ScriptWorkflow,
    SessionsWorkflow,
    VerifiedWorkflow,
]


class ToldModel:
    """Calls what the prompt says, each time under new ids."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the calls that stand in the prompt as JSON."""
        asked = json.loads(request.messages[-1].content)
        return ModelResponse(
            tool_calls=tuple(
                ModelToolCall(id=runs.unique("call"), name=name, arguments=json.dumps(arguments))
                for name, arguments in asked
            )
        )


async def kept(entries: EntryStore, store: str, actor: str) -> Sequence[Entry]:
    """All entries of an actor."""
    return (await entries.list_entries(store, actor, limit=100)).entries
