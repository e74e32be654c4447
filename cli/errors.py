"""How a command fails: one line for a person, and an exit code for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..notebook import MemoryFault

FAILED = 1
"""Exit code: what was asked for did not succeed."""

MISUSED = 2
"""Exit code: an argument, a variable or a file cannot be used."""


INTERRUPTED = 130
"""Exit code of a command that Ctrl-C or SIGTERM ended before it was done."""


def how_to_install(extra: str) -> str:
    """Say how a missing extra is installed; the package is installed from a clone."""
    return f"in the clone, pip install --editable '.[{extra}]'"


class CommandError(Exception):
    """The command cannot go on.

    Args:
        message: One line that says what to do.
        exit_code: `FAILED` or `MISUSED`.
    """

    def __init__(self, message: str, *, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def command_error(fault: MemoryFault, *, about: str = "") -> CommandError:
    """Return how a command fails by a fault of the stores: the same in every command.

    Args:
        fault: What the stores raised.
        about: The variable that is to blame, if one is.
    """
    # Whoever ends before the product is loaded needs the exit codes alone.
    from ..notebook import (  # noqa: PLC0415
        InvalidMemoryRequest,
        MemoryRefusal,
        MemorySchemaMismatch,
        MemoryStoreRefused,
    )

    misuse = (InvalidMemoryRequest, MemoryRefusal, MemorySchemaMismatch, MemoryStoreRefused)
    message = f"{about}: {fault}" if about else str(fault)
    return CommandError(message, exit_code=MISUSED if isinstance(fault, misuse) else FAILED)
