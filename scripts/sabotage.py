"""Show that the tests of exactly-once can fail: take a safeguard out, and see its test go red.

Usage: python scripts/sabotage.py [NAME ...]

Each safeguard is taken out of a copy of the project, and the test that guards it runs there. Exits
0 only if every test fails without its safeguard and passes with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".types", ".*_cache", ".hypothesis", "*.egg-info"
)


@dataclass(frozen=True, kw_only=True)
class Safeguard:
    """A safeguard, and the test that guards it.

    Attributes:
        what: What it is.
        file: The file it is in.
        line: Text of it; every occurrence in the file is taken out.
        without: What stands there without it.
        test: The test that must fail.
    """

    what: str
    file: str
    line: str
    without: str
    test: str


SAFEGUARDS = {
    "settle": Safeguard(
        what="a write of unknown outcome is settled before the next one goes",
        file="workflows/mutations.py",
        line=(
            "        receipt, cancelled = await self.journal.settle(self.wire.settle, record)\n"
            "        if receipt is None:\n            self.state.unsettled.append(record)\n"
        ),
        without="        receipt, cancelled = type('', (), {'abandoned': True}), False\n",
        test="tests/workflows/test_zombies.py::test_cancelled_write_cannot_land_later",
    ),
    "deadline": Safeguard(
        what="the store refuses a write after its deadline",
        file="stores/postgres/migrations/0002_mutations.sql",
        line=" >= p_deadline THEN\n",
        without=" IS NULL THEN\n",
        test=(
            "tests/workflows/test_zombies.py::"
            "test_write_from_before_a_reset_cannot_land_after_its_deadline"
        ),
    ),
    "entry deadline": Safeguard(
        what="the store refuses a change of an entry after its deadline",
        file="stores/postgres/migrations/0006_entry_mutations.sql",
        line="    IF moment >= p_deadline THEN\n",
        without="    IF moment IS NULL THEN\n",
        test="tests/entries/test_receipts.py::test_late_mutation_changes_nothing",
    ),
    "entry receipt": Safeguard(
        what="an entry's operation is answered by its receipt",
        file="stores/postgres/migrations/0006_entry_mutations.sql",
        line="    IF FOUND THEN\n        RETURN NULL;\n    END IF;\n    receipt",
        without="    RETURN NULL;\n    receipt",
        test=(
            "tests/entries/test_receipts.py::"
            "test_mutation_arriving_again_is_answered_by_its_receipt"
        ),
    ),
    "vector": Safeguard(
        what="a vector is kept for the version that was embedded only",
        file="stores/postgres/migrations/0006_entry_mutations.sql",
        line=" AND d.version = given.version",
        without="",
        test="tests/entries/test_faults.py::test_stale_vector_after_an_update",
    ),
    "n": Safeguard(
        what="identical calls of a run are counted",
        file="workflows/runs.py",
        line="        return counter[key]\n",
        without="        return 1\n",
        test="tests/workflows/test_resets.py::test_two_resets_write_nothing_twice",
    ),
}


def main(names: Sequence[str]) -> int:
    """Try the safeguards with these names and return the exit code."""
    results = [_guarded(name, SAFEGUARDS[name]) for name in names]
    return 0 if all(results) else 1


def _guarded(name: str, safeguard: Safeguard) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(PROJECT, copy, ignore=_NOT_COPIED)
        (copy / ".types").mkdir()
        (copy / ".types" / "durable_memory").symlink_to("..", target_is_directory=True)
        passes = _passes(copy, safeguard.test)
        _take_out(copy / safeguard.file, safeguard)
        fails = not _passes(copy, safeguard.test)
    print(f"{name}: {safeguard.what}")
    print(f"  {safeguard.test}")
    print(
        f"  with it: {'passed' if passes else 'FAILED'}; without: {'failed' if fails else 'PASSED'}"
    )
    return passes and fails


def _take_out(file: Path, safeguard: Safeguard) -> None:
    text = file.read_text(encoding="utf-8")
    if safeguard.line not in text:
        raise SystemExit(f"{safeguard.file} does not hold this any more: {safeguard.line.strip()}")
    file.write_text(text.replace(safeguard.line, safeguard.without), encoding="utf-8")


def _passes(copy: Path, test: str) -> bool:
    """Run one test on the copy, which comes before the installed package on the path."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
    environment = {**os.environ, "PYTHONPATH": str(copy / ".types")}
    done = subprocess.run(command, cwd=copy, env=environment, check=False, capture_output=True)  # noqa: S603
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SAFEGUARDS)))
