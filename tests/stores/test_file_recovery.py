"""Mutations of the file store that were interrupted: done or undone, never half, never twice."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from durable_memory.notebook import (
    Append,
    MemoryConflictError,
    MemoryDeadlineExceeded,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryStoreUnavailable,
    Remove,
)
from durable_memory.stores import FileMemoryStore, MemoryMutation, MemoryOperation
from durable_memory.stores.file.changes import Writer
from durable_memory.stores.file.contents import spare_name
from durable_memory.stores.file.journal import JOURNAL_NAME, Journal
from durable_memory.stores.file.prepared import Prepared
from durable_memory.stores.intents import Change, Intent, Overwrite, Revision
from durable_memory.testing.base import content_of, existing
from durable_memory.testing.samples import future, new_operation, past, reused

PATH = "acme/support/notes.md"
OTHER = "acme/support/other.md"
STEPS = ["prepared", "replaced"]
LINE = Revision(name="notes.md", edit=Append(content="line"), max_chars=1000)
REMOVAL = Revision(name="notes.md", edit=Remove(), max_chars=1000)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The store's directory."""
    return tmp_path / "memory"


@pytest.fixture
def file(root: Path) -> Path:
    """Where the file `PATH` is."""
    return root / "acme" / "support" / "notes.md"


@pytest_asyncio.fixture
async def store(root: Path) -> AsyncIterator[FileMemoryStore]:
    """The store as the next process opens it."""
    async with FileMemoryStore(root) as opened:
        yield opened


def die(
    root: Path,
    step: str,
    intent: Intent = LINE,
    *,
    operation: MemoryOperation | None = None,
    deadline: datetime | None = None,
) -> Prepared:
    """Carry out a mutation of `PATH` as a process does that dies after a step."""
    journal = Journal.of(root, timeout=5)
    writer = Writer(root=root, journal=journal, timeout=5)
    change = Change(path=PATH, intent=intent, operation=operation, deadline=deadline)
    with writer.alone() as connection:
        prepared = writer._prepare(connection, change)
        assert isinstance(prepared, Prepared)
        if step == "replaced":
            writer._swap(prepared)
    journal.connections.close()
    return prepared


async def replay(
    store: FileMemoryStore, intent: Intent, operation: MemoryOperation
) -> MemoryMutation:
    """Send a mutation again."""
    if isinstance(intent, Revision):
        return await store.edit(PATH, intent.edit, max_chars=1000, operation=operation)
    assert intent.content is not None
    return await store.write(
        PATH, intent.content, expected_version=intent.expected_version, operation=operation
    )


async def planned(store: FileMemoryStore, kind: str) -> tuple[Intent, str | None, str | None]:
    """Make what a kind of mutation needs; return the mutation, and the text before and after."""
    version = None
    if kind != "create":
        version = (await store.write(PATH, "start\n", expected_version=None)).version
    whole = Overwrite(content="whole\n", expected_version=version)
    kinds: dict[str, tuple[Intent, str | None, str | None]] = {
        "append": (LINE, "start\n", "start\nline\n"),
        "create": (whole, None, "whole\n"),
        "write": (whole, "start\n", "whole\n"),
        "remove": (REMOVAL, "start\n", None),
    }
    return kinds[kind]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", ["append", "create", "write", "remove"])
async def test_interrupted_mutation_is_done_once(
    root: Path, store: FileMemoryStore, kind: str, step: str
) -> None:
    """Content and receipt agree at once, and the mutation arriving again is applied once."""
    intent, before, after = await planned(store, kind)
    operation = new_operation()
    prepared = die(root, step, intent, operation=operation)
    happened = step == "replaced"
    receipt = await store.get_operation(operation)
    assert await content_of(store, PATH) == (after if happened else before)
    assert (receipt is not None) == happened
    again = await replay(store, intent, operation)
    assert again.replayed
    assert (again.version, again.existed) == (prepared.version, kind != "create")
    assert receipt in {None, again}
    assert await content_of(store, PATH) == after
    if after is not None:
        assert (await existing(store, PATH)).version == prepared.version


