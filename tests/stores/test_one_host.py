"""The file and the SQLite store between the tasks and processes of one host."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from moments import until_after
from store_child import PATH, finish, start_child

from durable_memory.cli.faults import until
from durable_memory.notebook import (
    Append,
    InvalidMemoryRequest,
    MemoryDeadlineExceeded,
    MemoryOperationAbandonedError,
    MemoryStoreUnavailable,
)
from durable_memory.stores import (
    FileMemoryStore,
    SqliteMemoryStore,
    open_store,
)
from durable_memory.testing.base import content_of
from durable_memory.testing.samples import new_operation

LINE = Append(content="line")
_DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Hold a directory's lock, as another process does."""
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def locked_database(path: Path) -> Iterator[None]:
    """Hold a database's write lock, as another process does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@dataclass(frozen=True, kw_only=True)
class Host:
    """A store with one file in it, and the way to be in its way."""

    store: FileMemoryStore | SqliteMemoryStore
    url: str
    path: Path
    lock: Callable[[Path], AbstractContextManager[None]]

    def held(self) -> AbstractContextManager[None]:
        """Hold what a mutation needs."""
        return self.lock(self.path)

    def another(self, timeout: float) -> FileMemoryStore | SqliteMemoryStore:
        """Return the store as another process has it open."""
        return type(self.store)(self.path, timeout=timeout)


@pytest_asyncio.fixture(params=["file", "sqlite"])
async def host(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Host]:
    """Each of the two stores."""
    path = tmp_path / "memory"
    made: FileMemoryStore | SqliteMemoryStore
    if request.param == "file":
        made, lock = FileMemoryStore(path), locked_directory
    else:
        made, lock = SqliteMemoryStore(path), locked_database
    async with made as store:
        await store.write(PATH, "start\n", expected_version=None)
        yield Host(store=store, url=f"{request.param}://{path}", path=path, lock=lock)


async def test_processes_apply_every_operation_once(host: Host) -> None:
    """Appends of several processes at once are all there, each once, with a version of its own."""
    children = [start_child("append", host.url, f"writer-{n}", "20") for n in range(3)]
    versions = [version for child in children for version in finish(child)]
    content = await content_of(host.store, PATH)
    lines = [f"writer-{n} {line}" for n in range(3) for line in range(20)]
    assert content is not None
    assert sorted(content.splitlines()) == sorted(["start", *lines])
    assert len(set(versions)) == 60
    again = finish(start_child("append", host.url, "writer-0", "20"))
    assert again == versions[:20]
    assert await content_of(host.store, PATH) == content


async def test_wait_ends_with_the_deadline_and_says_nothing(host: Host) -> None:
    """Who waited in vain until the deadline may have an earlier attempt in the way."""
    operation = new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=200)
    with host.held(), pytest.raises(MemoryStoreUnavailable):
        await host.store.edit(PATH, LINE, max_chars=100, operation=operation, deadline=deadline)
    assert datetime.now(UTC) >= deadline - timedelta(milliseconds=5)
    assert await host.store.get_operation(operation) is None
    assert await content_of(host.store, PATH) == "start\n"


async def test_wait_without_deadline_is_bounded_by_the_store(host: Host) -> None:
    """A mutation gives up after the store's own time; so does settling."""
    async with host.another(0.2) as impatient:
        with host.held():
            with pytest.raises(MemoryStoreUnavailable):
                await impatient.edit(PATH, LINE, max_chars=100)
            with pytest.raises(MemoryStoreUnavailable):
                await impatient.settle(new_operation())
    assert await content_of(host.store, PATH) == "start\n"


async def test_deadline_is_compared_when_the_lock_is_held(host: Host) -> None:
    """A mutation whose turn comes after its deadline changes nothing."""
    late = new_operation()
    deadline = datetime.now(UTC) + timedelta(milliseconds=100)
    with host.held():
        first = asyncio.ensure_future(host.store.edit(PATH, LINE, max_chars=100))
        second = asyncio.ensure_future(
            host.store.edit(PATH, LINE, max_chars=100, operation=late, deadline=deadline)
        )
        await until_after(deadline)
    await first
    with pytest.raises(MemoryDeadlineExceeded):
        await second
    assert await content_of(host.store, PATH) == "start\nline\n"
    assert await host.store.get_operation(late) is None


async def test_readers_do_not_wait_for_writers(host: Host) -> None:
    """While a mutation waits, the loop goes on and reads are answered."""
    with host.held():
        waiting = asyncio.ensure_future(host.store.edit(PATH, LINE, max_chars=100))
        assert await content_of(host.store, PATH) == "start\n"
        assert await host.store.list_paths(limit=5) == [PATH]
        assert not waiting.done()
    await waiting


async def test_cancelled_call_leaves_nothing_half_done(host: Host) -> None:
    """A cancelled mutation ends in its thread, and settling after it tells how."""
    operation = new_operation()
    with host.held():
        call = asyncio.ensure_future(
            host.store.edit(PATH, LINE, max_chars=100, operation=operation)
        )
        await asyncio.sleep(0)
        assert await content_of(host.store, PATH) == "start\n"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    settled = await host.store.settle(operation)
    expected = "start\n" if settled.abandoned else "start\nline\n"
    assert await content_of(host.store, PATH) == expected
    await host.store.edit(PATH, Append(content="next"), max_chars=100)
    async with host.another(1) as other:
        await other.edit(PATH, Append(content="theirs"), max_chars=100)
    assert await content_of(host.store, PATH) == expected + "next\ntheirs\n"


