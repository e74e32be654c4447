"""What a snapshot shows, from any store: in one call where the store can, in two where not."""

from __future__ import annotations

from ..notebook import MAIN_FILENAME, NotebookView, check_prefix
from .checks import check_bound
from .listing import own_paths
from .protocols import MemoryStore, SnapshotStore

_MAX_FILE_CHARS = 1_000_000
"""As the largest file that any notebook may hold."""


async def view_notebook(
    store: MemoryStore, prefix: str, *, tail_chars: int, max_names: int
) -> NotebookView:
    """Return the tail of the notebook's main file and the names beside it.

    Arguments as `SnapshotStore.view`. A store without it is asked for the main file, to at most
    1,000,000 characters since it can only give the beginning, and for at most `max_names + 2`
    paths.

    Raises:
        InvalidMemoryRequest: The prefix or a bound is malformed.
        MemoryFault: The store returned a path that is not of this notebook; nothing is shown.
    """
    check_prefix(prefix)
    check_bound("tail_chars", tail_chars)
    check_bound("max_names", max_names)
    if isinstance(store, SnapshotStore):
        return await store.view(prefix, tail_chars=tail_chars, max_names=max_names)
    main = await store.read(prefix + MAIN_FILENAME, max_chars=_MAX_FILE_CHARS)
    content, truncated = (main.content, main.truncated) if main else ("", False)
    paths, more = await own_paths(store, prefix, limit=max_names + 2)
    names = [path.removeprefix(prefix) for path in paths if path != prefix + MAIN_FILENAME]
    return NotebookView(
        tail=content[-tail_chars:],
        tail_truncated=truncated or len(content) > tail_chars,
        names=tuple(names[:max_names]),
        names_truncated=more or len(names) > max_names,
    )
