"""What the demo claims, each checked against the database and the recorded histories.

Pure: everything it needs is in the `Evidence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...notebook import MAIN_FILENAME, Append, Limits, apply_splice, plan_edit


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """One completed `memory.write` of a history.

    Attributes:
        attempt: The attempt that completed it, from 1.
        replayed: Whether a receipt answered.
        version: The version that the receipt names.
    """

    attempt: int
    replayed: bool
    version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What one run's history says.

    Attributes:
        writes: Its writes, in order.
        call_ids: The tool call ids that the model gave, in order.
        replay_error: Why the history does not replay; `None` when it does.
    """

    workflow_id: str
    run_id: str
    writes: tuple[Write, ...]
    call_ids: tuple[str, ...]
    replay_error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What was said, and what is left of it.

    Attributes:
        said: The user's lines, in order.
        notes: What each step of the notebook's history added, in order.
        content: The notebook.
        receipts: Operations that the database has a receipt of.
        runs: Every run, the ones that were reset away included.
        crashed: The run whose worker was killed.
        again: The run that the reset made of it.
    """

    said: tuple[str, ...]
    notes: tuple[str, ...]
    content: str
    receipts: int
    runs: tuple[RunRecord, ...]
    crashed: RunRecord
    again: RunRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One claim, whether it held, and what was found."""

    claim: str
    held: bool
    found: str


def prove(evidence: Evidence) -> tuple[Check, ...]:
    """Check every claim of the demo."""
    return (
        _every_note_once(evidence),
        _one_receipt_each(evidence),
        _answered_by_receipt(evidence.crashed),
        _asked_again(evidence.crashed, evidence.again),
        _replays(evidence.runs),
    )


def expected_notes(said: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return what each line adds to an empty notebook, and the notebook after them."""
    content, notes = "", []
    for line in said:
        splice = plan_edit(
            content or None,
            Append(content=line),
            name=MAIN_FILENAME,
            max_chars=Limits().max_memory_size,
        )
        content = apply_splice(content, splice)
        notes.append(splice.added)
    return tuple(notes), content


def _every_note_once(evidence: Evidence) -> Check:
    notes, content = expected_notes(evidence.said)
    return Check(
        claim="every note exactly once, in the order it was said",
        held=evidence.notes == notes and evidence.content == content,
        found=_difference(evidence.notes, notes),
    )


def _difference(found: tuple[str, ...], expected: tuple[str, ...]) -> str:
    """Say where two lists part, without what they hold."""
    counts = f"{len(expected)} lines said, {len(found)} notes in the database's history"
    for place, (one, other) in enumerate(zip(found, expected, strict=False), start=1):
        if one != other:
            return f"{counts}; note {place} is another"
    return counts


def _one_receipt_each(evidence: Evidence) -> Check:
    return Check(
        claim="no operation beside them",
        held=evidence.receipts == len(evidence.said),
        found=f"{evidence.receipts} receipts",
    )


def _answered_by_receipt(run: RunRecord) -> Check:
    late = [write for write in run.writes if write.attempt > 1]
    return Check(
        claim="the write whose worker was killed was retried and answered by its receipt",
        held=bool(late) and all(write.replayed for write in late),
        found=", ".join(_attempt(write) for write in late) or "no attempt above 1",
    )


def _attempt(write: Write) -> str:
    answer = "the receipt" if write.replayed else "a second write"
    return f"attempt {write.attempt}: {answer} of version {write.version}"


def _asked_again(crashed: RunRecord, again: RunRecord) -> Check:
    """After the reset the model gave new ids for calls that were already applied."""
    repeated = [write for write in again.writes if write.replayed and write.attempt == 1]
    fresh = set(again.call_ids) - set(crashed.call_ids)
    versions = [write.version for write in crashed.writes]
    return Check(
        claim="after the reset the same calls came under new ids, and were not written again",
        held=bool(repeated)
        and len(fresh) >= len(repeated)
        and [write.version for write in again.writes] == versions,
        found=f"{len(fresh)} new call ids, {len(repeated)} receipts",
    )


def _replays(runs: Sequence[RunRecord]) -> Check:
    failed = [run for run in runs if run.replay_error is not None]
    return Check(
        claim="every recorded history replays",
        held=bool(runs) and not failed,
        found=f"{len(runs) - len(failed)} of {len(runs)} histories",
    )
