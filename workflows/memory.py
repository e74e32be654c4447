"""`Memory`: the frozen configuration of one memory of an agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Literal

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        InvalidMemoryRequest,
        Limits,
        Scope,
        SnapshotOptions,
        render_guidance,
        tool_definitions,
    )

from .errors import failing_the_workflow
from .handle import Notebook, NotebookState
from .runs import current_run

_DEFAULT = Limits()

Resolver = Callable[[Any], str]
"""Returns a name from the workflow's input: deterministic, without I/O."""

MAX_LOCAL = timedelta(seconds=3)
"""A local activity must end well within one workflow task's time-out (10 s by default)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeouts:
    """How long the parts of a memory call may take.

    Attributes:
        attempt: One attempt of an activity, from start to close.
        mutation: A write or delete with its retries; also the deadline the store holds it to.
        settle: Finding out what became of a mutation.
        lookup: A read or search with its retries.
        snapshot: A snapshot with its retries, as a normal activity.
        local_snapshot: A snapshot as a local activity, before it goes on as a normal one; at most
            3 seconds.

    Raises:
        InvalidMemoryRequest: A time-out is not positive, or `local_snapshot` is over 3 seconds.
    """

    attempt: timedelta = timedelta(seconds=10)
    mutation: timedelta = timedelta(seconds=60)
    settle: timedelta = timedelta(seconds=30)
    lookup: timedelta = timedelta(seconds=30)
    snapshot: timedelta = timedelta(seconds=10)
    local_snapshot: timedelta = MAX_LOCAL

    def __post_init__(self) -> None:
        with failing_the_workflow():
            for each in fields(self):
                if getattr(self, each.name) <= timedelta(0):
                    raise InvalidMemoryRequest(f"timeouts.{each.name} must be positive")
            if self.local_snapshot > MAX_LOCAL:
                raise InvalidMemoryRequest("timeouts.local_snapshot must be at most 3 seconds")


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One memory of an agent: configuration only, safe to share and to keep at module level.

    Attributes:
        namespace: Tenant path, for example a user id, or a function of the workflow's input.
        agent_name: Segment inside the namespace, or a function as above. Never shown to the model.
        id: Names this memory among several of one agent.
        heading: Stands on the guidance and on the snapshot as `## {heading}`.
        prefix: Prefix of the tools' names, `{prefix}_write_memory`, to keep several apart.
        inject_memory: Whether `load_snapshot` loads anything; tools and guidance stay.
        refresh: `request`: a snapshot for each model request. `run`: one for the whole run, which
            keeps a provider's prompt cache warm.
        injection_errors: `ignore`: go without the snapshot while the store is down. `raise`: fail.
        guidance: Text on how to use the memory; `None` is the default text, `''` is none.
        max_tokens: Guidance, notebook and file list together, in tokens of 4 characters.
        max_lines: Lines of `MEMORY.md` shown at most.
        max_memory_size: Characters of one file that are read, searched and written.
        max_search_results: Matches of one search.
        max_search_result_chars: File names and snippets of one search together, in characters.
        max_search_files: Files that a scan looks at.
        task_queue: Queue of a separate fleet of memory workers. `None`: the memory activities are
            in the agent's own worker, and snapshots are local activities. It decides which
            commands history holds: changing it for running workflows needs `workflow.patched`.
        operation_scope: Identity in place of the original run's id, for children of a parent that
            may be reset and for workflow retries. Carry `Notebook.state` through
            continue-as-new when it is set.
        timeouts: See `Timeouts`.

    Raises:
        InvalidMemoryRequest: A field is malformed. Inside a workflow: `ApplicationError` of that
            type.
    """

    namespace: str | Resolver = ""
    agent_name: str | Resolver = "main"
    id: str = "memory"
    heading: str = ""
    prefix: str = ""
    inject_memory: bool = True
    refresh: Literal["request", "run"] = "request"
    injection_errors: Literal["ignore", "raise"] = "ignore"
    guidance: str | None = None
    max_tokens: int = _DEFAULT.max_tokens
    max_lines: int = _DEFAULT.max_lines
    max_memory_size: int = _DEFAULT.max_memory_size
    max_search_results: int = _DEFAULT.max_search_results
    max_search_result_chars: int = _DEFAULT.max_search_result_chars
    max_search_files: int = _DEFAULT.max_search_files
    task_queue: str | None = None
    operation_scope: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)

    def __post_init__(self) -> None:
        with failing_the_workflow():
            self._check()

    def _check(self) -> None:
        if self.refresh not in ("request", "run"):
            raise InvalidMemoryRequest("refresh must be 'request' or 'run'")
        if self.injection_errors not in ("ignore", "raise"):
            raise InvalidMemoryRequest("injection_errors must be 'ignore' or 'raise'")
        if not self.id:
            raise InvalidMemoryRequest("id must not be empty")
        for empty in ("task_queue", "operation_scope"):
            if getattr(self, empty) == "":
                raise InvalidMemoryRequest(f"{empty} must be None or not empty")
        tool_definitions(self.prefix)
        _ = self.limits
        self.snapshot_options()
        if isinstance(self.namespace, str) and isinstance(self.agent_name, str):
            Scope(namespace=self.namespace, agent_name=self.agent_name)

    @property
    def limits(self) -> Limits:
        """The bounds, checked."""
        return Limits(**{each.name: getattr(self, each.name) for each in fields(Limits)})

    @property
    def instructions(self) -> str:
        """The trusted guidance, for the model's instructions."""
        return render_guidance(
            self.guidance,
            heading=self.heading,
            max_tokens=self.max_tokens,
            tool_prefix=self.prefix,
        )

    def snapshot_options(self) -> SnapshotOptions:
        """Return what the snapshot is rendered with."""
        return SnapshotOptions(
            heading=self.heading,
            guidance_chars=len(self.instructions),
            max_tokens=self.max_tokens,
            max_lines=self.max_lines,
            tool_prefix=self.prefix,
        )

    def open(self, context: Any = None, *, state: NotebookState | None = None) -> Notebook:
        """Open this run's handle; only inside a workflow.

        Args:
            context: What the resolvers are called with: the workflow's input.
            state: Counters of the run before, when they were carried through continue-as-new.

        Raises:
            ApplicationError: The scope is malformed, or a resolver failed.
        """
        with failing_the_workflow():
            scope = Scope(
                namespace=_resolve("namespace", self.namespace, context),
                agent_name=_resolve("agent_name", self.agent_name, context),
            )
        run = self.operation_scope or workflow.info().original_execution_run_id
        notebook = Notebook(memory=self, scope=scope, run=run, shared=current_run())
        if state is not None:
            notebook.resume(state)
        return notebook


def _resolve(field_name: str, value: str | Resolver, context: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return value(context)
    except Exception as error:  # noqa: BLE001  (any other error would leave the workflow hanging)
        raise ApplicationError(
            f"the resolver of {field_name} failed with {type(error).__name__}",
            type=InvalidMemoryRequest.__name__,
            non_retryable=True,
        ) from None
