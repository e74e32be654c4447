"""Spans and metrics around the activities: a layer, not a part, of what they do.

Attributes say which backend, a keyed hash of the scope, counts, sizes, the outcome, and the type of
an exception. Never content, names of files, namespaces or queries. Without an OpenTelemetry SDK
the API does nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry import metrics, trace
from opentelemetry.trace import Span, Status, StatusCode

from ..notebook import Partition, Scope

_NAME = "durable_memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What one activity reports about itself."""

    span: Span
    _labels: dict[str, str | int | bool] = field(default_factory=dict)

    def note(self, **attributes: str | int | bool) -> None:
        """Add attributes named `memory.<name>`; the caller keeps to the rule above."""
        named = {f"memory.{name}": value for name, value in attributes.items()}
        self._labels.update(named)
        self.span.set_attributes(named)

    def label(self, name: str, default: str) -> str:
        """Return a noted attribute as a metric's label."""
        return str(self._labels.get(f"memory.{name}", default))


class Telemetry:
    """Makes spans and metrics.

    Args:
        key: Key of the scope hash, so that the same scope has the same hash on every worker.
            Random when `None`: hashes then hold within this process only.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)
        self._tracer = trace.get_tracer(_NAME)
        meter = metrics.get_meter(_NAME)
        self._duration = meter.create_histogram(
            "memory.operation.duration", unit="s", description="Duration of memory activities."
        )

    def scope_hash(self, scope: Scope | Partition) -> str:
        """Return 16 hexadecimal digits that stand for the scope, or the partition of entries."""
        return hmac.new(self._key, scope.key.encode(), hashlib.sha256).hexdigest()[:16]

    @contextmanager
    def observe(self, name: str) -> Iterator[Observation]:
        """Span and time one activity; an error leaves its type and nothing else."""
        started = time.monotonic()
        with self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        ) as span:
            observation = Observation(span=span)
            try:
                yield observation
            except BaseException as error:
                observation.note(outcome="error", exception_type=_error_type(error))
                span.set_status(Status(StatusCode.ERROR))
                raise
            finally:
                labels = {
                    "memory.operation": name,
                    "memory.outcome": observation.label("outcome", "ok"),
                    "memory.backend": observation.label("backend", "none"),
                }
                self._duration.record(time.monotonic() - started, labels)

    @contextmanager
    def store_call(self, name: str, backend: str) -> Iterator[None]:
        """Span one call of a store."""
        with self._tracer.start_as_current_span(
            f"memory.store.{name}",
            attributes={"memory.backend": backend},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_attribute("memory.exception_type", _error_type(error))
                raise


def _error_type(error: BaseException) -> str:
    return str(getattr(error, "type", None) or type(error).__name__)
