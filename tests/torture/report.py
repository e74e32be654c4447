"""What a torture run was, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from durable_memory.notebook import MAIN_FILENAME, Scope
from durable_memory.stores import MemoryStore

from .checker import Case, violations
from .plan import Options, plans
from .workflow import OUTCOMES, Told


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run was, and what came of it.

    Attributes:
        seed: Of all that chance decided.
        workflows: How many ended.
        seconds: How long the run took.
        faults: How often each fault happened, by store.
        told: What the surviving runs were told, by store and outcome.
        replayed: Notes of those that were answered by a receipt, by store.
        left_over: Lines in wordings from before a reset, by store.
        violations: What is wrong.
    """

    seed: int
    workflows: int
    seconds: float
    faults: Mapping[str, Mapping[str, int]]
    told: Mapping[str, Mapping[str, int]]
    replayed: Mapping[str, int]
    left_over: Mapping[str, int]
    violations: Sequence[str]


async def cases_of(
    options: Options, told: Mapping[int, Sequence[Told]], stores: Mapping[str, MemoryStore]
) -> list[tuple[str, Case]]:
    """Return each workflow's case, with its store."""
    files: dict[str, list[str]] = {}
    cases: list[tuple[str, Case]] = []
    for plan in plans(options):
        if plan.namespace not in files:
            files[plan.namespace] = await _lines(stores[plan.store], plan.namespace)
        own = [line for line in files[plan.namespace] if line.startswith(f"{plan.number:04} ")]
        case = Case(
            number=plan.number,
            told=told[plan.number],
            was_reset=plan.reset is not None,
            rewords=plan.reset == "reworded",
            lines=own,
        )
        cases.append((plan.store, case))
    return cases


async def _lines(store: MemoryStore, namespace: str) -> list[str]:
    path = Scope(namespace=namespace).path(MAIN_FILENAME)
    found = await store.read(path, max_chars=10_000_000)
    return [] if found is None else found.content.splitlines()


def noted(log: Path) -> Iterator[tuple[str, str]]:
    """Yield store and fault of each line that the workers wrote."""
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        store, fault = line.split()
        yield store, fault


def report_of(
    options: Options,
    cases: Sequence[tuple[str, Case]],
    faults: Counter[tuple[str, str]],
    *,
    seconds: float,
) -> Report:
    """Put the report together."""
    told = Counter((store, each.outcome) for store, case in cases for each in case.told)
    faults += Counter({each: count for each, count in told.items() if each[1] == "cancelled"})
    stores = options.stores
    return Report(
        seed=options.seed,
        workflows=len(cases),
        seconds=round(seconds, 1),
        faults={
            store: {fault: faults[store, fault] for fault in options.faults} for store in stores
        },
        told={store: {outcome: told[store, outcome] for outcome in OUTCOMES} for store in stores},
        replayed={
            store: sum(each.replayed for of, case in cases if of == store for each in case.told)
            for store in stores
        },
        left_over={
            store: sum(case.left_over() for of, case in cases if of == store) for store in stores
        },
        violations=[wrong for store, case in cases for wrong in _wrong(store, case)],
    )


def _wrong(store: str, case: Case) -> Iterator[str]:
    return (f"{store}, {wrong}" for wrong in violations(case))
