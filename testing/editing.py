"""The contract of edits that are applied in one step."""

from __future__ import annotations

import asyncio

import pytest

from ..notebook import (
    MAIN_FILENAME,
    Append,
    Edit,
    MemoryDeadlineExceeded,
    MemoryOperationAbandonedError,
    MemoryOperationConflictError,
    MemoryRefusal,
    Remove,
    Replace,
    Scope,
    apply_splice,
    plan_edit,
)
from ..stores import EditingStore, MemoryMutation, MemoryOperation, MemoryStore, SettlingStore
from .base import EVERYTHING, Contract, content_of, existing
from .samples import future, new_operation, past, reused

EDITS: dict[str, tuple[str | None, Edit]] = {
    "append to nothing": (None, Append(content="a note\n\n")),
    "append to an empty file": ("", Append(content="a note")),
    "append after a newline": ("one\n", Append(content="two")),
    "append after a last line": ("one", Append(content="two")),
    "append to Windows lines": ("one\r\ntwo", Append(content="three\nfour\n")),
    "append Windows lines": ("one", Append(content="two\r\nthree\r\n")),
    "append after a blank": ("one\n\n \n", Append(content="  two")),
    "append Korean": ("하나", Append(content="둘\n")),
    "replace": ("one two three", Replace(old_text="two", content="2")),
    "replace at the start": ("one two", Replace(old_text="one", content="")),
    "replace at the end": ("one two", Replace(old_text=" two", content="👩")),
    "replace everything": ("one", Replace(old_text="one", content="")),
    "replace across line endings": ("a\r\nb\r\nc", Replace(old_text="a\nb", content="x\ny")),
    "replace beyond the plane": ("👩가👩나", Replace(old_text="가👩", content="다")),
}
"""Edits of every kind, each with the text it is made on."""

REFUSED: dict[str, tuple[str | None, Edit]] = {
    "text_not_found": ("one", Replace(old_text="two", content="x")),
    "ambiguous": ("aaa", Replace(old_text="aa", content="x")),
    "not_found": (None, Replace(old_text="one", content="x")),
    "oversize": ("x" * 90, Append(content="y" * 20)),
    "invalid_arguments": ("one", Append(content=" \n")),
    "invalid_text": ("one", Append(content="a\0")),
}
"""Edits that do not fit the text they are made on, by the code of their refusal."""


