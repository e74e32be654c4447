"""Workers as processes of their own, started and ended by a command."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, TypeVar

from .errors import CommandError

T = TypeVar("T")

_OURS = ("DURABLE_MEMORY_", "TEMPORAL_")
_PATIENCE = 15.0
"""Seconds that a worker may take to stop before it is killed."""


class WorkerProcess:
    """One `python -m durable_memory.worker`.

    Args:
        process: The running process.
        log: File its log goes to, if it does.
    """

    def __init__(self, process: asyncio.subprocess.Process, log: Path | None = None) -> None:
        self._process = process
        self._log = log
        self._exit = asyncio.ensure_future(process.wait())
        self._frozen = False

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def wait(self) -> int:
        """Wait until it ends by itself, and return its exit code."""
        return await asyncio.shield(self._exit)

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def freeze(self) -> None:
        """Stop it where it is: it holds its connections and says nothing more."""
        self._process.send_signal(signal.SIGSTOP)
        self._frozen = True

    async def kill(self) -> int:
        """Kill it, frozen or not, and return its exit code: minus the signal's number."""
        if not self._exit.done():
            self._process.kill()
        return await self._exit

    async def stop(self) -> int:
        """Ask it to shut down, kill it when it does not, and return its exit code."""
        if self._exit.done() or self._frozen:
            return await self.kill()
        self._process.terminate()
        try:
            return await asyncio.wait_for(asyncio.shield(self._exit), _PATIENCE)
        except TimeoutError:
            return await self.kill()

    async def while_up(self, work: Awaitable[T]) -> T:
        """Wait for `work`.

        Raises:
            CommandError: The worker ended first.
        """
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._exit}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            why = f": {_last_line(self._log)}" if self._log else ""
            raise CommandError(f"the worker ended with exit code {self._exit.result()}{why}")
        finally:
            task.cancel()


@asynccontextmanager
async def worker_process(
    variables: Mapping[str, str], *, log: Path | None = None
) -> AsyncIterator[WorkerProcess]:
    """Run a worker until the block ends, then stop it.

    Args:
        variables: Its `DURABLE_MEMORY_*` and `TEMPORAL_*` variables; the caller's are not passed.
        log: File its log is appended to; this process's standard error when `None`.
    """
    with _output(log) as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "durable_memory.worker"),
            env=_environment(variables),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # Ctrl-C in a terminal reaches every process of the group; this one is stopped by us.
            start_new_session=True,
        )
    worker = WorkerProcess(process, log)
    try:
        yield worker
    finally:
        await asyncio.shield(worker.stop())


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    # The user's own temporal.toml may name another server, or a key for it.
    return {**inherited, "TEMPORAL_CONFIG_FILE": os.devnull, **variables}


def _output(log: Path | None) -> AbstractContextManager[IO[Any]]:
    return log.open("ab") if log else nullcontext(sys.stderr)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "it said nothing"
