"""The page about stores of one's own: its code is run, and held to the contract it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "custom-store.md"
BLOCK = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = ["--rootdir=.", "-c", "pytest.ini", "-p", "no:cacheprovider", "-q"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the page's files."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [name for name, _ in blocks] == ["my_store.py", "test_my_store.py", "worker.py"]
    for name, code in blocks:
        (tmp_path / name).write_text(code, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_store_of_the_page_passes_the_contract(folder: Path) -> None:
    """Everything that the page's store declares is tested and passes; the rest is skipped."""
    ran = run(folder, "-m", "pytest", *OPTIONS)
    assert ran.returncode == 0, ran.stdout
    (passed,) = re.findall(r"(\d+) passed", ran.stdout)
    (skipped,) = re.findall(r"(\d+) skipped", ran.stdout)
    assert int(passed) > 80
    assert int(skipped) > 50


def test_fault_in_the_store_of_the_page_is_found(folder: Path) -> None:
    """A store that forgets to compare versions fails, with an assertion that says what differs."""
    code = (folder / "my_store.py").read_text(encoding="utf-8")
    faulty = code.replace("if version != expected_version:", "if False:")
    assert faulty != code
    (folder / "my_store.py").write_text(faulty, encoding="utf-8")
    ran = run(folder, "-m", "pytest", *OPTIONS, "-k", "version")
    assert ran.returncode == 1
    assert "test_stale_version_is_a_conflict" in ran.stdout


def test_plugin_takes_the_store_of_the_page(folder: Path) -> None:
    """A store, or a function that chooses one, is all that a worker needs."""
    ran = run(folder, "-c", "import worker; print(type(worker.by_tenant).__name__)")
    assert ran.stdout == "MemoryPlugin\n", ran.stderr
