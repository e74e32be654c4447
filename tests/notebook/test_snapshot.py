"""The bounded text of a notebook at one moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, SupportsIndex, overload

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    MAX_RECORD_BYTES,
    InvalidMemoryRequest,
    NotebookView,
    SnapshotOptions,
    encoded_size,
    render_guidance,
    render_snapshot,
    snapshot_bounds,
    snapshot_token,
)
from durable_memory.notebook.markers import CLOSE, OPEN

PIECES = [
    "tea\n",
    "x" * 90,
    "\n",
    "\r\n",
    "<memory>",
    "</memory>",
    "&lt;",
    "＜",
    "/memory",
    "memory>",
]
PIECES += [
    "가",
    "😀" * 40,
    "a.md",
    "\u200b",
    "&",
    "amp;",
    "<",
    "\n\n",
    " ",
    "- a note\n",
    "Other files: ",
]
TAIL = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
ANY_NAMES = st.lists(
    st.one_of(
        st.from_regex(r"[a-z]{1,76}\.md", fullmatch=True),
        st.sampled_from(
            ["MEMORY.md", "memory.md", "a b.md", "<memory>.md", "memory-2.md", "노트.md"]
        ),
    ),
    max_size=10,
    unique=True,
)
VIEW = st.builds(
    NotebookView,
    tail=TAIL,
    tail_truncated=st.booleans(),
    names=ANY_NAMES.map(tuple),
    names_truncated=st.booleans(),
)
HEADING = st.one_of(st.just(""), st.text("aÅ <&/memory>", max_size=40), st.just("h" * 100)).filter(
    lambda heading: len(heading) < 60 or heading == "h" * 100
)
OPTIONS = st.builds(
    SnapshotOptions,
    heading=HEADING,
    guidance_chars=st.integers(0, 3_000),
    max_tokens=st.integers(128, 400),
    max_lines=st.integers(0, 12),
    tool_prefix=st.sampled_from(["", "org", "p" * 41]),
)
PLAIN = SnapshotOptions()


def numbered(count: int) -> str:
    """A notebook of numbered lines."""
    return "".join(f"- note {number}\n" for number in range(count))


@settings(deadline=None, max_examples=250)
@given(VIEW, OPTIONS)
def test_budget_and_markers(
    find_tags: Callable[[str], list[str]], view: NotebookView, options: SnapshotOptions
) -> None:
    """Whatever is stored, the text keeps its budget and has one pair of markers around it."""
    text = render_snapshot(view, options)
    assert len(text) <= options.max_chars
    assert text.startswith(f"{OPEN}\n")
    assert text.endswith(f"\n{CLOSE}")
    assert find_tags(text) == ["", "/"]


@settings(deadline=None, max_examples=200)
@given(VIEW, OPTIONS, st.one_of(st.none(), st.text(max_size=2_000)))
def test_guidance_shares_the_budget(
    view: NotebookView, options: SnapshotOptions, guidance: str | None
) -> None:
    """Guidance and snapshot together keep the budget, however long the guidance is."""
    trusted = render_guidance(
        guidance and guidance.replace("\0", ""),
        heading=options.heading,
        max_tokens=options.max_tokens,
        tool_prefix=options.tool_prefix,
    )
    text = render_snapshot(view, replace(options, guidance_chars=len(trusted)))
    assert len(trusted) + len(text) <= options.max_tokens * 4


@settings(deadline=None, max_examples=150)
@given(VIEW, OPTIONS)
def test_what_is_left_out_is_said(view: NotebookView, options: SnapshotOptions) -> None:
    """Text and names that are not shown are told of, with the tool that gets them."""
    text = render_snapshot(view, options)
    search = f"{options.tool_prefix}_search_memory".lstrip("_")
    assert view.tail_truncated <= ("[Older text" in text and search in text)
    assert view.names_truncated <= (f"[More files: {search}.]" in text)
    shown = render_snapshot(view, replace(options, max_tokens=20_000, max_lines=10**6))
    if "[Older text" not in text and "[More files" not in text:
        assert text == shown


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 120), st.integers(0, 60), st.integers(128, 600))
def test_newest_lines_are_kept(count: int, max_lines: int, max_tokens: int) -> None:
    """The lines shown are the last ones, whole but the first, and as many as there is room for."""
    options = SnapshotOptions(max_lines=max_lines, max_tokens=max_tokens)
    text = render_snapshot(NotebookView(tail=numbered(count)), options)
    lines = [line for line in text.split("\n")[1:-1] if not line.startswith("[")]
    newest = numbered(count).splitlines()[-len(lines) :] if lines else []
    assert lines[1:] == newest[1:]
    assert lines == newest or lines[0].removeprefix("...") in newest[0]
    assert len(lines) <= max_lines
    if len(lines) < min(count, max_lines):
        assert len(text) > options.max_chars - len("- note 100\n")


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("older", ["", "- a short note\n"])
def test_long_line_is_cut(older: str, *, truncated: bool) -> None:
    """A line too long to show is cut, and its end shown."""
    tail = older + "x" * 20_000 + "THE END\n"
    text = render_snapshot(NotebookView(tail=tail, tail_truncated=truncated), PLAIN)
    assert len(text) == PLAIN.max_chars
    assert f"x{'THE END'}\n{CLOSE}" in text
    assert "...x" in text


def test_long_line_before_a_short_one() -> None:
    """A long line is also shown in the room that newer ones leave."""
    text = render_snapshot(NotebookView(tail="x" * 20_000 + "\n- newest\n"), PLAIN)
    assert len(text) == PLAIN.max_chars
    assert f"xxx\n- newest\n{CLOSE}" in text


def test_all_fits() -> None:
    """A small notebook is shown as it is, with the names of its other files."""
    view = NotebookView(tail="- likes tea\r\n- and milk\n", names=("a.md", "노트.md"))
    assert render_snapshot(view, SnapshotOptions(heading="Notes")) == (
        "<memory>\n## Notes\n\n- likes tea\n- and milk\n\nOther files: a.md, 노트.md\n</memory>"
    )


@pytest.mark.parametrize(
    ("view", "body"),
    [
        (NotebookView(), "[Memory is empty.]"),
        (NotebookView(tail=" \n\r\n"), "[Memory is empty.]"),
        (NotebookView(names=("a.md",)), "[MEMORY.md is empty.]\n\nOther files: a.md"),
    ],
)
def test_empty(view: NotebookView, body: str) -> None:
    """An empty notebook says so, also when no line may be shown."""
    assert render_snapshot(view, PLAIN) == f"{OPEN}\n{body}\n{CLOSE}"
    assert render_snapshot(view, SnapshotOptions(max_lines=0)) == f"{OPEN}\n{body}\n{CLOSE}"


def test_no_lines() -> None:
    """With no lines to show, it is said that there is text."""
    text = render_snapshot(
        NotebookView(tail="\n", tail_truncated=True), replace(PLAIN, max_lines=0)
    )
    assert text.count("\n") == 2
    assert "[Older text of MEMORY.md is left out: read_memory" in text


def test_notices_in_the_least_room() -> None:
    """Both notices are shown in the least room, also with no line of the main notebook."""
    options = SnapshotOptions(
        heading="h" * 100, guidance_chars=10**6, max_tokens=128, tool_prefix="p" * 41
    )
    view = NotebookView(tail_truncated=True, names=("a.md", "c.md"), names_truncated=True)
    for tail, max_lines in (("", 0), ("x" * 500, 0), ("x" * 500, 200)):
        text = render_snapshot(replace(view, tail=tail), replace(options, max_lines=max_lines))
        assert "[Older text" in text
        assert "[More files" in text
        assert ("xxx" in text) == (max_lines > 0)


def test_names_are_not_starved() -> None:
    """A full main notebook leaves a quarter of the room to the names, and they leave the rest."""
    view = NotebookView(tail=numbered(2_000), names=tuple(f"n{n}.md" for n in range(1_300)))
    text = render_snapshot(view, SnapshotOptions(max_lines=10**6))
    names = text[text.index("Other files: ") :]
    assert 1_800 < len(names) < 2_000 + len(CLOSE) + 1
    assert len(text) > PLAIN.max_chars - 20
    alone = render_snapshot(replace(view, tail="- tea\n"), PLAIN)
    assert len(alone) > PLAIN.max_chars - 20


def test_names_tools_cannot_spell() -> None:
    """Names the tools cannot spell, and the main notebook's, are not listed."""
    view = NotebookView(tail="x", names=("MEMORY.md", "a b.md", "memory.md", "a.md", "b.txt"))
    assert "Other files: a.md\n" in render_snapshot(view, PLAIN)


