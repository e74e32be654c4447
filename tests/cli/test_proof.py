"""The demo's claims: each of them can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from durable_memory.cli.demo.proof import Evidence, RunRecord, Write, prove


def _run(run_id: str, *writes: Write, calls: str) -> RunRecord:
    return RunRecord(
        workflow_id="w", run_id=run_id, writes=writes, call_ids=tuple(f"{calls}{n}" for n in "123")
    )


def _write(version: str, *, attempt: int = 1, replayed: bool = False) -> Write:
    return Write(attempt=attempt, replayed=replayed, version=version)


def _good() -> Evidence:
    """Three notes; the second was written by a worker that was killed, then the run was reset."""
    crashed = _run(
        "1", _write("1"), _write("2", attempt=2, replayed=True), _write("3"), calls="first"
    )
    again = _run(
        "2", _write("1"), _write("2", replayed=True), _write("3", replayed=True), calls="second"
    )
    return Evidence(
        said=("one", "two\n", "one"),
        notes=("one\n", "two\n", "one\n"),
        content="one\ntwo\none\n",
        receipts=3,
        runs=(crashed, again),
        crashed=crashed,
        again=again,
    )


def _failed(evidence: Evidence) -> list[int]:
    return [place for place, check in enumerate(prove(evidence)) if not check.held]


def test_good_evidence_proves_everything() -> None:
    """Three notes, once each and in order, hold all claims."""
    assert _failed(_good()) == []


@pytest.mark.parametrize(
    "notes",
    [
        ("one\n", "two\n", "two\n", "one\n"),
        ("one\n", "two\n"),
        ("two\n", "one\n", "one\n"),
        ("one\n", "two", "one\n"),
    ],
)
def test_a_note_doubled_lost_moved_or_changed_fails(notes: tuple[str, ...]) -> None:
    """The first claim compares every note with what was said."""
    evidence = replace(_good(), notes=notes, content="".join(notes))
    assert 0 in _failed(evidence)


def test_a_notebook_that_differs_from_its_history_fails() -> None:
    """The text itself is compared too."""
    assert _failed(replace(_good(), content="one\ntwo\n")) == [0]


def test_an_operation_too_many_fails() -> None:
    """A receipt beside those of the notes is an operation nobody asked for."""
    assert _failed(replace(_good(), receipts=4)) == [1]


def test_a_retry_that_wrote_again_fails() -> None:
    """An attempt above 1 must be answered by its receipt."""
    twice = _run("1", _write("1"), _write("2", attempt=2), _write("3"), calls="first")
    assert _failed(replace(_good(), crashed=twice)) == [2]


def test_a_crash_that_did_not_happen_fails() -> None:
    """Without an attempt above 1 nothing was shown."""
    calm = _run("1", _write("1"), _write("2"), _write("3"), calls="first")
    assert _failed(replace(_good(), crashed=calm)) == [2]


def test_a_reset_that_wrote_again_fails() -> None:
    """After the reset the same versions must come back."""
    again = _run("2", _write("1"), _write("4"), _write("5"), calls="second")
    assert _failed(replace(_good(), again=again)) == [3]


def test_a_reset_that_asked_nothing_fails() -> None:
    """A run that repeats the old call ids was not asked again."""
    again = replace(_good().again, call_ids=_good().crashed.call_ids)
    assert _failed(replace(_good(), again=again)) == [3]


def test_a_history_that_does_not_replay_fails() -> None:
    """Each history is replayed, also the one that was reset away."""
    broken = replace(_good().crashed, replay_error="NondeterminismError")
    assert _failed(replace(_good(), runs=(broken, _good().again))) == [4]
