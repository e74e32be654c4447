"""Processes that are made to be killed: forked, so that hundreds of them are cheap."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass

Begin = Callable[[], None]
"""Says that what comes now is what is tried; what was before it only led there."""

Task = Callable[[Begin], str]
"""What a victim does; returns what it has to say when it is done."""

BEGUN = b"\n"


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A child of this process, and the pipe that it says on what it has done.

    Attributes:
        pid: Its process id.
        pipe: Where its answer is read.
        answer_fd: The same pipe's other end, by its number in the child.
    """

    pid: int
    pipe: int
    answer_fd: int

    def answer(self) -> str:
        """Return what it said before its end; `''` when it was killed first."""
        with os.fdopen(self.pipe, encoding="utf-8") as pipe:
            return pipe.read().strip()


def fork(task: Task, prepare: Callable[[], None] = lambda: None) -> Victim:
    """Start a victim; `prepare` runs in it before its task. No thread may run in this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _live(task, prepare, writing)
    os.close(writing)
    return Victim(pid=pid, pipe=reading, answer_fd=writing)


def _live(task: Task, prepare: Callable[[], None], writing: int) -> None:
    """Do the task, say so, and end without the parent's exit functions."""
    code = 1
    try:
        prepare()
        os.write(writing, task(lambda: _say(writing, BEGUN)).encode())
        code = 0
    except BaseException:  # noqa: BLE001  (nothing of it may unwind into the parent's code)
        traceback.print_exc()
    finally:
        os._exit(code)


def _say(writing: int, said: bytes) -> None:
    os.write(writing, said)