class Counted(Sequence[str]):
    """Names that count how many of them are looked at."""

    def __init__(self, size: int) -> None:
        self.size, self.seen = size, 0

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | tuple[str, ...]:
        places = range(self.size)[at] if isinstance(at, slice) else [at]
        self.seen += len(places)
        found = tuple(f"n{place}.md" for place in places)
        return found if isinstance(at, slice) else found[0]


def test_no_more_is_looked_at_than_could_be_shown() -> None:
    """What a store gives beyond the bounds costs nothing."""
    chars, count = snapshot_bounds(PLAIN)
    names: Any = Counted(10**9)
    view = NotebookView(tail="x" * (2 * chars), names=names)
    text = render_snapshot(view, PLAIN)
    assert names.seen == count
    cut = NotebookView(
        tail="x" * chars,
        tail_truncated=True,
        names=tuple(f"n{n}.md" for n in range(count)),
        names_truncated=True,
    )
    assert text == render_snapshot(cut, PLAIN)
    assert snapshot_token(view, PLAIN) == snapshot_token(cut, PLAIN)


@settings(deadline=None, max_examples=200)
@given(OPTIONS)
def test_bounds(options: SnapshotOptions) -> None:
    """A store is asked for no more than the budget could show, and for enough to fill it."""
    chars, count = snapshot_bounds(options)
    assert 1 <= chars < options.max_chars
    assert 1 <= count <= options.max_chars // len("a.md, ")
    view = NotebookView(tail="x" * chars, names=("a.md",) * 0)
    if options.max_lines:
        assert len(render_snapshot(view, options)) == options.max_chars


