"""One service for all tests, as a process on a database of its own; callers and memory stores."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import asyncpg
import httpx
import pytest
import pytest_asyncio
from backends import database_url, new_database
from services import STORES, Caller, Service, serving

from durable_memory.stores import (
    PostgresTokenStore,
    Principal,
    PrincipalType,
    create_pool,
    issue_token,
    migrate,
)

NewCaller = Callable[..., Awaitable[Caller]]
Fill = Callable[[str, str, int], Awaitable[None]]


@pytest_asyncio.fixture(scope="session")
async def service_database(postgres_url: str) -> AsyncIterator[str]:
    """URL of the service's database."""
    async with new_database(postgres_url) as name:
        await migrate(url := database_url(postgres_url, name))
        yield url


@pytest_asyncio.fixture(scope="session")
async def service_pool(service_database: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool on the service's database."""
    async with await create_pool(service_database, max_size=10) as opened:
        yield opened


@pytest.fixture(scope="session")
def service(service_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service."""
    log = Path(tmp_path_factory.mktemp("service")) / "log"
    with serving(service_database, log) as running:
        yield running


@pytest_asyncio.fixture(scope="session")
async def new_caller(service: Service, service_pool: asyncpg.Pool) -> AsyncIterator[NewCaller]:
    """Makes callers with tokens of their own."""
    opened: list[httpx.Client] = []
    tokens = PostgresTokenStore(service_pool)

    async def make(name: str, *, admin: bool = False, program: bool = False) -> Caller:
        kind = PrincipalType.SERVICE_PRINCIPAL if program else PrincipalType.USER
        text, token = issue_token(Principal(type=kind, name=name), admin=admin)
        await tokens.add_token(token)
        headers = {"Authorization": f"Bearer {text}"}
        http = httpx.Client(base_url=service.url, headers=headers, timeout=30)
        opened.append(http)
        return Caller(name=name, token=text, http=http)

    yield make
    for http in opened:
        http.close()


@pytest_asyncio.fixture(scope="session")
async def alice(new_caller: NewCaller) -> Caller:
    """Makes most memory stores."""
    return await new_caller("alice@example.com")


@pytest_asyncio.fixture(scope="session")
async def bob(new_caller: NewCaller) -> Caller:
    """Has nothing until it is granted."""
    return await new_caller("bob@example.com")


@pytest_asyncio.fixture(scope="session")
async def admin(new_caller: NewCaller) -> Caller:
    """Manages the grants of every memory store."""
    return await new_caller("root@example.com", admin=True)


_FILL = """
INSERT INTO durable_memory.documents
    (store, actor, session, path, content, description, version, chars,
    entry_id, source_type, origin)
SELECT $1, $2, '', '/many/' || number, 'text', '', nextval('durable_memory.versions'), 4,
    'many-' || number, 'AGENT', ''
FROM generate_series(1, $3::integer) AS number
"""


@pytest.fixture(scope="session")
def fill(service_pool: asyncpg.Pool) -> Fill:
    """Puts many small entries into an actor's partition at once."""

    async def work(store: str, actor: str, count: int) -> None:
        await service_pool.execute(_FILL, store, actor, count)

    return work


_numbers = itertools.count(1)


@pytest.fixture
def store(alice: Caller) -> str:
    """Id of a new memory store of alice's."""
    name = f"store-{next(_numbers)}-{uuid.uuid4().hex[:8]}"
    made = alice.http.post(STORES, params={"managed_memory_store_id": name}, json={})
    assert made.status_code == 200, made.text
    return name
