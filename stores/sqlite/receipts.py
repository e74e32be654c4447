"""Receipts in SQLite: the rule is the same in a database and in the file store's journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from ..receipts import check_applied, check_fingerprint
from ..records import MemoryMutation, MemoryOperation
from ..statements import script, statements
from ..sweeping import OpenRuns
from .clock import now
from .sessions import Session

RECEIPTS_SCHEMA = script(__package__, "receipts_schema.sql")
"""The table of receipts, for every database that has one."""

_SQL = statements(__package__, "receipts.sql")


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipts:
    """The receipts that a session sees; in a transaction whose end decides about them."""

    session: Session

    def find(self, operation: MemoryOperation) -> MemoryMutation | None:
        """Return the receipt of `operation`; raise if its id has another fingerprint."""
        row = self.session.row(_SQL["find"], operation.id)
        if row is None:
            return None
        check_fingerprint(operation, row["fingerprint"])
        return MemoryMutation(
            version=row["version"],
            replayed=True,
            existed=bool(row["existed"]),
            abandoned=bool(row["abandoned"]),
        )

    def answer(self, operation: MemoryOperation | None) -> MemoryMutation | None:
        """Return the receipt that answers a mutation, which an abandoned operation has not."""
        found = self.find(operation) if operation else None
        return found and check_applied(found)

    def settle(self, operation: MemoryOperation) -> MemoryMutation:
        """Return the receipt of `operation`, or write one that says it is abandoned."""
        found = self.find(operation)
        return found or self.keep(operation, MemoryMutation(version=None, abandoned=True))

    def keep(self, operation: MemoryOperation | None, mutation: MemoryMutation) -> MemoryMutation:
        """Write the receipt of an operation, if there is one; return what it says."""
        if operation is not None:
            self.session.run(
                _SQL["keep"],
                operation.id,
                operation.fingerprint,
                operation.workflow_id,
                operation.run_id,
                mutation.version,
                mutation.existed,
                mutation.abandoned,
                now(),
            )
        return mutation

    def sweep(self, older_than: timedelta, open_runs: OpenRuns, limit: int) -> int:
        """Forget at most `limit` receipts of that age whose runs are not open; return how many."""
        swept = list(islice(self._old(older_than, open_runs), limit))
        for operation_id in swept:
            self.session.run(_SQL["drop"], operation_id)
        return len(swept)

    def _old(self, older_than: timedelta, open_runs: OpenRuns) -> Iterator[str]:
        moment = now() - older_than // timedelta(microseconds=1)
        for row in self.session.rows(_SQL["older"], moment):
            if not open_runs.keep(row["workflow_id"], row["run_id"]):
                yield row["operation_id"]
