"""HTTP/1.1 on a socket, by uvicorn: what cannot be read has the body of every other error."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .errors import ServiceError, answer

_LINGER = 2.0
"""Seconds for which more of a refused request is taken and dropped.

A socket that is closed with something unread cuts its client off, which may then never see the
answer, and would send again.
"""

_UNREADABLE = "The request is not HTTP/1.1, or its head is too long."


class Protocol(H11Protocol):
    """One connection of a client."""

    _refused = False

    def data_received(self, data: bytes) -> None:
        """Take what came; what follows a request that could not be read is dropped."""
        if not self._refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (uvicorn's words)
        """Answer a request that cannot be read, and close.

        It may have begun as a good one, and the boundary wait for the rest of its body: no route
        has seen it, and what waits is told by the end of the connection that the client has gone.
        """
        self._refused = True
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        self._send(answer(ServiceError.invalid(_UNREADABLE)).body)
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(_LINGER, self.transport.close)

    def shutdown(self) -> None:
        """End, as the server does; not later for a request that was refused."""
        if self._refused:
            self.transport.close()
        else:
            super().shutdown()

    def _send(self, body: bytes | memoryview) -> None:
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
