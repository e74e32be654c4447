"""The text of the project, and the names its root must not have."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".toml", ".sql", ".yml", ".jsonl", ".txt"}
SKIPPED = {"build", "dist"}
# In two pieces, so that this file is not found itself.
UNFINISHED = re.compile(
    "|".join(("TO" + "DO", "FIX" + "ME", r"\bX" + r"XX\b", "NotImplemented" + "Error"))
)


def _files() -> list[Path]:
    """Return the project's text files, those of hidden folders left out."""
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts[:-1])
        if path.suffix in TEXT and path.is_file() and not hidden and parts[0] not in SKIPPED:
            found.append(path)
    return [*found, ROOT / "Makefile", ROOT / "Dockerfile", ROOT / ".ci" / "run"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [p for p in _files() if p.suffix == ".sql"], ids=_name)
def test_sql_is_as_narrow_as_python(path: Path) -> None:
    """Ruff bounds the lines of Python; those of SQL have the same bound."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.parametrize("path", _files(), ids=_name)
def test_text_is_clean(path: Path) -> None:
    """Files are UTF-8 with LF, end in one newline, and promise nothing for later."""
    text = path.read_bytes().decode("utf-8")
    assert "\r" not in text
    assert text == "" or (text.endswith("\n") and not text.endswith("\n\n"))
    assert UNFINISHED.findall(text) == []
    trailing = [n for n, line in enumerate(text.split("\n"), start=1) if line != line.rstrip()]
    assert trailing == []


def test_root_modules_have_names_of_their_own() -> None:
    """`python worker.py` puts the root first on the path: no standard name may stand there."""
    names = {path.stem for path in ROOT.glob("*.py")} | {path.parent.name for path in _packages()}
    assert names & set(sys.stdlib_module_names) == set()


def _packages() -> list[Path]:
    return list(ROOT.glob("*/__init__.py"))


def test_tests_are_no_package() -> None:
    """An `__init__.py` under tests, or a conftest at the root, would import the project twice."""
    assert list((ROOT / "tests").rglob("__init__.py")) == []
    assert not (ROOT / "conftest.py").exists()


def test_files_are_not_named_for_leftovers() -> None:
    """File names are the architecture: none of them is a drawer for everything."""
    drawers = {"utils", "util", "common", "helpers", "manager", "misc"}
    named = [_name(path) for path in _files() if path.stem.strip("_") in drawers]
    assert named == []


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "tests").rglob("test_*.py")), *sorted(ROOT.glob("testing/*.py"))],
    ids=_name,
)
def test_every_test_states_a_behaviour(path: Path) -> None:
    """Each test has a docstring of one sentence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = (ast.get_docstring(node) or "").split("\n\n")[0]
            assert said.endswith(".") or not node.name.startswith("test_"), node.name


def test_links_between_documents_lead_somewhere() -> None:
    """Every relative link in a Markdown file names a file of the project."""
    for path in _files():
        if path.suffix == ".md":
            for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
                assert (path.parent / target).exists(), f"{_name(path)}: {target}"


def test_make_lists_its_targets() -> None:
    """`make` alone says what there is to make."""
    make = shutil.which("make") or "make"
    printed = subprocess.run([make, "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"make demo", "make test", "make clean"} <= {
        " ".join(line.split()[:2]) for line in printed.stdout.splitlines()
    }


def test_ci_runs_what_developers_run() -> None:
    """`.ci/run` is `make test` and no second list of checks."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith("make test")
