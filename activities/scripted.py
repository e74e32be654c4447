"""A model that follows a rule: for tests and the demo, where no real one can be had."""

from __future__ import annotations

import json
import uuid

from ..notebook import Message, ModelRequest, ModelResponse, ModelToolCall


class ScriptedModel:
    """Writes down what the user says, in the user's own words, and says so.

    Its tool calls get new random ids each time it is asked, as real providers give them. An id is
    therefore nothing that a retry or a reset could be recognised by.
    """

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer a user's message with a `write_memory` call, and its result with a sentence."""
        latest = request.messages[-1]
        if latest.role == "user":
            return ModelResponse(tool_calls=(_note(latest),))
        return ModelResponse(content="Noted.")


def _note(message: Message) -> ModelToolCall:
    return ModelToolCall(
        id=f"call_{uuid.uuid4().hex}",
        name="write_memory",
        arguments=json.dumps({"content": message.content}),
    )
