"""The file store's directory: what a person finds in it, and may do to it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from store_child import PATH, run_child

from durable_memory.notebook import (
    Append,
    MemoryConflictError,
    MemoryFault,
    MemoryRefusal,
    MemoryStoreUnavailable,
    Remove,
    Replace,
)
from durable_memory.stores import FileMemoryStore, MemoryOperation
from durable_memory.stores.file.journal import JOURNAL_NAME
from durable_memory.testing.base import content_of, existing
from durable_memory.testing.samples import new_operation, past, reused

PREFIX = "acme/support/"
READ_ONLY = "MemoryStoreUnavailable: The memory directory cannot be written: "


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[FileMemoryStore]:
    """A store in a directory of the test's own."""
    async with FileMemoryStore(tmp_path / "memory") as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the file `PATH` is."""
    return tmp_path / "memory" / "acme" / "support" / "notes.md"


def names(folder: Path) -> list[str]:
    """Return what a person sees below a folder, and what is hidden from him."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


async def test_files_lie_where_a_person_looks_for_them(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    """A scope is folders, a file is a file, and beside them is the hidden journal only."""
    await store.write(PREFIX + "MEMORY.md", "one\r\ntwo\n", expected_version=None)
    await store.write("acme/notes.md/notes.md", "가", expected_version=None)
    await store.close()
    assert names(tmp_path / "memory") == [
        *(JOURNAL_NAME, "acme", "acme/notes%2Emd", "acme/notes%2Emd/notes.md"),
        *("acme/support", "acme/support/MEMORY.md"),
    ]
    found = (tmp_path / "memory" / "acme" / "support" / "MEMORY.md").read_bytes()
    assert found == b"one\r\ntwo\n"


async def test_edit_by_hand_is_a_new_version(store: FileMemoryStore, file: Path) -> None:
    """What a person saves is read, under a version of its own that can be built on."""
    written = await store.write(PATH, "mine\n", expected_version=None)
    file.write_bytes(b"ours\r\n")
    found = await existing(store, PATH)
    assert (found.content, await existing(store, PATH)) == ("ours\r\n", found)
    assert found.version != written.version
    with pytest.raises(MemoryConflictError):
        await store.write(PATH, "late", expected_version=written.version)
    await store.edit(PATH, Append(content="more"), max_chars=100)
    assert file.read_bytes() == b"ours\r\nmore\r\n"


async def test_text_that_is_put_back_by_hand_is_another_version(
    store: FileMemoryStore, file: Path
) -> None:
    """A state is its content and its time: no version comes back with the text."""
    written = await store.write(PATH, "one", expected_version=None)
    os.utime(file, ns=(0, 1))
    first = await existing(store, PATH)
    os.utime(file, ns=(0, 2))
    second = await existing(store, PATH)
    assert len({written.version, first.version, second.version}) == 3


async def test_edit_within_one_tick_of_the_clock_is_seen(
    store: FileMemoryStore, file: Path
) -> None:
    """An edit that keeps length and time is seen by its bytes."""
    written = await store.write(PATH, "one", expected_version=None)
    before = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await existing(store, PATH)).version != written.version


async def test_file_deleted_by_hand_is_gone(store: FileMemoryStore, file: Path) -> None:
    """A file that a person deletes is in no listing, and can be made again."""
    written = await store.write(PATH, "one", expected_version=None)
    file.unlink()
    assert await store.read(PATH, max_chars=10) is None
    assert await store.list_paths(limit=10) == []
    with pytest.raises(MemoryConflictError):
        await store.write(PATH, "two", expected_version=written.version)
    again = await store.write(PATH, "one", expected_version=None)
    assert not again.existed
    assert again.version != written.version


async def test_file_added_by_hand_is_there(store: FileMemoryStore, file: Path) -> None:
    """A file that a person adds is read, listed, found, edited and deleted."""
    file.parent.mkdir(parents=True)
    file.write_text("by hand\n", encoding="utf-8")
    assert await store.list_paths(PREFIX, limit=10) == [PATH]
    await store.edit(PATH, Replace(old_text="hand", content="store"), max_chars=100)
    assert file.read_text(encoding="utf-8") == "by store\n"
    gone = await store.edit(PATH, Remove(), max_chars=100)
    assert gone.existed
    assert not file.exists()


