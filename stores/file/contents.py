"""Contents of files: bounded reads, stamps that tell one state of a file from another, replacing.

A stamp is the digest of all bytes and the time of the last change. By the digest, no edit made
outside is missed, also not within one tick of the clock; by the time, a text that was put back is
another state than the one before. Copying with times (`cp -a`, a backup) keeps stamps.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import final

from .folders import open_file

_CHUNK = 1 << 20
_MAX_BYTES = 4
"""Bytes that one character has at most in UTF-8."""


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """One state of a file.

    Attributes:
        digest: SHA-256 of its bytes, in hexadecimal.
        modified: When its content was changed last, in nanoseconds.
    """

    digest: str
    modified: int


@final
@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A file that is there.

    Attributes:
        text: The beginning of it; what is no text of ours is shown as U+FFFD.
        truncated: Whether there is more.
        intact: Whether `text` is exactly what the bytes say.
        stamp: The state of the whole file.
        mode: Its permission bits.
    """

    text: str
    truncated: bool
    intact: bool
    stamp: Stamp
    mode: int


def look(folder: int, name: str, *, max_chars: int) -> Found | None:
    """Read the beginning of a file and stamp all of it, in bounded memory; `None` for no file."""
    file = open_file(folder, name)
    if file is None:
        return None
    with os.fdopen(file, "rb", buffering=0) as raw:
        status = os.fstat(file)
        start = _read(file, _MAX_BYTES * (max_chars + 1))
        digest = hashlib.sha256(start)
        more = False
        while chunk := raw.read(_CHUNK):
            digest.update(chunk)
            more = True
    text, intact = decode(start, final=not more)
    return Found(
        text=text[:max_chars],
        truncated=more or len(text) > max_chars,
        intact=intact,
        stamp=Stamp(digest=digest.hexdigest(), modified=status.st_mtime_ns),
        mode=stat.S_IMODE(status.st_mode),
    )


def peek(folder: int, name: str, *, max_chars: int) -> tuple[str, bool] | None:
    """Return the beginning of a file, and whether there is more; reads no more than that."""
    file = open_file(folder, name)
    if file is None:
        return None
    with os.fdopen(file, "rb", buffering=0):
        size = _MAX_BYTES * (max_chars + 1)
        start = _read(file, size)
    text, _ = decode(start, final=len(start) < size)
    return text[:max_chars], len(text) > max_chars


def tail(folder: int, name: str, *, max_chars: int) -> tuple[str, bool] | None:
    """Return the end of a file, and whether there is more before it; reads no more than that."""
    file = open_file(folder, name)
    if file is None:
        return None
    with os.fdopen(file, "rb", buffering=0):
        skipped = max(0, os.fstat(file).st_size - _MAX_BYTES * (max_chars + 1))
        os.lseek(file, skipped, os.SEEK_SET)
        end = _read(file, _MAX_BYTES * (max_chars + 2))
    if skipped:
        # Not within a character: its continuation bytes are 10xxxxxx.
        end = end.lstrip(bytes(range(0x80, 0xC0)))
    text, _ = decode(end, final=True)
    return text[-max_chars:], bool(skipped) or len(text) > max_chars


def decode(data: bytes, *, final: bool) -> tuple[str, bool]:
    """Return the text of bytes, and whether it is exactly that.

    NUL and bytes that are not UTF-8, which only a person's editor can have put there, become
    U+FFFD. Without `final`, a character that is cut at the end is left out.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")("strict").decode(data, final)
    except UnicodeDecodeError:
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final)
        return text.replace("\0", "\ufffd"), False
    return text.replace("\0", "\ufffd"), "\0" not in text


def spare_name(name: str) -> str:
    """Return the name of the temporary file beside a file.

    One for each file, so that what a crash leaves behind is used again; hidden, as no file of a
    store is.
    """
    return f".memory-{hashlib.sha256(name.encode()).hexdigest()[:32]}.tmp"


def write_spare(folder: int, name: str, text: str, *, mode: int | None) -> Stamp:
    """Write the temporary file beside a file, safe from a loss of power; return its stamp.

    Args:
        folder: Where the file is.
        name: The file's name.
        text: What it shall hold.
        mode: Permission bits of the file that it shall replace.
    """
    spare, data = spare_name(name), text.encode()
    discard(folder, name)
    try:
        # What a new file may be is the umask's to say.
        file = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
        with os.fdopen(file, "wb") as out:
            out.write(data)
            out.flush()
            if mode is not None:
                os.fchmod(file, mode)
            os.fsync(file)
            modified = os.fstat(file).st_mtime_ns
    except BaseException:
        discard(folder, name)
        raise
    return Stamp(digest=hashlib.sha256(data).hexdigest(), modified=modified)


def discard(folder: int, name: str) -> None:
    """Remove the temporary file beside a file, if there is one."""
    with suppress(FileNotFoundError):
        os.unlink(spare_name(name), dir_fd=folder)


def replace(folder: int, name: str) -> None:
    """Put the temporary file in the place of the file, safe from a loss of power."""
    os.rename(spare_name(name), name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def remove(folder: int, name: str) -> None:
    """Remove the file, safe from a loss of power."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    os.fsync(folder)


def _read(file: int, size: int) -> bytes:
    """Read up to `size` bytes: one call may return less."""
    parts = list[bytes]()
    while size > 0 and (part := os.read(file, min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
