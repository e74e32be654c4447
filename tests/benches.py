"""Workers as processes of their own on a Temporal server, with what they log."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from durable_memory.cli.faults import until
from durable_memory.cli.processes import WorkerProcess, worker_process
from durable_memory.notebook import Scope
from durable_memory.workflows import AgentRequest, AgentResult, AgentWorkflow

SCOPE = Scope(namespace="acme", agent_name="support")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A queue of its own on the Temporal server, and the log of its workers."""

    client: Client
    log: Path
    queue: str = field(default_factory=lambda: f"queue-{uuid.uuid4().hex}")

    @asynccontextmanager
    async def worker(self, **variables: str) -> AsyncIterator[WorkerProcess]:
        """Run a worker; `STORE="..."` sets `DURABLE_MEMORY_STORE`, `OTEL_...` itself."""
        environment = {
            "TEMPORAL_ADDRESS": self.client.service_client.config.target_host,
            "DURABLE_MEMORY_TASK_QUEUE": self.queue,
            "DURABLE_MEMORY_MODEL_BASE_URL": "scripted:",
            **{_full(name): value for name, value in variables.items()},
        }
        async with worker_process(environment, log=self.log) as worker:
            yield worker

    async def start(
        self, *prompts: str, scope: Scope = SCOPE
    ) -> WorkflowHandle[AgentWorkflow, AgentResult]:
        """Start the reference agent on a user's lines."""
        request = AgentRequest(
            prompts=prompts, namespace=scope.namespace, agent_name=scope.agent_name
        )
        return await self.client.start_workflow(
            AgentWorkflow.run, request, id=f"run-{uuid.uuid4().hex}", task_queue=self.queue
        )

    def lines(self) -> list[str]:
        """Return the lines of the log."""
        return self.log.read_text(encoding="utf-8").splitlines()

    def records(self) -> list[dict[str, Any]]:
        """Return the log; every line must be a JSON object."""
        return [json.loads(line) for line in self.lines()]

    async def logged(self, message: str) -> None:
        """Wait for a record whose message begins so."""

        async def found() -> bool:
            return any(record["message"].startswith(message) for record in self.records())

        await until(found, f"the log line {message!r}")


def _full(name: str) -> str:
    return name if name.startswith(("OTEL_", "TEMPORAL_")) else f"DURABLE_MEMORY_{name}"
