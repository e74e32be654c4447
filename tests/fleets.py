"""Queues with worker processes, and a look past them into the database."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import runs

from durable_memory.cli.processes import WorkerProcess, worker_process
from durable_memory.notebook import MAIN_FILENAME, Scope
from durable_memory.stores import MemoryStore

_STALLED = Path(__file__).parent / "stalled_worker.py"


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A queue, a database, and processes that serve it."""

    address: str
    url: str
    queue: str = field(default_factory=lambda: runs.unique("fleet"))

    def worker(self) -> AbstractAsyncContextManager[WorkerProcess]:
        """The product's own worker, as a process."""
        return worker_process(
            {
                "DURABLE_MEMORY_STORE": self.url,
                "DURABLE_MEMORY_TASK_QUEUE": self.queue,
                "DURABLE_MEMORY_MODEL_BASE_URL": "scripted:",
                "DURABLE_MEMORY_GRACEFUL_SHUTDOWN": "5",
                "TEMPORAL_ADDRESS": self.address,
            }
        )

    @asynccontextmanager
    async def stalled(self) -> AsyncIterator[Stalled]:
        """A worker that can be made late; see `stalled_worker.py`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(_STALLED),
            self.address,
            self.queue,
            self.url,
            stdout=asyncio.subprocess.PIPE,
        )
        stalled = Stalled(process)
        try:
            await stalled.line("ready")
            yield stalled
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


class Stalled:
    """A process that is stopped, goes on, and ends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stdout is not None
        self._output = process.stdout

    async def line(self, expected: str) -> None:
        """Wait for the next line of its output, which must be `expected`."""
        line = await asyncio.wait_for(self._output.readline(), timeout=60)
        assert line.decode().strip() == expected

    def stop(self) -> None:
        """Stop the process where it is."""
        self._process.send_signal(signal.SIGSTOP)

    async def finish(self) -> list[str]:
        """Let it go on and end once all it has begun is done; return the rest of its output."""
        self._process.send_signal(signal.SIGCONT)
        self._process.send_signal(signal.SIGTERM)
        rest, _ = await asyncio.wait_for(self._process.communicate(), timeout=60)
        assert self._process.returncode == 0
        return rest.decode().split("\n")[:-1]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads notebooks past the workflow."""

    store: MemoryStore

    async def lines(self, scope: Scope) -> list[str]:
        """The lines of a scope's main notebook."""
        found = await self.store.read(scope.path(MAIN_FILENAME), max_chars=1_000_000)
        return found.content.splitlines() if found else []
