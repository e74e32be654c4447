"""The reference agent, with a model that plays what a test wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence

import runs
from temporalio.client import Client

from durable_memory.activities import ModelActivities
from durable_memory.notebook import (
    MAX_RECORD_BYTES,
    ModelRequest,
    ModelResponse,
    ModelToolCall,
    Scope,
    encoded_size,
)
from durable_memory.stores import InMemoryStore
from durable_memory.workflows import AgentRequest, AgentResult, AgentWorkflow

SCOPE = Scope(namespace="someone")


def calling(*calls: tuple[str, dict[str, str]]) -> ModelResponse:
    """A response that asks for tool calls."""
    return ModelResponse(
        tool_calls=tuple(
            ModelToolCall(id=runs.unique("call"), name=name, arguments=json.dumps(arguments))
            for name, arguments in calls
        )
    )


class PlayingModel:
    """Answers with one response after another, and keeps what it was asked."""

    def __init__(self, responses: Sequence[ModelResponse]) -> None:
        self._responses = list(responses)
        self.asked: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Give the next response; the last one again and again."""
        self.asked.append(request)
        return self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]


async def play(
    client: Client,
    store: InMemoryStore,
    model: PlayingModel,
    request: AgentRequest,
) -> AgentResult:
    """Run the agent with that model."""
    async with runs.worker(
        client,
        queue := runs.unique("agent"),
        store=store,
        activities=[ModelActivities(model).complete],
        workflows=[AgentWorkflow],
    ):
        return await client.execute_workflow(
            AgentWorkflow.run, request, id=runs.unique("agent"), task_queue=queue
        )


async def test_memory_stands_in_the_request_and_nowhere_else(temporal_client: Client) -> None:
    """Each request has the latest memory block and the tools; no message keeps a block."""
    model = PlayingModel(
        [calling(("write_memory", {"content": "likes tea"})), ModelResponse(content="Noted.")]
    )
    request = AgentRequest(prompts=["I like tea", "And?"], namespace="someone", instructions="Hi")
    result = await play(temporal_client, InMemoryStore(), model, request)
    assert result == AgentResult(answered=2, last_reply="Noted.")
    assert [("likes tea" in each.memory[0]) for each in model.asked] == [False, True, True]
    assert all(each.instructions.startswith("Hi\n\n") for each in model.asked)
    assert {tool.name for tool in model.asked[0].tools} >= {"write_memory", "read_memory"}
    said = [message.content for each in model.asked for message in each.messages]
    assert not any("<memory>" in content for content in said)


async def test_tool_calls_of_one_response_are_answered_in_order(temporal_client: Client) -> None:
    """All calls of a response are carried out, mistakes and unknown tools among them."""
    store = InMemoryStore()
    model = PlayingModel(
        [
            calling(
                ("write_memory", {"content": "one"}),
                ("forget", {}),
                ("write_memory", {"content": "two"}),
                ("read_memory", {"file": "MEMORY.md"}),
            ),
            ModelResponse(content="Done."),
        ]
    )
    await play(temporal_client, store, model, AgentRequest(prompts=["go"], namespace="someone"))
    answers = [message for message in model.asked[-1].messages if message.role == "tool"]
    asked = [call.id for message in model.asked[-1].messages for call in message.tool_calls]
    assert [message.tool_call_id for message in answers] == asked
    assert answers[3].content == "one\ntwo\n"


async def test_long_answers_do_not_stop_the_agent(temporal_client: Client) -> None:
    """Six long files read at once, two megabytes as JSON, are cut to what a record may hold."""
    store = InMemoryStore()
    for number in range(6):
        path = SCOPE.path(f"{number}.md")
        await store.write(path, "가" * 65_000, expected_version=None)
    reads = [("read_memory", {"file": str(number)}) for number in range(6)]
    model = PlayingModel([calling(*reads), ModelResponse(content="Done.")])
    result = await play(
        temporal_client, store, model, AgentRequest(prompts=["go"], namespace="someone")
    )
    assert result.last_reply == "Done."
    assert encoded_size(model.asked[-1].wire()) <= MAX_RECORD_BYTES


async def test_rounds_are_bounded(temporal_client: Client) -> None:
    """A model that never stops calling tools is asked `max_rounds` times for a prompt."""
    again = calling(("search_memory", {"query": "x"}))
    model = PlayingModel([again])
    request = AgentRequest(prompts=["go"], namespace="someone", max_rounds=3)
    result = await play(temporal_client, InMemoryStore(), model, request)
    assert result.answered == 1
    assert len(model.asked) == 3


async def test_conversation_goes_on_in_the_next_run(temporal_client: Client) -> None:
    """Continue-as-new keeps the conversation, and every prompt is answered once."""
    model = PlayingModel([ModelResponse(content="Yes.")])
    request = AgentRequest(
        prompts=[f"prompt {i}" for i in range(5)], namespace="someone", prompts_per_run=2
    )
    result = await play(temporal_client, InMemoryStore(), model, request)
    assert result.answered == 5
    prompts = [each.content for each in model.asked[-1].messages if each.role == "user"]
    assert prompts == list(request.prompts)
