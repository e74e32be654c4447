"""Errors on their way to Temporal: stable type strings with a retry verdict.

No cause is attached: a failure's chain is written to the workflow's history, and a driver's message
may quote keys and values.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from temporalio.exceptions import ApplicationError

from ..notebook import MemoryFault

UNEXPECTED_TYPE = "MemoryInternalError"
"""Type of an error that nobody foresaw; retried, since a newer worker may do better."""

_log = logging.getLogger("durable_memory.activities")


@contextmanager
def as_application_error() -> Iterator[None]:
    """Turn errors of the memory into `ApplicationError`s; let Temporal's own pass."""
    try:
        yield
    except MemoryFault as fault:
        raise ApplicationError(
            str(fault), type=fault.type, non_retryable=not fault.retryable
        ) from None
    except ApplicationError:
        raise
    except Exception as error:  # noqa: BLE001  (nothing may leave with its own message)
        # The frames say where; the message could say whose.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.error("unexpected %s in a memory activity\n%s", type(error).__name__, frames)
        raise ApplicationError(
            f"unexpected {type(error).__name__} in a memory activity; see the worker's log",
            type=UNEXPECTED_TYPE,
        ) from None
