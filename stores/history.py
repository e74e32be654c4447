"""Every version of a file, rebuilt from the newest backwards."""

from __future__ import annotations

from collections.abc import Iterable

from ..notebook import MemoryNotFound, undo_splice
from .records import MemoryVersion


def rebuild(current: str | None, steps: Iterable[MemoryVersion], version: str) -> str | None:
    """Return a file's content as it was at `version`; `None` when it did not exist then.

    Args:
        current: The content after the first of `steps`; `None` when the file is deleted.
        steps: Steps of the file's history, newest first, down to `version` or below it.
        version: Which one.

    Raises:
        MemoryNotFound: None of the steps made that version.
        ValueError: The steps are not of this content.
    """
    content = current
    for step in steps:
        if step.version == version:
            return content
        content = undo(content, step)
    raise MemoryNotFound


def undo(content: str | None, step: MemoryVersion) -> str | None:
    """Return what the content was before a step made it `content`; `None` for none."""
    before = undo_splice(content or "", step.change)
    return before if step.existed_before else None
