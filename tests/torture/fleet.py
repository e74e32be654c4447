"""The worker processes of a torture run, and what is done to them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).parents[1]
_START = 120.0
"""Seconds that a worker may take to start, and to end, on a busy machine."""


@dataclass(kw_only=True)
class Fleet:
    """Workers that all do the same.

    Attributes:
        address: Of the Temporal server.
        queue: What they serve.
        log: File that they note faults in.
        urls: URLs of the stores, by name.
    """

    address: str
    queue: str
    log: Path
    urls: Mapping[str, str]
    running: list[asyncio.subprocess.Process] = field(default_factory=list)
    stopped: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def add(self) -> None:
        """Start a worker."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "torture.worker"),
            *(self.address, self.queue, str(self.log), json.dumps(dict(self.urls))),
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
            stdout=asyncio.subprocess.PIPE,
            stderr=(self.log.parent / "workers.log").open("a"),
            start_new_session=True,
        )
        self.running.append(process)
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), _START)
        if line != b"ready\n":
            raise RuntimeError(f"a worker did not start: see {self.log.parent / 'workers.log'}")

    async def kill(self) -> None:
        """Kill the worker that has run longest, and start another one."""
        process = self.running.pop(0)
        process.kill()
        await process.wait()
        await self.add()

    async def pause(self, seconds: float) -> None:
        """Stop a worker where it is for some time; another one takes its place meanwhile."""
        process = self.running.pop(0)
        self.stopped.append(process)
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.gather(self.add(), asyncio.sleep(seconds))
        finally:
            process.send_signal(signal.SIGCONT)
        # It is one too many now, but what it had begun it may go on with.
        process.terminate()
        await asyncio.wait_for(process.wait(), _START)
        self.stopped.remove(process)

    async def end(self) -> None:
        """Let all that was begun land, and end."""
        for process in self.running:
            process.terminate()
        codes = [await asyncio.wait_for(each.wait(), _START) for each in self.running]
        self.running.clear()
        if any(codes):
            raise RuntimeError(f"workers ended with {codes}: see {self.log.parent}")


@asynccontextmanager
async def fleet(
    address: str, queue: str, log: Path, urls: Mapping[str, str], *, workers: int
) -> AsyncIterator[Fleet]:
    """Run workers; whatever happens, none is left."""
    running = Fleet(address=address, queue=queue, log=log, urls=urls)
    try:
        await asyncio.gather(*(running.add() for _ in range(workers)))
        yield running
    finally:
        for process in [*running.running, *running.stopped]:
            if process.returncode is None:
                process.kill()
                await process.wait()
