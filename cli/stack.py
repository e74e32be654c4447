"""PostgreSQL and Temporal on one folder of this machine."""

from __future__ import annotations

import errno
import fcntl
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from .embedded import LOOPBACK, check_postgres, postgres_server, temporal_server
from .errors import MISUSED, CommandError

_IN_USE = "is in use, perhaps by another durable-memory dev: stop it, or choose another port"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """The addresses of the running servers.

    Attributes:
        store: URL of the database, as `DURABLE_MEMORY_STORE` takes it.
        temporal: Address of the Temporal server.
        web: Address of Temporal's web page.
        client: A client of the Temporal server.
    """

    store: str
    temporal: str
    web: str
    client: Client

    def environment(self) -> dict[str, str]:
        """Return the variables that point a worker at these servers."""
        return {
            "TEMPORAL_ADDRESS": self.temporal,
            "TEMPORAL_NAMESPACE": self.client.namespace,
            "DURABLE_MEMORY_STORE": self.store,
        }

    def link(self, workflow_id: str, run_id: str) -> str:
        """Return the address of a workflow's run in Temporal's web page."""
        namespace = f"{self.web}/namespaces/{self.client.namespace}"
        return f"{namespace}/workflows/{workflow_id}/{run_id}/history"


@asynccontextmanager
async def embedded_stack(data: Path, *, port: int, ui_port: int) -> AsyncIterator[Stack]:
    """Run both servers on the folder `data` until the block ends.

    Raises:
        CommandError: The folder or a port cannot be used, or a server does not start.
    """
    folder = data / "postgres"
    check_postgres(folder)
    if port == ui_port:
        raise CommandError(f"--port and --ui-port are both {port}", exit_code=MISUSED)
    check_port(port, option="--port")
    check_port(ui_port, option="--ui-port")
    with _locked(data), postgres_server(folder) as store:
        database = data / "temporal.sqlite3"
        async with temporal_server(database=database, port=port, ui_port=ui_port) as temporal:
            yield Stack(
                store=store,
                temporal=f"{LOOPBACK}:{port}",
                web=f"http://{LOOPBACK}:{ui_port}",
                client=temporal.client,
            )


def check_port(port: int, *, option: str, host: str = LOOPBACK) -> None:
    """Check that a server can listen on the port that an option names.

    Raises:
        CommandError: It cannot; says why.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            in_use = error.errno == errno.EADDRINUSE
            reason = _IN_USE if in_use else f"cannot be used: {error.strerror}"
            raise CommandError(f"port {port} {reason} ({option})", exit_code=MISUSED) from None


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    """Hold the folder: two Temporal servers on one database file would spoil it."""
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = (data / ".lock").open("w")
    except OSError as error:
        raise CommandError(f"{data}: {error.strerror}", exit_code=MISUSED) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"{data} is in use by another durable-memory"
            raise CommandError(message, exit_code=MISUSED) from None
        yield