def test_linear() -> None:
    """Rendering takes time in proportion to the budget, not to what is stored."""

    def seconds(max_tokens: int) -> float:
        options = SnapshotOptions(max_tokens=max_tokens, max_lines=10**6)
        chars, count = snapshot_bounds(options)
        view = NotebookView(
            tail=("<é&amp;\n" * chars)[:chars], names=tuple(f"n{n}.md" for n in range(count))
        )
        started = time.process_time()
        render_snapshot(view, options)
        return time.process_time() - started

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(3)) < 24 * short + 0.02


def test_largest_snapshot_can_be_sent() -> None:
    """The largest snapshot fits into one record, also in the costliest characters."""
    options = SnapshotOptions(max_tokens=20_480, max_lines=1)
    text = render_snapshot(NotebookView(tail="😀" * 100_000), options)
    assert encoded_size({"text": text}) <= MAX_RECORD_BYTES


@settings(deadline=None, max_examples=150)
@given(VIEW, OPTIONS, VIEW, OPTIONS)
def test_same_token_means_same_text(
    view: NotebookView, options: SnapshotOptions, view2: NotebookView, options2: SnapshotOptions
) -> None:
    """Two snapshots with different texts never have the same token."""
    same = snapshot_token(view, options) == snapshot_token(view2, options2)
    assert not same or render_snapshot(view, options) == render_snapshot(view2, options2)


@pytest.mark.parametrize(
    "change",
    [
        {"heading": "x"},
        {"guidance_chars": 1},
        {"max_tokens": 2_001},
        {"max_lines": 199},
        {"tool_prefix": "x"},
    ],
)
def test_token_covers_the_options(change: dict[str, Any]) -> None:
    """Whatever shapes the text is in the token."""
    view = NotebookView(tail="x")
    assert snapshot_token(view, replace(PLAIN, **change)) != snapshot_token(view, PLAIN)


@pytest.mark.parametrize(
    "change",
    [{"tail": "y"}, {"tail_truncated": True}, {"names": ("a.md",)}, {"names_truncated": True}],
)
def test_token_covers_the_content(change: dict[str, Any]) -> None:
    """Any change of what is shown changes the token."""
    view = NotebookView(tail="x")
    assert snapshot_token(replace(view, **change), PLAIN) != snapshot_token(view, PLAIN)


def test_token_is_frozen() -> None:
    """The token of this renderer stays what it is; a new renderer needs a new version."""
    view = NotebookView(tail="- likes tea\n", names=("a.md",))
    assert snapshot_token(view, PLAIN) == (
        "d48130d5a3a4381412956aa47176e7999a639814af5606ee0b19f56758fa9545"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"heading": "two\nlines"},
        {"heading": "two\u2028lines"},
        {"heading": "h" * 101},
        {"heading": "<memory" * 14},
        {"heading": "\0"},
        {"heading": "\ud800"},
        {"heading": None},
        {"guidance_chars": -1},
        {"guidance_chars": True},
        {"max_tokens": 127},
        {"max_tokens": 10**6},
        {"max_lines": -1},
        {"tool_prefix": "1"},
        {"tool_prefix": "a b"},
        {"tool_prefix": "p" * 42},
    ],
)
def test_malformed_options(options: dict[str, Any]) -> None:
    """Options that cannot be kept are refused."""
    with pytest.raises(InvalidMemoryRequest):
        SnapshotOptions(**options)
