"""What the demo shows while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from .proof import Check

_HELD = "✓"
_FAILED = "✗"


class Narrator:
    """Prints the story, step by step.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show that something is going on, then that it is done."""
        with self._console.status(Text(text)):
            yield
        self.say(text, mark=_HELD)

    def say(self, text: str, *, mark: str = " ") -> None:
        """Print one line."""
        style = "bold red" if mark == _FAILED else "green"
        self._console.print(Text.assemble((f"{mark} ", style), text), soft_wrap=True)

    def notebook(self, content: str) -> None:
        """Print the notebook as it is, never as markup."""
        self._console.rule("MEMORY.md")
        self._console.print(Text(content.rstrip("\n")), soft_wrap=True)
        self._console.rule()

    def proof(self, checks: Sequence[Check]) -> None:
        """Print what was checked, whether it held, and what was found."""
        for check in checks:
            self.say(f"{check.claim}: {check.found}", mark=_HELD if check.held else _FAILED)

    def end(self, *, held: bool, seconds: float) -> None:
        """Print the outcome."""
        outcome = "nothing lost, nothing doubled" if held else "NOT everything held"
        self.say(f"{outcome}, in {seconds:.0f} s", mark=_HELD if held else _FAILED)

    def hold(self, link: str) -> None:
        """Print where the interrupted workflow can be looked at, while the servers run."""
        self.say("the servers run until Ctrl-C; the reset workflow in Temporal's web page:")
        self.say(link)
