"""Search: which files of a notebook answer a query, and what is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .errors import MemoryRefusal
from .folding import fold
from .names import is_memory_filename
from .scoring import MAX_TERMS, TermCounts, file_counts, rank, term_counts
from .snippets import Passage, SearchMatch, show_matches
from .text import check_text

MAX_QUERY_CHARS = 1_000
"""Length of a query, in characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchOutcome:
    """What a search found.

    Attributes:
        matches: Best first.
        scanned: How many files were looked at.
        truncated: Whether there were more files than may be looked at, or more matches than are
            shown.
    """

    matches: tuple[SearchMatch, ...]
    scanned: int
    truncated: bool


def parse_query(query: str) -> tuple[str, ...]:
    """Return the folded terms of a query, each once, in their order.

    Raises:
        MemoryRefusal: `invalid_query` for an empty query, one over 1,000 characters or one with
            over 32 different terms; `invalid_text` for NUL and lone surrogates.
    """
    check_text(query, field="query")
    if len(query) > MAX_QUERY_CHARS:
        raise MemoryRefusal(
            "invalid_query", f"The query is over {MAX_QUERY_CHARS} characters. Search for less."
        )
    terms = tuple(dict.fromkeys(fold(query).split()))
    if not terms:
        raise MemoryRefusal("invalid_query", "The query is empty. Pass words to look for.")
    if len(terms) > MAX_TERMS:
        raise MemoryRefusal(
            "invalid_query", f"The query has over {MAX_TERMS} different words. Search for fewer."
        )
    return terms


def count_terms(name: str, content: str, terms: Sequence[str]) -> dict[str, TermCounts]:
    """Return the counts of those terms that occur in a file's content or name.

    Args:
        name: The file's name, without its scope; a `.md` at its end does not count.
        content: The file's text.
        terms: Folded terms.
    """
    stem, text = fold(name.removesuffix(".md")), fold(content)
    counts = {t: file_counts(term_counts(text, t), term_counts(stem, t)) for t in terms}
    return {term: found for term, found in counts.items() if found}


def search_files(
    files: Iterable[tuple[str, str]], query: str, *, limit: int, max_files: int, max_chars: int
) -> SearchOutcome:
    """Search the files of one notebook, by the formula in `scoring.py`.

    Files under names that the memory tools cannot spell are passed over.

    Args:
        files: Name, without scope, and text of each file, cut to what may be searched. One more
            than `max_files` is taken, to know that there are more.
        query: As `parse_query` takes it.
        limit: Matches shown at most.
        max_files: Files looked at at most.
        max_chars: Characters of names and snippets together, see `show_matches`.

    Raises:
        MemoryRefusal: As `parse_query`.
    """
    terms = parse_query(query)
    known = (file for file in files if is_memory_filename(file[0]))
    contents: dict[str, str] = {}
    counts: dict[str, Mapping[str, TermCounts]] = {}
    scanned, more = 0, False
    for name, content in known:
        if scanned == max_files:
            more = True
            break
        scanned += 1
        if found := count_terms(name, content, terms):
            contents[name], counts[name] = content, found
    best = [
        Passage(name=name, text=contents[name], score=score)
        for name, score in rank(counts, terms, files=scanned)[:limit]
    ]
    matches = show_matches(best, terms, max_chars)
    return SearchOutcome(
        matches=matches, scanned=scanned, truncated=more or len(matches) < len(counts)
    )
