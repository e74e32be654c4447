"""What the handles of one workflow run share: counters, order, and room for records.

Handles opened on the same scope in one run share its counters and its order, nothing else. The
registry is keyed weakly by the run's event loop, which is the same object in `@workflow.init` and
in the run method, and goes with the run. It is rebuilt by replay, like all workflow state.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import MAX_TASK_BYTES, CallRecord, Record


@dataclass(slots=True)
class ScopeState:
    """One scope, or one partition of entries, in one run.

    Attributes:
        counts: How many identical calls were made, by the run's identity and the fingerprint.
        free: Numbers that were given back, as `counts`.
        order: Held by the mutation that is under way; waiters go first come, first served.
        unsettled: Requests that settle mutations of unknown outcome; the next mutation waits for
            them.
    """

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    free: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    order: asyncio.Lock = field(default_factory=asyncio.Lock)
    unsettled: list[Record] = field(default_factory=list)

    def counter(self, run: str) -> Counter[str]:
        """Return the calls counted under one identity of the run."""
        return self.counts.setdefault(run, Counter())

    def next_n(self, run: str, fingerprint: str) -> int:
        """Count one more call with this fingerprint and return its number, from 1."""
        key = _short(fingerprint)
        if free := self.free.get((run, key)):
            n = min(free)
            free.remove(n)
            return n
        counter = self.counter(run)
        counter[key] += 1
        return counter[key]

    def give_back(self, run: str, fingerprint: str, n: int) -> None:
        """Give back a number whose call was never sent, for the next identical call.

        A number that nothing stands for would be filled by a branch that begins before it (after a
        reset), beside what this branch wrote under the next number: twice the same.
        """
        self.free.setdefault((run, _short(fingerprint)), set()).add(n)

    def resume(self, run: str, counts: Mapping[str, int]) -> None:
        """Go on from the counts that another run carried over; never backwards."""
        counter = self.counter(run)
        for fingerprint, count in counts.items():
            counter[fingerprint] = max(counter[fingerprint], count)


def _short(fingerprint: str) -> str:
    """Return what a fingerprint is counted by: counters are carried through continue-as-new.

    Two calls that share it count together, which leaves out numbers and does no harm.
    """
    return fingerprint[:16]


@dataclass(slots=True)
class Room:
    """Keeps what one workflow task holds within bounds.

    Records are counted from being scheduled until they are completed. An activity never completes
    in the workflow task that scheduled it, so the records of one task are all counted at its end.
    A local activity can; `claim_local` therefore counts by workflow task.
    """

    in_flight: int = 0
    local_task: int = -1
    local_bytes: int = 0

    @asynccontextmanager
    async def take(self, size: int) -> AsyncIterator[None]:
        """Wait until `size` encoded bytes fit beside what is under way."""
        # Several waiters are woken by one condition: each looks again before it goes.
        while self.in_flight + size > MAX_TASK_BYTES:
            await workflow.wait_condition(lambda: self.in_flight + size <= MAX_TASK_BYTES)
        self.in_flight += size
        try:
            yield
        finally:
            self.in_flight -= size

    def claim_local(self, size: int) -> bool:
        """Return whether a local activity's result of `size` bytes fits into this task."""
        task = workflow.info().get_current_history_length()
        if task != self.local_task:
            self.local_task, self.local_bytes = task, 0
        if self.local_bytes + size > MAX_TASK_BYTES:
            return False
        self.local_bytes += size
        return True


@dataclass(slots=True)
class RunState:
    """One workflow run."""

    scopes: dict[str, ScopeState] = field(default_factory=dict)
    room: Room = field(default_factory=Room)

    def scope(self, key: str) -> ScopeState:
        """Return the state of the scope or partition with this key."""
        return self.scopes.setdefault(key, ScopeState())


_runs: WeakKeyDictionary[asyncio.AbstractEventLoop, RunState] = WeakKeyDictionary()


def current_run() -> RunState:
    """Return the state of the run that is executing."""
    return _runs.setdefault(asyncio.get_running_loop(), RunState())


@dataclass(frozen=True, kw_only=True, slots=True)
class RunIdentity:
    """What stands for this run in operations: the same after a reset.

    Attributes:
        run: The original run's id.
        operation_scope: In place of it, and of the workflow's id.
    """

    run: str
    operation_scope: str | None = None

    @property
    def key(self) -> str:
        """What calls are counted by."""
        return self.operation_scope or self.run

    def call(self, n: int) -> CallRecord:
        """Return the record of the n-th identical call."""
        if self.operation_scope is not None:
            return CallRecord(operation_scope=self.operation_scope, n=n)
        return CallRecord(run=self.run, n=n)


def run_identity(operation_scope: str | None) -> RunIdentity:
    """Return the identity of the run that is executing."""
    return RunIdentity(
        run=workflow.info().original_execution_run_id, operation_scope=operation_scope
    )
