"""Names: scopes, memory files and store paths.

A store path is a scope's key, `/`, and a file name. A file name has no `/`, and an agent name is
exactly one segment, so a path names one file of one scope, and two scopes never share a path.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from .errors import InvalidMemoryRequest, MemoryRefusal
from .folding import drop_ignorable, fold
from .text import is_storable

MAIN_FILENAME = "MEMORY.md"
"""The main notebook, of which snapshots show the newest lines."""

MAX_KEY_BYTES = 1_000
"""Size of a scope's key, in bytes of UTF-8."""

MAX_NAME_BYTES = 200
"""Size of a file name, in bytes of UTF-8."""

MAX_NAME_CHARS = 80
"""Length of a file name the tools can spell, with its `.md`."""

_MAX_DECOMPOSED_CHARS = 4 * MAX_NAME_CHARS  # A character decomposes (NFD) into at most 4.
_SUFFIX = ".md"
_SEGMENT = re.compile(r"(?!\.\Z)(?!.*\.\.)[A-Za-z0-9_.@:+-]{1,200}")
_ASCII_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,76}\.md")
_FOLDED_MAIN = fold(MAIN_FILENAME)
_LETTERS_AND_DIGITS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})
_MARKS = frozenset({"Mn", "Mc", "Me"})
_SEGMENT_RULE = "1 to 200 of A-Z, a-z, 0-9 and _.@:+- each, not '.', without '..'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Whose notebook: resolved by application code, never by the model, never shown to it.

    Attributes:
        namespace: The tenant or user: no or more segments with `/` between them, each 1 to 200 of
            `A-Za-z0-9_.@:+-`, not `.`, without `..`.
        agent_name: The agent, exactly one such segment.

    Raises:
        InvalidMemoryRequest: A part breaks the rule, or the key is over 1,000 bytes.
    """

    namespace: str = ""
    agent_name: str = "main"

    def __post_init__(self) -> None:
        if not isinstance(self.namespace, str) or not isinstance(self.agent_name, str):
            raise InvalidMemoryRequest("a scope's namespace and agent_name must be text")
        if not _SEGMENT.fullmatch(self.agent_name):
            raise InvalidMemoryRequest(f"a scope's agent_name is one segment: {_SEGMENT_RULE}")
        if not _is_key(self.key):
            raise InvalidMemoryRequest(
                f"a scope's namespace is segments with '/' between them: {_SEGMENT_RULE}; "
                f"namespace and agent_name together are at most {MAX_KEY_BYTES} bytes"
            )

    @property
    def key(self) -> str:
        """Namespace and agent name as one text; no other scope has the same."""
        return f"{self.namespace}/{self.agent_name}" if self.namespace else self.agent_name

    @property
    def prefix(self) -> str:
        """What the paths of this scope's files start with."""
        return f"{self.key}/"

    def path(self, name: str) -> str:
        """Return the store path of a file.

        Args:
            name: A file name, as `normalize_filename` returns it or as an application chose it.

        Raises:
            InvalidMemoryRequest: The name cannot be stored.
        """
        if not _is_stored_name(name):
            raise InvalidMemoryRequest(_STORED_NAME_RULE)
        return self.prefix + name


_STORED_NAME_RULE = (
    f"a stored file name is 1 to {MAX_NAME_BYTES} bytes of text without '/', NUL and surrogates, "
    "and not '.' or '..'"
)

_NAME_ADVICE = (
    'That is not a memory file name. Use a short name like "project-notes.md": letters, '
    f"digits, dots, dashes and underscores, at most {MAX_NAME_CHARS} characters, no "
    "slashes, no '..'."
)


def normalize_filename(raw: str) -> str:
    """Return the one spelling of a memory file's name.

    Strips whitespace, composes (NFC) and adds `.md` where it is missing. The result is 1 to 80
    Unicode letters, marks, digits, `.`, `_` and `-`, at most 200 bytes, starts with a letter or
    digit, and has no `..`. Look-alikes of `MEMORY.md` (`memory.md`) are refused, so that there is
    never a second main notebook.

    Raises:
        MemoryRefusal: `invalid_name`; the message says what a name looks like.
    """
    stripped = raw.strip()
    if len(stripped) > _MAX_DECOMPOSED_CHARS:  # Composing takes time quadratic in runs of marks.
        raise MemoryRefusal("invalid_name", _NAME_ADVICE)
    stripped = unicodedata.normalize("NFC", stripped)
    name = stripped if stripped.endswith(_SUFFIX) else stripped + _SUFFIX
    if name != MAIN_FILENAME and any(map(_resembles_main, {name, stripped})):
        raise MemoryRefusal("invalid_name", f'Spell the main notebook "{MAIN_FILENAME}".')
    if not (_ASCII_NAME.fullmatch(name) or _is_wide_name(name)):
        raise MemoryRefusal("invalid_name", _NAME_ADVICE)
    return name


def is_memory_filename(name: str) -> bool:
    """Tell whether `name` is a name the memory tools can spell, in its one spelling."""
    if name.isascii():
        plain = _ASCII_NAME.fullmatch(name) is not None
        return plain and (name == MAIN_FILENAME or not _resembles_main(name))
    try:
        return normalize_filename(name) == name
    except MemoryRefusal:
        return False


def split_path(path: str) -> tuple[str, str]:
    """Return the scope's key and the file name of a store path.

    Raises:
        InvalidMemoryRequest: The path is not a scope's key, `/` and a storable file name. The
            message does not hold the path.
    """
    key, _, name = path.rpartition("/")
    if not _is_key(key):
        raise InvalidMemoryRequest(
            f"a store path is a scope's key, '/' and a file name; the key is segments with '/' "
            f"between them: {_SEGMENT_RULE}; at most {MAX_KEY_BYTES} bytes"
        )
    if not _is_stored_name(name):
        raise InvalidMemoryRequest(_STORED_NAME_RULE)
    return key, name


def check_path(path: str) -> None:
    """Raise `InvalidMemoryRequest` unless `path` is a store path (see `split_path`)."""
    split_path(path)


def check_prefix(prefix: str) -> None:
    """Raise `InvalidMemoryRequest` unless `prefix` is empty or a scope's key and `/`."""
    if prefix and not (prefix.endswith("/") and _is_key(prefix[:-1])):
        raise InvalidMemoryRequest("a prefix is empty, or a scope's key followed by '/'")


def _is_key(key: str) -> bool:
    short = len(key) <= MAX_KEY_BYTES  # Segments are ASCII: a character is a byte.
    return short and all(map(_SEGMENT.fullmatch, key.split("/")))


def _is_stored_name(name: str) -> bool:
    if name in {"", ".", ".."} or "/" in name or len(name) > MAX_NAME_BYTES:
        return False
    return is_storable(name) and len(name.encode()) <= MAX_NAME_BYTES


def _is_wide_name(name: str) -> bool:
    """Tell whether a composed name that ends in `.md` keeps the rule beyond ASCII."""
    if len(name) > MAX_NAME_CHARS or ".." in name or not _is_stored_name(name):
        return False
    kinds = {unicodedata.category(character) for character in name if character not in "._-"}
    first = unicodedata.category(name[0])
    return first in _LETTERS_AND_DIGITS and kinds <= _LETTERS_AND_DIGITS | _MARKS


def _resembles_main(name: str) -> bool:
    """Tell whether a name reads as that of the main notebook: in other case, or full width."""
    return drop_ignorable(fold(name)) == _FOLDED_MAIN
