"""What leaves the process: spans, metrics, logs and errors hold no content."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from durable_memory.activities import EntryActivities, MemoryActivities, Telemetry
from durable_memory.notebook import Partition, Scope
from durable_memory.stores import EntryStore, InMemoryStore, MemoryStore

SECRET = "xyzzy"  # noqa: S105  (a word to look for)
LATER = "2100-01-01T00:00:00Z"
SCOPE = {"namespace": f"{SECRET}-tenant", "agent_name": f"{SECRET}-agent"}


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Spans of this module's tests; OpenTelemetry's provider can be set once a process."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    return spans


@pytest.fixture(scope="module")
def reader() -> Iterator[InMemoryMetricReader]:
    """Metrics of this module's tests."""
    reading = InMemoryMetricReader()
    provider = MeterProvider([reading])
    metrics.set_meter_provider(provider)
    yield reading
    provider.shutdown()


def requests() -> list[tuple[str, dict[str, Any]]]:
    """A call of every activity, each with the secret wherever it can be."""
    call = {"tool_call_id": f"{SECRET}-call"}
    operation = {"tool": "write_memory", "fingerprint": SECRET, "call": call}
    edit = {"content": f"{SECRET} text", "file": f"{SECRET}-file", "call": call}
    return [
        ("write", {"scope": SCOPE, "edits": [edit], "deadline": LATER}),
        ("read", {"scope": SCOPE, "file": f"{SECRET}-file"}),
        ("read", {"scope": SCOPE, "file": f"{SECRET}/../file"}),
        ("search", {"scope": SCOPE, "query": SECRET}),
        ("load_snapshot", {"scope": SCOPE, "heading": SECRET}),
        ("settle", {"scope": SCOPE, "operation": operation}),
        ("delete", {"scope": SCOPE, "edits": [{"file": f"{SECRET}-file"}], "deadline": LATER}),
        ("write", {"scope": SCOPE, "edits": [{"content": SECRET, "call": {"n": SECRET}}]}),
        ("write", {"scope": {"namespace": f"../{SECRET}"}, "edits": [edit]}),
    ]


async def run_all(activities: MemoryActivities) -> list[ApplicationError]:
    """Run every request and return the errors."""
    errors = []
    for name, record in requests():
        try:
            await ActivityEnvironment().run(getattr(activities, name), record)
        except ApplicationError as error:
            errors.append(error)
    return errors


