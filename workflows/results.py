"""What the handle gives back: tool results for the model, snapshots for its request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..notebook import (
        EditResult,
        EntryListResponse,
        EntryResult,
        EntrySearchResponse,
        MemoryRefusal,
        ReadResponse,
        SearchResponse,
    )

READ_CUT_NOTICE = (
    "\n\n[Cut: the file is larger than what can be shown; a file that is over the size limit "
    "cannot be edited with the memory tools.]"
)

_NOTHING = "No memory found."
_DONE = {
    "created": "Saved memory at",
    "updated": "Saved memory at",
    "deleted": "Forgot memory at",
    "not_found": "No memory at",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """The result of one tool call.

    Attributes:
        text: What the model is told.
        is_error: Whether the call was not carried out.
        data: The same for programs, as plain JSON; the refusal's `code` when there is one.
    """

    text: str
    is_error: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def refused(cls, code: str, message: str) -> ToolResult:
        """Return the result of a call that was not carried out."""
        return cls(text=message, is_error=True, data={"status": "refused", "code": code})

    @classmethod
    def of_refusal(cls, refusal: MemoryRefusal) -> ToolResult:
        """Return the result of a refusal by the rules."""
        return cls.refused(refusal.code, str(refusal))

    @classmethod
    def of_edit(cls, result: EditResult) -> ToolResult:
        """Return the result of a write or delete.

        The text leaves out whether a receipt answered, so that a replay tells the model exactly
        what the first run told it.
        """
        if result.status == "refused":
            return cls.refused(result.code or "", result.message or "")
        told = {"status": result.status, "file": result.file, "version": result.version}
        return cls(text=_json(told), data={**told, "replayed": result.replayed})

    @classmethod
    def of_read(cls, response: ReadResponse) -> ToolResult:
        """Return the result of a read: the file's text as it is."""
        if response.status == "refused":
            return cls.refused(response.code or "", response.message or "")
        cut = READ_CUT_NOTICE if response.truncated else ""
        return cls(text=(response.content or "") + cut, data=response.wire())

    @classmethod
    def of_search(cls, response: SearchResponse) -> ToolResult:
        """Return the result of a search."""
        if response.status == "refused":
            return cls.refused(response.code or "", response.message or "")
        data = response.wire()
        return cls(text=_json({name: data[name] for name in ("matches", "truncated")}), data=data)

    @classmethod
    def of_entry(cls, result: EntryResult) -> ToolResult:
        """Return the result of a save or a forget; a replay's text is as in `of_edit`."""
        if result.status == "refused":
            return cls.refused(result.code or "", result.message or "")
        told = {"status": result.status, "path": result.path, "version": result.version}
        text = f"{_DONE[result.status]} {result.path}"
        return cls(text=text, data={**told, "replayed": result.replayed})

    @classmethod
    def of_list(cls, response: EntryListResponse) -> ToolResult:
        """Return the result of a list: JSON, or a sentence when there is nothing."""
        if response.status == "refused":
            return cls.refused(response.code or "", response.message or "")
        shown = [{"path": e.path, "description": e.description} for e in response.entries]
        told = {"memories": shown, "truncated": response.next is not None}
        return cls(text=_json(told) if shown else _NOTHING, data=response.wire())

    @classmethod
    def of_found(cls, response: EntrySearchResponse) -> ToolResult:
        """Return the result of a search in entries: JSON, or a sentence when nothing was found."""
        if response.status == "refused":
            return cls.refused(response.code or "", response.message or "")
        shown = [
            {"path": e.path, "description": e.description, "content": e.content}
            for e in response.entries
        ]
        told = {"memories": shown, "truncated": response.truncated}
        return cls(text=_json(told) if shown else _NOTHING, data=response.wire())


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The bounded text of a scope at one moment.

    Attributes:
        text: For a user-role part of the current request; `''` when there is none.
        token: Stands for the text.
        skipped: Whether it is missing because the store was down.
    """

    text: str = ""
    token: str | None = None
    skipped: bool = False


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
