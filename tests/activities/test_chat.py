"""The chat client against a local server that speaks the protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from durable_memory.activities import OpenAIChatModel
from durable_memory.notebook import (
    Message,
    ModelRequest,
    ModelToolCall,
    ToolRecord,
    tool_definitions,
)

CALL = {"id": "call_1", "type": "function", "function": {"name": "t", "arguments": '{"a": 1}'}}


class ChatServer(ThreadingHTTPServer):
    """Answers every request with `status` and `body`, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.body: Any = {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []

    @property
    def url(self) -> str:
        """The base URL of the endpoint."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, self.headers.get("authorization"), body))
        answer = self.server.body
        encoded = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A local endpoint."""
    with ChatServer() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def conversation() -> ModelRequest:
    """A request with everything in it."""
    call = ModelToolCall(id="call_0", name="write_memory", arguments='{"content": "tea"}')
    return ModelRequest(
        instructions="Be kind.",
        messages=(
            Message(role="user", content="I like tea"),
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", content="written", tool_call_id="call_0"),
            Message(role="assistant", content="Noted."),
            Message(role="user", content="What do I like?"),
        ),
        memory=("<memory>\ntea\n</memory>",),
        tools=tuple(map(ToolRecord.of, tool_definitions())),
    )


async def test_request_is_what_the_protocol_asks_for(server: ChatServer) -> None:
    """Instructions are the system's; the memory block stands before the latest user message."""
    async with OpenAIChatModel(server.url, "m", api_key="k") as model:
        response = await model.complete(conversation())
    assert response.content == "hi"
    ((path, authorization, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert authorization == "Bearer k"
    assert body["model"] == "m"
    assert [each["role"] for each in body["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "user", "user",
    ]  # fmt: skip
    assert body["messages"][5]["content"].startswith("<memory>")
    assert body["messages"][6]["content"] == "What do I like?"
    assert body["messages"][2]["tool_calls"][0]["function"]["name"] == "write_memory"
    assert body["messages"][3]["tool_call_id"] == "call_0"
    assert {tool["function"]["name"] for tool in body["tools"]} >= {"write_memory"}


async def test_tool_calls_are_read(server: ChatServer) -> None:
    """Tool calls come out with their id and their arguments as text; content may be null."""
    server.body = {"choices": [{"message": {"content": None, "tool_calls": [CALL]}}], "usage": {}}
    async with OpenAIChatModel(server.url, "m") as model:
        response = await model.complete(conversation())
    assert response.tool_calls == (ModelToolCall(id="call_1", name="t", arguments='{"a": 1}'),)
    assert response.content == ""
    assert server.asked[0][1] is None


@pytest.mark.parametrize(
    ("status", "type_", "final"),
    [
        (400, "ModelRefused", True),
        (401, "ModelRefused", True),
        (404, "ModelRefused", True),
        (429, "ModelUnavailable", False),
        (500, "ModelUnavailable", False),
        (503, "ModelUnavailable", False),
    ],
)
async def test_statuses_have_a_verdict(
    server: ChatServer, status: int, type_: str, final: bool
) -> None:
    """What may pass is retried, the rest is not, and nothing of the answer is repeated."""
    server.status, server.body = status, {"error": {"message": "you said: secret"}}
    async with OpenAIChatModel(server.url, "m") as model:
        with pytest.raises(ApplicationError) as error:
            await model.complete(conversation())
    assert error.value.type == type_
    assert error.value.non_retryable == final
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("body", [b"<html>", b"", {"choices": []}, {"secret": 1}, []], ids=str)
async def test_malformed_answers(server: ChatServer, body: object) -> None:
    """An answer that is not a chat completion is `ModelMalformed`."""
    server.body = body
    async with OpenAIChatModel(server.url, "m") as model:
        with pytest.raises(ApplicationError) as error:
            await model.complete(conversation())
    assert error.value.type == "ModelMalformed"
    assert "secret" not in str(error.value)


async def test_endpoint_that_is_down() -> None:
    """A connection failure is retried."""
    async with OpenAIChatModel("http://127.0.0.1:1/v1", "m") as model:
        with pytest.raises(ApplicationError) as error:
            await model.complete(conversation())
    assert error.value.type == "ModelUnavailable"
    assert not error.value.non_retryable
