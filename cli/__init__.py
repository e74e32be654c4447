"""The command line: `durable-memory`."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["entry", "main"]


def entry() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    from ..exits import leave  # noqa: PLC0415  (as below)

    leave(main())


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; see `application.main`."""
    # Whoever wants the embedded servers only does not load the whole product.
    from .application import main as run  # noqa: PLC0415

    return run(arguments)
