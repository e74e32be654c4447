"""Steps as Python sees them: the calls of a store's code into native code.

For systems where a process may not be traced. Coarser than the kernel's view: one statement of
SQLite is one step, and its statements are seen that way too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import durable_memory.stores

from .steps import ACKNOWLEDGE, Life
from .victims import Begin, Task, fork

_STORES = str(Path(durable_memory.stores.__file__).parent)
_NATIVE = ("posix", "_io", "io", "fcntl", "sqlite3", "_sqlite3")


def run(task: Task, folder: Path, last: int) -> Life:
    """Run `task`, and kill it before its `last`-th step; see `Tracer`."""
    reading, writing = os.pipe()

    watch = _Watch(pipe=writing, last=last)

    def watched(_begin: Begin) -> str:
        answer = task(watch.begin)
        watch.note(ACKNOWLEDGE)
        return answer

    victim = fork(watched, watch.install)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        steps = pipe.read().splitlines()
    _, status = os.waitpid(victim.pid, 0)
    answer = victim.answer()
    if not os.WIFSIGNALED(status) and not answer:
        raise RuntimeError("the victim failed by itself; its traceback is above")
    return Life(steps=steps, killed=os.WIFSIGNALED(status), answer=answer)


@dataclass(kw_only=True)
class _Watch:
    """Counts the steps in the victim, and kills it."""

    pipe: int
    last: int
    count: int = 0
    begun: bool = False

    def install(self) -> None:
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def begin(self) -> None:
        self.begun = True

    def note(self, step: str) -> None:
        os.write(self.pipe, f"{step}\n".encode())
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def _look(self, frame: FrameType, event: str, called: Any) -> None:
        code = frame.f_code
        if (
            self.begun
            and event == "c_call"
            and code.co_filename.startswith(_STORES)
            and _is_native(called)
        ):
            place = f"{Path(code.co_filename).name}:{frame.f_lineno}"
            self.note(f"{called.__qualname__} at {place}")


def _is_native(called: Any) -> bool:
    owner = (
        getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
    )
    bases = (base.__module__ for base in type(getattr(called, "__self__", None)).__mro__)
    return owner in _NATIVE or any(base in _NATIVE for base in bases)
