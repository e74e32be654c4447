"""What a sweep of receipts is told, and which runs it must leave alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from ..notebook import InvalidMemoryRequest

RECEIPT_AGE = timedelta(days=90)
"""How long receipts are kept at least, by default."""

SWEEP_LIMIT = 1_000
"""Receipts that one sweep removes at most, by default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenRuns:
    """Runs whose receipts are kept whatever their age.

    Attributes:
        runs: Pairs of workflow id and run id.
        workflows: Workflow ids of which every run is kept.
    """

    runs: frozenset[tuple[str, str]]
    workflows: frozenset[str]

    @classmethod
    def of(cls, runs: Collection[tuple[str, str]]) -> Self:
        """Return the runs of a sweep's argument: an empty run id stands for every run."""
        pairs = frozenset(runs)
        return cls(runs=pairs, workflows=frozenset(name for name, run in pairs if not run))

    def keep(self, workflow_id: str, run_id: str) -> bool:
        """Tell whether the receipts of a run are kept; one of no workflow belongs to no run."""
        if not workflow_id:
            return False
        return workflow_id in self.workflows or (workflow_id, run_id) in self.runs


def check_age(older_than: timedelta) -> timedelta:
    """Return `older_than`; raise `InvalidMemoryRequest` if it is negative."""
    if older_than < timedelta(0):
        raise InvalidMemoryRequest("older_than must not be negative")
    return older_than
