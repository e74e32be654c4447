"""One run of a victim: the steps it made, and whether it was killed at the last of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .victims import Task

ACKNOWLEDGE = "acknowledge"
"""The last step of all: the victim says that it is done."""


@dataclass(frozen=True, kw_only=True)
class Life:
    """What became of a victim.

    Attributes:
        steps: What it did since it said that it begins, in order; it was killed before it could do
            the last of them.
        killed: Whether it was killed; if not, there are no more steps.
        answer: What it said when it was done.
    """

    steps: Sequence[str]
    killed: bool
    answer: str = ""


Tracer = Callable[[Task, Path, int], Life]
"""Runs a task that works in a folder, and kills it before its n-th step, from 1."""
