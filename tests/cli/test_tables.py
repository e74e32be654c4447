"""Tables: whole lines, whatever the width."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from durable_memory.cli.tables import lines, print_rows

Captured = pytest.CaptureFixture[str]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_every_row_is_one_line_and_nothing_is_cut(rows: list[tuple[str, str, str]]) -> None:
    """Each row is a line of its own without blanks at its end, with all that can be printed."""
    made = lines(rows)
    assert len(made) == len(rows)
    for line, row in zip(made, rows, strict=True):
        assert line == line.rstrip()
        assert line.isprintable()
        for text in row:
            assert "".join(c if c.isprintable() else " " for c in text).rstrip() in line


@given(st.lists(st.tuples(st.sampled_from(["", "a", "茶", "a-long-one"]), st.just("x"))))
def test_columns_stand_below_each_other(rows: list[tuple[str, str]]) -> None:
    """The second column begins at the same place in every line, in any script."""
    assert len({cell_len(line[:-1]) for line in lines(rows)}) <= 1


def test_times_are_short_and_nothing_is_nothing(capsys: Captured) -> None:
    """A time is shown to the minute, in the zone of the reader, and `None` as an empty cell."""
    moment = datetime(2026, 12, 1, 13, 5, 59).astimezone()
    print_rows([("one", moment, None), ("three", None, "x")], columns=("id", "at", "more"))
    assert capsys.readouterr().out == (
        "id     at                more\none    2026-12-01 13:05\nthree                    x\n"
    )


def test_an_empty_table_is_its_head(capsys: Captured) -> None:
    """Without rows the columns are named, and without columns nothing is printed."""
    print_rows([], columns=("id", "path"))
    print_rows([])
    assert capsys.readouterr().out == "id  path\n"
