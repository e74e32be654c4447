"""Steps as PostgreSQL's wire sees them: messages of the client and of the server.

The victim's one connection goes through this process. A message is looked at before it is passed
on; at the one where it is to happen, either the victim is killed or the backend is ended, and the
message is lost with the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import asyncpg

from .steps import ACKNOWLEDGE, Life
from .victims import BEGUN, Task, Victim, fork

Fate = Literal["victim", "backend"]
"""Who dies: the process of the store, or its backend in the server."""

_FROM_CLIENT = {
    "P": "Parse", "B": "Bind", "D": "Describe", "E": "Execute", "S": "Sync", "Q": "Query",
    "C": "Close", "H": "Flush", "X": "Terminate", "p": "Password",
}  # fmt: skip
_FROM_SERVER = {
    "R": "Authentication", "S": "ParameterStatus", "K": "BackendKeyData", "Z": "ReadyForQuery",
    "1": "ParseComplete", "2": "BindComplete", "3": "CloseComplete", "t": "ParameterDescription",
    "T": "RowDescription", "D": "DataRow", "C": "CommandComplete", "n": "NoData",
    "E": "ErrorResponse", "N": "Notice", "s": "PortalSuspended",
}  # fmt: skip
_TERMINATE = "SELECT pg_terminate_backend($1, 10000)"
_ALIVE = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"


@dataclass(frozen=True, kw_only=True)
class Wire:
    """Where victims connect in place of the server.

    Attributes:
        server: URL of the database; its socket is in a folder.
        folder: Where this process listens.
    """

    server: str
    folder: Path

    @property
    def url(self) -> str:
        """URL of the database through this process."""
        return f"{self.server.split('host=')[0]}host={self.folder}"

    def tracer(self, fate: Fate) -> Callable[[Task, Path, int], Life]:
        """Return the tracer of what goes over this wire."""

        def run(task: Task, _folder: Path, last: int) -> Life:
            with self._listening() as listener:
                passing = _Passing(wire=self, fate=fate, last=last, listener=listener)
                return passing.run(fork(task, listener.close))

        return run

    @contextlib.contextmanager
    def _listening(self) -> Iterator[socket.socket]:
        path = self.folder / ".s.PGSQL.5432"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            try:
                yield listener
            finally:
                path.unlink()

    def upstream(self) -> socket.socket:
        """Connect to the server itself."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self.server.split('host=')[1]}/.s.PGSQL.5432")
        return connection


@dataclass(kw_only=True)
class _Side:
    """One direction of a connection."""

    name: str
    source: socket.socket
    target: socket.socket
    begun: bool
    held: bytes = b""

    def messages(self) -> Iterator[tuple[str, bytes]]:
        """Read, and yield each whole message with its kind; raise `EOFError` at the end."""
        data = self.source.recv(65_536)
        if not data:
            raise EOFError
        self.held += data
        while (size := self._size()) is not None and len(self.held) >= size:
            message, self.held = self.held[:size], self.held[size:]
            kind = chr(message[0]) if self.begun else "startup"
            self.begun = True
            yield kind, message

    def _size(self) -> int | None:
        """The first message of a client has no kind before its length."""
        skipped = 1 if self.begun else 0
        if len(self.held) < skipped + 4:
            return None
        return skipped + int.from_bytes(self.held[skipped : skipped + 4])

    def label(self, kind: str) -> str:
        names = _FROM_CLIENT if self.name == "client" else _FROM_SERVER
        return f"{self.name}: {names.get(kind, kind)}"


@dataclass(kw_only=True)
class _Passing:
    """Passes on what both say, until the victim has ended."""

    wire: Wire
    fate: Fate
    last: int
    listener: socket.socket
    sides: list[_Side] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    backend: int = 0
    begun: bool = False
    done: bool = False

    def run(self, victim: Victim) -> Life:
        while True:
            sources = [self.listener, *(side.source for side in self.sides)]
            watched: list[int] = [victim.pipe, *(source.fileno() for source in sources)]
            ready, _, _ = select.select(watched, [], [])
            if victim.pipe in ready and not self._begins(victim):
                break
            if self.listener.fileno() in ready:
                self._connect()
            for side in [each for each in self.sides if each.source.fileno() in ready]:
                self._pass(side, victim)
        answer = victim.answer()
        _, status = os.waitpid(victim.pid, 0)
        self._cut()
        if self.backend:
            # What it was sent before the end, it may still be doing.
            asyncio.run(_until_gone(self.wire.server, self.backend))
        if not answer and not os.WIFSIGNALED(status):
            raise RuntimeError("the victim failed by itself; its traceback is above")
        if not self.done:
            self.steps.append(ACKNOWLEDGE)
        return Life(steps=self.steps, killed=self.done, answer=answer)

    def _begins(self, victim: Victim) -> bool:
        """Take note that the victim begins; `False` when it has said so before, or has ended."""
        if self.begun:
            return False
        self.begun = os.read(victim.pipe, len(BEGUN)) == BEGUN
        return self.begun

    def _connect(self) -> None:
        client, _ = self.listener.accept()
        server = self.wire.upstream()
        self.sides += [
            _Side(name="client", source=client, target=server, begun=False),
            _Side(name="server", source=server, target=client, begun=True),
        ]

    def _pass(self, side: _Side, victim: Victim) -> None:
        try:
            for kind, message in side.messages():
                if side.name == "server" and kind == "K":
                    self.backend = int.from_bytes(message[5:9])
                if self.begun and not self.done:
                    self.steps.append(side.label(kind))
                    if len(self.steps) == self.last:
                        self._strike(victim)
                        return
                side.target.sendall(message)
        except (EOFError, OSError):
            self._cut()

    def _strike(self, victim: Victim) -> None:
        self.done = True
        if self.fate == "victim":
            os.kill(victim.pid, signal.SIGKILL)
        elif self.backend:
            asyncio.run(_terminate(self.wire.server, self.backend))
        self._cut()

    def _cut(self) -> None:
        for side in self.sides:
            side.source.close()
        self.sides.clear()


async def _terminate(url: str, backend: int) -> None:
    """End a backend, and wait until it is gone."""
    connection = await asyncpg.connect(url)
    try:
        await connection.fetchval(_TERMINATE, backend)
    finally:
        await connection.close()


async def _until_gone(url: str, backend: int) -> None:
    """Wait until a backend has noticed that its client is gone."""
    connection = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(20):
            while await connection.fetchval(_ALIVE, backend):  # noqa: ASYNC110  (another's state)
                await asyncio.sleep(0.002)
    finally:
        await connection.close()
