"""A store and the plain model, driven side by side by Hypothesis."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from ..notebook import Append, Edit, MemoryFault, MemoryOperationConflictError, Remove, Replace
from ..stores import (
    HistoryStore,
    MemoryMutation,
    MemoryOperation,
    MemoryStore,
    SettlingStore,
    apply_edit,
)
from .base import content_of
from .model import StoreModel
from .samples import future, new_operation, new_scope, past, reused

OpenStore = Callable[[], AbstractAsyncContextManager[MemoryStore]]
"""Opens the store under test, and closes it on leaving."""

ResultT = TypeVar("ResultT")

_MAX_CHARS = 60
_MAX_STEPS = 10_000
"""More than any example makes."""
_NAMES = st.sampled_from(["a.md", "b.md", "가.md"])
_TEXTS = st.text(st.sampled_from("ab \n\ré가👩"), max_size=30)
_NOTES = _TEXTS.filter(str.strip)
_EDITS = st.one_of(
    st.builds(Append, content=_NOTES),
    st.builds(Replace, old_text=st.sampled_from(["a", "ab", "\n", "가"]), content=_TEXTS),
    st.just(Remove()),
)
_EXPECTED = st.sampled_from(["current", "current", "none", "old", "unknown"])
_IDENTITIES = st.sampled_from(["none", "new", "again", "reused", "late"])


class StoreMachine(RuleBasedStateMachine):
    """Calls a store at random, and holds every answer to the model's.

    Args:
        store: The store, which every example shares; each has a scope of its own.
        runner: Runs the store's calls.
    """

    def __init__(self, store: MemoryStore, runner: asyncio.Runner) -> None:
        super().__init__()
        self.store = store
        self.runner = runner
        self.scope = new_scope()
        self.model = StoreModel()
        self.operations: list[MemoryOperation] = []
        self.agreed = True

    @rule(name=_NAMES, text=_TEXTS, expected=_EXPECTED, identity=_IDENTITIES)
    def write(self, name: str, text: str, expected: str, identity: str) -> None:
        """Write a file."""
        version = self._version(name, expected)

        def plan() -> str:
            self.model.expect(name, version)
            return text

        call = partial(self.store.write, self.scope.path(name), text, expected_version=version)
        self._mutate(name, identity, plan, call)

    @rule(name=_NAMES, expected=_EXPECTED, identity=_IDENTITIES)
    def delete(self, name: str, expected: str, identity: str) -> None:
        """Delete a file."""
        version = self._version(name, expected)
        plan = partial(self.model.expect, name, version)
        call = partial(self.store.delete, self.scope.path(name), expected_version=version)
        self._mutate(name, identity, plan, call)

    @rule(name=_NAMES, edit=_EDITS, identity=_IDENTITIES)
    def edit(self, name: str, edit: Edit, identity: str) -> None:
        """Edit a file, in one step if the store can."""
        plan = partial(self.model.edited, name, edit, max_chars=_MAX_CHARS)
        call = partial(apply_edit, self.store, self.scope.path(name), edit, max_chars=_MAX_CHARS)
        self._mutate(name, identity, plan, call)

    @rule(identity=st.sampled_from(["new", "again", "reused"]))
    def settle(self, identity: str) -> None:
        """Settle an operation, if the store can."""
        operation, _ = self._identity(identity)
        if operation is None or not isinstance(self.store, SettlingStore):
            return
        outcome = self._outcome(partial(self.store.settle, operation))
        if self.model.is_reused(operation):
            assert isinstance(outcome, MemoryOperationConflictError)
        elif receipt := self.model.receipt(operation):
            assert outcome == receipt
        else:
            assert isinstance(outcome, MemoryMutation)
            assert (outcome.version, outcome.abandoned) == (None, True)
            self.model.keep(operation, outcome)

    def teardown(self) -> None:
        """Compare everything that is there, and everything that was."""
        if not self.agreed:
            return
        paths = self._run(partial(self.store.list_paths, self.scope.prefix, limit=100))
        assert paths == [self.scope.path(name) for name in sorted(self.model.files)]
        if isinstance(self.store, HistoryStore):
            for name, past_steps in self.model.past.items():
                assert self._steps(self.store, self.scope.path(name)) == past_steps

    def _steps(self, store: HistoryStore, path: str) -> list[tuple[str | None, str | None]]:
        """Return a file's steps as the model keeps them: a deletion has a version in histories."""
        steps = self._run(partial(store.history, path, limit=_MAX_STEPS))[::-1]
        texts = [self._run(partial(store.read_version, path, step.version)) for step in steps]
        return [
            (step.version if step.exists else None, found.content if found else None)
            for step, found in zip(steps, texts, strict=True)
        ]

    def _mutate(
        self,
        name: str,
        identity: str,
        plan: Callable[[], str | None],
        call: Callable[..., Awaitable[MemoryMutation]],
    ) -> None:
        """Do what the store and the model are asked for, and compare."""
        self.agreed = False
        operation, deadline = self._identity(identity)
        outcome = self._outcome(partial(call, operation=operation, deadline=deadline))
        receipt, text, faults = self._predict(operation, plan, late=identity == "late")
        if faults:
            assert isinstance(outcome, faults)
        elif receipt:
            assert outcome == receipt
        else:
            assert isinstance(outcome, MemoryMutation)
            assert (outcome.replayed, outcome.abandoned) == (False, False)
            assert outcome.existed == (name in self.model.files)
            assert (outcome.version is None) == (text is None)
            assert outcome.version not in self.model.versions
            self.model.record(name, text, outcome, operation)
        found = self._run(partial(content_of, self.store, self.scope.path(name)))
        assert found == self.model.text(name)
        self.agreed = True

    def _predict(
        self, operation: MemoryOperation | None, plan: Callable[[], str | None], *, late: bool
    ) -> tuple[MemoryMutation | None, str | None, tuple[type[Exception], ...]]:
        """Return the receipt that answers, or what the file becomes, or the errors it may be."""
        receipt, text = None, None
        faults: list[type[Exception]] = []
        try:
            receipt = self.model.answer(operation, late=late)
        except MemoryFault as fault:
            faults.append(type(fault))
        try:
            text = None if receipt else plan()
        except MemoryFault as fault:
            faults.append(type(fault))
        return receipt, text, tuple(faults)

    def _identity(self, identity: str) -> tuple[MemoryOperation | None, datetime | None]:
        """Return an operation and a deadline of that kind."""
        known = self.operations[-1] if self.operations else new_operation()
        if identity == "none":
            return None, None
        if identity == "again":
            return known, None
        if identity == "reused":
            return reused(known), future()
        self.operations.append(new_operation())
        return self.operations[-1], past() if identity == "late" else future()

    def _version(self, name: str, expected: str) -> str | None:
        if expected == "none":
            return None
        if expected == "old" and self.model.versions:
            return self.model.versions[0]
        return "unknown" if expected == "unknown" else self.model.version(name)

    def _outcome(
        self, call: Callable[[], Awaitable[MemoryMutation]]
    ) -> MemoryMutation | MemoryFault:
        try:
            return self._run(call)
        except MemoryFault as fault:
            return fault

    def _run(self, call: Callable[[], Awaitable[ResultT]]) -> ResultT:
        async def run() -> ResultT:
            return await call()

        return self.runner.run(run())


def check_against_model(open_store: OpenStore, *, examples: int = 50, steps: int = 30) -> None:
    """Drive a store and the plain model side by side; fail where they differ.

    Called from a plain test function, not from a coroutine: the store is opened in an event loop
    of the check's own.

    Args:
        open_store: Opens the store, once for all examples.
        examples: How many sequences of calls are tried.
        steps: How many calls a sequence has at most.
    """
    with asyncio.Runner() as runner:
        opened = open_store()
        store = runner.run(_enter(opened))

        class Machine(StoreMachine):
            def __init__(self) -> None:
                super().__init__(store, runner)

        try:
            run_state_machine_as_test(
                Machine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    deadline=None,
                    report_multiple_bugs=False,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(_leave(opened))


async def _enter(opened: AbstractAsyncContextManager[MemoryStore]) -> MemoryStore:
    return await opened.__aenter__()


async def _leave(opened: AbstractAsyncContextManager[MemoryStore]) -> None:
    await opened.__aexit__(None, None, None)
