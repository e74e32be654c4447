"""Errors inside workflow code.

Any exception but Temporal's own fails the workflow task, which is retried for ever: the workflow
hangs. So what the handle raises in workflow code is an `ApplicationError`, which fails it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from ..notebook import MemoryFault, Record

RecordT = TypeVar("RecordT", bound=Record)


def application_error(fault: MemoryFault) -> ApplicationError:
    """Return the error as Temporal's, by its stable type; never retried."""
    return ApplicationError(str(fault), type=fault.type, non_retryable=True)


@contextmanager
def failing_the_workflow() -> Iterator[None]:
    """Turn errors of the rules into `ApplicationError`s, where a workflow is running."""
    try:
        yield
    except MemoryFault as fault:
        if not workflow.in_workflow():
            raise
        raise application_error(fault) from None


def received(record: type[RecordT], raw: object) -> RecordT:
    """Validate what an activity returned; `ApplicationError` when it does not fit."""
    with failing_the_workflow():
        return record.parse(raw)
