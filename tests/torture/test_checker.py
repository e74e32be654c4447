"""The outside checker finds what is wrong, and only that."""

from __future__ import annotations

from torture.checker import Case, violations
from torture.workflow import Told


def written(*texts: str, replayed: bool = False) -> list[Told]:
    """Notes that were told to be written."""
    return [Told(text=text, outcome="written", replayed=replayed) for text in texts]


def wrong(told: list[Told], *lines: str, was_reset: bool = False, rewords: bool = False) -> int:
    """How much is wrong with a workflow."""
    case = Case(number=1, told=told, was_reset=was_reset, rewords=rewords, lines=lines)
    return len(list(violations(case)))


def test_notes_as_told_are_right() -> None:
    """Notes that stand once each in the order in which they were told are right, equal ones too."""
    assert wrong(written("a", "again", "b", "again"), "a", "again", "b", "again") == 0


def test_lost_note_is_found() -> None:
    """A note that was told to be written and is not there is a violation, also one of two equal."""
    assert wrong(written("a", "b"), "a") == 1
    assert wrong(written("again", "again"), "again") == 1


def test_doubled_note_is_found() -> None:
    """A note that is there more often than it was told is a violation."""
    assert wrong(written("a"), "a", "a") == 1


def test_note_that_was_refused_and_landed_is_found() -> None:
    """A note that was told not to be written is not there."""
    refused = [Told(text="a", outcome="not written")]
    assert wrong(refused) == 0
    assert wrong(refused, "a") == 1


def test_undecided_note_may_be_there_once() -> None:
    """A note of unknown or cancelled outcome is there once or not at all, and in its place."""
    for outcome in ("undecided", "cancelled"):
        told = [*written("a"), Told(text="b", outcome=outcome), *written("c")]
        assert wrong(told, "a", "c") == 0
        assert wrong(told, "a", "b", "c") == 0
        assert wrong(told, "a", "b", "b", "c") == 1
        assert wrong(told, "a", "c", "b") == 1


def test_order_is_checked() -> None:
    """Notes out of order are a violation; a receipt from before a reset keeps its place."""
    assert wrong(written("a", "b"), "b", "a") == 1
    told = [*written("a"), *written("b", replayed=True)]
    assert wrong(told, "b", "a") == 1
    assert wrong(told, "b", "a", was_reset=True) == 0
    assert wrong(written("a", "b"), "b", "a", was_reset=True) == 1


def test_only_a_reset_model_that_rewords_leaves_other_lines() -> None:
    """A line that the workflow was never told of is a violation, but for another wording."""
    assert wrong(written("a"), "other", "a", was_reset=True, rewords=True) == 0
    assert wrong(written("a"), "other", "a", was_reset=True) == 1
    assert wrong(written("a"), "other", "a") == 1
