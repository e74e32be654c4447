"""What a worker shows to those who watch it: metrics for Prometheus, spans over OTLP."""

from __future__ import annotations

import httpx
import pytest
from benches import Bench
from collector import collector
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from temporalio.client import WorkflowFailureError

from durable_memory.cli.embedded import free_port
from durable_memory.cli.faults import until
from durable_memory.notebook import Scope

FAVOURITE = "marzipan"


async def test_prometheus_is_served(bench: Bench) -> None:
    """The SDK's metrics of activities are at `/metrics` of the address that was set."""
    address = f"127.0.0.1:{free_port()}"
    async with bench.worker(METRICS_ADDRESS=address) as worker, httpx.AsyncClient() as http:
        scope = Scope(namespace=FAVOURITE, agent_name="support")
        await worker.while_up((await bench.start(f"I like {FAVOURITE}.", scope=scope)).result())

        async def counted() -> bool:
            text = (await http.get(f"http://{address}/metrics")).text
            assert FAVOURITE not in text
            return "temporal_activity_execution_latency" in text and "memory.write" in text

        await worker.while_up(until(counted, "the metrics"))


async def test_an_address_in_use_ends_the_worker(bench: Bench) -> None:
    """A second worker on the same address says which variable is at fault, with exit code 2."""
    address = f"127.0.0.1:{free_port()}"
    async with bench.worker(METRICS_ADDRESS=address):
        await bench.logged("serving")
        async with bench.worker(METRICS_ADDRESS=address) as second:
            assert await second.wait() == 2
    assert any(
        line.startswith("durable-memory: DURABLE_MEMORY_METRICS_ADDRESS: ")
        for line in bench.lines()
    )


async def test_spans_are_sent_without_content(bench: Bench) -> None:
    """Our spans and Temporal's arrive, in one trace, with the metrics; nothing stored is in them.

    Those of a failed activity have the verdict alone: no message of the exception, and no stack.
    """
    with collector() as running:
        async with bench.worker(
            OTEL_EXPORTER_OTLP_ENDPOINT=running.url, ALLOWED_SCOPES=f"{FAVOURITE}/*"
        ) as worker:
            mine = Scope(namespace=FAVOURITE, agent_name="support")
            await worker.while_up((await bench.start(f"I like {FAVOURITE}.", scope=mine)).result())
            theirs = Scope(namespace="globex", agent_name="support")
            with pytest.raises(WorkflowFailureError):
                await (await bench.start("one", scope=theirs)).result()
            assert await worker.stop() == 0
        spans = running.spans()
        names = {span.name: span for span in spans}
        assert {"memory.write", "RunActivity:memory.write", "memory.store.edit"} <= set(names)
        assert names["memory.write"].parent_span_id == names["RunActivity:memory.write"].span_id
        failed = [span for span in spans if span.status.code == Status.STATUS_CODE_ERROR]
        assert failed != []
        assert all(not span.events and not span.status.message for span in spans)
        assert "memory.operation.duration" in running.metrics()
        assert all(
            FAVOURITE.encode() not in body and b"globex" not in body for _, body in running.taken
        )
        (service,) = {
            attribute.value.string_value
            for request in running.traces()
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }
        assert service == "durable-memory"
