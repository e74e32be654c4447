"""The contract of reading, writing and deleting."""

from __future__ import annotations

import asyncio

import pytest

from ..notebook import (
    InvalidMemoryRequest,
    MemoryConflictError,
    MemoryRefusal,
    Scope,
)
from ..stores import MemoryStore
from ..stores.checks import MAX_BOUND
from .base import Contract, content_of, existing
from .samples import MALFORMED_PATHS, TEXTS, UNSTORABLE


class WritingContract(Contract):
    """Compare-and-swap on single files."""

    async def test_missing_file_reads_as_none(self, store: MemoryStore, path: str) -> None:
        """A file that was never written is not there."""
        assert await store.read(path, max_chars=10) is None

    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    async def test_text_comes_out_as_it_went_in(
        self, store: MemoryStore, path: str, text: str
    ) -> None:
        """What was written is read, character for character."""
        written = await store.write(path, text, expected_version=None)
        found = await existing(store, path)
        assert found.content == text
        assert found.version == written.version
        assert not found.truncated

    async def test_read_is_bounded_in_characters(self, store: MemoryStore, path: str) -> None:
        """A read returns at most the characters asked for, and says when there are more."""
        written = await store.write(path, "가나다👩라", expected_version=None)
        short = await store.read(path, max_chars=4)
        whole = await store.read(path, max_chars=5)
        assert short is not None
        assert whole is not None
        assert (short.content, short.truncated) == ("가나다👩", True)
        assert (whole.content, whole.truncated) == ("가나다👩라", False)
        assert short.version == whole.version == written.version

    async def test_create_and_update_tell_whether_the_file_existed(
        self, store: MemoryStore, path: str
    ) -> None:
        """A mutation says whether the file existed before it."""
        created = await store.write(path, "one", expected_version=None)
        updated = await store.write(path, "two", expected_version=created.version)
        assert (created.existed, updated.existed) == (False, True)
        assert not created.replayed
        assert not updated.replayed

    async def test_every_write_makes_a_new_version(self, store: MemoryStore, path: str) -> None:
        """A version is new with every write, even of the same text."""
        versions: list[str | None] = [None]
        for _ in range(3):
            written = await store.write(path, "same", expected_version=versions[-1])
            versions.append(written.version)
        assert len(set(versions)) == 4

    async def test_versions_are_not_reused_after_a_delete(
        self, store: MemoryStore, path: str
    ) -> None:
        """Deleting and making a file again does not bring an old version back."""
        first = await store.write(path, "one", expected_version=None)
        await store.delete(path, expected_version=first.version)
        second = await store.write(path, "one", expected_version=None)
        assert second.version != first.version
        assert not second.existed
        with pytest.raises(MemoryConflictError):
            await store.write(path, "two", expected_version=first.version)
        assert await content_of(store, path) == "one"

    async def test_creating_an_existing_file_is_a_conflict(
        self, store: MemoryStore, path: str
    ) -> None:
        """Expecting no file where there is one changes nothing."""
        await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryConflictError):
            await store.write(path, "two", expected_version=None)
        assert await content_of(store, path) == "one"

    @pytest.mark.parametrize(
        "version", ["", "0", "-1", "x", "1 ", "١", "9" * 30, "\ud800"], ids=ascii
    )
    async def test_unknown_version_is_a_conflict(
        self, store: MemoryStore, path: str, version: str
    ) -> None:
        """A version that was never given out matches no file, and no missing one."""
        with pytest.raises(MemoryConflictError):
            await store.write(path, "two", expected_version=version)
        await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryConflictError):
            await store.write(path, "two", expected_version=version)
        assert await content_of(store, path) == "one"

    async def test_stale_version_is_a_conflict(self, store: MemoryStore, path: str) -> None:
        """A version that was replaced matches no longer, for a write or a delete."""
        first = await store.write(path, "one", expected_version=None)
        second = await store.write(path, "two", expected_version=first.version)
        with pytest.raises(MemoryConflictError):
            await store.write(path, "three", expected_version=first.version)
        with pytest.raises(MemoryConflictError):
            await store.delete(path, expected_version=first.version)
        found = await existing(store, path)
        assert (found.content, found.version) == ("two", second.version)

    async def test_delete_removes_the_file(self, store: MemoryStore, path: str) -> None:
        """A deleted file is gone, and the mutation names no version."""
        written = await store.write(path, "one", expected_version=None)
        deleted = await store.delete(path, expected_version=written.version)
        assert (deleted.version, deleted.existed) == (None, True)
        assert await store.read(path, max_chars=10) is None

    async def test_deleting_a_missing_file_is_no_error(self, store: MemoryStore, path: str) -> None:
        """A delete that expects no file finds none and says so."""
        deleted = await store.delete(path, expected_version=None)
        assert (deleted.version, deleted.existed) == (None, False)

    async def test_delete_checks_the_version(self, store: MemoryStore, path: str) -> None:
        """A delete that expects no file where there is one, or the reverse, is a conflict."""
        with pytest.raises(MemoryConflictError):
            await store.delete(path, expected_version="1")
        await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryConflictError):
            await store.delete(path, expected_version=None)
        assert await content_of(store, path) == "one"

    async def test_one_of_several_writers_wins(self, store: MemoryStore, path: str) -> None:
        """Of writers that expect the same version at once, exactly one is applied."""
        first = await store.write(path, "start", expected_version=None)
        texts = [f"writer {number}" for number in range(8)]
        outcomes = await asyncio.gather(
            *(store.write(path, text, expected_version=first.version) for text in texts),
            return_exceptions=True,
        )
        won = [text for text, out in zip(texts, outcomes, strict=True) if not _is_conflict(out)]
        assert [await content_of(store, path)] == won

    async def test_one_of_several_creators_wins(self, store: MemoryStore, path: str) -> None:
        """Of writers that create the same file at once, exactly one is applied."""
        texts = [f"writer {number}" for number in range(8)]
        outcomes = await asyncio.gather(
            *(store.write(path, text, expected_version=None) for text in texts),
            return_exceptions=True,
        )
        won = [text for text, out in zip(texts, outcomes, strict=True) if not _is_conflict(out)]
        assert [await content_of(store, path)] == won

    @pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE)
    async def test_unstorable_text_is_refused(
        self, store: MemoryStore, path: str, text: str
    ) -> None:
        """NUL and lone surrogates are refused in every store, and nothing changes."""
        first = await store.write(path, "one", expected_version=None)
        with pytest.raises(MemoryRefusal) as refusal:
            await store.write(path, text, expected_version=first.version)
        assert refusal.value.code == "invalid_text"
        assert await content_of(store, path) == "one"

    @pytest.mark.parametrize("malformed", MALFORMED_PATHS, ids=ascii)
    async def test_malformed_path_is_refused(self, store: MemoryStore, malformed: str) -> None:
        """A path that breaks the rule is refused by every method, and is not repeated."""
        for call in (
            store.read(malformed, max_chars=10),
            store.write(malformed, "text", expected_version=None),
            store.delete(malformed, expected_version=None),
        ):
            with pytest.raises(InvalidMemoryRequest) as fault:
                await call
            assert len(malformed) < 4 or malformed not in str(fault.value)

    @pytest.mark.parametrize("bound", [0, -1, MAX_BOUND + 1, 2**31, 2**63, 10**30])
    async def test_malformed_bound_is_refused(
        self, store: MemoryStore, path: str, bound: int
    ) -> None:
        """A bound below 1, or above what a database counts with, is refused."""
        with pytest.raises(InvalidMemoryRequest):
            await store.read(path, max_chars=bound)
        with pytest.raises(InvalidMemoryRequest):
            await store.list_paths(limit=bound)

    async def test_greatest_bound_is_no_bound(
        self, store: MemoryStore, scope: Scope, path: str
    ) -> None:
        """The greatest bound returns all that is there."""
        await store.write(path, "one", expected_version=None)
        found = await store.read(path, max_chars=MAX_BOUND)
        assert found is not None
        assert (found.content, found.truncated) == ("one", False)
        assert await store.list_paths(scope.prefix, limit=MAX_BOUND) == [path]

    async def test_similar_paths_are_different_files(
        self, store: MemoryStore, scope: Scope
    ) -> None:
        """Names that differ in case, in composition or in nesting name different files."""
        key = scope.key
        paths = [
            f"{key}/a.md",
            f"{key}/A.md",
            f"{key}/\u00e9.md",
            f"{key}/e\u0301.md",
            f"{key}/a.md/a.md",
            f"{key}/a.md/MEMORY.md",
            f"{key}/MEMORY.md/MEMORY.md",
            f"{key}/.memory-store.sqlite3",
            f"{key}/a",
            f"{key}/a/a",
            f"{key}/a%b",
            f"{key}/a_b",
            f"{key}/ a.md",
        ]
        for path in paths:
            await store.write(path, path, expected_version=None)
        assert [await content_of(store, path) for path in paths] == paths


def _is_conflict(outcome: object) -> bool:
    if isinstance(outcome, BaseException) and not isinstance(outcome, MemoryConflictError):
        raise outcome
    return isinstance(outcome, MemoryConflictError)
