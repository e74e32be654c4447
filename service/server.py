"""The server process: settings → stores → routes → socket."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from .. import logs
from ..notebook import InvalidMemoryRequest, MemoryStoreRefused, MemoryStoreUnavailable
from ..settings import Settings, SettingsError
from ..stores import Embedder, MemorySchemaMismatch, open_backend
from .app import create_app
from .protocol import Protocol

_BACKLOG = 512

_KEEP_ALIVE = 75
"""Seconds that an idle connection stays open: longer than HTTP clients keep one in their pools, so
that it is the client that ends it, and no request meets the end."""

_log = logging.getLogger("durable_memory.service")


async def serve(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    on_write: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT; then let running requests end, and close everything.

    Args:
        settings: Store, address, time to shut down.
        embedder: Adds meaning to search, where a worker with the same one embeds the entries.
        on_write: Called after each entry that was written, and so waits for its embedding.

    Raises:
        SettingsError: A variable cannot be used: the store is no database, or the address is taken.
        ConnectionError: The database does not answer.
    """
    listener = listen(settings.host, settings.port)
    with listener, _said_in_one_line():
        async with open_backend(
            settings.store.get_secret_value(),
            min_size=settings.pool_min_size,
            max_size=settings.pool_max_size,
            transaction_pooling=settings.transaction_pooling,
            migrate=settings.migrate,
            embedder=embedder,
        ) as backend:
            await _run(await create_app(backend, on_write=on_write), listener, settings)
    _log.info("stopped")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        SettingsError: The address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named: asyncio turns Nagle's algorithm off for no other socket, and each
    # answer would wait 40 ms for the client's acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or type(error).__name__
        raise SettingsError(f"DURABLE_MEMORY_HOST, DURABLE_MEMORY_PORT: {reason}") from None
    return listener


class Server(uvicorn.Server):
    """A server that whoever runs it stops: uvicorn's own ends the process by the signal it took."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals."""
        yield


def server(app: ASGIApp, *, graceful_shutdown: float) -> Server:
    """Return a server of an application that logs no URL and keeps to our loggers.

    Args:
        app: What to serve.
        graceful_shutdown: Seconds that running requests may go on after it is stopped.
    """
    config = uvicorn.Config(
        app,
        access_log=False,
        http=Protocol,
        log_config=None,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(graceful_shutdown)),
        ws="none",
    )
    return Server(config)


async def _run(app: ASGIApp, listener: socket.socket, settings: Settings) -> None:
    running = server(app, graceful_shutdown=settings.graceful_shutdown)

    def stop() -> None:
        running.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    host, port = listener.getsockname()[:2]
    _log.info("serving", extra=logs.fields(host=host, port=port))
    await running.serve(sockets=[listener])


@contextmanager
def _said_in_one_line() -> Iterator[None]:
    try:
        yield
    except (InvalidMemoryRequest, MemorySchemaMismatch, MemoryStoreRefused) as error:
        raise SettingsError(f"DURABLE_MEMORY_STORE: {error}") from None
    except MemoryStoreUnavailable as error:
        raise ConnectionError(f"DURABLE_MEMORY_STORE: {error}") from None
