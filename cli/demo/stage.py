"""What the demo is played on: the servers, a scope of its own, workers and runs."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from temporalio.client import WorkflowFailureError, WorkflowHistory

from ...notebook import Scope
from ...workflows import AgentRequest, AgentWorkflow
from ..errors import CommandError
from ..processes import WorkerProcess, worker_process
from ..stack import Stack
from .narrator import Narrator
from .transcript import Session

TASK_QUEUE = "demo"

_ATTEMPT_SECONDS = 5.0
"""Time-out of one attempt: Temporal notices a killed worker after it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run of a session's workflow."""

    workflow_id: str
    run_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """Servers and names of one telling.

    Attributes:
        stack: The servers.
        narrator: Tells what happens.
        log: File for the workers' logs.
        name: New for each telling, so that one database can hold several.
    """

    stack: Stack
    narrator: Narrator
    log: Path
    name: str = field(default_factory=lambda: f"demo-{uuid.uuid4().hex[:8]}")

    @property
    def scope(self) -> Scope:
        """Whose notebook it is."""
        return Scope(namespace=self.name, agent_name="assistant")

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[WorkerProcess]:
        """Run a worker until the block ends."""
        variables = {
            **self.stack.environment(),
            "DURABLE_MEMORY_TASK_QUEUE": TASK_QUEUE,
            "DURABLE_MEMORY_ALLOWED_SCOPES": self.scope.key,
            "DURABLE_MEMORY_MODEL_BASE_URL": "scripted:",
        }
        async with worker_process(variables, log=self.log) as worker:
            yield worker

    async def begin(self, number: int, session: Session) -> Run:
        """Start the agent on a session."""
        handle = await self.stack.client.start_workflow(
            AgentWorkflow.run,
            AgentRequest(
                prompts=session.lines,
                namespace=self.scope.namespace,
                agent_name=self.scope.agent_name,
                attempt_timeout_seconds=_ATTEMPT_SECONDS,
            ),
            id=f"{self.name}-session-{number}",
            task_queue=TASK_QUEUE,
        )
        return Run(workflow_id=handle.id, run_id=handle.first_execution_run_id or "")

    async def result(self, run: Run) -> None:
        """Wait until a run has answered everything.

        Raises:
            CommandError: It failed.
        """
        handle = self.stack.client.get_workflow_handle(run.workflow_id, run_id=run.run_id)
        try:
            await handle.result()
        except WorkflowFailureError as error:
            cause = type(error.cause).__name__
            raise CommandError(f"workflow {run.workflow_id} failed ({cause})") from error

    async def history(self, run: Run) -> WorkflowHistory:
        """Return a run's history."""
        handle = self.stack.client.get_workflow_handle(run.workflow_id, run_id=run.run_id)
        return await handle.fetch_history()

    def link(self, run: Run) -> str:
        """Return a run's address in Temporal's web page."""
        return self.stack.link(run.workflow_id, run.run_id)