@pytest.mark.parametrize("step", STEPS)
async def test_next_mutation_finds_nothing_half_done(
    root: Path, store: FileMemoryStore, file: Path, step: str
) -> None:
    """Whoever writes next, to any file, first decides what was left; nothing stays behind."""
    await store.write(PATH, "start\n", expected_version=None)
    operation = new_operation()
    die(root, step, operation=operation)
    await store.edit(OTHER, Append(content="other"), max_chars=100)
    assert await content_of(store, PATH) == "start\nline\n"
    assert await store.get_operation(operation) is not None
    assert sorted(path.name for path in file.parent.iterdir()) == ["notes.md", "other.md"]


@pytest.mark.parametrize("step", STEPS)
async def test_settling_decides_what_was_left(
    root: Path, store: FileMemoryStore, step: str
) -> None:
    """An interrupted mutation is settled as applied, and its content is there."""
    operation = new_operation()
    prepared = die(root, step, operation=operation)
    settled = await store.settle(operation)
    assert (settled.version, settled.abandoned) == (prepared.version, False)
    assert await content_of(store, PATH) == "line\n"


async def test_interrupted_mutation_is_not_done_after_its_deadline(
    root: Path, store: FileMemoryStore
) -> None:
    """What had not happened when its deadline passed never does."""
    await store.write(PATH, "start\n", expected_version=None)
    operation = new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=150)
    die(root, "prepared", operation=operation, deadline=deadline)
    while datetime.now(UTC) < deadline:
        assert await store.get_operation(operation) is None
    with pytest.raises(MemoryDeadlineExceeded):
        await store.edit(
            PATH, Append(content="line"), max_chars=100, operation=operation, deadline=deadline
        )
    assert (await store.settle(operation)).abandoned
    assert await content_of(store, PATH) == "start\n"
    with pytest.raises(MemoryOperationAbandonedError):
        await replay(store, LINE, operation)


async def test_what_happened_in_time_is_noted_after_the_deadline(
    root: Path, store: FileMemoryStore
) -> None:
    """A mutation that happened has its receipt whenever it is asked for."""
    operation = new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=150)
    die(root, "replaced", operation=operation, deadline=deadline)
    while datetime.now(UTC) < deadline:
        assert await store.get_operation(operation) is not None
    assert not (await store.settle(operation, deadline=past())).abandoned
    assert await content_of(store, PATH) == "line\n"


async def test_edit_by_hand_comes_before_a_prepared_mutation(
    root: Path, store: FileMemoryStore, file: Path
) -> None:
    """A person who saved first is not written over: an edit is done anew, a write conflicts."""
    await store.write(PATH, "start\n", expected_version=None)
    edit, write = new_operation(), new_operation()
    die(root, "prepared", operation=edit)
    file.write_text("by hand\n", encoding="utf-8")
    assert await store.get_operation(edit) is None
    assert not (await replay(store, LINE, edit)).replayed
    assert await content_of(store, PATH) == "by hand\nline\n"
    whole = Overwrite(content="whole", expected_version=(await existing(store, PATH)).version)
    die(root, "prepared", whole, operation=write)
    file.write_text("by hand again\n", encoding="utf-8")
    with pytest.raises(MemoryConflictError):
        await replay(store, whole, write)
    assert await store.get_operation(write) is None
    assert await content_of(store, PATH) == "by hand again\n"


async def test_file_made_by_hand_comes_before_a_prepared_creation(
    root: Path, store: FileMemoryStore, file: Path
) -> None:
    """A file that a person made first is kept."""
    operation = new_operation()
    whole = Overwrite(content="whole", expected_version=None)
    die(root, "prepared", whole, operation=operation)
    file.write_text("by hand", encoding="utf-8")
    with pytest.raises(MemoryConflictError):
        await replay(store, whole, operation)
    assert await content_of(store, PATH) == "by hand"


async def test_edit_by_hand_after_a_mutation_is_built_on_it(
    root: Path, store: FileMemoryStore, file: Path
) -> None:
    """A mutation that a person went on from has happened, and is not applied again."""
    operation = new_operation()
    prepared = die(root, "replaced", operation=operation)
    file.write_text("line\nby hand\n", encoding="utf-8")
    found = await existing(store, PATH)
    assert (found.content, found.version == prepared.version) == ("line\nby hand\n", False)
    assert (await replay(store, LINE, operation)).replayed
    assert await existing(store, PATH) == found


