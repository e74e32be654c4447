"""`Memory`: the frozen configuration of one memory of an agent."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        InvalidMemoryRequest,
        Limits,
        Scope,
        SnapshotOptions,
        ToolDefinition,
        render_guidance,
        tool_definitions,
    )

from .calls import NotebookState
from .errors import failing_the_workflow
from .handle import Notebook
from .options import Resolver, Timeouts, check_names, resolve
from .runs import current_run, run_identity

_DEFAULT = Limits()


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One memory of an agent: configuration only, safe to share and to keep at module level.

    Attributes:
        namespace: Tenant path, for example a user id, or a function of the workflow's input.
        agent_name: Segment inside the namespace, or a function as above. Never shown to the model.
        id: Names this memory among several of one agent.
        heading: Stands on the guidance and on the snapshot as `## {heading}`.
        tool_prefix: Prefix of the tools' names, `{tool_prefix}_write_memory`.
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
    tool_prefix: str = ""
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
        check_names(id=self.id, task_queue=self.task_queue, operation_scope=self.operation_scope)
        _ = self.tools, self.limits
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
            tool_prefix=self.tool_prefix,
        )

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The memory tools, provider-neutral."""
        return tool_definitions(self.tool_prefix)

    def snapshot_options(self) -> SnapshotOptions:
        """Return what the snapshot is rendered with."""
        return SnapshotOptions(
            heading=self.heading,
            guidance_chars=len(self.instructions),
            max_tokens=self.max_tokens,
            max_lines=self.max_lines,
            tool_prefix=self.tool_prefix,
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
                namespace=resolve("namespace", self.namespace, context),
                agent_name=resolve("agent_name", self.agent_name, context),
            )
        notebook = Notebook(
            memory=self, scope=scope, run=run_identity(self.operation_scope), shared=current_run()
        )
        if state is not None:
            notebook.resume(state)
        return notebook
