"""What the store needs of a pool, and pools made to its taste."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ...notebook import InvalidMemoryRequest
from .errors import translated
from .urls import check_url

if TYPE_CHECKING:
    import asyncpg


class PostgresConnection(Protocol):
    """A connection, as far as the store uses it."""

    def transaction(self, *, isolation: str) -> AbstractAsyncContextManager[object]:
        """Open a transaction of that isolation: `read_committed`."""
        ...

    async def execute(
        self,
        query: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  (asyncpg's name)
    ) -> object:
        """Run a script."""
        ...

    async def fetchrow(
        self,
        query: str,
        *args: object,
        timeout: float | None = None,  # noqa: ASYNC109  (asyncpg's name)
    ) -> Mapping[str, Any] | None:
        """Return the first row, by column name, or `None`."""
        ...

    async def fetch(
        self,
        query: str,
        *args: object,
        timeout: float | None = None,  # noqa: ASYNC109  (asyncpg's name)
    ) -> Sequence[Mapping[str, Any]]:
        """Return all rows."""
        ...


class PostgresPool(Protocol):
    """A pool, as far as the store uses it: asyncpg's, or one that looks like it.

    Parameters are `$1`, `$2`; text, integers, booleans and aware datetimes go in and come out as
    Python's own. Errors of the database carry `sqlstate`.
    """

    def acquire(
        self, *, timeout: float | None = None
    ) -> AbstractAsyncContextManager[PostgresConnection]:
        """Lend a connection, waiting at most `timeout` seconds for one."""
        ...


def server_settings(*, application_name: str, statement_timeout: float) -> dict[str, str]:
    """Return what every connection of our pools is set to.

    READ COMMITTED is what the functions are written for. JIT compiles for longer than any of the
    statements run. A backend whose client stopped in a transaction must not hold its row locks.
    """
    milliseconds = str(int(statement_timeout * 1000))
    return {
        "application_name": application_name,
        "default_transaction_isolation": "read committed",
        "statement_timeout": milliseconds,
        "idle_in_transaction_session_timeout": milliseconds,
        "jit": "off",
    }


async def create_pool(
    url: str,
    *,
    min_size: int = 1,
    max_size: int = 10,
    application_name: str = "durable-memory",
    connect_timeout: float = 5.0,
    statement_timeout: float = 30.0,
    transaction_pooling: bool = False,
) -> asyncpg.Pool:
    """Open a pool for `PostgresMemoryStore`; the caller closes it.

    Connections are not reset when they come back, which would be a round trip for each call: use
    the pool for the store only.

    Args:
        url: A `postgresql://` URL.
        min_size: Connections opened at once.
        max_size: Connections at most.
        application_name: Shown in `pg_stat_activity`.
        connect_timeout: Seconds to open a connection.
        statement_timeout: Seconds a statement may run, or a transaction may be idle.
        transaction_pooling: The URL is of a proxy that gives each transaction another server
            connection (PgBouncer in transaction mode): prepared statements are not kept, which
            costs a round trip for each call, and connections are set by the server's defaults,
            since such a proxy refuses settings of the client.

    Raises:
        InvalidMemoryRequest: The URL is not one, the sizes do not fit each other, or a time-out is
            not positive.
        MemoryStoreRefused: There is no such database, or it refused the login.
        MemoryStoreUnavailable: No connection could be opened.
    """
    import asyncpg  # noqa: PLC0415  (importing the stores must not import the driver)

    _check_sizes(min_size, max_size)
    _check_times(connect_timeout=connect_timeout, statement_timeout=statement_timeout)
    check_url(url)

    settings = server_settings(
        application_name=application_name, statement_timeout=statement_timeout
    )
    if transaction_pooling:
        settings = {"application_name": application_name}
    with translated(), _usable_url():
        return await asyncpg.create_pool(
            url,
            min_size=min_size,
            max_size=max_size,
            timeout=connect_timeout,
            command_timeout=statement_timeout + connect_timeout,
            reset=_keep,
            server_settings=settings,
            statement_cache_size=0 if transaction_pooling else 100,
        )


async def connect(url: str, *, application_name: str, connect_timeout: float) -> asyncpg.Connection:
    """Open one connection outside a pool; errors as `create_pool`, not yet translated."""
    import asyncpg  # noqa: PLC0415  (importing the stores must not import the driver)

    check_url(url)
    with _usable_url():
        return await asyncpg.connect(
            url,
            timeout=connect_timeout,
            statement_cache_size=0,
            server_settings={"application_name": application_name},
        )


def _check_sizes(min_size: int, max_size: int) -> None:
    if not (max_size >= 1 and 0 <= min_size <= max_size):
        raise InvalidMemoryRequest("min_size must be from 0 to max_size, and max_size at least 1")


def _check_times(**seconds: float) -> None:
    for name, value in seconds.items():
        if not value > 0:
            raise InvalidMemoryRequest(f"{name} must be positive")


@contextmanager
def _usable_url() -> Iterator[None]:
    """Say that the driver cannot use the URL without repeating it: it may hold a password."""
    import asyncpg  # noqa: PLC0415  (as above)

    try:
        yield
    except asyncpg.exceptions.ClientConfigurationError:
        raise InvalidMemoryRequest(
            "the driver cannot use a parameter of the database's URL, or a PG* variable"
        ) from None


async def _keep(_connection: object) -> None:
    """Leave a returned connection as it is: the store changes no session state."""
