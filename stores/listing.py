"""The order of a listing, and the listing of one notebook on any store."""

from __future__ import annotations

from collections.abc import Iterable

from ..notebook import MemoryScopeViolation, is_memory_filename, split_path
from .protocols import MemoryStore


def listing_order(prefix: str, path: str) -> tuple[bool, bytes, bytes]:
    """Return the sort key of `path` in a listing of `prefix`.

    Files directly below the prefix come first, then those of the scopes nested below it; by scope
    and then by name, bytewise. Whole paths would not do: a scope's files would be torn apart by
    those of the scopes nested below it, and no index of scopes and names has that order.
    """
    scope, name = split_path(path)
    return f"{scope}/" != prefix, scope.encode(), name.encode()


def check_below(prefix: str, paths: Iterable[str]) -> None:
    """Raise `MemoryScopeViolation` if a path is not below `prefix`.

    A scope is the boundary between tenants: a store that is at fault must not show one of them
    what is another's.
    """
    if not all(path.startswith(prefix) for path in paths):
        raise MemoryScopeViolation


async def own_paths(store: MemoryStore, prefix: str, *, limit: int) -> tuple[list[str], bool]:
    """Return the paths directly below `prefix` that the memory tools can spell.

    Args:
        store: Any store.
        prefix: A scope's key and `/`.
        limit: Paths that the store is asked for.

    Returns:
        The paths, and whether there may be more: the listing was full, and had only own files.

    Raises:
        MemoryScopeViolation: The store returned a path that is not below `prefix`.
    """
    paths = (await store.list_paths(prefix, limit=limit))[:limit]
    check_below(prefix, paths)
    names = [path.removeprefix(prefix) for path in paths]
    more = len(paths) == limit and not any("/" in name for name in names)
    return [prefix + name for name in names if is_memory_filename(name)], more
