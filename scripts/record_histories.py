"""Record the histories that `tests/replay` replays, from a real Temporal server.

Usage: python scripts/record_histories.py [NAME ...]

Writes `tests/replay/histories/NAME.json` for each run below, or for those named. A released history
is never recorded again: users' workflows hold such histories. Add a run, or version the change
with `workflow.patched`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from durable_memory.activities import (
    EmbeddingActivities,
    MemoryActivities,
    ModelActivities,
    ScriptedModel,
)
from durable_memory.cli.embedded import temporal_server
from durable_memory.cli.faults import reset_before_model_call
from durable_memory.notebook import EMBEDDING, MemoryStoreUnavailable, Scope
from durable_memory.stores import (
    EmbeddedTask,
    EmbeddingTask,
    InMemoryStore,
    MemoryStore,
    Refill,
)
from durable_memory.workflows import (
    AGENT,
    AgentRequest,
    AgentResult,
    AgentWorkflow,
    EmbeddingResult,
    EmbeddingRun,
    EmbeddingWorkflow,
)

HISTORIES = Path(__file__).parents[1] / "tests" / "replay" / "histories"
REQUEST = AgentRequest(
    prompts=["I drink tea.", "내 고양이는 나비예요.", "I drink tea."], namespace="someone"
)
AGENTS = "agents"
FLEET = "memory"

Handle = WorkflowHandle[Any, Any]


@workflow.defn(name=AGENT)
class ChangedAgentWorkflow(AgentWorkflow):
    """The agent with a change that is not versioned: it sleeps before it begins."""

    @workflow.run
    async def run(self, request: AgentRequest) -> AgentResult:
        """Sleep, then do what the agent does."""
        await asyncio.sleep(1)
        return await super().run(request)


class ShakyStore:
    """A resolver whose first calls fail, so that the history has attempts above 1."""

    def __init__(self, failures: int) -> None:
        self._failures = failures
        self._store = InMemoryStore()

    async def __call__(self, _scope: Scope) -> MemoryStore:
        """Return the store, once it is up."""
        if self._failures:
            self._failures -= 1
            raise MemoryStoreUnavailable
        return self._store


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """Runs agents on a real server.

    Attributes:
        client: Of the server; its identity is fixed, so that no history names a machine.
    """

    client: Client

    @asynccontextmanager
    async def workers(
        self, *, agent: type = AgentWorkflow, failures: int = 0, fleet: bool = False
    ) -> AsyncIterator[None]:
        """Run the workers of one deployment."""
        memory = MemoryActivities(ShakyStore(failures)).activities
        model = [ModelActivities(ScriptedModel()).complete]
        async with Worker(
            self.client,
            task_queue=AGENTS,
            workflows=[agent],
            activities=model if fleet else [*model, *memory],
            identity="recorder",
            # The changed agent is not importable by the sandbox.
            workflow_runner=(
                SandboxedWorkflowRunner() if agent is AgentWorkflow else UnsandboxedWorkflowRunner()
            ),
        ):
            if not fleet:
                yield
                return
            async with Worker(
                self.client, task_queue=FLEET, activities=memory, identity="recorder"
            ):
                yield

    async def run(self, name: str, request: AgentRequest = REQUEST) -> Handle:
        """Run an agent to its end; the handle is of its first run."""
        handle = await self.client.start_workflow(
            AGENT, request, id=name, task_queue=AGENTS, result_type=AgentResult
        )
        await handle.result()
        return self.client.get_workflow_handle(name, run_id=handle.first_execution_run_id)

    async def reset(self, handle: Handle, *, model_call: int) -> Handle:
        """Reset a run to before its model call of that number, and wait for the new run."""
        again = await reset_before_model_call(self.client, handle, model_call)
        await again.result()
        return again

    async def next_run(self, handle: Handle) -> Handle:
        """Return the run that a run continued as."""
        history = await handle.fetch_history()
        last = history.events[-1].workflow_execution_continued_as_new_event_attributes
        return self.client.get_workflow_handle(handle.id, run_id=last.new_execution_run_id)


def without_stack_traces(value: Any) -> Any:
    """Leave out stack traces: they hold the paths of the machine that recorded them."""
    if isinstance(value, dict):
        return {k: without_stack_traces(v) for k, v in value.items() if k != "stackTrace"}
    if isinstance(value, list):
        return [without_stack_traces(each) for each in value]
    return value


async def plain(recorder: Recorder) -> Sequence[Handle]:
    """An agent whose worker has the memory activities: local snapshots."""
    async with recorder.workers():
        return [await recorder.run("plain")]


async def fleet(recorder: Recorder) -> Sequence[Handle]:
    """An agent with a separate fleet of memory workers."""
    async with recorder.workers(fleet=True):
        return [await recorder.run("fleet", replace(REQUEST, memory_task_queue=FLEET))]


async def retry(recorder: Recorder) -> Sequence[Handle]:
    """A fleet that is down at first: attempts above 1."""
    async with recorder.workers(fleet=True, failures=3):
        return [await recorder.run("retry", replace(REQUEST, memory_task_queue=FLEET))]


async def reset(recorder: Recorder) -> Sequence[Handle]:
    """A run that was reset to before its second prompt's model call."""
    async with recorder.workers():
        return [await recorder.reset(await recorder.run("reset"), model_call=2)]