async def test_folder_deleted_by_hand_is_made_again(store: FileMemoryStore, file: Path) -> None:
    """A folder that a person deletes while the store is open is made by the next write."""
    await store.write(PATH, "one", expected_version=None)
    file.unlink()
    file.parent.rmdir()
    file.parent.parent.rmdir()
    await store.write(PATH, "two", expected_version=None)
    assert file.read_text(encoding="utf-8") == "two"


@pytest.mark.parametrize("beside", [(), ("-wal", "-shm")])
async def test_journal_deleted_by_hand_loses_receipts_and_no_content(
    store: FileMemoryStore, file: Path, beside: tuple[str, ...]
) -> None:
    """Without its journal an open store goes on, and gives no version out again."""
    journal = file.parents[2] / JOURNAL_NAME
    known = new_operation()
    written = await store.write(PATH, "one", expected_version=None, operation=known)
    for ending in ("", *beside):
        journal.with_name(JOURNAL_NAME + ending).unlink()
    found = await existing(store, PATH)
    assert (found.content, found.version != written.version) == ("one", True)
    assert await store.get_operation(known) is None
    with pytest.raises(MemoryConflictError):
        await store.write(PATH, "two", expected_version=written.version)
    operation = new_operation()
    await store.write(PATH, "two", expected_version=found.version, operation=operation)
    async with FileMemoryStore(file.parents[2]) as other:
        receipt = await other.get_operation(operation)
        assert receipt is not None
        assert receipt.version not in {written.version, found.version}


async def test_damaged_journal_stops_writes_and_not_reads(
    store: FileMemoryStore, file: Path
) -> None:
    """Content is read without the journal; what must not be guessed is an error."""
    await store.write(PATH, "one", expected_version=None)
    await store.close()
    (file.parents[2] / JOURNAL_NAME).write_bytes(b"damaged" * 1000)
    assert await content_of(store, PATH) == "one"
    with pytest.raises(MemoryStoreUnavailable):
        await store.write(PATH, "two", expected_version=None)
    with pytest.raises(MemoryStoreUnavailable):
        await store.get_operation(new_operation())
    assert file.read_text(encoding="utf-8") == "one"


async def test_permissions_that_a_person_gave_are_kept(store: FileMemoryStore, file: Path) -> None:
    """Replacing a file does not take it from who was given it."""
    await store.write(PATH, "one", expected_version=None)
    file.chmod(0o640)
    await store.edit(PATH, Append(content="two"), max_chars=100)
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("data", [b"caf\xe9\n", b"a\0b", b"\xff\xfe", b"\xed\xa0\x80"])
async def test_bytes_that_are_no_text_are_kept(
    store: FileMemoryStore, file: Path, data: bytes
) -> None:
    """A file that is no text is shown as far as it is, and no edit spoils the rest."""
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    found = await existing(store, PATH)
    assert "\ufffd" in found.content
    assert "\0" not in found.content
    with pytest.raises(MemoryRefusal) as refusal:
        await store.edit(PATH, Append(content="more"), max_chars=100)
    assert refusal.value.code == "invalid_text"
    assert file.read_bytes() == data
    await store.write(PATH, "new", expected_version=found.version)
    assert file.read_bytes() == b"new"


async def test_large_file_is_read_in_bounded_memory(store: FileMemoryStore, file: Path) -> None:
    """Of a file that a person made too large, the beginning and the end are shown."""
    file.parent.mkdir(parents=True)
    file.write_bytes("가".encode() * 1_000_000 + b"end")
    found = await store.read(PATH, max_chars=10)
    assert found is not None
    assert (found.content, found.truncated) == ("가" * 10, True)
    file.rename(file.with_name("MEMORY.md"))
    view = await store.view(PREFIX, tail_chars=5, max_names=1)
    assert (view.tail, view.tail_truncated) == ("가가end", True)


def _link_file(file: Path, outside: Path) -> None:
    file.symlink_to(outside / "secret.md")


