"""A wire between driver and server that counts what waits for an answer, and can be cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_ANSWERED = frozenset("QSH")
"""Messages of the client that the server answers at once: Query, Sync, Flush."""


@dataclass(kw_only=True)
class Wire:
    """What went over the wire.

    Attributes:
        url: URL of the database through the wire.
        messages: Messages of the client since the last look, by type.
        received: Bytes that the server has sent.
        muted: Whether what the server says is held back.
    """

    url: str
    messages: Counter[str] = field(default_factory=Counter)
    received: int = 0
    muted: bool = False
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    pipes: list[asyncio.StreamWriter] = field(default_factory=list)

    def round_trips(self) -> int:
        """Return how often the client waited for an answer since the last look."""
        trips = sum(self.messages[kind] for kind in _ANSWERED)
        self.messages.clear()
        return trips

    def mute(self) -> None:
        """Hold back what the server says from now on; `answered` is set when it says something."""
        self.muted = True
        self.answered.clear()

    def cut(self) -> None:
        """Close every connection, and let the next ones through."""
        self.muted = False
        for pipe in self.pipes:
            pipe.transport.abort()
        self.pipes.clear()


@asynccontextmanager
async def wire(url: str, folder: Path) -> AsyncIterator[Wire]:
    """Lay a wire to the server at `url`, whose socket is in a folder; listens in `folder`."""
    head, socket = url.split("host=")
    through = Wire(url=f"{head}host={folder}")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = await asyncio.open_unix_connection(f"{socket}/.s.PGSQL.5432")
        through.pipes += [writer, upstream[1]]
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await asyncio.gather(
                _count(through, reader, upstream[1]), _answer(through, upstream[0], writer)
            )
        writer.transport.abort()
        upstream[1].transport.abort()

    server = await asyncio.start_unix_server(serve, folder / ".s.PGSQL.5432")
    try:
        yield through
    finally:
        through.cut()
        server.close()
        await server.wait_closed()


async def _count(through: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what the client says, message by message."""
    first = await reader.readexactly(4)
    writer.write(first + await reader.readexactly(int.from_bytes(first) - 4))
    while head := await reader.readexactly(5):
        through.messages[chr(head[0])] += 1
        writer.write(head + await reader.readexactly(int.from_bytes(head[1:]) - 4))


async def _answer(
    through: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Pass on what the server says, unless it is held back."""
    while data := await reader.read(65536):
        through.received += len(data)
        if through.muted:
            through.answered.set()
        else:
            writer.write(data)
    writer.close()
