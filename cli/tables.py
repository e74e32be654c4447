"""Tables for people: the one place where they are made.

A line of a table is a row, however long: what is copied from it, or read by the next program of a
pipe, is whole. A terminal folds what does not fit, by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

_GAP = "  "


def print_rows(rows: Sequence[Sequence[object]], *, columns: Sequence[str] = ()) -> None:
    """Print a table to standard output.

    Args:
        rows: Texts, times and numbers; `None` is an empty cell.
        columns: The headings; none when left out.
    """
    for line in lines([columns, *rows] if columns else rows):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def lines(rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a line for each row, with its cells below those of the row before; nothing is cut."""
    shown = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    return [_GAP.join(map(_padded, row, widths)).rstrip() for row in shown]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _shown(cell: object) -> str:
    """Return a cell as one line; what would end it, or steer a terminal, becomes a blank."""
    if isinstance(cell, datetime):
        return cell.astimezone().strftime("%Y-%m-%d %H:%M")
    text = "" if cell is None else str(cell)
    return "".join(character if character.isprintable() else " " for character in text)