async def continued(recorder: Recorder) -> Sequence[Handle]:
    """A run that continued as new, and the run it continued as."""
    async with recorder.workers():
        first = await recorder.run("continued", replace(REQUEST, prompts_per_run=2))
        return [first, await recorder.next_run(first)]


async def changed(recorder: Recorder) -> Sequence[Handle]:
    """A valid history of changed code, which must not replay."""
    async with recorder.workers(agent=ChangedAgentWorkflow):
        return [await recorder.run("changed")]


class OneBatch:
    """A queue of embedding whose first claim has two entries, of which one has changed since."""

    def __init__(self) -> None:
        self._waiting = [
            EmbeddingTask(document=number, version=number, text="text") for number in (1, 2)
        ]

    async def claim(
        self, *, limit: int = 64, lease: timedelta = timedelta(minutes=1)
    ) -> Sequence[EmbeddingTask]:
        """Give what waits, one at a time."""
        claimed, self._waiting = self._waiting[:limit], self._waiting[limit:]
        return claimed if lease else []

    async def keep(self, embedder: str, embedded: Sequence[EmbeddedTask]) -> int:
        """Keep the first of them."""
        return sum(each.task.document == 1 for each in embedded if embedder)

    async def refill(self, embedder: str, *, after: int = 0, limit: int = 1) -> Refill:
        """Find nothing more."""
        return Refill(queued=0 if embedder else limit, next=after or None)


class ShakyEmbedder:
    """An embedder that fails at first, so that the history has attempts above 1."""

    name = "shaky:1"

    def __init__(self) -> None:
        self._failures = 1

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed, once it is up."""
        if self._failures:
            self._failures -= 1
            raise ConnectionError
        return [[1.0] for _ in texts]


async def embedding(recorder: Recorder) -> Sequence[Handle]:
    """A run of embedding that continued as new, and the run it continued as."""
    activities = EmbeddingActivities(OneBatch(), ShakyEmbedder()).activities
    async with Worker(
        recorder.client,
        task_queue=FLEET,
        workflows=[EmbeddingWorkflow],
        activities=activities,
        identity="recorder",
    ):
        handle = await recorder.client.start_workflow(
            EMBEDDING,
            EmbeddingRun(limit=1, batches=1),
            id="embedding",
            task_queue=FLEET,
            result_type=EmbeddingResult,
        )
        await handle.result()
        first = recorder.client.get_workflow_handle(
            "embedding", run_id=handle.first_execution_run_id
        )
        return [first, await recorder.next_run(first)]


RUNS: dict[str, Callable[[Recorder], Awaitable[Sequence[Handle]]]] = {
    record.__name__: record
    for record in (plain, fleet, retry, reset, continued, changed, embedding)
}


async def main(names: Sequence[str]) -> None:
    """Record the runs with these names."""
    HISTORIES.mkdir(parents=True, exist_ok=True)
    async with temporal_server() as environment:
        address = environment.client.service_client.config.target_host
        client = await Client.connect(address, identity="recorder")
        for name in names:
            for number, handle in enumerate(await RUNS[name](Recorder(client=client))):
                suffix = f"-{number + 1}" if number else ""
                path = HISTORIES / f"{name}{suffix}.json"
                history = (await handle.fetch_history()).to_json_dict()
                text = json.dumps(without_stack_traces(history), indent=1, ensure_ascii=False)
                path.write_text(text + "\n", encoding="utf-8")
                print(path.name)
        del client


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or list(RUNS)))
