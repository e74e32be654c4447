"""Reading a request's body: bounded in size and time, and to its end."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Message, Receive

from .errors import INVALID, ServiceError

MAX_BODY_BYTES = 1024 * 1024
"""Size of a request's body; 65,536 characters as JSON in ASCII are at most 786,432."""

MAX_BODY_SECONDS = 30.0
"""Time in which it has to arrive."""

_MAX_DRAINED_BYTES = 64 * 1024 * 1024


class ClientGone(Exception):  # noqa: N818  (nothing failed)
    """The client went away before it had sent its request."""


class Body:
    """The body of one request, read once, before the routes see the request.

    Args:
        receive: Gives the messages of the connection.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0
        self._more = True
        self._whole: bytes | None = None
        self._end = asyncio.get_running_loop().time() + MAX_BODY_SECONDS

    async def read(self) -> None:
        """Read it.

        Raises:
            ServiceError: It is too large or too slow; what there was of it has been dropped.
            ClientGone: It ended before its end.
        """
        pieces: list[bytes] = []
        while self._more and self._size <= MAX_BODY_BYTES:
            pieces.append(await self._piece())
        if self._size > MAX_BODY_BYTES:
            pieces.clear()
            raise ServiceError(413, INVALID, f"The body is over {MAX_BODY_BYTES} bytes.")
        self._whole = b"".join(pieces)

    async def drain(self) -> None:
        """Read what is left and drop it.

        A client that is cut off while it sends takes that for a lost connection, and the public
        ones then send again for minutes. One that is too slow is cut off all the same.
        """
        with suppress(ServiceError):
            while self._more and self._size <= _MAX_DRAINED_BYTES:
                await self._piece()
        self._whole = b""

    async def receive(self) -> Message:
        """Give the routes what was read, and then what the connection says."""
        if self._whole is None:
            return await self._receive()
        whole, self._whole = self._whole, None
        return {"type": "http.request", "body": whole, "more_body": False}

    async def _piece(self) -> bytes:
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            self._more = False
            slow = f"The body did not arrive within {MAX_BODY_SECONDS:.0f} seconds."
            raise ServiceError.invalid(slow) from None
        if message["type"] == "http.disconnect":
            self._more = False
            raise ClientGone
        piece: bytes = message.get("body", b"")
        self._size += len(piece)
        self._more = message.get("more_body", False)
        return piece