def _link_folder(file: Path, outside: Path) -> None:
    file.parent.rmdir()
    file.parent.symlink_to(outside, target_is_directory=True)


def _pipe(file: Path, _outside: Path) -> None:
    os.mkfifo(file)


def _socket(file: Path, _outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(file.parent)  # A socket's path is at most 108 bytes.
        made.bind(file.name)
        os.chdir(here)


def _folder(file: Path, _outside: Path) -> None:
    file.mkdir()


def _dangling(file: Path, outside: Path) -> None:
    file.symlink_to(outside / "nothing.md")


@pytest.mark.parametrize("obstacle", [_link_file, _dangling, _link_folder, _pipe, _socket, _folder])
async def test_what_is_no_file_of_the_store_is_not_followed(
    store: FileMemoryStore, file: Path, tmp_path: Path, obstacle: object
) -> None:
    """A link or special file is read as nothing, stops a write, and nothing outside changes."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("secret.md", "notes.md", "MEMORY.md"):
        (outside / name).write_text("walrus", encoding="utf-8")
    file.parent.mkdir(parents=True)
    assert callable(obstacle)
    obstacle(file, outside)
    assert await store.read(PATH, max_chars=10) is None
    assert await store.list_paths(limit=10) == []
    assert (await store.view(PREFIX, tail_chars=10, max_names=10)).tail == ""
    bounds = {"limit": 9, "max_files": 9, "max_chars": 99, "max_file_chars": 99}
    assert (await store.search(PREFIX, "walrus", **bounds)).matches == ()
    for call in (
        store.write(PATH, "text", expected_version=None),
        store.edit(PATH, Append(content="text"), max_chars=100),
    ):
        with pytest.raises(MemoryStoreUnavailable, match="stands where"):
            await call
    assert [path.read_text(encoding="utf-8") for path in outside.iterdir()] == ["walrus"] * 3
    await store.write(PREFIX.replace("support", "other") + "a.md", "a", expected_version=None)


async def test_link_in_the_journal_s_place_is_not_followed(
    store: FileMemoryStore, tmp_path: Path
) -> None:
    """A journal that leads out of the directory is refused."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / JOURNAL_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MemoryStoreUnavailable):
        await store.write(PATH, "text", expected_version=None)
    assert not (tmp_path / "elsewhere").exists()


async def test_other_files_in_the_directory_are_left_alone(
    store: FileMemoryStore, file: Path
) -> None:
    """What a person or an editor keeps beside the files is no file of the store."""
    await store.write(PATH, "one", expected_version=None)
    for name in (".git", "notes.md~", ".notes.md.swp", "Ideas.md", "image.png", "a%zz.md"):
        (file.parent / name).write_text("walrus", encoding="utf-8")
    (file.parent / os.fsdecode(b"\xff.md")).write_text("walrus", encoding="utf-8")
    assert await store.list_paths(limit=100) == [PATH]
    view = await store.view(PREFIX, tail_chars=10, max_names=10)
    assert view.names == ("notes.md",)


async def test_readers_see_whole_files_and_true_versions(
    store: FileMemoryStore, file: Path
) -> None:
    """While a file is written again and again, each read is one state with its own version."""
    texts: dict[str | None, str] = {}
    seen = []

    async def write() -> None:
        version = None
        for number in range(40):
            text = f"{number} " * 2000
            done = await store.write(PATH, text, expected_version=version)
            version, texts[done.version] = done.version, text

    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(write())
        while not writing.done():
            seen.append(await store.read(PATH, max_chars=100_000))
    assert all(found is None or texts[found.version] == found.content for found in seen)
    assert len({found.version for found in seen if found}) > 1


async def test_directory_that_cannot_be_written_is_read(open_folder: Path) -> None:
    """A user who may only read does, journal and all, and is told what to do to write."""
    known = MemoryOperation(id="known", fingerprint="f")
    async with FileMemoryStore(open_folder / "memory") as store:
        written = await store.write(PATH, "one", expected_version=None, operation=known)
        for folder in (open_folder / "memory", open_folder / "memory" / "acme" / "support"):
            folder.chmod(0o555)
        live = run_child("read-only", f"file://{open_folder}/memory")
    closed = run_child("read-only", f"file://{open_folder}/memory")
    for text, path, told, new, receipt, after in (live, closed):
        assert (text, path, after) == ("one", PATH, "one")
        assert told.startswith(READ_ONLY)
        assert new.startswith(READ_ONLY)
        assert receipt == written.version
    (open_folder / "memory").chmod(0o755)


UNREADABLE: dict[str, Callable[[FileMemoryStore], Awaitable[object]]] = {
    "read": lambda store: store.read(PATH, max_chars=10),
    "list_paths": lambda store: store.list_paths(PREFIX, limit=10),
    "view": lambda store: store.view(PREFIX, tail_chars=10, max_names=10),
    "search": lambda store: store.search(
        PREFIX, "walrus", limit=9, max_files=9, max_chars=99, max_file_chars=99
    ),
}
"""Every call that reads files."""


@contextmanager
def as_nobody() -> Iterator[None]:
    """Be a user without rights, if this one has all of them."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize("call", UNREADABLE)
async def test_directory_that_cannot_be_read_says_so(open_folder: Path, call: str) -> None:
    """A user who may not read is told that, and not that he may not write."""
    async with FileMemoryStore(open_folder / "memory") as store:
        await store.write(PREFIX + "MEMORY.md", "one", expected_version=None)
        await store.write(PATH, "one", expected_version=None)
        (open_folder / "memory" / "acme" / "support").chmod(0)
        with as_nobody(), pytest.raises(MemoryStoreUnavailable, match="cannot be read: give"):
            await UNREADABLE[call](store)
    (open_folder / "memory" / "acme" / "support").chmod(0o755)


ABANDONED = new_operation()
REFUSALS: dict[str, Callable[[FileMemoryStore, str], Awaitable[object]]] = {
    "conflict": lambda store, path: store.write(path, "text", expected_version="x"),
    "conflict of a deletion": lambda store, path: store.delete(path, expected_version="x"),
    "no such text": lambda store, path: store.edit(
        path, Replace(old_text="walrus", content="b"), max_chars=100
    ),
    "too large": lambda store, path: store.edit(path, Append(content="x" * 200), max_chars=100),
    "invalid edit": lambda store, path: store.edit(path, Append(content=" "), max_chars=100),
    "invalid text": lambda store, path: store.write(path, "a\0b", expected_version=None),
    "late": lambda store, path: store.write(path, "text", expected_version=None, deadline=past()),
    "late edit": lambda store, path: store.edit(
        path, Append(content="text"), max_chars=100, deadline=past()
    ),
    "abandoned": lambda store, path: store.write(
        path, "text", expected_version=None, operation=ABANDONED
    ),
    "reused": lambda store, path: store.write(
        path, "text", expected_version=None, operation=reused(ABANDONED)
    ),
}
"""Every way in which a mutation is refused, whatever there is at a path."""


@pytest.mark.parametrize("path", [PATH, PREFIX + "new.md", "acme/other/deep/new.md", "new/new.md"])
@pytest.mark.parametrize("refusal", REFUSALS)
async def test_refused_mutation_leaves_the_directory_as_it_was(
    store: FileMemoryStore, tmp_path: Path, path: str, refusal: str
) -> None:
    """Where nothing was changed, no folder and no temporary file was made, and no byte written."""
    await store.write(PATH, "start\n", expected_version=None)
    await store.settle(ABANDONED)
    before = tree(tmp_path / "memory")
    with pytest.raises(MemoryFault):
        await REFUSALS[refusal](store, path)
    assert tree(tmp_path / "memory") == before


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return all that is below a folder, by its place; the journal's bytes are its own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.name.startswith(JOURNAL_NAME)
    }


async def test_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A write that finds no room fails and changes nothing, and succeeds when there is room."""
    told, after, receipt, replayed, again = run_child("full", f"file://{tmp_path}/memory", "100000")
    assert told.startswith("MemoryStoreUnavailable: The disk of the memory directory is full")
    assert (after, receipt, replayed, again) == ("start\n", None, "False", "room again\n")
    assert names(tmp_path / "memory" / "acme" / "support") == ["notes.md"]
