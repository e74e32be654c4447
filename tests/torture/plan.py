"""What is to happen in a torture run: everything that chance decides, from one seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STORES = ("postgres", "sqlite", "file")

NOTE_FAULTS = {
    "fails": "a retryable failure before the change",
    "unreported": "a retryable failure after the change was committed",
    "late": "an attempt that outlives its time-out, and lands beside the next one",
    "zombie": "attempts that outlive the deadline: given up, settled, and then they land",
    "cancelled": "a write that the workflow cancels",
}
"""Faults of one note; its text ends in the fault's name, by which the worker knows it."""

RUN_FAULTS = {
    "reset": "a reset before a model call; the model asks in the same words, with new ids",
    "reworded": "a reset before a model call; the model asks in other words",
}
"""Faults of one workflow."""

PROCESS_FAULTS = {
    "killed": "a worker is killed",
    "stopped": "a worker is stopped past the deadline, and goes on",
    "disconnected": "all connections of the workers to the database are ended",
    "held": "another process holds the store's lock past the attempt's time-out",
}
"""Faults of what runs beneath all workflows."""

FAULTS = {**NOTE_FAULTS, **RUN_FAULTS, **PROCESS_FAULTS}

_PLAIN = "plain"
_AGAIN = "again"
_FAULTY = 0.45
"""Share of the turns that have a fault."""
_RESET = 0.3
"""Share of the workflows that are reset."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one model response asks for.

    Attributes:
        notes: The texts that are written, awaited together.
        cancel_ms: After how long the calls are cancelled; `None` for never.
    """

    notes: Sequence[str]
    cancel_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One workflow.

    Attributes:
        number: Its notes begin with it, so that every line has one writer.
        store: Where its scope is.
        namespace: Its scope, shared with other workflows; begins with the store.
        turns: In order.
        reset: Whether it is reset, `reset` or `reworded`.
        reset_call: Before which model call, from 0.
        reset_running: Whether while it runs, or else when it has ended.
    """

    number: int
    store: str
    namespace: str
    turns: Sequence[Turn]
    reset: str | None = None
    reset_call: int = 0
    reset_running: bool = False


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked of a run.

    Attributes:
        workflows: How many.
        seed: Of all that chance decides.
        stores: Which stores the scopes are spread over.
        scopes: Scopes of one store.
        faults: Which faults are mixed.
    """

    workflows: int
    seed: int
    stores: Sequence[str] = STORES
    scopes: int = 8
    faults: Sequence[str] = tuple(FAULTS)

    @property
    def attempt_seconds(self) -> float:
        """Time-out of one attempt."""
        return 1.5

    @property
    def mutation_seconds(self) -> float:
        """Time-out of a write with its retries: long, unless outliving it is a fault."""
        return 5.0 if {"zombie", "stopped"} & set(self.faults) else 60.0


def plans(options: Options) -> Iterator[Plan]:
    """Yield the workflows. The first ones have every fault on every store once."""
    wanted = [
        (store, fault)
        for fault in (*NOTE_FAULTS, *RUN_FAULTS)
        if fault in options.faults
        for store in options.stores
    ]
    for number in range(options.workflows):
        rng = random.Random(f"{options.seed} {number}")
        store, fault = wanted[number] if number < len(wanted) else (rng.choice(options.stores), "")
        yield _plan(number, store, fault, rng, options)


def actions(options: Options) -> Sequence[str]:
    """Return the process faults in their order: each at least once, and a kill three times."""
    possible = [fault for fault in PROCESS_FAULTS if fault in options.faults]
    rng = random.Random(f"{options.seed} actions")
    chosen = [*possible, *("killed" for _ in range(2) if "killed" in possible)]
    while possible and len(chosen) < options.workflows // 25:
        chosen.append(rng.choice(possible))
    rng.shuffle(chosen)
    return chosen


def _plan(number: int, store: str, fault: str, rng: random.Random, options: Options) -> Plan:
    kinds = [each for each in NOTE_FAULTS if each in options.faults]
    turns = [_turn(number, place, rng, kinds) for place in range(rng.randint(2, 4))]
    if fault in NOTE_FAULTS:
        turns[rng.randrange(len(turns))] = _faulty(number, len(turns), fault, rng)
    resets = [each for each in RUN_FAULTS if each in options.faults]
    reset = fault if fault in RUN_FAULTS else None
    if resets and not fault and rng.random() < _RESET:
        reset = rng.choice(resets)
    return Plan(
        number=number,
        store=store,
        namespace=f"{store}/{options.seed}/{rng.randrange(options.scopes)}",
        turns=turns,
        reset=reset,
        reset_call=rng.randrange(len(turns)),
        reset_running=rng.random() < 0.5,
    )


def _turn(number: int, place: int, rng: random.Random, kinds: Sequence[str]) -> Turn:
    if kinds and rng.random() < _FAULTY:
        return _faulty(number, place, rng.choice(kinds), rng)
    # Equal notes are as many operations as there are notes.
    notes = [
        f"{number:04} {_AGAIN}" if rng.random() < 0.3 else f"{number:04} {place}.{i} {_PLAIN}"
        for i in range(rng.randint(1, 3))
    ]
    return Turn(notes=notes)


def _faulty(number: int, place: int, fault: str, rng: random.Random) -> Turn:
    cancel_ms = rng.randrange(300) if fault == "cancelled" else None
    return Turn(notes=[f"{number:04} {place}.0 {fault}"], cancel_ms=cancel_ms)
