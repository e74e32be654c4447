"""Entries: whose they are, where they lie, and what they may hold.

An entry's identity is (store, actor, session or none, path). Store, actor and session come from
trusted code: what is wrong with them is `InvalidMemoryRequest`. Path, content, description and
query may come from a model: what is wrong with them is a `MemoryRefusal`, which says what to do.
Each rule guards against a fault that was seen in the field:

| rule | fault |
| --- | --- |
| an actor is never empty, and there is no default | a request without identity fell back to a shared memory |
| a prefix ends at a segment | `acme` was shown what `acme-corp` had written |
| a path has one spelling: no empty, `.` or `..` segment | two entries for one place, each stale for the other |
| an id never needs quoting and is none of `.`, `..` | an id in a URL became another route |
| every part is bounded in bytes | a key that did not fit a page of the index failed at some users only |
| a filter by session never finds entries without one | text meant for one conversation leaked into another |
| a path filter ignores the session and excludes a prefix | "forget" left the copies of other sessions behind |
"""  # noqa: E501  (a table's rows are lines)

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import InvalidMemoryRequest, MemoryRefusal
from .text import check_text, is_storable

MAX_ACTOR_BYTES = 512
"""Size of an actor's id, in bytes of UTF-8."""

MAX_SESSION_BYTES = 256
"""Size of a session's id, in bytes of UTF-8."""

MAX_ENTRY_PATH_BYTES = 1_000
"""Size of an entry's path, in bytes of UTF-8."""

MAX_CONTENT_CHARS = 65_536
"""Length of an entry's content, in characters."""

MAX_DESCRIPTION_CHARS = 4_000
"""Length of a description, of an entry or a store, in characters."""

MAX_ENTRY_QUERY_CHARS = 2_000
"""Length of a search in entries, in characters."""

MAX_ENTRY_RESULTS = 100
"""Entries that one search returns at most."""

ROOT_PREFIX = "/"
"""The prefix of every path."""

SOURCE_AGENT = "AGENT"
SOURCE_DREAMER = "DREAMER"
SOURCE_TYPES = frozenset({SOURCE_AGENT, SOURCE_DREAMER})
"""Who wrote an entry: an agent or application, or a pipeline that read conversations."""

MAX_ORIGIN_BYTES = 1_000
"""Size of a provenance's origin, in bytes of UTF-8."""

