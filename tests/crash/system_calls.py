"""Steps as the kernel sees them: the system calls of a process that change a folder.

The victim is traced (`ptrace`) from its first instruction on, all of its threads. It stops at the
entry of each system call; at the one it is to die at, it is killed before the kernel has done
anything. What lies between two of these calls changes no file, so to kill at each of them is to
kill everywhere. (SQLite's index of its WAL is shared memory, and not trusted after a crash.)
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from dataclasses import dataclass, field
from pathlib import Path

from .kernel import CALLS, Arguments, call_at
from .steps import ACKNOWLEDGE, Life
from .victims import Task, Victim, fork

_TRACEME, _CONT, _SYSCALL, _SETOPTIONS = 0, 7, 24, 0x4200
_GET_SYSCALL_INFO = 0x420E
_SYSGOOD, _FOLLOW_CLONE, _FOLLOW_FORK, _EXITKILL = 0x1, 0x8, 0x2, 0x100000
_OPTIONS = _SYSGOOD | _FOLLOW_CLONE | _FOLLOW_FORK | _EXITKILL
_ALL_THREADS = 0x40000000  # __WALL
_CALL_STOP = signal.SIGTRAP | 0x80
_ENTRY = 1
_INFO = struct.Struct("=B3xIQQQ6Q")  # op, arch, instruction and stack pointers, number, arguments


def run(task: Task, folder: Path, last: int) -> Life:
    """Run `task`, and kill it before its `last`-th step in `folder`; see `Tracer`."""
    victim = fork(task, _offer)
    tracing = _Tracing(victim=victim, folder=folder.resolve(), last=last)
    os.waitpid(victim.pid, 0)
    _ptrace(_SETOPTIONS, victim.pid, _OPTIONS)
    _ptrace(_SYSCALL, victim.pid, 0)
    while not tracing.ended:
        tracing.step(*os.waitpid(-1, _ALL_THREADS))
    answer = victim.answer()
    if not tracing.killed and not answer:
        raise RuntimeError("the victim failed by itself; its traceback is above")
    return Life(steps=tracing.steps, killed=tracing.killed, answer=answer)


def permitted() -> bool:
    """Whether this system lets a process trace its child, and tells what it calls."""
    if call_at is None:
        return False
    try:
        run(lambda _begin: "done", Path(os.curdir), 1_000)
    except OSError:
        return False
    return True


@dataclass(kw_only=True)
class _Tracing:
    victim: Victim
    folder: Path
    last: int
    steps: list[str] = field(default_factory=list)
    begun: bool = False
    killed: bool = False
    ended: bool = False

    def step(self, thread: int, status: int) -> None:
        """Take note of why a thread has stopped, and let it go on."""
        if not os.WIFSTOPPED(status):
            self.ended = self.ended or thread == self.victim.pid
            return
        number = os.WSTOPSIG(status)
        if number == _CALL_STOP:
            self._look(thread)
        # A new thread begins with SIGSTOP, events come as SIGTRAP: neither is for the victim.
        ours = number in (_CALL_STOP, signal.SIGSTOP, signal.SIGTRAP)
        _ptrace(_SYSCALL, thread, 0 if ours else number, missing_ok=True)

    def _look(self, thread: int) -> None:
        info = _call_info(thread)
        if info is None or self.killed:
            return
        step = self._describe(thread, *info)
        if step is not None:
            self.steps.append(step)
            if len(self.steps) == self.last:
                self.killed = True
                os.kill(self.victim.pid, signal.SIGKILL)

    def _describe(self, thread: int, number: int, arguments: Arguments) -> str | None:
        name = call_at(number) if call_at else None
        if name is None:
            return None
        if name == "write" and arguments[0] == self.victim.answer_fd:
            said, self.begun = self.begun, True
            return ACKNOWLEDGE if said else None
        return CALLS[name](name, thread, arguments, self.folder) if self.begun else None


def _offer() -> None:
    """In the child: let the parent trace, and wait for it."""
    _ptrace(_TRACEME, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)


def _call_info(thread: int) -> tuple[int, Arguments] | None:
    """Return number and arguments of the call that a thread enters; `None` at its exit."""
    buffer = ctypes.create_string_buffer(128)
    if _libc.ptrace(_GET_SYSCALL_INFO, thread, len(buffer), buffer) < 0:
        return None
    op, _arch, _instruction, _stack, number, *arguments = _INFO.unpack_from(buffer.raw)
    return (number, tuple(arguments)) if op == _ENTRY else None


_libc = ctypes.CDLL(None, use_errno=True)
if hasattr(_libc, "ptrace"):
    _libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    _libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, thread: int, data: int, *, missing_ok: bool = False) -> None:
    if _libc.ptrace(request, thread, None, ctypes.c_void_p(data)) < 0 and not missing_ok:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
