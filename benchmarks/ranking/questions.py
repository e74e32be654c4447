"""The labelled questions: who asks what, and which entries answer it.

Two sets, English and Korean, were written by hand: what six and more people told an agent over
several sessions, and questions about it. A `paraphrase` question shares no content word's stem with
any of its answers, a `lexical` one shares some. Half of the questions are for tuning (`tune`), half
are held back (`held`). `overlap.py` checks and reports what is shared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "ko")


@dataclass(frozen=True, kw_only=True)
class LabelledEntry:
    """An entry that may answer."""

    id: str
    actor: str
    session: str
    path: str
    content: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question and the ids of the entries that answer it."""

    id: str
    actor: str
    question: str
    answers: tuple[str, ...]
    kind: str
    split: str


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One language's entries and questions."""

    language: str
    entries: tuple[LabelledEntry, ...]
    questions: tuple[Question, ...]

    def of_actor(self, actor: str) -> list[LabelledEntry]:
        """Return the entries of an actor, in order."""
        return [entry for entry in self.entries if entry.actor == actor]


def load(language: str) -> Dataset:
    """Read a language's set."""
    return Dataset(
        language=language,
        entries=tuple(LabelledEntry(**row) for row in _rows(f"{language}.entries.jsonl")),
        questions=tuple(
            Question(**{**row, "answers": tuple(row["answers"])})
            for row in _rows(f"{language}.questions.jsonl")
        ),
    )


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
