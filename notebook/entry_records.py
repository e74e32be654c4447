"""The wire records of the activities for entries; the rules of `records.py` hold."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from .entry_tools import FORGET_TOOL
from .limits import EntryLimits
from .partitions import Partition
from .records import (
    MAX_EDITS,
    CallRecord,
    OperationRecord,
    Record,
    ResultRecord,
    Status,
    Whole,
)

SAVE_ENTRY = "memory.save_entry"
LIST_ENTRIES = "memory.list_entries"
SEARCH_ENTRIES = "memory.search_entries"
FORGET_ENTRY = "memory.forget_entry"
SETTLE_ENTRY = "memory.settle_entry"

_DEFAULTS = EntryLimits()


class PartitionedRecord(Record):
    """A request on one actor's entries in one memory store; neither has a default."""

    store: str
    actor: str

    def place(self) -> Partition:
        """Return the partition; raise `InvalidMemoryRequest` when it is not one."""
        return Partition(store=self.store, actor=self.actor)


class EntryEditRecord(Record):
    """One mutation: a save or a forget.

    Attributes:
        op: What it does, where the activity's name does not say.
        path: Where the entry lies, as the model gave it.
        content: The whole new text, for a save.
        description: The new description, for a save; what is there stays when it is empty.
        session: The conversation that a saved entry belongs to, by trusted code. A forget has
            none: it removes every session's.
        call: Which call of its run it is.
    """

    op: Literal["save", "forget"] | None = None
    path: str
    content: str | None = None
    description: str | None = None
    session: str | None = None
    call: CallRecord = CallRecord()

    def tool_arguments(self) -> dict[str, str]:
        """Return the tool's supplied arguments."""
        return _supplied(path=self.path, content=self.content, description=self.description)

    def arguments(self) -> dict[str, str]:
        """Return all that says which mutation this is: what the fingerprint covers."""
        return _supplied(**self.tool_arguments(), session=self.session)


class EntryMutationRequest(PartitionedRecord):
    """In of `memory.save_entry` and `memory.forget_entry`.

    Attributes:
        edits: Applied in order, each with a receipt of its own.
        deadline: The store refuses to apply an edit after it; the activity's own time-out when
            `None`.
        session: Must not be given: it is each edit's own, and one that is ignored would show one
            conversation's text in all.
    """

    session: None = None
    edits: tuple[EntryEditRecord, ...] = Field(min_length=1, max_length=MAX_EDITS)
    deadline: AwareDatetime | None = None


class EntryResult(ResultRecord):
    """What one edit did, or why it was refused.

    Attributes:
        path: Where the entry lies.
    """

    path: str | None = None


class EntryMutationResponse(Record):
    """Out of `memory.save_entry` and `memory.forget_entry`: one result for each edit, in order."""

    results: tuple[EntryResult, ...]


class EntrySettleRequest(PartitionedRecord):
    """In of `memory.settle_entry`; `SettleResponse` is its out.

    Attributes:
        operation: Whose outcome is unknown.
        deadline: The one the mutation carried.
    """

    operation: OperationRecord
    deadline: AwareDatetime | None = None


class CursorRecord(Record):
    """A place in a list of entries."""

    path: str
    session: str | None = None


class EntryListRequest(PartitionedRecord):
    """In of `memory.list_entries`.

    Attributes:
        session: Only entries of this session; those without one are not among them.
        path_prefix: Only this path and what lies below it.
        after: Where the page before ended.
        max_listed_entries: Entries at most.
        max_entry_result_chars: Paths and descriptions together.
    """

    session: str | None = None
    path_prefix: str | None = None
    after: CursorRecord | None = None
    max_listed_entries: Whole = _DEFAULTS.max_listed_entries
    max_entry_result_chars: Whole = _DEFAULTS.max_entry_result_chars


class EntrySearchRequest(PartitionedRecord):
    """In of `memory.search_entries`.

    Attributes:
        query: Natural language.
        session: Only entries of this session; those without one are not among them.
        path_prefix: Only this path and what lies below it.
        max_entry_results: Matches at most.
        max_entry_result_chars: Paths, descriptions and contents together.
    """

    query: str
    session: str | None = None
    path_prefix: str | None = None
    max_entry_results: Whole = _DEFAULTS.max_entry_results
    max_entry_result_chars: Whole = _DEFAULTS.max_entry_result_chars


class EntryRecord(Record):
    """One entry, as it is shown.

    Attributes:
        path: Where it lies.
        session: The conversation it belongs to.
        description: What it is about; cut in a long list.
        content: Its text, for a match; cut around what was found where it is long.
        truncated: Whether text of it was left out.
        version: Stands for its whole text.
        score: How well it matched.
    """

    path: str
    session: str | None = None
    description: str = ""
    content: str | None = None
    truncated: bool = False
    version: str | None = None
    score: float | None = None


class EntryListResponse(Record):
    """Out of `memory.list_entries`: entries in order of path, then session.

    Attributes:
        next: Where the next page goes on; `None` on the last.
    """

    status: Literal["ok", "refused"]
    entries: tuple[EntryRecord, ...] = ()
    next: CursorRecord | None = None
    code: str | None = None
    message: str | None = None


class EntrySearchResponse(Record):
    """Out of `memory.search_entries`: entries, best first.

    Attributes:
        truncated: Whether entries that were found had no room, or text of one was left out.
    """

    status: Literal["ok", "refused"]
    entries: tuple[EntryRecord, ...] = ()
    truncated: bool = False
    code: str | None = None
    message: str | None = None


def entry_status(tool: str, *, existed: bool) -> Status:
    """Return what a mutation did, from its tool and whether an entry existed before."""
    if tool == FORGET_TOOL:
        return "deleted" if existed else "not_found"
    return "updated" if existed else "created"


def _supplied(**arguments: str | None) -> dict[str, str]:
    return {name: value for name, value in arguments.items() if value is not None}
