"""Calls of the database: budgets, retries of serialization failures, errors.

Time
----
A call with a deadline is ended three times, by whoever can:

1. the database stops waiting for a lock (`lock_timeout`, set from the deadline inside the
   function), and refuses the change when the deadline has passed;
2. the client stops waiting a moment later, and cancels the statement;
3. the connection's own `statement_timeout` ends a statement whose client is gone.

Only the refusal says that nothing was changed. A wait that ends with the deadline may have been for
the row, or for an earlier attempt of the operation that is about to commit: the call is repeated.
As its deadline has passed by then, it finds the receipt, or is refused before it waits for the row,
or meets the earlier attempt again. Then, and after the second end, the outcome is unknown: the
error is a retryable one.

Isolation
---------
The functions are written for READ COMMITTED. On a caller's pool with a stricter default they still
never do the wrong thing: a change under their feet is a serialization failure, which rolls all of
it back. It is repeated in an explicit READ COMMITTED transaction. So a change of a file
that meets nobody costs one round trip on any pool, and one that does is not starved by repeating it
under rules that make the loser of every race fail. The functions of entries refuse stricter rules
at once: on such a pool each of their changes is repeated so, and costs five.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime

from ...notebook import MemoryStoreUnavailable
from ..checks import remaining
from .errors import (
    DEADLOCK_DETECTED,
    LOCK_NOT_AVAILABLE,
    SERIALIZATION_FAILURE,
    sqlstate,
    translated,
)
from .pool import PostgresConnection, PostgresPool
from .queries import query
from .rows import Row

_ATTEMPTS = 5
_GRACE = 1.0
"""Seconds that the client waits after a deadline, to hear what the database made of it."""

_SET_LOCAL = "SET LOCAL idle_in_transaction_session_timeout = '10s'"
"""A client that stops between the statements must not hold the row lock for ever."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Runs named queries on a pool.

    Attributes:
        pool: Whose connections are used, one for each call.
        timeout: Seconds that a call may take, with all its waits and attempts.
        writers: Held by each change, so that changes that wait for a lock leave connections to
            reads; bounds nothing by default.
    """

    pool: PostgresPool
    timeout: float
    writers: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)

    @property
    def timeout_ms(self) -> int:
        """The timeout in milliseconds."""
        return max(1, int(self.timeout * 1000))

    async def row(self, name: str, *args: object) -> Row | None:
        """Return the first row of a query that changes nothing."""
        rows = await self.rows(name, *args)
        return rows[0] if rows else None

    async def rows(self, name: str, *args: object) -> Sequence[Row]:
        """Return the rows of a query that changes nothing."""
        with translated():
            async with asyncio.timeout(self.timeout):
                async with self.pool.acquire(timeout=self.timeout) as connection:
                    return await connection.fetch(query(name), *args, timeout=self.timeout)

    async def mutate(self, name: str, *args: object, deadline: datetime | None = None) -> Row:
        """Return the row of a function that changes something."""
        rows = await self.mutate_rows(name, *args, deadline=deadline)
        if not rows:
            raise MemoryStoreUnavailable("The database gave no answer.")
        return rows[0]

    async def mutate_rows(
        self, name: str, *args: object, deadline: datetime | None = None
    ) -> Sequence[Row]:
        """Return the rows of a function that changes something."""
        budget = self._budget(deadline)
        with translated():
            async with asyncio.timeout(budget), self.writers:
                for attempt in range(_ATTEMPTS - 1):
                    try:
                        return await self._attempt(name, args, budget, anew=attempt > 0)
                    except Exception as error:
                        if not (_is_lost_race(error) or (deadline and _is_lock_timeout(error))):
                            raise
                return await self._attempt(name, args, budget, anew=True)

    async def _attempt(
        self, name: str, args: Sequence[object], budget: float, *, anew: bool
    ) -> Sequence[Row]:
        async with self.pool.acquire(timeout=budget) as connection:
            if anew:
                return await _read_committed(connection, name, args, budget)
            return await connection.fetch(query(name), *args, timeout=budget)

    def _budget(self, deadline: datetime | None) -> float:
        left = remaining(deadline)
        return self.timeout if left is None else min(self.timeout, left + _GRACE)


async def _read_committed(
    connection: PostgresConnection, name: str, args: Sequence[object], budget: float
) -> Sequence[Row]:
    async with connection.transaction(isolation="read_committed"):
        await connection.execute(_SET_LOCAL, timeout=budget)
        return await connection.fetch(query(name), *args, timeout=budget)


def _is_lost_race(error: Exception) -> bool:
    return sqlstate(error) in (SERIALIZATION_FAILURE, DEADLOCK_DETECTED)


def _is_lock_timeout(error: Exception) -> bool:
    return sqlstate(error) == LOCK_NOT_AVAILABLE
