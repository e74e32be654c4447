"""Wire records between an agent and the model it asks, neutral of any provider."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .records import Record
from .toolkits import ToolDefinition

COMPLETE = "agent.complete"
"""The activity that asks the model."""

MODEL_UNAVAILABLE = "ModelUnavailable"
"""Type of the error when the endpoint does not answer, or not now; retried."""

MODEL_REFUSED = "ModelRefused"
"""Type of the error when the endpoint refuses the request; not retried."""

MODEL_MALFORMED = "ModelMalformed"
"""Type of the error when the endpoint's answer is none; retried, since the next may be one."""


class ModelToolCall(Record):
    """A tool call the model asks for.

    Attributes:
        id: The provider's id; new each time the model is asked, so never an identity.
        name: The tool.
        arguments: JSON text, as the provider sent it.
    """

    id: str
    name: str
    arguments: str


class Message(Record):
    """One message of a conversation.

    Attributes:
        role: Who speaks; `tool` answers the call `tool_call_id`.
        content: The text.
        tool_calls: What an assistant's message asks for.
        tool_call_id: Which call a tool's message answers.
    """

    role: Literal["user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_call_id: str | None = None


class ToolRecord(Record):
    """A tool the model may call, with the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]

    @classmethod
    def of(cls, tool: ToolDefinition) -> ToolRecord:
        """Return the record of a tool definition."""
        return cls(name=tool.name, description=tool.description, parameters=dict(tool.parameters))


class ModelRequest(Record):
    """In of `agent.complete`.

    Attributes:
        instructions: Trusted text for the system role.
        messages: The conversation, oldest first.
        memory: Snapshot blocks for this request only; untrusted, for the user role.
        tools: What the model may call.
    """

    instructions: str = ""
    messages: tuple[Message, ...] = Field(min_length=1)
    memory: tuple[str, ...] = ()
    tools: tuple[ToolRecord, ...] = ()


class ModelResponse(Record):
    """Out of `agent.complete`: text, tool calls, or both."""

    content: str = ""
    tool_calls: tuple[ModelToolCall, ...] = ()
