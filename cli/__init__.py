"""The command line: `durable-memory`."""

from __future__ import annotations

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code; see `application.main`."""
    # Whoever wants the embedded servers only does not load the whole product.
    from .application import main as run  # noqa: PLC0415

    return run(arguments)
