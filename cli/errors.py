"""How a command fails: one line for a person, and an exit code for a program."""

from __future__ import annotations

FAILED = 1
"""Exit code: what was asked for did not succeed."""

MISUSED = 2
"""Exit code: an argument, a variable or a file cannot be used."""


class CommandError(Exception):
    """The command cannot go on.

    Args:
        message: One line that says what to do.
        exit_code: `FAILED` or `MISUSED`.
    """

    def __init__(self, message: str, *, exit_code: int = FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
