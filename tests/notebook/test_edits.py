"""Edits and the splices that carry them out."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from durable_memory.notebook import (
    Append,
    Edit,
    MemoryRefusal,
    Remove,
    Replace,
    Splice,
    append_addition,
    apply_splice,
    diff_splice,
    plan_edit,
    undo_splice,
)
from durable_memory.notebook.edits import newline_style

FEW = st.text("ab\r\n 가", max_size=12)
FILE = st.one_of(st.none(), FEW)
EDIT = st.one_of(
    FEW.map(lambda text: Append(content=text)),
    st.builds(Replace, old_text=FEW, content=FEW),
    st.just(Remove()),
)


def plan(current: str | None, edit: Edit, *, max_chars: int = 100) -> Splice:
    """The splice for a file of no special name."""
    return plan_edit(current, edit, name="a.md", max_chars=max_chars)


def refused(current: str | None, edit: Edit, *, max_chars: int = 100) -> str:
    """The code of the refusal."""
    with pytest.raises(MemoryRefusal) as refusal:
        plan(current, edit, max_chars=max_chars)
    return refusal.value.code


def edited(current: str | None, edit: Edit) -> str:
    """The file's text after the edit."""
    return apply_splice(current or "", plan(current, edit))


def unified(text: str) -> str:
    """The text with every line ending as a line feed."""
    return re.sub("\r\n|\r", "\n", text)


def occurrences(text: str, passage: str) -> int:
    """How often a passage occurs, overlapping ones counted, one position at a time."""
    return sum(text.startswith(passage, at) for at in range(len(text)))


@settings(deadline=None, max_examples=200)
@given(FILE, EDIT, st.integers(1, 20))
def test_edits_can_be_undone(current: str | None, edit: Edit, max_chars: int) -> None:
    """Whatever an edit does to a file can be undone exactly."""
    try:
        splice = plan(current, edit, max_chars=max_chars)
    except MemoryRefusal:
        return
    before = current or ""
    after = apply_splice(before, splice)
    assert undo_splice(after, splice) == before
    assert after == before[: splice.at] + splice.added + before[splice.at + len(splice.removed) :]


@settings(deadline=None, max_examples=200)
@given(FILE, EDIT, st.integers(1, 12))
def test_results_are_never_oversize(current: str | None, edit: Edit, max_chars: int) -> None:
    """No edit but a removal passes the limit, before or after it."""
    before = current or ""
    try:
        after = apply_splice(before, plan(current, edit, max_chars=max_chars))
    except MemoryRefusal as refusal:
        assume(refusal.code == "oversize")
        assert len(before) > max_chars or len(edited(current, edit)) > max_chars
        return
    assert isinstance(edit, Remove) or max(len(before), len(after)) <= max_chars


@settings(deadline=None, max_examples=200)
@given(FILE, FEW)
def test_append(current: str | None, content: str) -> None:
    """An append keeps what is there, starts a line of its own, and ends in one newline."""
    assume(content.strip())
    before, body = current or "", content.rstrip("\r\n")
    newline = newline_style(before) or newline_style(content) or "\n"
    after = edited(current, Append(content=content))
    assert after.startswith(before)
    between = after.removeprefix(before).removesuffix(body + newline)
    assert before + between + body + newline == after
    assert between == ("" if before == "" or before.endswith("\n") else newline)


@pytest.mark.parametrize(
    ("current", "content", "after"),
    [
        (None, "tea", "tea\n"),
        ("", "tea\n\n", "tea\n"),
        ("", "a\r\nb", "a\r\nb\r\n"),
        ("milk", "tea", "milk\ntea\n"),
        ("milk\n", "tea\n", "milk\ntea\n"),
        ("milk\n\n", "tea", "milk\n\ntea\n"),
        ("milk\n", "\n## Tea\n", "milk\n\n## Tea\n"),
        ("a\r\nmilk", "tea", "a\r\nmilk\r\ntea\r\n"),
        ("a\nb\r\n", "tea", "a\nb\r\ntea\n"),
        ("milk", "a\r\nb", "milk\r\na\r\nb\r\n"),
        ("  milk  ", "  tea  ", "  milk  \n  tea  \n"),
        ("milk\r", "tea", "milk\r\ntea\n"),
    ],
)
def test_append_joins(current: str | None, content: str, after: str) -> None:
    """Between the old and the new is one newline in the file's own style."""
    assert edited(current, Append(content=content)) == after


@settings(deadline=None, max_examples=150)
@given(FEW, FEW)
def test_append_looks_at_little(current: str, content: str) -> None:
    """What is added depends only on the file's first line ending and how it ends."""
    style, ends = newline_style(current), current.endswith("\n")
    short = {"": "x" if current else "", "\n": "\nx", "\r\n": "\r\nx"}[style]
    assert append_addition(short + "\n" * ends, content) == append_addition(current, content)


