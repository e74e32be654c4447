"""What is in the wheel, and what an installation of it makes importable."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_SHIPPED = {"tests", "benchmarks", "docs", "scripts", "build", "dist"}
DATA = {".sql", ".jsonl", ".typed"}


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _ignored(folder: str, names: list[str]) -> set[str]:
    """Leave out what is not part of the source: hidden folders, caches, earlier builds."""
    skipped = {name for name in names if name.endswith(".egg-info") or name == "__pycache__"}
    if Path(folder) == ROOT:
        skipped |= {name for name in names if name.startswith(".") or name in {"build", "dist"}}
    return skipped


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the source."""
    work = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, work / "source", ignore=_ignored)
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", work)
    _run(*build, work / "source", cwd=work)
    return next(work.glob("*.whl"))


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel installed.

    The dependencies are those of this environment. They come by a path alone, which does not run
    its `.pth` files, so an editable installation of the project stays out of sight.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    _run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=home)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def _packages() -> set[str]:
    """Return every folder of the source that is a package."""
    found = {"durable_memory"}
    for init in ROOT.rglob("__init__.py"):
        parts = init.parent.relative_to(ROOT).parts
        if parts and parts[0] not in NOT_SHIPPED and not parts[0].startswith("."):
            found.add("/".join(("durable_memory", *parts)))
    return found


def test_every_package_is_in_the_wheel(wheel: Path) -> None:
    """A folder with an `__init__.py` that pyproject.toml does not name is found here."""
    names = zipfile.ZipFile(wheel).namelist()
    packed = {name.removesuffix("/__init__.py") for name in names if name.endswith("__init__.py")}
    assert packed == _packages()


def test_every_data_file_is_in_the_wheel(wheel: Path) -> None:
    """SQL, the demo's transcript and the typing marker travel with the code."""
    shipped = {folder for folder in _packages() if folder != "durable_memory"}
    here = {
        f"durable_memory/{file.relative_to(ROOT).as_posix()}"
        for folder in shipped
        for file in (ROOT / folder.removeprefix("durable_memory/")).rglob("*")
        if file.suffix in DATA
    }
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if Path(name).suffix in DATA}
    assert packed == here | {"durable_memory/py.typed"}
    assert any(name.endswith(".sql") for name in packed)
    assert any(name.endswith(".jsonl") for name in packed)


def test_nothing_else_is_in_the_wheel(wheel: Path) -> None:
    """One import name, its metadata, and no tests, benchmarks or documents."""
    names = [name.split("/") for name in zipfile.ZipFile(wheel).namelist()]
    tops = {parts[0] for parts in names}
    assert tops == {"durable_memory", next(top for top in tops if top.endswith(".dist-info"))}
    assert {parts[1] for parts in names if len(parts) > 1} & NOT_SHIPPED == set()


def test_every_module_of_the_installation_imports(python: Path, tmp_path: Path) -> None:
    """Nothing in the wheel needs a file that stayed behind."""
    program = """
import importlib, pkgutil, durable_memory
assert "site-packages" in durable_memory.__file__
for module in pkgutil.walk_packages(durable_memory.__path__, "durable_memory."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
    _run(python, "-c", program, cwd=tmp_path)


def test_only_one_name_becomes_importable(python: Path, tmp_path: Path) -> None:
    """`workflows`, `stores`, `worker` and the like stay free for the user's own."""
    names = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")})
    names += sorted(path.stem for path in ROOT.glob("*.py") if path.stem != "__init__")
    program = f"""
import importlib.util
print(*(name for name in {names!r} if importlib.util.find_spec(name)))
"""
    assert _run(python, "-P", "-c", program, cwd=tmp_path).split() == []


def test_the_installed_command_answers(python: Path, tmp_path: Path) -> None:
    """`durable-memory --version` runs and names the version in pyproject.toml."""
    command = python.parent / "durable-memory"
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    printed = _run(command, "--version", cwd=tmp_path).split()
    assert printed[0] == "durable-memory"
    assert f'version = "{printed[1]}"' in pyproject
