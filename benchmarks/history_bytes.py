"""History bytes that one model request adds for its snapshot, with unchanged memory.

Usage: python benchmarks/history_bytes.py [--json]

Loads a snapshot many times, in both deployments, on a real Temporal server, for
notebooks of several sizes. Reported is the growth of the history per request: all events that the
snapshot adds, the workflow tasks it needs included. The model's own input is not in it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from durable_memory.activities import MemoryActivities
from durable_memory.cli.embedded import temporal_server
from durable_memory.notebook import MAIN_FILENAME, Scope
from durable_memory.stores import InMemoryStore
from durable_memory.workflows import Memory

QUEUE = "benchmark"
REQUESTS = 20
SIZES = (1_000, 8_000, 60_000)
SCOPE = Scope(namespace="user-12345678", agent_name="support")


@workflow.defn
class Loading:
    """Loads a snapshot a number of times."""

    @workflow.run
    async def run(self, task_queue: str | None, requests: int) -> None:
        """Load it; a timer between stands for the model's activity."""
        memory = Memory(
            namespace=SCOPE.namespace, agent_name=SCOPE.agent_name, task_queue=task_queue
        )
        notebook = memory.open()
        for _ in range(requests):
            await notebook.load_snapshot()


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of the result.

    Attributes:
        deployment: Where the memory activities are.
        notebook_chars: Size of `MEMORY.md`.
        first_bytes: What the first request adds: the text itself.
        unchanged_bytes: What each later request adds.
    """

    deployment: str
    notebook_chars: int
    first_bytes: int
    unchanged_bytes: int


async def measure(client: Client, size: int, deployment: str) -> Measurement:
    """Measure one deployment with one size."""
    store = InMemoryStore()
    line = "The user likes short answers with code.\n"
    content = (line * (size // len(line) + 1))[:size]
    await store.write(SCOPE.path(MAIN_FILENAME), content, expected_version=None)
    queue = QUEUE if deployment == "separate fleet" else None
    async with Worker(
        client,
        task_queue=QUEUE,
        workflows=[Loading],
        activities=MemoryActivities(store).activities,
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        sizes = [await _history_bytes(client, queue, requests) for requests in (0, 1, 1 + REQUESTS)]
    return Measurement(
        deployment=deployment,
        notebook_chars=size,
        first_bytes=sizes[1] - sizes[0],
        unchanged_bytes=(sizes[2] - sizes[1]) // REQUESTS,
    )


async def _history_bytes(client: Client, queue: str | None, requests: int) -> int:
    handle = await client.start_workflow(
        Loading.run, args=[queue, requests], id="loading", task_queue=QUEUE
    )
    await handle.result()
    history = await handle.fetch_history()
    return sum(event.ByteSize() for event in history.events)


async def main() -> list[Measurement]:
    """Measure all."""
    async with temporal_server() as environment:
        return [
            await measure(environment.client, size, deployment)
            for deployment in ("own worker", "separate fleet")
            for size in SIZES
        ]


def show(measurements: list[Measurement]) -> None:
    """Print a table, or JSON."""
    rows: list[dict[str, Any]] = [asdict(each) for each in measurements]
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows, indent=2))
        return
    table = Table(*(name.replace("_", " ") for name in rows[0]))
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)


if __name__ == "__main__":
    show(asyncio.run(main()))
