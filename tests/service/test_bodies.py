"""Bodies that do not arrive."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from durable_memory.service.bodies import Body
from durable_memory.service.errors import ServiceError


async def _never() -> Message:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("unreachable")


def _late() -> Body:
    """A body whose time is over, and of which nothing has come."""
    body = Body(_never)
    body._end = asyncio.get_running_loop().time()
    return body


async def test_body_that_is_too_slow_is_refused() -> None:
    """Whoever waits for it is told after its time."""
    with pytest.raises(ServiceError, match="did not arrive"):
        await _late().read()


async def test_body_that_nobody_wants_is_not_waited_for() -> None:
    """What is dropped fails no request: its answer goes out although the body never came."""
    body = _late()
    await body.drain()
    assert await body.receive() == {"type": "http.request", "body": b"", "more_body": False}