async def test_call_cancelled_before_its_turn_never_runs(host: Host) -> None:
    """What still waits for its turn when it is cancelled is not applied."""
    operation = new_operation()
    with host.held():
        first = asyncio.ensure_future(host.store.edit(PATH, LINE, max_chars=100))
        second = asyncio.ensure_future(
            host.store.edit(PATH, LINE, max_chars=100, operation=operation)
        )
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
    await first
    assert (await host.store.settle(operation)).abandoned
    assert await content_of(host.store, PATH) == "start\nline\n"


async def test_settling_waits_for_the_attempt_of_another_process(host: Host) -> None:
    """Whoever comes first, the settled outcome is what happened."""
    operation = new_operation()
    async with host.another(5) as other:
        with host.held():
            attempt = asyncio.ensure_future(
                other.edit(PATH, LINE, max_chars=100, operation=operation)
            )
            settling = asyncio.ensure_future(host.store.settle(operation))
            await asyncio.sleep(0)
        settled = await settling
        (outcome,) = await asyncio.gather(attempt, return_exceptions=True)
    assert settled.abandoned == isinstance(outcome, MemoryOperationAbandonedError)
    expected = "start\n" if settled.abandoned else "start\nline\n"
    assert await content_of(host.store, PATH) == expected


async def test_closed_store_opens_again(host: Host) -> None:
    """Closing waits for what runs, and a call after it is served."""
    operation = new_operation()
    written = asyncio.ensure_future(host.store.edit(PATH, LINE, max_chars=100, operation=operation))
    await asyncio.sleep(0)
    await host.store.close()
    await written
    assert await host.store.get_operation(operation) is not None
    await host.store.close()
    await host.store.close()


async def opened_twice(path: Path) -> bool:
    """Tell whether this process has a directory open two times, by its own lock and by a store."""
    if not _DESCRIPTORS.exists():
        pytest.skip("this system does not show what a process has open")
    names = []
    for each in _DESCRIPTORS.iterdir():
        with suppress(FileNotFoundError):
            names.append(each.readlink())
    return names.count(path) == 2


@pytest.mark.parametrize("gone", [lambda path: path.rename(f"{path}-moved"), shutil.rmtree])
async def test_directory_gone_while_its_lock_is_waited_for_is_made_anew(
    tmp_path: Path, gone: Callable[[Path], object]
) -> None:
    """Who gets the lock of a directory that was moved or removed goes on in one of its name."""
    path = tmp_path / "memory"
    async with FileMemoryStore(path) as store:
        await store.write(PATH, "start\n", expected_version=None)
        with locked_directory(path):
            waiting = asyncio.ensure_future(store.edit(PATH, LINE, max_chars=100))
            await until(lambda: opened_twice(path), "the store to wait")
            gone(path)
        assert not (await waiting).existed
    async with FileMemoryStore(path) as other:
        assert await content_of(other, PATH) == "line\n"


async def test_lock_of_a_directory_that_was_replaced_is_not_enough(tmp_path: Path) -> None:
    """Who gets the lock of a directory that was replaced still waits for who locks the new one."""
    path = tmp_path / "memory"
    async with FileMemoryStore(path, timeout=1) as store:
        await store.write(PATH, "start\n", expected_version=None)
        with ExitStack() as new:
            with locked_directory(path):
                waiting = asyncio.ensure_future(store.edit(PATH, LINE, max_chars=100))
                await until(lambda: opened_twice(path), "the store to wait")
                path.rename(tmp_path / "moved")
                path.mkdir()
                new.enter_context(locked_directory(path))
            with pytest.raises(MemoryStoreUnavailable):
                await waiting
    assert list(path.iterdir()) == []


async def test_many_readers_at_once(host: Host) -> None:
    """Calls of many tasks share few threads."""
    found = await asyncio.gather(*(host.store.read(PATH, max_chars=10) for _ in range(50)))
    assert {each and each.content for each in found} == {"start\n"}


@pytest.mark.parametrize("scheme", ["file", "sqlite"])
async def test_store_is_opened_by_its_url(tmp_path: Path, scheme: str) -> None:
    """A URL names a path, with what a URL cannot hold in percent."""
    url = f"{scheme}://{tmp_path}/a%20b%3F"
    async with open_store(url) as store:
        await store.write(PATH, "text", expected_version=None)
    assert (tmp_path / "a b?").exists()
    async with open_store(url) as store:
        assert await content_of(store, PATH) == "text"


@pytest.mark.parametrize(
    "url",
    [
        *("file:", "file:/a", "file://a/b", "file:a", "file:///", "file:////", "file:///a?b"),
        *(
            "sqlite:",
            "sqlite:a.db",
            "sqlite://a.db",
            "sqlite:///",
            "sqlite:///a#b",
            "sqlite:///%00",
        ),
        *("files:///a", "sqlite3:///a"),
    ],
)
async def test_url_that_names_no_path_is_refused(url: str) -> None:
    """A relative path, a host or a query is one line that says what a URL looks like."""
    with pytest.raises(InvalidMemoryRequest) as fault:
        async with open_store(url):
            pass
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("scheme", ["file", "sqlite"])
async def test_path_that_cannot_be_opened_is_found_at_once(tmp_path: Path, scheme: str) -> None:
    """A file in the place of a directory is an error on opening."""
    (tmp_path / "a").write_text("not a directory", encoding="utf-8")
    with pytest.raises(MemoryStoreUnavailable):
        async with open_store(f"{scheme}://{tmp_path}/a/memory"):
            pass
