"""What every request passes before a route sees it, and what is left when one fails.

In this order: a token that is known, a query that is UTF-8 and says nothing twice, a body that is
neither too large nor too slow, and the token once more where the body was slow. Without a token
nothing is parsed and nothing is kept in memory: the routes that need none have no body, and one
that is sent is dropped. What comes out of a route is answered by `errors.py`, whatever it is.

The log has a line for each request that was answered: the name of its route and not its URL,
status, milliseconds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import logs
from ..stores import Token, TokenStore, authenticate
from .bodies import Body, ClientGone
from .errors import STOPPING, ServiceError, answer, handle

_CALLER = "durable_memory.caller"
_OPEN = frozenset(
    {"/.well-known/databricks-config", "/telemetry-ext", "/healthz", "/openapi.json", "/docs"}
)

_FRESH = 1.0
"""Seconds that a token's check holds while the body arrives: it may be revoked meanwhile."""

_log = logging.getLogger("durable_memory.service")


class Boundary:
    """The outermost application.

    Args:
        app: The routes.
        tokens: Whom to let in.
    """

    def __init__(self, app: ASGIApp, tokens: TokenStore) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        watched = _Watched(send)
        began = time.perf_counter()
        try:
            await self._answer(scope, Body(receive), watched)
        except ClientGone:
            return
        _report(scope, watched.status, time.perf_counter() - began)

    async def _answer(self, scope: Scope, body: Body, send: _Watched) -> None:
        try:
            await self._serve(scope, body, send)
        except ClientGone:
            raise
        except asyncio.CancelledError:
            # By the server, which stops and has waited: nobody else ends a request.
            if not send.status:
                await answer(STOPPING)(scope, body.receive, send)
        except Exception as error:  # noqa: BLE001  (whatever it is, it is answered and logged)
            # What came out of a route was answered there, and only passes by here.
            if not send.status:
                await body.drain()
                response = await handle(Request(scope), error)
                await response(scope, body.receive, send)

    async def _serve(self, scope: Scope, body: Body, send: Send) -> None:
        if scope["path"] in _OPEN:
            await body.drain()
        else:
            await self._admit(scope, body)
        await self._app(scope, body.receive, send)

    async def _admit(self, scope: Scope, body: Body) -> None:
        request = Request(scope)
        scope[_CALLER] = await self._authenticate(request)
        _check_query(scope["query_string"])
        began = time.monotonic()
        await body.read()
        if time.monotonic() - began > _FRESH:
            scope[_CALLER] = await self._authenticate(request)

    async def _authenticate(self, request: Request) -> Token:
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        found = await authenticate(self._tokens, text.strip())
        if found is None or kind.lower() != "bearer":
            raise ServiceError(
                401, "UNAUTHENTICATED", "Send a valid token: Authorization: Bearer dm_…"
            )
        return found


class _Watched:
    """Passes a response on, and remembers its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


def _check_query(query: bytes) -> None:
    try:
        text = unquote_to_bytes(query).decode()
    except UnicodeDecodeError:
        raise ServiceError.invalid("The query is not UTF-8.") from None
    names = [
        name for name, _ in parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True)
    ]
    if text and len(names) > len(set(names)):
        raise ServiceError.invalid("The query names a parameter twice.")


def token_of(request: Request) -> Token:
    """Return the token that a request came with."""
    found: Token = request.scope[_CALLER]
    return found


def _report(scope: Scope, status: int, seconds: float) -> None:
    operation = getattr(scope.get("endpoint"), "__name__", "")
    line = logs.fields(operation=operation, status=status, ms=round(seconds * 1000, 1))
    _log.info("request", extra=line)
