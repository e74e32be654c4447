"""Ending a process that has had a Temporal client.

The SDK's threads can still hand something to Python while the interpreter is torn down; the process
then aborts (`PyGILState_Release`, exit code 134) after all its work is done: 2 of 25 workers did.
Nothing can be waited for, so the interpreter is not torn down.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process with `code`, once everything is closed: exit functions run, output is out."""
    atexit._run_exitfuncs()  # noqa: SLF001  (telemetry is flushed by one of them)
    end(code)


def end(code: int) -> NoReturn:
    """End the process with `code`, its output written; exit functions do not run."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
