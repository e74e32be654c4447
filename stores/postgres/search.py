"""Search in the database: counts, scores and the choice of passages are the query's.

What travels is bounded: for each match that is shown, at most about as many characters as all the
snippets together may have.
"""

from __future__ import annotations

import re

from ...notebook import (
    MAX_TERMS,
    NAME_WEIGHT,
    WORD_BOUNDARY,
    Passage,
    parse_query,
    show_matches,
)
from ..records import MemorySearchMatch, MemorySearchResult
from .addresses import NOTEBOOKS, scope_of_prefix
from .calls import Caller
from .rows import Row

_BEYOND = f"[^{WORD_BOUNDARY[1:-1]}]"


async def search_notebook(
    caller: Caller,
    prefix: str,
    query: str,
    *,
    limit: int,
    max_files: int,
    max_chars: int,
    max_file_chars: int,
) -> MemorySearchResult:
    """See `SearchableMemoryStore.search`. One round trip."""
    scope, terms = scope_of_prefix(prefix), parse_query(query)
    patterns = [_whole_word(term) for term in terms]
    files = (NOTEBOOKS, scope, list(terms), patterns, max_files, max_file_chars)
    rows = await caller.rows("search", *files, NAME_WEIGHT, MAX_TERMS, limit, max_chars)
    passages = [_passage(row) for row in rows if row["path"] is not None]
    shown = show_matches(passages, terms, max_chars)
    return MemorySearchResult(
        matches=tuple(
            MemorySearchMatch(path=prefix + match.name, snippet=match.snippet, score=match.score)
            for match in shown
        ),
        scanned=rows[0]["files"],
        truncated=rows[0]["cut"] or len(shown) < rows[0]["matched"],
    )


def _passage(row: Row) -> Passage:
    return Passage(
        name=row["path"],
        text=row["passage"],
        score=row["score"],
        cut_before=row["cut_before"],
        cut_after=row["cut_after"],
    )


def _whole_word(term: str) -> str:
    """Return the pattern of a term between word boundaries, in PostgreSQL's dialect."""
    return f"(?<!{_BEYOND}){re.escape(term)}(?!{_BEYOND})"