async def test_temporary_file_deleted_by_hand_undoes(
    root: Path, store: FileMemoryStore, file: Path
) -> None:
    """Without what it was to write, a mutation has not happened and can be sent again."""
    await store.write(PATH, "start\n", expected_version=None)
    operation = new_operation()
    die(root, "prepared", operation=operation)
    (file.parent / spare_name("notes.md")).unlink()
    assert await store.get_operation(operation) is None
    assert not (await replay(store, LINE, operation)).replayed
    assert await content_of(store, PATH) == "start\nline\n"


async def test_folder_deleted_by_hand_undoes(root: Path, store: FileMemoryStore) -> None:
    """A folder that a person deleted with all in it is made again by the mutation sent again."""
    operation = new_operation()
    die(root, "prepared", operation=operation)
    shutil.rmtree(root / "acme")
    assert not (await replay(store, LINE, operation)).replayed
    assert await content_of(store, PATH) == "line\n"


async def test_temporary_file_of_nobody_is_written_over(
    root: Path, store: FileMemoryStore, file: Path
) -> None:
    """What dies before it is prepared leaves a file that the next mutation uses."""
    await store.write(PATH, "start\n", expected_version=None)
    spare = file.parent / spare_name("notes.md")
    spare.write_text("never meant", encoding="utf-8")
    assert await store.list_paths(limit=10) == [PATH]
    await store.edit(PATH, Append(content="line"), max_chars=100)
    assert await content_of(store, PATH) == "start\nline\n"
    assert not spare.exists()


@pytest.mark.parametrize("step", STEPS)
async def test_journal_lost_at_any_step_loses_no_content(
    root: Path, store: FileMemoryStore, step: str
) -> None:
    """Without the journal, the file is what it was or what it was to be."""
    await store.write(PATH, "start\n", expected_version=None)
    await store.close()
    die(root, step, operation=new_operation())
    (root / JOURNAL_NAME).unlink()
    expected = "start\nline\n" if step == "replaced" else "start\n"
    assert await content_of(store, PATH) == expected
    await store.edit(PATH, Append(content="more"), max_chars=100)
    assert await content_of(store, PATH) == expected + "more\n"


@pytest.mark.parametrize("step", STEPS)
async def test_directory_copied_in_between_is_as_good(
    root: Path, store: FileMemoryStore, tmp_path: Path, step: str
) -> None:
    """A backup that keeps times holds versions and receipts, also of what was under way."""
    first = await store.write(OTHER, "other", expected_version=None)
    operation = new_operation()
    prepared = die(root, step, operation=operation)
    await store.close()
    shutil.copytree(root, tmp_path / "copy")
    async with FileMemoryStore(tmp_path / "copy") as copy:
        assert (await existing(copy, OTHER)).version == first.version
        assert (await replay(copy, LINE, operation)).version == prepared.version
        assert await content_of(copy, PATH) == "line\n"


async def test_reused_operation_is_a_conflict_while_it_is_under_way(
    root: Path, store: FileMemoryStore
) -> None:
    """The id of an interrupted mutation with other arguments is an error."""
    operation = new_operation()
    die(root, "prepared", operation=operation)
    with pytest.raises(MemoryOperationConflictError):
        await store.get_operation(reused(operation))
    with pytest.raises(MemoryOperationConflictError):
        await replay(store, LINE, reused(operation))
    assert await content_of(store, PATH) == "line\n"


def _link_the_file(file: Path, moved: Path) -> None:
    """Keep a file elsewhere, with a link in its place."""
    if file.exists():
        shutil.move(file, moved)
    file.symlink_to(moved)


def _link_the_folder(file: Path, moved: Path) -> None:
    """Keep a folder elsewhere, with a link in its place."""
    shutil.move(file.parent, moved)
    file.parent.symlink_to(moved, target_is_directory=True)


def _move_the_folder(file: Path, moved: Path) -> None:
    """Keep a folder elsewhere."""
    shutil.move(file.parent, moved)