_STORE_ID = re.compile(r"[a-z][a-z0-9-]{1,54}[a-z0-9]", re.ASCII)
_ENTRY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_PATH_RULE = (
    'A memory path begins with "/" and has no empty, "." or ".." segment, for example '
    f'"/preferences/style.md"; at most {MAX_ENTRY_PATH_BYTES} bytes.'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryKey:
    """The identity of an entry.

    Attributes:
        store: The memory store's id.
        actor: Whose memory, by trusted code; 1 to 512 bytes.
        path: Where in the actor's memory, as `check_entry_path` takes it.
        session: The conversation it belongs to; `None` for an entry of all of them.

    Raises:
        InvalidMemoryRequest: Store, actor or session break their rule.
        MemoryRefusal: `invalid_name`, the path breaks its rule.
    """

    store: str
    actor: str
    path: str
    session: str | None = None

    def __post_init__(self) -> None:
        check_store_id(self.store)
        check_actor(self.actor)
        check_session(self.session)
        check_entry_path(self.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryFilter:
    """Which of an actor's entries.

    Attributes:
        path: Exactly this path, in every session and without one; excludes the others.
        path_prefix: This path and what lies below it; `/` is everything.
        session: Only entries of this session; entries without one are never among them.

    Raises:
        InvalidMemoryRequest: `path` together with `path_prefix`, or a malformed session.
        MemoryRefusal: `invalid_name`, a malformed path or prefix.
    """

    path: str | None = None
    path_prefix: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        if self.path is not None:
            check_entry_path(self.path)
            if self.path_prefix is not None:
                raise InvalidMemoryRequest("path and path_prefix exclude each other")
        if self.path_prefix is not None:
            check_path_prefix(self.path_prefix)
        check_session(self.session)

    def admits(self, path: str, session: str | None) -> bool:
        """Tell whether an entry is among those meant: the rule that statements must equal."""
        if self.path is not None:
            return path == self.path
        within = self.path_prefix is None or is_below(path, self.path_prefix)
        return within and (self.session is None or session == self.session)


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a write comes from; every write has one.

    Attributes:
        source_type: One of `SOURCE_TYPES`.
        origin: What it was taken from (a conversation, a document), for people and for programs
            that must not read their own output again; empty when it was said directly.

    Raises:
        InvalidMemoryRequest: The type is unknown, or the origin cannot be stored.
    """

    source_type: str = SOURCE_AGENT
    origin: str = ""

    def __post_init__(self) -> None:
        if self.source_type not in SOURCE_TYPES:
            raise InvalidMemoryRequest(f"source_type is one of {', '.join(sorted(SOURCE_TYPES))}")
        _check_bytes("origin", self.origin, low=0, high=MAX_ORIGIN_BYTES)


def check_store_id(store: str) -> str:
    """Return the id of a memory store; raise `InvalidMemoryRequest` if it is none.

    3 to 56 of `a-z`, `0-9` and `-`, starting with a letter and ending with a letter or digit. The
    reserved store of notebooks is outside the pattern, so no route or tool can reach into one.
    """
    if not isinstance(store, str) or not _STORE_ID.fullmatch(store):
        raise InvalidMemoryRequest(
            "a memory store's id is 3 to 56 of a-z, 0-9 and '-', starts with a letter and ends "
            "with a letter or digit"
        )
    return store


def check_actor(actor: str) -> str:
    """Return an actor's id; raise `InvalidMemoryRequest` if it is missing or cannot be stored.

    Any text of 1 to 512 bytes without NUL and surrogates (`you@example.com`, `tenant:user`). Text
    of nothing but whitespace is a missing identity too.
    """
    _check_bytes("actor_id", actor, low=1, high=MAX_ACTOR_BYTES)
    if not actor.strip():
        raise InvalidMemoryRequest("actor_id must say whose memory it is; there is no default")
    return actor


def check_session(session: str | None) -> str | None:
    """Return a session's id, `None` for none; raise `InvalidMemoryRequest` if it is malformed."""
    if session is not None:
        _check_bytes("session_id", session, low=1, high=MAX_SESSION_BYTES)
    return session


def check_entry_id(entry_id: str) -> str:
    """Return an entry's id: 1 to 64 of `A-Za-z0-9._-`, first a letter or digit.

    Raises:
        InvalidMemoryRequest: It is none.
    """
    if not isinstance(entry_id, str) or not _ENTRY_ID.fullmatch(entry_id):
        raise InvalidMemoryRequest(
            "an entry's id is 1 to 64 of A-Z, a-z, 0-9 and ._- and starts with a letter or digit"
        )
    return entry_id


def check_entry_path(path: str) -> str:
    """Return an entry's path; raise `MemoryRefusal` (`invalid_name`) if it is malformed.

    Begins with `/`, is case-sensitive, and has no empty, `.` or `..` segment; at most 1,000 bytes.
    """
    if not isinstance(path, str) or not is_storable(path) or not _is_path(path):
        raise MemoryRefusal("invalid_name", _PATH_RULE)
    return path


def check_path_prefix(prefix: str) -> str:
    """Return a prefix without a slash at its end, `/` for everything.

    Raises:
        MemoryRefusal: `invalid_name`, it is neither `/` nor a path, with or without `/` at its end.
    """
    if prefix == ROOT_PREFIX:
        return prefix
    return check_entry_path(prefix.removesuffix("/") if isinstance(prefix, str) else prefix)


def is_below(path: str, prefix: str) -> bool:
    """Tell whether a path is a prefix or lies below it: `/a` is `/a` and `/a/b`, never `/ab`."""
    if prefix == ROOT_PREFIX:
        return True
    start = prefix.removesuffix("/")
    return path == start or path.startswith(start + "/")


def check_content(content: str) -> str:
    """Return an entry's content; raise `MemoryRefusal` (`invalid_text`, `oversize`)."""
    return _check_length("content", content, MAX_CONTENT_CHARS)


def check_description(description: str) -> str:
    """Return a description; raise `MemoryRefusal` (`invalid_text`, `oversize`)."""
    return _check_length("description", description, MAX_DESCRIPTION_CHARS)


def check_entry_query(query: str) -> str:
    """Return a search in natural language.

    Raises:
        MemoryRefusal: `invalid_query` for an empty or too long one, `invalid_text`.
    """
    check_text(query, field="query")
    if not query.strip():
        raise MemoryRefusal("invalid_query", "The query is empty. Say what to look for.")
    if len(query) > MAX_ENTRY_QUERY_CHARS:
        raise MemoryRefusal(
            "invalid_query",
            f"The query is over {MAX_ENTRY_QUERY_CHARS} characters. Ask for less.",
        )
    return query


def _is_path(path: str) -> bool:
    first, *segments = path.split("/")
    whole = first == "" and bool(segments) and not {"", ".", ".."}.intersection(segments)
    return whole and len(path.encode()) <= MAX_ENTRY_PATH_BYTES


def _check_bytes(name: str, value: str, *, low: int, high: int) -> None:
    if not isinstance(value, str) or not is_storable(value):
        raise InvalidMemoryRequest(f"{name} must be text without NUL and lone surrogates")
    if not low <= len(value.encode()) <= high:
        raise InvalidMemoryRequest(f"{name} must be {low} to {high} bytes of UTF-8")


def _check_length(field: str, text: str, high: int) -> str:
    check_text(text, field=field)
    if len(text) > high:
        raise MemoryRefusal(
            "oversize",
            f"`{field}` would have {len(text)} characters; the limit is {high}. Shorten it, or "
            "save it in several memories.",
        )
    return text
