"""The outside checker: knows what the surviving runs were told, and what the files hold.

For each workflow, of the notes it was told of:

* *written*: there, exactly as often as it was told so; none lost, none twice;
* *not written*: not there;
* *undecided* or *cancelled*: there once or not at all;
* all that are there stand in the order in which it was told of them.

A reset leaves two things that are not wrong. A model that words its note otherwise when it is asked
again makes a new note, and the old one stays: a line that the surviving run was never told of, and
only in a workflow that was reset. And a note that an earlier branch has written is answered by its
receipt and keeps its place, though the surviving run may have written before it what the earlier
branch could not. So in a workflow that was reset, a note may stand before one told of earlier, if
it was answered by a receipt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .workflow import Told


@dataclass(frozen=True, kw_only=True)
class Case:
    """One workflow at its end.

    Attributes:
        number: Which.
        told: What the surviving run was told, in order.
        was_reset: Whether it was ever reset.
        rewords: Whether its model may have asked in other words.
        lines: Its lines in the file, in order.
    """

    number: int
    told: Sequence[Told]
    was_reset: bool
    rewords: bool
    lines: Sequence[str]

    def left_over(self) -> int:
        """Return how many lines are of wordings that the surviving run was never told of."""
        texts = {each.text for each in self.told}
        return sum(line not in texts for line in self.lines)


def violations(case: Case) -> Iterator[str]:
    """Yield what is wrong, one line each."""
    for text, wrong in [*_wrong_counts(case), *_wrong_order(case)]:
        yield f"workflow {case.number}: {text!r} {wrong}"


def _wrong_counts(case: Case) -> Iterator[tuple[str, str]]:
    there = Counter(case.lines)
    outcomes: dict[str, Counter[str]] = {}
    for each in case.told:
        outcomes.setdefault(each.text, Counter())[each.outcome] += 1
    for text, outcome in outcomes.items():
        least = outcome["written"]
        most = least + outcome["undecided"] + outcome["cancelled"]
        if not least <= there[text] <= most:
            yield text, f"is there {there[text]} times, told: {dict(outcome)}"
    if not (case.was_reset and case.rewords):
        for text in there.keys() - outcomes.keys():
            yield text, "is there, and the workflow was never told of it"


def _wrong_order(case: Case) -> Iterator[tuple[str, str]]:
    placed = list(_placed(case))
    for index, (told, place) in enumerate(placed):
        later = [each for each, other in placed[:index] if other > place]
        if later and not (case.was_reset and (told.replayed or told.outcome != "written")):
            yield told.text, f"stands before {later[0].text!r}, which was told of earlier"


def _placed(case: Case) -> Iterator[tuple[Told, int]]:
    """Yield what was told of with its place in the file; equal notes in the order of both.

    Texts of which it is not known how many were written have no certain place, unless there is
    only one of them.
    """
    places: dict[str, list[int]] = {}
    for place, line in enumerate(case.lines):
        places.setdefault(line, []).append(place)
    asked = Counter(each.text for each in case.told)
    unsure = {each.text for each in case.told if each.outcome in ("undecided", "cancelled")}
    for each in case.told:
        certain = each.text not in unsure or asked[each.text] == 1
        if certain and each.outcome != "not written" and places.get(each.text):
            yield each, places[each.text].pop(0)
