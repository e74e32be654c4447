"""One mutation of one store, killed at every step in turn until none is left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from durable_memory.notebook import MemoryFault

from .checking import Violation, check, must
from .mutations import MUTATIONS, Case, TriedStore
from .steps import ACKNOWLEDGE, Life, Tracer
from .victims import Begin

Open = Callable[[], AbstractAsyncContextManager[TriedStore]]

_NO_STEP = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Target:
    """A store to be crashed, and the way to do it.

    Attributes:
        name: The store, and who dies.
        folder: Where it keeps its files.
        opened: Opens it afresh.
        victim: Opens it as the victim does; the same but for Postgres.
        tracer: Runs a victim and kills.
    """

    name: str
    folder: Path
    opened: Open
    victim: Open
    tracer: Tracer


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One kill: before which step, and what was found after it."""

    number: int
    step: str
    found: str


@dataclass(frozen=True, kw_only=True)
class Round:
    """All kills of one mutation on one store.

    Attributes:
        target: The store, and how it was killed.
        mutation: The kind of mutation.
        steps: How many steps a victim was killed at, or could have been.
        order: The steps of a victim that was not killed.
        kills: Each kill, in the order of the steps.
        violations: What did not hold.
    """

    target: str
    mutation: str
    steps: int
    order: tuple[str, ...]
    kills: tuple[Kill, ...]
    violations: tuple[str, ...]

    def count(self, found: str) -> int:
        """Return how many kills left that state."""
        return sum(kill.found == found for kill in self.kills)


def run_round(target: Target, name: str, *, most: int | None = None) -> Round:
    """Kill victims in a mutation, one at each step; at `most` steps spread evenly, if given."""
    kills: list[Kill] = []
    violations: list[str] = []
    order = _order(target, name)
    for number in range(1, _NO_STEP) if most is None else _spread(len(order), most):
        life, found = _kill(target, name, number)
        if not life.killed:
            break
        kills.append(Kill(number=number, step=life.steps[-1], found=found))
        if found not in ("old", "new"):
            violations.append(f"{target.name}, {name}, killed at {number}: {found}")
    return Round(
        target=target.name,
        mutation=name,
        steps=len(order) if most else len(kills),
        order=order,
        kills=tuple(kills),
        violations=tuple(violations),
    )


def _order(target: Target, name: str) -> tuple[str, ...]:
    """Return the steps of a victim that is left alone."""
    life, found = _kill(target, name, _NO_STEP)
    must(found == "new", found)
    must(ACKNOWLEDGE in life.steps, "it says that it is done")
    return tuple(life.steps)


def _spread(total: int, most: int) -> Iterable[int]:
    """Return at most `most` numbers up to `total`, which is among them."""
    stride = -(-total // most)
    return range(total - (total - 1) // stride * stride, total + 1, stride)


def _kill(target: Target, name: str, number: int) -> tuple[Life, str]:
    """Prepare, let a victim begin, kill it, and look; return what was found, or what was broken."""
    case = asyncio.run(_prepare(target, name))
    life = target.tracer(
        lambda begin: asyncio.run(_mutate(target, name, case, begin)), target.folder, number
    )
    try:
        return life, asyncio.run(_look(target, name, case, life))
    except (Violation, MemoryFault) as broken:
        return life, f"{type(broken).__name__}: {broken}"


async def _prepare(target: Target, name: str) -> Case:
    async with target.opened() as store:
        return await MUTATIONS[name].prepare(store)


async def _mutate(target: Target, name: str, case: Case, begin: Begin) -> str:
    """What the victim does; its answer is what it would have acknowledged."""
    try:
        async with target.victim() as store:
            begin()
            done = await MUTATIONS[name].apply(store, case)
    except MemoryFault as fault:
        return json.dumps({"fault": fault.type})
    return json.dumps({"version": done.version})


async def _look(target: Target, name: str, case: Case, life: Life) -> str:
    told = json.loads(life.answer) if life.answer else {}
    async with target.opened() as store:
        if "version" in told:
            receipt = await store.get_operation(case.operation)
            must(receipt is not None, "what was acknowledged has a receipt")
            must(receipt and receipt.version == told["version"], "of the acknowledged version")
        elif "fault" in told:
            must(told["fault"] == "MemoryStoreUnavailable", f"a lost backend is not {told}")
        return await check(store, MUTATIONS[name], case)
