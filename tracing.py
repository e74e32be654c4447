"""Spans and metrics of the worker, sent over OTLP as the standard `OTEL_*` variables say.

Needs the extra `otel`. Sent are this project's own spans and those of Temporal's tracing
interceptor. That one writes messages and stacks of exceptions onto its spans; they are taken off,
since an exception's message can quote what someone stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from temporalio.contrib.opentelemetry import TracingInterceptor


class WordlessExporter(SpanExporter):
    """Hands spans on without their events and the descriptions of their status.

    Args:
        exporter: Whom to.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export the spans."""
        return self._exporter.export([without_words(span) for span in spans])

    def shutdown(self) -> None:
        """End the exporter behind."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter behind."""
        return self._exporter.force_flush(timeout_millis)


def without_words(span: ReadableSpan) -> ReadableSpan:
    """Return the span without what quotes an exception."""
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


@contextmanager
def exporting() -> Iterator[Sequence[TracingInterceptor]]:
    """Export spans and metrics until the block ends; yields the interceptors for a client."""
    # What the variables say stands above the name we have.
    named = Resource({SERVICE_NAME: "durable-memory"}).merge(OTELResourceDetector().detect())
    resource = Resource.create(named.attributes)
    # Ended here, once all is closed, and not at exit.
    spans = TracerProvider(resource=resource, shutdown_on_exit=False)
    spans.add_span_processor(BatchSpanProcessor(WordlessExporter(OTLPSpanExporter())))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    trace.set_tracer_provider(spans)
    metrics.set_meter_provider(meters)
    try:
        yield [TracingInterceptor()]
    finally:
        spans.shutdown()
        meters.shutdown()
