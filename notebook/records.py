"""The wire records of the memory activities: one in, one out, as plain JSON.

Every record is taken as plain JSON and validated where it arrives: a typed argument that fails to
decode would be retried for ever. Unknown fields are ignored and new fields get defaults, so that
old histories and other releases decode. Limits are always sent, since the receiver's release may
have another default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, Strict, ValidationError

from .errors import InvalidMemoryRequest, MemoryRefusal
from .limits import Limits
from .names import Scope

LOAD_SNAPSHOT = "memory.load_snapshot"
WRITE = "memory.write"
READ = "memory.read"
DELETE = "memory.delete"
SEARCH = "memory.search"
SETTLE = "memory.settle"

MAX_EDITS = 100
"""Edits that one mutation record may hold."""

_DEFAULTS = Limits()

Whole = Annotated[int, Strict()]
Status = Literal[
    "created", "appended", "updated", "deleted", "not_found", "refused", "abandoned", "ok"
]


class Record(BaseModel):
    """A wire record."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    @classmethod
    def parse(cls, raw: object) -> Self:
        """Validate plain JSON.

        Raises:
            InvalidMemoryRequest: Names the fields that do not fit, never their values.
        """
        try:
            return cls.model_validate(raw)
        except ValidationError as error:
            raise InvalidMemoryRequest(_describe(cls, error)) from None

    def wire(self) -> dict[str, Any]:
        """Return the record as plain JSON, without the fields that are `None`."""
        return self.model_dump(mode="json", exclude_none=True)


def _describe(cls: type[Record], error: ValidationError) -> str:
    """Name each field and what it lacks: the input itself may be content."""
    faults = (
        f"{'.'.join(str(part) for part in fault['loc']) or 'record'}: {fault['type']}"
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    )
    return f"malformed {cls.__name__}: {'; '.join(faults)}"


class ScopeRecord(Record):
    """A scope: whose notebook."""

    namespace: str = ""
    agent_name: str = "main"

    @classmethod
    def of(cls, scope: Scope) -> ScopeRecord:
        """Return the record of a scope."""
        return cls(namespace=scope.namespace, agent_name=scope.agent_name)

    def scope(self) -> Scope:
        """Return the scope; raise `InvalidMemoryRequest` when it is not one."""
        return Scope(namespace=self.namespace, agent_name=self.agent_name)


class ScopedRecord(Record):
    """A request on one scope."""

    scope: ScopeRecord

    def place(self) -> Scope:
        """Return the scope; raise `InvalidMemoryRequest` when it is not one."""
        return self.scope.scope()


class CallRecord(Record):
    """Which call of its run a mutation is.

    Attributes:
        run: The original run's id; the activity's own run when `None`.
        operation_scope: An identity of the caller's own, in place of workflow and run.
        n: Which of the run's identical calls this is, from 1.
        tool_call_id: The caller's own name for the call, used when there is no `n`.
    """

    run: str | None = Field(default=None, min_length=1, max_length=1_000)
    operation_scope: str | None = Field(default=None, min_length=1, max_length=1_000)
    n: Whole | None = Field(default=None, ge=1)
    tool_call_id: str | None = Field(default=None, min_length=1, max_length=1_000)


class EditRecord(Record):
    """One mutation: a write or a delete, with the arguments as the model gave them."""

    op: Literal["write", "delete"] | None = None
    file: str | None = None
    content: str | None = None
    old_text: str | None = None
    call: CallRecord = CallRecord()

    def arguments(self) -> dict[str, str]:
        """Return the tool's supplied arguments."""
        given = {"file": self.file, "content": self.content, "old_text": self.old_text}
        return {name: value for name, value in given.items() if value is not None}


class MutationRequest(ScopedRecord):
    """In of `memory.write` and `memory.delete`.

    Attributes:
        scope: Whose notebook.
        edits: Applied in order, each with a receipt of its own.
        max_memory_size: Characters a file may have.
        deadline: The store refuses to apply an edit after it; the activity's own time-out when
            `None`.
    """

    edits: tuple[EditRecord, ...] = Field(min_length=1, max_length=MAX_EDITS)
    max_memory_size: Whole = _DEFAULTS.max_memory_size
    deadline: AwareDatetime | None = None


