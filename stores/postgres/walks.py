"""Walks back through a document's history, a batch of steps at a time.

A document may have any number of steps after the version that is wanted, each with texts of its
own. Only one text and one batch are in memory at once. Steps never change once they are written,
so batches that are read one after another fit together; what is written meanwhile lies before the
first of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...notebook import MemoryNotFound
from ..checks import NEWEST
from ..history import undo
from .rows import Row, step

_BATCH = 32

Steps = Callable[[int, int], Awaitable[Sequence[Row]]]
"""Reads steps below a version, newest first, at most so many."""


async def walk_back(steps: Steps, version: str) -> tuple[str | None, Row]:
    """Return a document's content as it was at a version, and the row of the step that made it.

    The content is `None` where there was none. One round trip for each 32 steps.

    Raises:
        MemoryNotFound: The document never had that version.
    """
    rows = await steps(NEWEST, _BATCH)
    content = rows[0]["current"] if rows else None
    while rows:
        for row in rows:
            if str(row["version"]) == version:
                return content, row
            content = undo(content, step(row))
        rows = await steps(rows[-1]["version"], _BATCH)
    raise MemoryNotFound
