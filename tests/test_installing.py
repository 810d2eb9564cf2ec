from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[1]
AT_THE_TOP = ("agents", "tools", "prompts", "evaluation")
FOLDERS = (*AT_THE_TOP, "factloop", ".ci/editable")
SCRIPT = """
import json
from importlib.util import find_spec

from factloop import FactChecker, TrustReport
from factloop.evaluation.datasets.registry import find_dataset
from factloop.prompts.registry import packaged_prompts
from factloop.service.pages import load_assets
from factloop.tools.models.prices import model_price

assert find_dataset("factscore") and packaged_prompts() and model_price("openai:gpt-4o-mini") and load_assets()
names = ("factloop", "factloop.agents", "factloop.tools", "factloop.prompts", "factloop.evaluation")
print(json.dumps([find_spec(name).origin for name in names]))
print(json.dumps([name for name in ("agents", "tools", "prompts", "evaluation") if find_spec(name)]))
"""
"""Reads data files of each folder; prints where packages are, and which common names can be imported besides."""


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """A folder with a checkout named factloop, as unzipped, and a script next to it."""
    checkout = tmp_path / "factloop"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, checkout / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def test_a_checkout_has_no_symbolic_links_and_works_without_an_installation(parent: Path) -> None:
    checkout = parent / "factloop"
    assert not [path for path in checkout.rglob("*") if path.is_symlink()]
    origins, _ = run(sys.executable, parent, PYTHONPATH=str(checkout))
    assert origins == [str(checkout / name / "__init__.py") for name in ("factloop", *AT_THE_TOP)]


@pytest.mark.parametrize("editable", [True, False], ids=["editable", "wheel"])
def test_a_script_beside_the_checkout_finds_the_installed_package(parent: Path, editable: bool) -> None:
    python, site = install(parent / "factloop", parent / "environment", editable=editable)
    origins, common_names = run(python, parent)
    ours = parent / "factloop" if editable else site
    assert all(Path(origin).is_relative_to(ours) for origin in origins)
    assert common_names == []


def install(checkout: Path, environment: Path, *, editable: bool) -> tuple[str, Path]:
    """Uses the build tools and dependencies of the current environment.

    Returns the interpreter and its packages folder.
    """
    venv.create(environment, symlinks=os.name != "nt")
    base = {"base": str(environment), "platbase": str(environment)}
    python = str(Path(sysconfig.get_path("scripts", "venv", base), "python"))
    site = Path(sysconfig.get_path("purelib", "venv", base))
    (site / "outer.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check", "install"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", *(["--editable"] if editable else [])]
    done = subprocess.run([*pip, *options, str(checkout)], env=clean(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python, site


def run(python: str, folder: Path, **environment: str) -> tuple[list[str], list[str]]:
    command = [python, str(folder / "script.py")]
    done = subprocess.run(
        command, cwd=folder, env=clean() | environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    origins, common_names = map(json.loads, done.stdout.splitlines())
    return origins, common_names


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
