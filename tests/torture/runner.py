"""A torture run from its start to its verdict."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from durable_memory.cli.faults import reset_before_model_call
from durable_memory.stores import MemoryStore, open_store

from .chaos import Chaos
from .fleet import fleet
from .plan import Options, Plan, actions, plans
from .report import Report, cases_of, noted, report_of
from .workflow import Order, Told, TorturedWorkflow

Handle = WorkflowHandle[Any, Any]

_AT_ONCE = 40
_WORKERS = 3
_PATIENCE = 600.0
"""Seconds that one workflow may take before the run is given up."""


@dataclass(kw_only=True)
class Runner:
    """Runs the workflows, and does to them what their plans say."""

    client: Client
    queue: str
    options: Options
    chaos: Chaos
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended: int = 0
    progress: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self) -> dict[int, list[Told]]:
        """Run all workflows; return what the surviving run of each was told."""
        slots = asyncio.Semaphore(_AT_ONCE)
        told: dict[int, list[Told]] = {}

        async def one(plan: Plan) -> None:
            async with slots:
                told[plan.number] = await asyncio.wait_for(self._one(plan), _PATIENCE)
            async with self.progress:
                self.ended += 1
                self.progress.notify_all()

        async with asyncio.TaskGroup() as group:
            for plan in plans(self.options):
                group.create_task(one(plan))
            group.create_task(self._be_cruel(group))
        return told

    async def _be_cruel(self, group: asyncio.TaskGroup) -> None:
        """Spread the process faults over the run, by how many workflows have ended."""
        planned = actions(self.options)
        for index, fault in enumerate(planned):
            due = self.options.workflows * index // (len(planned) + 1)
            async with self.progress:
                while self.ended < due:
                    await self.progress.wait()
            group.create_task(self.chaos.do(fault))

    async def _one(self, plan: Plan) -> list[Told]:
        handle: Handle = await self.client.start_workflow(
            TorturedWorkflow.run,
            self._order(plan),
            id=f"{self.queue}-{plan.number}",
            task_queue=self.queue,
            task_timeout=timedelta(seconds=5),
        )
        if plan.reset:
            handle = await self._reset(plan, handle)
        told: list[Told] = await self.client.get_workflow_handle(
            handle.id, run_id=handle.run_id or handle.first_execution_run_id, result_type=list[Told]
        ).result()
        return told

    async def _reset(self, plan: Plan, handle: Handle) -> Handle:
        """Reset to before a model call: while the workflow runs, or once it has ended."""
        if not plan.reset_running:
            await handle.result()
        while True:
            with suppress(IndexError):  # it has not come so far yet
                again = await reset_before_model_call(self.client, handle, plan.reset_call)
                self.counts[plan.store, plan.reset or ""] += 1
                return again
            await asyncio.sleep(random.uniform(0.05, 0.5))

    def _order(self, plan: Plan) -> Order:
        return Order(
            namespace=plan.namespace,
            turns=[asdict(turn) for turn in plan.turns],
            reworded=plan.reset == "reworded",
            attempt_seconds=self.options.attempt_seconds,
            mutation_seconds=self.options.mutation_seconds,
        )


async def torture(
    options: Options, *, client: Client, folder: Path, postgres: str | None
) -> Report:
    """Run, and check.

    Args:
        options: What is asked.
        client: Of the Temporal server.
        folder: For the files, the SQLite database and logs; empty.
        postgres: URL of an empty database, if there is one.
    """
    started = time.monotonic()
    urls = {
        "postgres": postgres or "",
        "sqlite": f"sqlite://{folder}/memory.db",
        "file": f"file://{folder}/notes",
    }
    urls = {store: urls[store] for store in options.stores}
    await _make(urls)
    async with _cruelty(options, client, folder, urls) as runner:
        told = await runner.run()
        # Whatever is late lands now, before anyone looks.
        await runner.chaos.fleet.end()
    faults = Counter(noted(folder / "faults.log")) + runner.counts + runner.chaos.counts
    async with _opened(urls) as stores:
        cases = await cases_of(options, told, stores)
    return report_of(options, cases, faults, seconds=time.monotonic() - started)


@asynccontextmanager
async def _cruelty(
    options: Options, client: Client, folder: Path, urls: Mapping[str, str]
) -> AsyncIterator[Runner]:
    queue = f"torture-{uuid.uuid4().hex[:8]}"
    address = client.service_client.config.target_host
    log = folder / "faults.log"
    async with fleet(address, queue, log, urls, workers=_WORKERS) as running:
        chaos = Chaos(fleet=running, options=options, urls=urls)
        yield Runner(client=client, queue=queue, options=options, chaos=chaos)


@asynccontextmanager
async def _opened(urls: Mapping[str, str]) -> AsyncIterator[Mapping[str, MemoryStore]]:
    """Open all stores, which are made when they are not there."""
    async with AsyncExitStack() as stack:
        yield {
            store: await stack.enter_async_context(open_store(url)) for store, url in urls.items()
        }


async def _make(urls: Mapping[str, str]) -> None:
    """Make the stores, so that there is something to lock."""
    async with _opened(urls) as stores:
        for store in stores.values():
            await store.write("made/main/made.md", "made\n", expected_version=None)
