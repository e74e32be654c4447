"""The command line: `durable-memory`."""

from __future__ import annotations

import signal
from typing import NoReturn

from ..exits import end, leave
from .errors import INTERRUPTED

__all__ = ["entry", "main"]


def entry() -> NoReturn:
    """Run the command line and end the process with its exit code.

    Until a command has something to clean up, Ctrl-C ends it where it is. Loading the product takes
    a second or two, and an exception that is raised in the middle of an import is not always one
    that can be caught: some of what is imported makes another error of it, or prints it.
    """
    signal.signal(signal.SIGINT, lambda _number, _frame: end(INTERRUPTED))
    try:
        code = main()
    except KeyboardInterrupt:  # after a command's event loop, which took the signal over
        code = INTERRUPTED
    leave(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; see `application.main`."""
    # Whoever wants the embedded servers only does not load the whole product.
    from .application import main as run  # noqa: PLC0415

    return run(arguments)
