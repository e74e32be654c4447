"""A worker on all stores, made to be killed, stopped and started again.

Usage: python -m torture.worker ADDRESS QUEUE LOG URLS

`URLS` is a JSON object of store names and URLs; a scope's namespace begins with a store's name.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import uuid
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from durable_memory.activities import MemoryActivities
from durable_memory.exits import leave
from durable_memory.notebook import COMPLETE, Scope
from durable_memory.stores import MemoryStore, open_store

from .faulty import FaultyStore
from .workflow import TorturedWorkflow

_CALLS = 30
"""Activities at once."""


@activity.defn(name=COMPLETE)
async def ask(request: dict[str, Any]) -> list[dict[str, str]]:
    """The model: asks for the notes, with new ids, and in other words if it is one that does so."""
    drafts = f" {uuid.uuid4().hex[:6]}" if request["reworded"] else ""
    return [
        {"id": uuid.uuid4().hex, "content": _reworded(text, drafts)} for text in request["notes"]
    ]


def _reworded(text: str, draft: str) -> str:
    """Put the draft before the last word, which is the note's fault."""
    rest, _, fault = text.rpartition(" ")
    return f"{rest}{draft} {fault}"


async def main(address: str, queue: str, log: Path, urls: dict[str, str]) -> None:
    """Work until SIGTERM, and until all that is late has landed."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with AsyncExitStack() as stack:
        stores = {
            name: FaultyStore(await stack.enter_async_context(_open(url)), name, log)
            for name, url in urls.items()
        }

        async def resolve(scope: Scope) -> MemoryStore:
            return stores[scope.namespace.split("/")[0]]

        worker = Worker(
            await Client.connect(address),
            task_queue=queue,
            workflows=[TorturedWorkflow],
            activities=[*MemoryActivities(resolve).activities, ask],
            workflow_runner=UnsandboxedWorkflowRunner(),
            max_concurrent_activities=_CALLS,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
            graceful_shutdown_timeout=timedelta(seconds=10),
        )
        async with worker:
            print("ready", flush=True)  # noqa: T201
            await stop.wait()
        await asyncio.gather(*(store.landed() for store in stores.values()))


def _open(url: str) -> Any:
    return open_store(url, max_size=_CALLS, migrate=False)


if __name__ == "__main__":
    address, queue, log, urls = sys.argv[1:]
    asyncio.run(main(address, queue, Path(log), json.loads(urls)))
    leave(0)
