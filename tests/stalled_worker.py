"""A memory worker with one connection and two slots, made to be stopped and to be late.

Usage: python stalled_worker.py TEMPORAL_ADDRESS TASK_QUEUE DATABASE_URL

While a write of another scope waits for a row lock, it has the only connection; a second write then
waits inside this process, and with both slots taken the worker polls for nothing more. Each edit's
outcome is a line of the output.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import runs
from temporalio.client import Client

from durable_memory.stores import MemoryMutation
from durable_memory.stores.postgres import PostgresMemoryStore, create_pool


class ReportingStore(PostgresMemoryStore):
    """Says what became of each edit."""

    async def edit(self, path: str, *arguments: Any, **options: Any) -> MemoryMutation:
        """Edit, and print the outcome."""
        outcome = "cancelled"
        try:
            mutation = await super().edit(path, *arguments, **options)
            outcome = "replayed" if mutation.replayed else "applied"
        except Exception as error:
            outcome = type(error).__name__
            raise
        finally:
            print(path.split("/", maxsplit=1)[0], outcome, flush=True)  # noqa: T201
        return mutation


async def main(address: str, queue: str, url: str) -> None:
    """Work until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    pool = await create_pool(url, min_size=1, max_size=1)
    client = await Client.connect(address)
    async with (
        pool,
        runs.worker(
            client,
            queue,
            store=ReportingStore(pool, timeout=60),
            workflows=[],
            max_concurrent_activities=2,
        ),
    ):
        print("ready", flush=True)  # noqa: T201
        await stop.wait()
    del client


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
