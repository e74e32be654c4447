"""Opening a store by its URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote

from ..notebook import InvalidMemoryRequest
from .file import FileMemoryStore
from .memory import InMemoryStore
from .postgres import (
    POSTGRES_SCHEMES,
    PostgresMemoryStore,
    check_url,
    create_pool,
    ensure_compatible,
)
from .postgres import migrate as migrate_schema
from .protocols import MemoryStore
from .sqlite import SqliteMemoryStore

IN_MEMORY = "memory:"
"""URL of the in-memory store."""

_LOCAL_SCHEMES = frozenset({"file", "sqlite"})


def check_store_url(url: str) -> None:
    """Check that `url` names a store: the one place that says which URLs do.

    Raises:
        InvalidMemoryRequest: It does not; it is not repeated, since it may hold a password.
    """
    if _scheme(url) in POSTGRES_SCHEMES:
        check_url(url)
    elif _scheme(url) in _LOCAL_SCHEMES:
        local_path(url)
    elif _scheme(url) != "memory":
        raise InvalidMemoryRequest(
            f"the store's URL must begin with {IN_MEMORY}, file:///, sqlite:/// or postgresql://"
        )
    elif url != IN_MEMORY:
        raise InvalidMemoryRequest(f"the in-memory store's URL must be exactly {IN_MEMORY}")


def local_path(url: str) -> Path:
    """Return the absolute path that a `file:///` or `sqlite:///` URL names.

    Raises:
        InvalidMemoryRequest: It names none; the URL is not repeated.
    """
    scheme, _, rest = url.partition("://")
    path = unquote(rest, errors="surrogateescape")
    if not rest.startswith("/") or "?" in rest or "#" in rest or "\0" in path:
        raise InvalidMemoryRequest(
            f"the store's URL must be {_scheme(scheme)}:/// and an absolute path, with %3F and %23 "
            "for a question mark and a number sign"
        )
    if not path.strip("/"):
        raise InvalidMemoryRequest(f"the store's URL must name something below {scheme}:///")
    return Path(path)


@asynccontextmanager
async def open_store(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    transaction_pooling: bool = False,
    migrate: bool = True,
) -> AsyncIterator[MemoryStore]:
    """Open the store at `url`, and close it on leaving.

    Args:
        url: `memory:`; `file:///` and a directory's path; `sqlite:///` and a file's path; or
            `postgres://` / `postgresql://` and so on. Paths are absolute, percent-encoded.
        min_size: Connections of Postgres opened at once.
        max_size: Connections of Postgres at most.
        transaction_pooling: The URL is of a transaction-pooling proxy.
        migrate: Whether to bring the schema of Postgres up to date first.

    Raises:
        InvalidMemoryRequest: As `check_store_url`, or the sizes do not fit each other.
        MemorySchemaMismatch: The database and this release do not fit each other.
        MemoryStoreRefused: There is no such database, or it refused the login.
        MemoryStoreUnavailable: The database did not answer.
    """
    check_store_url(url)
    if url == IN_MEMORY:
        yield InMemoryStore()
    elif _scheme(url) == "file":
        async with FileMemoryStore(local_path(url)) as files:
            # What is wrong with the path is found now, and not by the first workflow.
            await files.list_paths(limit=1)
            yield files
    elif _scheme(url) == "sqlite":
        async with SqliteMemoryStore(local_path(url)) as database:
            await database.list_paths(limit=1)
            yield database
    else:
        async with _open_postgres(
            url, min_size, max_size, transaction_pooling=transaction_pooling, migrate=migrate
        ) as store:
            yield store


@asynccontextmanager
async def _open_postgres(
    url: str, min_size: int, max_size: int, *, transaction_pooling: bool, migrate: bool
) -> AsyncIterator[MemoryStore]:
    if migrate:
        await migrate_schema(url)
    pool = await create_pool(
        url, min_size=min_size, max_size=max_size, transaction_pooling=transaction_pooling
    )
    async with pool:
        await ensure_compatible(pool)
        yield PostgresMemoryStore(pool)


def _scheme(url: str) -> str:
    return url.partition(":")[0]