def _put_back(file: Path, moved: Path) -> None:
    """Take the link away, if there is one, and put what was moved back."""
    place = file if file.is_symlink() else file.parent
    place.unlink(missing_ok=True)
    if moved.exists():
        shutil.move(moved, place)


@pytest.mark.parametrize("obstacle", [_link_the_file, _link_the_folder, _move_the_folder])
@pytest.mark.parametrize("kind", ["append", "create", "write", "remove"])
async def test_what_cannot_be_done_any_more_is_undone_and_in_nobody_s_way(
    root: Path,
    store: FileMemoryStore,
    file: Path,
    kind: str,
    obstacle: Callable[[Path, Path], None],
) -> None:
    """No link is followed to finish a mutation, which has not happened, and others go on.

    A removal is the exception: no file is there, which is all that it was to do.
    """
    intent, before, after = await planned(store, kind)
    operation = new_operation()
    die(root, "prepared", intent, operation=operation)
    obstacle(file, root.with_name("moved"))
    assert (await store.get_operation(operation) is None) == (kind != "remove")
    await store.edit("acme/agent/notes.md", Append(content="other"), max_chars=100)
    settled = await store.get_operation(operation)
    assert (settled is None) == (kind != "remove")
    _put_back(file, root.with_name("moved"))
    assert await content_of(store, PATH) == before
    if kind == "remove":
        assert (await replay(store, intent, operation)).existed
        assert await content_of(store, PATH) == before
    else:
        assert not (await replay(store, intent, operation)).replayed
        assert await content_of(store, PATH) == after


@pytest.mark.parametrize("obstacle", [_link_the_file, _link_the_folder])
@pytest.mark.parametrize("kind", ["append", "create", "write"])
async def test_what_cannot_be_done_any_more_is_settled_as_abandoned(
    root: Path,
    store: FileMemoryStore,
    file: Path,
    kind: str,
    obstacle: Callable[[Path, Path], None],
) -> None:
    """Whoever settles a mutation that a link is in the way of is told that it never will happen."""
    intent, before, _ = await planned(store, kind)
    operation = new_operation()
    die(root, "prepared", intent, operation=operation)
    obstacle(file, root.with_name("moved"))
    with pytest.raises(MemoryStoreUnavailable):
        await replay(store, intent, operation)
    assert (await store.settle(operation)).abandoned
    _put_back(file, root.with_name("moved"))
    assert await content_of(store, PATH) == before
    with pytest.raises(MemoryOperationAbandonedError):
        await replay(store, intent, operation)


async def test_link_in_place_of_what_was_created_comes_after_it(
    root: Path, store: FileMemoryStore, file: Path, tmp_path: Path
) -> None:
    """A mutation whose file a person moved away and linked has happened."""
    operation = new_operation()
    die(root, "replaced", operation=operation)
    _link_the_file(file, tmp_path / "moved")
    assert await store.get_operation(operation) is not None
    assert not (await store.settle(operation)).abandoned


async def test_mutation_without_an_operation_is_done_too(
    root: Path, store: FileMemoryStore
) -> None:
    """Recovery needs no identity: the state decides."""
    die(root, "prepared")
    await store.edit(OTHER, Append(content="other"), max_chars=100, deadline=future())
    assert await content_of(store, PATH) == "line\n"


async def test_nobody_plans_over_what_is_undecided(root: Path, store: FileMemoryStore) -> None:
    """While a mutation is neither done nor undone the next one is refused, and spoils nothing."""
    first, second = new_operation(), new_operation()
    die(root, "prepared", operation=first)
    journal = Journal.of(root, timeout=5)
    writer = Writer(root=root, journal=journal, timeout=5)
    change = Change(path=PATH, intent=LINE, operation=second, deadline=None)
    with (
        journal.writing() as connection,
        pytest.raises(MemoryStoreUnavailable, match="undecided"),
    ):
        writer._prepare(connection, change)
    journal.connections.close()
    assert (await replay(store, LINE, first)).replayed
    assert await content_of(store, PATH) == "line\n"
    assert await store.get_operation(second) is None
