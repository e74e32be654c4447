"""Asking a model: an activity behind a protocol."""

from __future__ import annotations

from typing import Any, Protocol

from temporalio import activity

from ..notebook import COMPLETE, ModelRequest, ModelResponse
from .faults import as_application_error


class ChatModel(Protocol):
    """A language model that can call tools."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer the request; raise `ApplicationError` with a verdict where it cannot."""
        ...


class ModelActivities:
    """The activity that asks a model.

    Args:
        model: The model of this worker.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @activity.defn(name=COMPLETE)
    async def complete(self, request: Any) -> dict[str, Any]:
        """`ModelRequest` in, `ModelResponse` out."""
        with as_application_error():
            response = await self._model.complete(ModelRequest.parse(request))
            return response.wire()
