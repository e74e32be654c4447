"""Search on any store: in the store where it can, by a bounded scan where it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..notebook import check_prefix, parse_query, search_files
from .checks import check_bound
from .listing import check_below, own_paths
from .protocols import MemoryStore, SearchableMemoryStore
from .records import MemoryFile, MemorySearchMatch, MemorySearchResult


async def search_notebook(
    store: MemoryStore,
    prefix: str,
    query: str,
    *,
    limit: int,
    max_files: int,
    max_chars: int,
    max_file_chars: int,
) -> MemorySearchResult:
    """Search the files directly below `prefix`; arguments as `SearchableMemoryStore.search`.

    A store without search is asked for at most `max_files + 1` paths, and at most `max_files` of
    them are read, each to `max_file_chars`. What a store's own search returns beyond the bounds is
    cut.

    Raises:
        MemoryRefusal: The query is none.
        InvalidMemoryRequest: The prefix or a bound is malformed.
        MemoryFault: The store returned a path that is not of this notebook; nothing is shown.
    """
    check_prefix(prefix)
    parse_query(query)
    check_bound("limit", limit)
    check_bound("max_files", max_files)
    check_bound("max_chars", max_chars)
    check_bound("max_file_chars", max_file_chars)
    if isinstance(store, SearchableMemoryStore):
        found = await store.search(
            prefix,
            query,
            limit=limit,
            max_files=max_files,
            max_chars=max_chars,
            max_file_chars=max_file_chars,
        )
        check_below(prefix, (match.path for match in found.matches))
        return _bounded(found, prefix, limit=limit, max_chars=max_chars)
    paths, more = await own_paths(store, prefix, limit=max_files + 1)
    files = [(path, await store.read(path, max_chars=max_file_chars)) for path in paths[:max_files]]
    present = [(path.removeprefix(prefix), file) for path, file in files if file is not None]
    found = search_contents(
        prefix, query, present, limit=limit, max_files=max_files, max_chars=max_chars
    )
    return replace(found, truncated=found.truncated or more)


def search_contents(
    prefix: str,
    query: str,
    files: Iterable[tuple[str, MemoryFile]],
    *,
    limit: int,
    max_files: int,
    max_chars: int,
) -> MemorySearchResult:
    """Search files that were read: `search_files` of the notebook, with the store's paths.

    Args:
        prefix: What the paths start with.
        query: Terms.
        files: Name and content of each, in the order of names; taken one by one, so that they
            need not all be in memory.
        limit: Matches at most.
        max_files: Files looked at at most.
        max_chars: Characters of names and snippets together.
    """
    cut = False

    def texts() -> Iterator[tuple[str, str]]:
        nonlocal cut
        for number, (name, file) in enumerate(files):
            cut = cut or (file.truncated and number < max_files)
            yield name, file.content

    outcome = search_files(texts(), query, limit=limit, max_files=max_files, max_chars=max_chars)
    return MemorySearchResult(
        matches=tuple(
            MemorySearchMatch(path=prefix + match.name, snippet=match.snippet, score=match.score)
            for match in outcome.matches
        ),
        scanned=outcome.scanned,
        truncated=outcome.truncated or cut,
    )


def _bounded(
    found: MemorySearchResult, prefix: str, *, limit: int, max_chars: int
) -> MemorySearchResult:
    """Cut what a store's own search returned to what was asked for."""
    room, kept = max_chars, list[MemorySearchMatch]()
    for match in found.matches[:limit]:
        room -= len(match.path) - len(prefix) + len(match.snippet)
        if room < 0:
            break
        kept.append(match)
    cut = len(kept) < len(found.matches)
    return replace(found, matches=tuple(kept), truncated=found.truncated or cut)