class ResultRecord(Record):
    """What one mutation did, or why it was refused.

    Attributes:
        status: `created`, `appended`, `updated`, `deleted`, `not_found`; `refused` with `code`
            and `message`; `abandoned` when the operation was settled before it was applied.
        version: The version it made.
        replayed: Whether a receipt answered.
        code: The refusal's code.
        message: The refusal's message, for the model.
    """

    status: Status
    version: str | None = None
    replayed: bool = False
    code: str | None = None
    message: str | None = None

    @classmethod
    def refused(cls, refusal: MemoryRefusal) -> Self:
        """Return the result of a refusal."""
        return cls(status="refused", code=refusal.code, message=str(refusal))


class EditResult(ResultRecord):
    """What one edit did, or why it was refused.

    Attributes:
        file: The file's name, normalised.
    """

    file: str | None = None


class MutationResponse(Record):
    """Out of `memory.write` and `memory.delete`: one result for each edit, in order."""

    results: tuple[EditResult, ...]


class OperationRecord(Record):
    """Names an operation that was sent before."""

    tool: str
    fingerprint: str
    call: CallRecord


class SettleRequest(ScopedRecord):
    """In of `memory.settle`.

    Attributes:
        scope: Whose notebook.
        operation: Whose outcome is unknown.
        deadline: The one the mutation carried; a store that cannot settle waits it out.
    """

    operation: OperationRecord
    deadline: AwareDatetime | None = None


class SettleResponse(Record):
    """Out of `memory.settle`: the receipt.

    Attributes:
        abandoned: It was not applied, and never will be.
        version: The version it made, when it was applied.
        existed: Whether the file existed before it.
    """

    abandoned: bool
    version: str | None = None
    existed: bool = False


class ReadRequest(ScopedRecord):
    """In of `memory.read`."""

    file: str
    max_memory_size: Whole = _DEFAULTS.max_memory_size


class ReadResponse(Record):
    """Out of `memory.read`: the file, cut to `max_memory_size` and to what a record may hold."""

    status: Literal["ok", "refused"]
    file: str | None = None
    content: str | None = None
    version: str | None = None
    truncated: bool = False
    code: str | None = None
    message: str | None = None


class SearchRequest(ScopedRecord):
    """In of `memory.search`."""

    query: str
    max_search_results: Whole = _DEFAULTS.max_search_results
    max_search_result_chars: Whole = _DEFAULTS.max_search_result_chars
    max_search_files: Whole = _DEFAULTS.max_search_files
    max_memory_size: Whole = _DEFAULTS.max_memory_size


class MatchRecord(Record):
    """One file that matched."""

    file: str
    snippet: str
    score: float


class SearchResponse(Record):
    """Out of `memory.search`: matches, best first."""

    status: Literal["ok", "refused"]
    matches: tuple[MatchRecord, ...] = ()
    scanned: int = 0
    truncated: bool = False
    code: str | None = None
    message: str | None = None


class SnapshotRequest(ScopedRecord):
    """In of `memory.load_snapshot`.

    Attributes:
        scope: Whose notebook.
        heading: Stands on the block.
        guidance_chars: Length of the guidance that shares the budget, in characters.
        max_tokens: The budget.
        max_lines: Lines of `MEMORY.md` at most.
        tool_prefix: Prefix of the tools that the text names.
        token: The snapshot that the caller holds.
    """

    heading: str = ""
    guidance_chars: Whole = 0
    max_tokens: Whole = _DEFAULTS.max_tokens
    max_lines: Whole = _DEFAULTS.max_lines
    tool_prefix: str = ""
    token: str | None = None


class SnapshotResponse(Record):
    """Out of `memory.load_snapshot`.

    Attributes:
        unchanged: The caller's token still stands for the text; nothing else is sent.
        token: Stands for `text`.
        text: The block, markers included.
    """

    unchanged: bool = False
    token: str | None = None
    text: str | None = None


def edit_status(tool: str, arguments: Mapping[str, str], *, existed: bool) -> Status:
    """Return what a mutation did, from its arguments and whether the file existed before.

    A receipt says no more than that, so a replay says exactly what the first run said.
    """
    if tool == "delete_memory":
        return "deleted" if existed else "not_found"
    if "old_text" in arguments:
        return "updated"
    return "appended" if existed else "created"