class EditingContract(Contract):
    """Edits in one step."""

    @pytest.fixture
    def editing(self, store: MemoryStore) -> EditingStore:
        """The store, if it declares the ability."""
        able: EditingStore = self.need(store, EditingStore)
        return able

    @pytest.mark.parametrize(("before", "edit"), EDITS.values(), ids=EDITS)
    async def test_edit_does_what_the_notebook_plans(
        self, store: MemoryStore, editing: EditingStore, path: str, before: str | None, edit: Edit
    ) -> None:
        """An edit leaves the text that the notebook's rule makes of what was there."""
        if before is not None:
            await store.write(path, before, expected_version=None)
        done = await editing.edit(path, edit, max_chars=EVERYTHING, deadline=future())
        plan = plan_edit(before, edit, name="notes.md", max_chars=EVERYTHING)
        found = await existing(store, path)
        assert found.content == apply_splice(before or "", plan)
        assert found.version == done.version
        assert done.existed == (before is not None)

    @pytest.mark.parametrize("code", REFUSED)
    async def test_refused_edit_changes_nothing(
        self, store: MemoryStore, editing: EditingStore, path: str, code: str
    ) -> None:
        """An edit that does not fit is refused, changes nothing and leaves no receipt."""
        before, edit = REFUSED[code]
        if before is not None:
            await store.write(path, before, expected_version=None)
        operation = new_operation()
        with pytest.raises(MemoryRefusal) as refusal:
            await editing.edit(path, edit, max_chars=100, operation=operation)
        assert refusal.value.code == code
        assert await content_of(store, path) == before
        assert await store.get_operation(operation) is None

    async def test_oversize_file_is_not_edited(
        self, store: MemoryStore, editing: EditingStore, path: str
    ) -> None:
        """A file over the limit is refused for edits, even for ones that would shorten it."""
        await store.write(path, "x" * 101, expected_version=None)
        for edit in (Append(content="y"), Replace(old_text="x" * 50, content="")):
            with pytest.raises(MemoryRefusal) as refusal:
                await editing.edit(path, edit, max_chars=100)
            assert refusal.value.code == "oversize"
        assert await content_of(store, path) == "x" * 101

    async def test_edit_to_the_limit_is_applied(
        self, store: MemoryStore, editing: EditingStore, path: str
    ) -> None:
        """The limit counts characters, and the last one fits."""
        await editing.edit(path, Append(content="가" * 99), max_chars=100)
        assert await content_of(store, path) == "가" * 99 + "\n"

    async def test_removed_file_is_gone(
        self, store: MemoryStore, editing: EditingStore, path: str
    ) -> None:
        """A removal deletes the file whatever its version is, and of no file says so."""
        await store.write(path, "one", expected_version=None)
        removed = await editing.edit(path, Remove(), max_chars=1)
        missing = await editing.edit(path, Remove(), max_chars=1)
        assert (removed.version, removed.existed) == (None, True)
        assert (missing.version, missing.existed) == (None, False)
        assert await content_of(store, path) is None

    async def test_main_notebook_is_not_removed(
        self, store: MemoryStore, editing: EditingStore, scope: Scope
    ) -> None:
        """The main notebook is protected."""
        path = scope.path(MAIN_FILENAME)
        await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryRefusal) as refusal:
            await editing.edit(path, Remove(), max_chars=100)
        assert refusal.value.code == "protected"
        assert await content_of(store, path) == "one"

    @pytest.mark.parametrize(
        "edit",
        [Append(content="one"), Replace(old_text="start", content="begin"), Remove()],
        ids=lambda edit: type(edit).__name__,
    )
    async def test_edit_arriving_again_is_answered_by_its_receipt(
        self, store: MemoryStore, editing: EditingStore, path: str, edit: Edit
    ) -> None:
        """The second arrival of an edit changes nothing, even where it would no longer fit."""
        await store.write(path, "start\n", expected_version=None)
        operation = new_operation()
        first = await _edit(editing, path, edit, operation)
        before = await content_of(store, path)
        again = await _edit(editing, path, edit, operation)
        assert (again.version, again.existed, again.replayed) == (first.version, True, True)
        assert not first.replayed
        assert await content_of(store, path) == before

    @pytest.mark.parametrize(
        "edit",
        [Append(content="one"), Replace(old_text="start", content="begin"), Remove()],
        ids=lambda edit: type(edit).__name__,
    )
    async def test_edit_that_may_not_land_changes_nothing(
        self, store: MemoryStore, editing: EditingStore, path: str, edit: Edit
    ) -> None:
        """An edit with a reused operation, or after its deadline, is an error."""
        used = new_operation()
        await store.write(path, "start\n", expected_version=None, operation=used)
        with pytest.raises(MemoryOperationConflictError):
            await _edit(editing, path, edit, reused(used))
        late = new_operation()
        with pytest.raises(MemoryDeadlineExceeded):
            await editing.edit(path, edit, max_chars=100, operation=late, deadline=past())
        assert await store.get_operation(late) is None
        assert await content_of(store, path) == "start\n"

    @pytest.mark.parametrize(
        "edit",
        [Append(content="one"), Replace(old_text="start", content="begin"), Remove()],
        ids=lambda edit: type(edit).__name__,
    )
    async def test_abandoned_edit_changes_nothing(
        self, store: MemoryStore, editing: EditingStore, path: str, edit: Edit
    ) -> None:
        """An edit whose operation was settled as abandoned can never be applied."""
        settling: SettlingStore = self.need(store, SettlingStore)
        await store.write(path, "start\n", expected_version=None)
        operation = new_operation()
        await settling.settle(operation)
        with pytest.raises(MemoryOperationAbandonedError):
            await _edit(editing, path, edit, operation)
        assert await content_of(store, path) == "start\n"

    async def test_concurrent_appends_all_land(
        self, store: MemoryStore, editing: EditingStore, path: str
    ) -> None:
        """Appends at the same time never lose a race, and every line is there once."""
        lines = [f"line {number}" for number in range(16)]
        await asyncio.gather(
            *(editing.edit(path, Append(content=line), max_chars=EVERYTHING) for line in lines)
        )
        content = await content_of(store, path)
        assert content is not None
        assert sorted(content.splitlines()) == sorted(lines)

    async def test_concurrent_replacements_all_land(
        self, store: MemoryStore, editing: EditingStore, path: str
    ) -> None:
        """Replacements of different passages at the same time all land."""
        await store.write(path, "".join(f"[{n}]" for n in range(6)), expected_version=None)
        await asyncio.gather(
            *(
                editing.edit(
                    path, Replace(old_text=f"[{n}]", content=f"<{n}>"), max_chars=EVERYTHING
                )
                for n in range(6)
            )
        )
        assert await content_of(store, path) == "".join(f"<{n}>" for n in range(6))


async def _edit(
    store: EditingStore, path: str, edit: Edit, operation: MemoryOperation
) -> MemoryMutation:
    return await store.edit(path, edit, max_chars=100, operation=operation)
