"""The reference agent: snapshot, model, tool calls, until done.

A run answers a list of prompts in order. It is small enough to copy into an agent of your own:
what matters is that the snapshot stands in one request only, that all tool calls go through the
handle, and that the state carried through continue-as-new is one record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        COMPLETE,
        MAX_RECORD_BYTES,
        Message,
        ModelRequest,
        ModelResponse,
        ModelToolCall,
        ToolRecord,
        bounded_conversation,
    )

from .errors import received
from .handle import Notebook
from .memory import Memory
from .options import Timeouts

AGENT = "durable_memory.Agent"

_MODEL_TIMEOUT = timedelta(minutes=2)

_CONVERSATION_BYTES = MAX_RECORD_BYTES * 3 // 4
"""The rest of a model request's record is for instructions, tools and the memory."""


@dataclass(frozen=True, kw_only=True)
class AgentState:
    """What the agent carries through continue-as-new.

    Attributes:
        answered: Prompts answered so far.
        messages: The latest messages of the conversation, as plain JSON; no memory blocks.
        last_reply: The latest reply.
    """

    answered: int = 0
    messages: Sequence[dict[str, Any]] = ()
    last_reply: str = ""


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """The agent's input.

    Attributes:
        prompts: What the user says, answered in order.
        namespace: Whose memory; resolved by trusted code.
        agent_name: Segment inside the namespace.
        instructions: Trusted instructions beside the memory's guidance.
        memory_task_queue: Queue of a separate memory fleet; `None` for the agent's own worker.
        max_rounds: Model requests for one prompt at most; the prompt then counts as answered, with
            what the model said last.
        prompts_per_run: Prompts after which the agent continues as new.
        messages_kept: Messages of the conversation that a model request holds at most.
        attempt_timeout_seconds: One attempt of a memory activity.
        mutation_timeout_seconds: A write with its retries.
        state: Carried by continue-as-new; leave it out.
    """

    prompts: Sequence[str]
    namespace: str = ""
    agent_name: str = "main"
    instructions: str = ""
    memory_task_queue: str | None = None
    max_rounds: int = 8
    prompts_per_run: int = 50
    messages_kept: int = 40
    attempt_timeout_seconds: float = 10.0
    mutation_timeout_seconds: float = 60.0
    state: AgentState = field(default_factory=AgentState)

    def memory(self) -> Memory:
        """Return the memory's configuration."""
        return Memory(
            namespace=self.namespace,
            agent_name=self.agent_name,
            task_queue=self.memory_task_queue,
            timeouts=Timeouts(
                attempt=timedelta(seconds=self.attempt_timeout_seconds),
                mutation=timedelta(seconds=self.mutation_timeout_seconds),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """The agent's output: how many prompts it answered, and its last reply."""

    answered: int
    last_reply: str


@workflow.defn(name=AGENT)
class AgentWorkflow:
    """An agent with a notebook."""

    @workflow.init
    def __init__(self, request: AgentRequest) -> None:
        self._request = request
        self._notebook: Notebook = request.memory().open()
        self._messages = tuple(received(Message, raw) for raw in request.state.messages)
        self._last_reply = request.state.last_reply

    @workflow.run
    async def run(self, request: AgentRequest) -> AgentResult:
        """Answer the prompts; continue as new when history has grown enough."""
        answered = request.state.answered
        for here, prompt in enumerate(request.prompts[answered:], start=1):
            await self._answer(prompt)
            answered += 1
            if answered < len(request.prompts) and self._is_long(here):
                self._continue(answered)
        return AgentResult(answered=answered, last_reply=self._last_reply)

    def _is_long(self, prompts_here: int) -> bool:
        suggested = workflow.info().is_continue_as_new_suggested()
        return suggested or prompts_here >= self._request.prompts_per_run

    def _continue(self, answered: int) -> None:
        state = AgentState(
            answered=answered,
            messages=[message.wire() for message in self._messages],
            last_reply=self._last_reply,
        )
        workflow.continue_as_new(replace(self._request, state=state))

    async def _answer(self, prompt: str) -> None:
        self._say(Message(role="user", content=prompt))
        for _ in range(self._request.max_rounds):
            response = await self._ask()
            self._say(
                Message(role="assistant", content=response.content, tool_calls=response.tool_calls)
            )
            self._last_reply = response.content
            if not response.tool_calls:
                return
            # Awaited together: the handle keeps the order of the calls.
            for answer in await asyncio.gather(*map(self._call, response.tool_calls)):
                self._say(answer)

    async def _ask(self) -> ModelResponse:
        snapshot = await self._notebook.load_snapshot()
        request = ModelRequest(
            instructions="\n\n".join(
                text for text in (self._request.instructions, self._notebook.instructions) if text
            ),
            messages=self._messages,
            memory=(snapshot.text,) if snapshot.text else (),
            tools=tuple(ToolRecord.of(tool) for tool in self._notebook.tools),
        )
        raw = await workflow.execute_activity(
            COMPLETE, request.wire(), start_to_close_timeout=_MODEL_TIMEOUT
        )
        return received(ModelResponse, raw)

    async def _call(self, call: ModelToolCall) -> Message:
        result = await self._notebook.call(call.name, call.arguments, tool_call_id=call.id)
        return Message(role="tool", content=result.text, tool_call_id=call.id)

    def _say(self, message: Message) -> None:
        """Keep the message, and of older ones as many as a record may hold."""
        self._messages = bounded_conversation(
            (*self._messages, message),
            max_messages=self._request.messages_kept,
            max_bytes=_CONVERSATION_BYTES,
        )
