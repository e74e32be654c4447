"""Options that all memories of an agent have: time-outs, and values resolved from the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from ..notebook import InvalidMemoryRequest

from .errors import failing_the_workflow

Resolver = Callable[[Any], str]
"""Returns a name from the workflow's input: deterministic, without I/O."""

ValueT = TypeVar("ValueT", str, "str | None")

MAX_LOCAL = timedelta(seconds=3)
"""A local activity must end well within one workflow task's time-out (10 s by default)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """How long the parts of a memory call may take.

    Attributes:
        attempt: One attempt of an activity, from start to close.
        mutation: A write or delete with its retries; also the deadline the store holds it to.
        settle: Finding out what became of a mutation.
        lookup: A read or search with its retries.
        snapshot: A snapshot with its retries, as a normal activity.
        local_snapshot: A snapshot as a local activity, before it goes on as a normal one; at most
            3 seconds.

    Raises:
        InvalidMemoryRequest: A time-out is not positive, or `local_snapshot` is over 3 seconds.
    """

    attempt: timedelta = timedelta(seconds=10)
    mutation: timedelta = timedelta(seconds=60)
    settle: timedelta = timedelta(seconds=30)
    lookup: timedelta = timedelta(seconds=30)
    snapshot: timedelta = timedelta(seconds=10)
    local_snapshot: timedelta = MAX_LOCAL

    def __post_init__(self) -> None:
        with failing_the_workflow():
            for each in fields(self):
                if getattr(self, each.name) <= timedelta(0):
                    raise InvalidMemoryRequest(f"timeouts.{each.name} must be positive")
            if self.local_snapshot > MAX_LOCAL:
                raise InvalidMemoryRequest("timeouts.local_snapshot must be at most 3 seconds")


def check_names(*, id: str, task_queue: str | None, operation_scope: str | None) -> None:  # noqa: A002  (the field's name)
    """Raise `InvalidMemoryRequest` for names that are there and empty."""
    if not id:
        raise InvalidMemoryRequest("id must not be empty")
    for name, value in (("task_queue", task_queue), ("operation_scope", operation_scope)):
        if value == "":
            raise InvalidMemoryRequest(f"{name} must be None or not empty")


def resolve(name: str, value: ValueT | Callable[[Any], ValueT], context: Any) -> ValueT:
    """Return a field's value for this run.

    Args:
        name: The field, for the message.
        value: The value, or a function of the workflow's input.
        context: The workflow's input.

    Raises:
        ApplicationError: `InvalidMemoryRequest`, the function failed.
    """
    if not callable(value):
        return value
    try:
        return value(context)
    except Exception as error:  # noqa: BLE001  (any other error would leave the workflow hanging)
        raise ApplicationError(
            f"the resolver of {name} failed with {type(error).__name__}",
            type=InvalidMemoryRequest.__name__,
            non_retryable=True,
        ) from None