async def test_nothing_of_the_content_leaves(
    exporter: InMemorySpanExporter,
    reader: InMemoryMetricReader,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Spans, metrics, logs and errors of every activity, failures included, hold no content."""
    exporter.clear()
    with caplog.at_level(logging.DEBUG):
        errors = await run_all(MemoryActivities(InMemoryStore(), telemetry=Telemetry(b"k" * 16)))

        async def broken(_scope: Scope) -> MemoryStore:
            raise RuntimeError(f"a driver quoting {SECRET}")

        errors += await run_all(MemoryActivities(broken))
    assert {error.type for error in errors} >= {"InvalidMemoryRequest", "MemoryInternalError"}
    spans = [span.to_json() for span in exporter.get_finished_spans()]
    assert any("memory.store." in span for span in spans)
    measured = reader.get_metrics_data()
    assert measured is not None
    for text in (*spans, *map(repr, errors), caplog.text, measured.to_json()):
        assert SECRET not in text


def entry_requests(store: str) -> list[tuple[str, dict[str, Any]]]:
    """A call of every activity for entries, each with the secret wherever it can be."""
    whose = {"store": store, "actor": f"{SECRET}@example.com"}
    call = {"tool_call_id": f"{SECRET}-call"}
    operation = {"tool": "save_memory", "fingerprint": SECRET, "call": {"n": 1}}
    edit = {
        "path": f"/{SECRET}",
        "content": f"{SECRET} text",
        "description": SECRET,
        "session": f"{SECRET}-session",
        "call": call,
    }
    return [
        ("save_entry", {**whose, "edits": [edit], "deadline": LATER}),
        ("list_entries", {**whose, "session": f"{SECRET}-session"}),
        ("search_entries", {**whose, "query": SECRET}),
        ("search_entries", {**whose, "query": f" {SECRET}" * 1_000}),
        ("settle_entry", {**whose, "operation": operation}),
        ("forget_entry", {**whose, "edits": [{"path": f"/{SECRET}"}], "deadline": LATER}),
        ("save_entry", {**whose, "edits": [{**edit, "path": SECRET}]}),
        ("save_entry", {**whose, "edits": [{**edit, "call": {"n": SECRET}}]}),
        ("save_entry", {**whose, "store": f"no-{SECRET}", "edits": [edit], "deadline": LATER}),
        ("save_entry", {**whose, "store": f"../{SECRET}", "edits": [edit]}),
        ("list_entries", {**whose, "actor": f"{SECRET}\0"}),
    ]


async def run_entries(activities: EntryActivities, store: str) -> list[ApplicationError]:
    """Run every request on entries and return the errors."""
    errors = []
    for name, record in entry_requests(store):
        try:
            await ActivityEnvironment().run(getattr(activities, name), record)
        except ApplicationError as error:
            errors.append(error)
    return errors


async def test_nothing_of_entries_leaves(
    exporter: InMemorySpanExporter,
    reader: InMemoryMetricReader,
    caplog: pytest.LogCaptureFixture,
    entries: EntryStore,
    memory_store: str,
) -> None:
    """Neither stores, actors, sessions, paths, texts nor queries of entries leave the process."""
    exporter.clear()
    telemetry = Telemetry(b"k" * 16)
    with caplog.at_level(logging.DEBUG):
        errors = await run_entries(EntryActivities(entries, telemetry=telemetry), memory_store)

        async def broken(_partition: Partition) -> EntryStore:
            raise RuntimeError(f"a driver quoting {SECRET}")

        errors += await run_entries(EntryActivities(broken), memory_store)
    assert {error.type for error in errors} >= {
        *("InvalidMemoryRequest", "MemoryNotFound", "MemoryInternalError"),
    }
    spans = [span.to_json() for span in exporter.get_finished_spans()]
    tops = [each for each in map(json.loads, spans) if each["parent_id"] is None][:8]
    assert [each["attributes"].get("memory.outcome") for each in tops] == [
        *("created", "ok", "ok", "refused", "abandoned", "deleted", "refused", "error"),
    ]
    partition = Partition(store=memory_store, actor=f"{SECRET}@example.com")
    assert tops[0]["attributes"]["memory.scope_hash"] == telemetry.scope_hash(partition)
    assert tops[0]["attributes"]["memory.backend"] == "PostgresEntryStore"
    measured = reader.get_metrics_data()
    assert measured is not None
    for text in (*spans, *map(repr, errors), caplog.text, measured.to_json()):
        assert SECRET not in text
        assert memory_store not in text


async def test_spans_say_what_happened(exporter: InMemorySpanExporter) -> None:
    """A span has the backend, the scope's keyed hash, counts and sizes, and the outcome."""
    telemetry = Telemetry(b"k" * 16)
    activities = MemoryActivities(InMemoryStore(), telemetry=telemetry)
    exporter.clear()
    await run_all(activities)
    spans = [json.loads(span.to_json()) for span in exporter.get_finished_spans()]
    tops = [span for span in spans if span["parent_id"] is None]
    assert tops[0]["attributes"]["memory.backend"] == "InMemoryStore"
    scope = Scope(namespace=SCOPE["namespace"], agent_name=SCOPE["agent_name"])
    assert tops[0]["attributes"]["memory.scope_hash"] == telemetry.scope_hash(scope)
    assert [span["attributes"].get("memory.outcome") for span in tops] == [
        "created", "ok", "refused", "ok", "ok", "error", "deleted", "error", "error",
    ]  # fmt: skip


def test_scope_hash_is_keyed() -> None:
    """The same scope has the same hash under one key and another under another."""
    scope = Scope(namespace="someone")
    assert Telemetry(b"a" * 16).scope_hash(scope) == Telemetry(b"a" * 16).scope_hash(scope)
    assert Telemetry(b"a" * 16).scope_hash(scope) != Telemetry(b"b" * 16).scope_hash(scope)
    assert Telemetry().scope_hash(scope) != Telemetry().scope_hash(scope)
