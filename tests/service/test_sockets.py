"""What is hardly HTTP, or none, on the socket: it is answered in order like everything else."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
from services import AGENTS, PATIENCE, STORES, Caller, Service, code, serving

from durable_memory.cli.faults import until
from durable_memory.stores import PostgresTokenStore

INVALID = (400, "INVALID_PARAMETER_VALUE")
UNAUTHENTICATED = (401, "UNAUTHENTICATED")
LONG = b"x" * 20_000_000
"""More than a socket's buffers hold, so that a server that stops reading cuts its client off."""


@contextmanager
def _connection(service: Service) -> Iterator[socket.socket]:
    address = urlsplit(service.url)
    place = (str(address.hostname), int(address.port or 0))
    with socket.create_connection(place, timeout=PATIENCE) as connection:
        yield connection


def _answer(connection: socket.socket) -> httpx.Response:
    response = HTTPResponse(connection)
    response.begin()
    headers = response.getheaders()
    return httpx.Response(response.status, headers=headers, content=response.read())


def _said(service: Service, sent: bytes) -> httpx.Response:
    with _connection(service) as connection:
        connection.sendall(sent)
        return _answer(connection)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/x.y\r\nHost: x\r\n\r\n",
        "GET /ü HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /" + LONG + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: " + LONG + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3_000_000 + b"\r\n",
    ],
    ids=lambda sent: repr(sent[:60]),
)
def test_what_is_no_http_is_invalid(service: Service, sent: bytes) -> None:
    """A request that cannot be read is INVALID_PARAMETER_VALUE in JSON, and the end."""
    refused = _said(service, sent)
    assert code(refused) == INVALID
    assert refused.headers["content-type"] == "application/json"
    assert refused.headers["connection"] == "close"


@pytest.mark.parametrize(
    "body",
    [b"garbage\r\n", b"-1\r\n", b"5\r\nhello", b"ffffffffffffffffffffffff\r\n", b"zz" * 10_000_000],
    ids=lambda body: repr(body[:20]),
)
@pytest.mark.parametrize("path", [f"{STORES}/a-store/entries", "/telemetry-ext"])
def test_garbage_in_chunks_is_invalid(
    service: Service, alice: Caller, path: str, body: bytes
) -> None:
    """A request that goes bad within its body is answered once, and nothing is logged as ours."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {alice.token}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    tail = b"X" * 100 + b"\r\n"
    with _connection(service) as connection:
        connection.sendall(head.encode() + b"2\r\n{}\r\n" + body + tail)
        assert code(_answer(connection)) == INVALID
        assert connection.recv(1) == b""
    assert '"error"' not in service.log.read_text()


def test_garbage_behind_a_request_spoils_nothing(service: Service) -> None:
    """A good request is answered, and then what follows it and is none."""
    with _connection(service) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nno\x00request\r\n\r\n")
        stream = connection.makefile("rb")
        said = stream.read()
    assert said.count(b"HTTP/1.1 ") == 2
    first, _, second = said.partition(b"HTTP/1.1 400")
    assert b'{"status":"ok"}' in first
    assert b'"error_code":"INVALID_PARAMETER_VALUE"' in second


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"GET /healthz HTTP/1.0\r\n\r\n", 200),
        (b"GET / HTTP/1.0\r\n\r\n", UNAUTHENTICATED),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200),
        (
            b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            UNAUTHENTICATED,
        ),
        (b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", UNAUTHENTICATED),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", UNAUTHENTICATED),
        (b"GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n", UNAUTHENTICATED),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", UNAUTHENTICATED),
        (b"GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", UNAUTHENTICATED),
        (b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n", UNAUTHENTICATED),
        (b"POST /healthz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", 405),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_odd_is_answered_in_order(
    service: Service, sent: bytes, expected: int | tuple[int, str]
) -> None:
    """HTTP/1.0, upgrades, proxies' requests and other versions are served or refused in JSON."""
    response = _said(service, sent)
    if isinstance(expected, int):
        assert response.status_code == expected
        assert response.headers["content-type"] == "application/json"
    else:
        assert code(response) == expected


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "OPTIONS", "BREW"])
def test_odd_methods_of_a_caller_are_refused(service: Service, alice: Caller, method: str) -> None:
    """A method that no route has is refused by every route in JSON."""
    for path in ("/x", f"{STORES}/a-store", f"{AGENTS}/memory-pipelines"):
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {alice.token}\r\n\r\n"
        assert code(_said(service, head.encode()))[0] in {404, 405}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/telemetry-ext", 200),
        ("POST", "/healthz", 405),
        ("GET", "/.well-known/databricks-config", 200),
        ("GET", "/openapi.json", 200),
    ],
)
def test_bodies_of_strangers_are_dropped(
    service: Service, method: str, path: str, status: int
) -> None:
    """What is sent without a token is read to its end and kept nowhere, however long it is."""
    sent = httpx.request(method, f"{service.url}{path}", content=LONG)
    assert sent.status_code == status


async def test_token_that_is_revoked_while_the_body_arrives(
    service: Service, new_caller: Callable[[str], Awaitable[Caller]], service_pool: asyncpg.Pool
) -> None:
    """A request that was begun before its token was revoked changes nothing after."""
    caller = await new_caller("slow@example.com")
    store = f"slow-{uuid.uuid4().hex[:8]}"
    caller.http.post(STORES, params={"managed_memory_store_id": store}, json={})
    body = json.dumps({"actor_id": "ann", "path": "/a", "content": "x"}).encode()
    with _connection(service) as connection:
        connection.sendall(
            f"POST /v1/memory-stores/{store}/entries:put HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {caller.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body[:5]
        )
        late = time.monotonic() + 1.5
        assert await PostgresTokenStore(service_pool).revoke_token(caller.token.split("_")[1])
        await until(lambda: _after(late), "a second and a half")
        connection.sendall(body[5:])
        assert code(_answer(connection)) == UNAUTHENTICATED
    count = "SELECT count(*) FROM durable_memory.documents WHERE store = $1"
    assert await service_pool.fetchval(count, store) == 0


async def _after(moment: float) -> bool:
    return time.monotonic() > moment


def test_the_end_of_the_service_is_said_to_who_is_sending(
    service_database: str, alice: Caller, tmp_path: Path
) -> None:
    """A request whose body is under way when the service stops has the body of every error."""
    log = tmp_path / "log"
    with (
        serving(service_database, log, DURABLE_MEMORY_GRACEFUL_SHUTDOWN="1") as service,
        _connection(service) as connection,
    ):
        connection.sendall(
            f"POST {STORES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {alice.token}\r\n"
            "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert connection.recv(12) == b"HTTP/1.1 100"
        connection.recv(100)
        os.kill(service.pid, signal.SIGTERM)
        assert code(_answer(connection)) == (504, "UNAVAILABLE")
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (f"{STORES}/x/entries", "actor_id=ann&actor_id=bob"),
        (f"{STORES}/x/entries", "actor_id=ann&%61ctor_id=bob"),
        (STORES, "page_size=1&page_size=2"),
    ],
)
def test_parameter_that_is_named_twice_is_refused(alice: Caller, path: str, query: str) -> None:
    """Of two values none is chosen."""
    answer = alice.http.get(f"{path}?{query}")
    assert code(answer) == INVALID
    assert "twice" in answer.json()["message"]