@settings(deadline=None, max_examples=200)
@given(FEW, FEW, FEW)
@example("aaa", "aa", "")
@example("a\r\nb", "a\nb", "x\ny")
def test_replace(current: str, old_text: str, content: str) -> None:
    """A passage is replaced if and only if it occurs once, overlapping occurrences counted."""
    assume(old_text)
    times = occurrences(unified(current), unified(old_text))
    edit = Replace(old_text=old_text, content=content)
    if times != 1:
        assert refused(current, edit) == ("ambiguous" if times else "text_not_found")
        return
    splice = plan(current, edit)
    assert unified(splice.removed) == unified(old_text)
    assert current.startswith(splice.removed, splice.at)
    assert unified(splice.added) == unified(content)
    if splice.removed == old_text:
        assert splice.added == content


@pytest.mark.parametrize(
    ("current", "old_text", "content", "after"),
    [
        ("one two", "two", "2", "one 2"),
        ("one two", " two", "", "one"),
        ("a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc"),
        ("a\nb\nc", "a\r\nb", "x\r\ny", "x\ny\nc"),
        ("a\rb", "a\nb", "x\ny", "x\ry"),
        ("a\r\nb", "b", "x\ny", "a\r\nx\ny"),
        ("가나다", "나", "", "가다"),
        ("x\r\n\r\nay", "\na", "b", "x\r\nby"),
        ("all of it", "all of it", "", ""),
    ],
)
def test_replacements(current: str, old_text: str, content: str, after: str) -> None:
    """A passage is found whatever its line endings, and replaced in its own."""
    assert edited(current, Replace(old_text=old_text, content=content)) == after


@pytest.mark.parametrize(
    ("current", "edit", "code"),
    [
        (None, Replace(old_text="a", content="b"), "not_found"),
        ("a", Replace(old_text="", content="b"), "invalid_arguments"),
        ("a", Append(content=""), "invalid_arguments"),
        ("a", Append(content=" \n\t\u3000"), "invalid_arguments"),
        ("aaa", Replace(old_text="aa", content="b"), "ambiguous"),
        ("a", Replace(old_text="A", content="b"), "text_not_found"),
        ("a", Append(content="\0"), "invalid_text"),
        ("a", Replace(old_text="a", content="\ud800"), "invalid_text"),
        ("a", Replace(old_text="\0", content=""), "invalid_text"),
        ("a" * 101, Append(content="b"), "oversize"),
        ("a" * 101, Replace(old_text="a" * 101, content=""), "oversize"),
        ("a" * 98, Append(content="b"), "oversize"),
        ("a", Replace(old_text="a", content="b" * 101), "oversize"),
    ],
)
def test_refusals(current: str | None, edit: Edit, code: str) -> None:
    """An edit that does not fit is refused with its reason."""
    assert refused(current, edit) == code


def test_last_character_that_fits() -> None:
    """A file may grow to exactly the limit."""
    assert len(apply_splice("a" * 97, plan("a" * 97, Append(content="b")))) == 100


def test_remove() -> None:
    """A removal takes the whole text, however large, and of a missing file nothing."""
    assert plan("a" * 101, Remove()) == Splice(at=0, removed="a" * 101, added="")
    assert plan(None, Remove()) == Splice(at=0, removed="", added="")


def test_main_notebook_is_protected() -> None:
    """The main notebook is never deleted."""
    with pytest.raises(MemoryRefusal, match="main notebook") as refusal:
        plan_edit("a", Remove(), name="MEMORY.md", max_chars=100)
    assert refusal.value.code == "protected"


@settings(deadline=None, max_examples=150)
@given(FEW, FEW)
def test_diff(before: str, after: str) -> None:
    """A diff leads from one text to the other and back, and touches no common start or end."""
    splice = diff_splice(before, after)
    assert apply_splice(before, splice) == after
    assert undo_splice(after, splice) == before
    assert not splice.removed or not splice.added or splice.removed[0] != splice.added[0]
    assert not splice.removed or not splice.added or splice.removed[-1] != splice.added[-1]


@pytest.mark.parametrize(
    "splice",
    [
        Splice(at=0, removed="b", added="x"),
        Splice(at=2, removed="", added="x"),
        Splice(at=-1, removed="", added="x"),
        Splice(at=1, removed="a", added=""),
    ],
)
def test_splice_of_another_text(splice: Splice) -> None:
    """A splice is never done to a text it was not made for."""
    with pytest.raises(ValueError, match="does not fit"):
        apply_splice("a", splice)
    with pytest.raises(ValueError, match="does not fit"):
        undo_splice("a", Splice(at=splice.at, removed=splice.added, added=splice.removed))
