"""A client of any OpenAI-compatible chat endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from temporalio.exceptions import ApplicationError

from ..notebook import (
    MODEL_MALFORMED,
    MODEL_REFUSED,
    MODEL_UNAVAILABLE,
    Message,
    ModelRequest,
    ModelResponse,
    ModelToolCall,
)

_RETRIED_STATUS = frozenset({408, 409, 425, 429})
_SERVER_ERROR = 500


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)


class _Function(_Lenient):
    name: str
    arguments: str = ""


class _Call(_Lenient):
    id: str
    function: _Function


class _Answer(_Lenient):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(_Lenient):
    message: _Answer


class _Completion(_Lenient):
    choices: list[_Choice]


class OpenAIChatModel:
    """Asks `POST {base_url}/chat/completions`.

    Args:
        base_url: For example `http://127.0.0.1:8000/v1`.
        model: The model's name.
        api_key: Sent as a bearer token when set.
        timeout: Seconds for one request.

    Errors, as `ApplicationError`: `ModelUnavailable` (retried) for connection failures, 408, 409,
    425, 429 and 5xx; `ModelRefused` (not retried) for other statuses; `ModelMalformed` (retried)
    for an answer that is not a chat completion. None carries a message of the endpoint, which may
    quote the conversation.
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, timeout: float = 110.0
    ) -> None:
        # Not at the top: a file that holds workflows and imports the plugin is loaded again in the
        # workflow sandbox, where importing httpx fails.
        import httpx  # noqa: PLC0415

        self._model = model
        self._errors = httpx.HTTPError
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=timeout,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Ask the endpoint; errors as the class says."""
        body = {"model": self._model, "messages": chat_messages(request), **_tools(request)}
        try:
            response = await self._client.post("chat/completions", json=body)
        except self._errors as error:
            raise ApplicationError(
                f"the model endpoint did not answer ({type(error).__name__})",
                type=MODEL_UNAVAILABLE,
            ) from None
        _check_status(response.status_code)
        return _parse(response.content)


def chat_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the request as chat messages.

    The memory blocks stand in the user role, just before the latest user message: they are
    untrusted text, and belong to this request only.
    """
    messages = [_chat_message(message) for message in request.messages]
    latest = max(
        (i for i, message in enumerate(request.messages) if message.role == "user"), default=0
    )
    messages[latest:latest] = [{"role": "user", "content": block} for block in request.memory]
    if request.instructions:
        messages.insert(0, {"role": "system", "content": request.instructions})
    return messages


def _chat_message(message: Message) -> dict[str, Any]:
    chat: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        chat["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        chat["tool_call_id"] = message.tool_call_id
    return chat


def _tools(request: ModelRequest) -> dict[str, Sequence[Any]]:
    if not request.tools:
        return {}
    return {"tools": [{"type": "function", "function": tool.wire()} for tool in request.tools]}


def _check_status(status: int) -> None:
    if status < 400:  # noqa: PLR2004  (HTTP's first error status)
        return
    retried = status in _RETRIED_STATUS or status >= _SERVER_ERROR
    raise ApplicationError(
        f"the model endpoint answered {status}",
        type=MODEL_UNAVAILABLE if retried else MODEL_REFUSED,
        non_retryable=not retried,
    )


def _parse(body: bytes) -> ModelResponse:
    try:
        answer = _Completion.model_validate_json(body).choices[0].message
    except (ValidationError, IndexError):
        raise ApplicationError(
            "the model endpoint's answer is not a chat completion", type=MODEL_MALFORMED
        ) from None
    return ModelResponse(
        content=answer.content or "",
        tool_calls=tuple(
            ModelToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
            for call in answer.tool_calls or ()
        ),
    )
