"""What is shown of entries that were listed or found, within one budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .entry_records import EntryRecord
from .folding import fold
from .scoring import MAX_TERMS
from .snippets import Passage, show_matches


def show_listed(entries: Sequence[EntryRecord], *, max_chars: int) -> tuple[EntryRecord, ...]:
    """Return as many entries as fit, with their descriptions, long ones cut.

    Args:
        entries: In their order.
        max_chars: Paths, sessions and descriptions together.
    """
    texts = [entry.description for entry in entries]
    heads = [entry.path + (entry.session or "") for entry in entries]
    return tuple(
        _cut(entry, "description", shown)
        for entry, shown in _fitting(entries, heads, texts, (), max_chars)
    )


def show_found(
    entries: Sequence[EntryRecord], query: str, *, max_chars: int
) -> tuple[EntryRecord, ...]:
    """Return as many entries as fit, with their contents, long ones cut around what was found.

    Args:
        entries: Best first, with their contents.
        query: What was looked for: a cut content shows its words where they occur literally, and
            its start where it was found by its meaning.
        max_chars: Paths, sessions, descriptions and contents together.
    """
    terms = tuple(dict.fromkeys(fold(query).split()))[:MAX_TERMS]
    texts = [entry.content or "" for entry in entries]
    heads = [entry.path + (entry.session or "") + entry.description for entry in entries]
    return tuple(
        _cut(entry, "content", shown)
        for entry, shown in _fitting(entries, heads, texts, terms, max_chars)
    )


def _fitting(
    entries: Sequence[EntryRecord],
    heads: Sequence[str],
    texts: Sequence[str],
    terms: Sequence[str],
    max_chars: int,
) -> Iterator[tuple[EntryRecord, str]]:
    """Yield the entries that fit, each with what is shown of its text; the budget is shared."""
    passages = [
        Passage(name=head, text=text, score=0) for head, text in zip(heads, texts, strict=True)
    ]
    matches = show_matches(passages, terms, max_chars)
    yield from zip(entries, (match.snippet for match in matches), strict=False)


def _cut(entry: EntryRecord, field: str, shown: str) -> EntryRecord:
    whole = shown == getattr(entry, field)
    return entry.model_copy(update={field: shown, "truncated": not whole})
