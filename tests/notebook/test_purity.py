"""What the rules may use: they run inside a workflow, where everything must be repeatable."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from durable_memory import notebook

MODULES = sorted(Path(notebook.__file__).parent.glob("*.py"))
ALLOWED = {
    "__future__",
    "collections.abc",
    "dataclasses",
    "functools",
    "hashlib",
    "html.entities",
    "inspect",
    "itertools",
    "json",
    "json.encoder",
    "math",
    "pydantic",
    "re",
    "sys",
    "typing",
    "unicodedata",
}


def imported(tree: ast.Module) -> set[str]:
    """The modules outside the package that are imported anywhere in a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
        if isinstance(node, ast.ImportFrom):
            assert node.level <= 1
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports(path: Path) -> None:
    """The rules import nothing that does I/O, reads a clock or draws numbers."""
    assert imported(ast.parse(path.read_text())) <= ALLOWED


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_calls_outside(path: Path) -> None:
    """The rules open, print, evaluate and hash nothing by process-dependent means."""
    calls = [
        node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
    ]
    names = {function.id for function in calls if isinstance(function, ast.Name)}
    assert not names & {"open", "print", "input", "eval", "exec", "hash", "id", "__import__"}
