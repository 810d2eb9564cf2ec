"""Applies each recipe of docs/extending.md to a copy of the package and runs its proof."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.documents.recipes import Edit, Recipe, install, read_recipes
from tests.documents.shown import DOCS, ROOT

WITHIN_S = 110
FOLDERS = ("agents", "tools", "prompts", "evaluation", "factloop")
RECIPES = read_recipes((DOCS / "extending.md").read_text(encoding="utf-8"))
OUTSIDE = "Your own package"  # edits no file of ours: `examples/acme` is installed
MOST_FILES = {
    **dict.fromkeys(("A search provider", "A setting", "A stage", "A data set", "A verifier"), 2),
    **dict.fromkeys(("A reason for unscored claims", "A metric", "An interface"), 3),
}
"""Files that a recipe may ask a reader to edit or add. A recipe that takes more has found a thing told twice."""


def test_every_recipe_is_there_and_edits_few_files() -> None:
    assert set(RECIPES) == {*MOST_FILES, OUTSIDE}
    assert not RECIPES[OUTSIDE].edits
    for title, most in MOST_FILES.items():
        assert 0 < len(RECIPES[title].files) <= most, title


@pytest.mark.parametrize("title", MOST_FILES)
def test_each_anchor_stands_in_its_file_once(title: str) -> None:
    for edit in RECIPES[title].edits:
        path = ROOT / edit.path
        assert path.exists() == bool(edit.anchor), edit.path
        if edit.anchor:
            edit.applied(path.read_text(encoding="utf-8"))


def test_no_anchor_is_part_of_a_line() -> None:
    edit = Edit("a.py", "b = 1\n", "c = 2\n")
    assert edit.applied("a = 0\nb = 1\n") == "a = 0\nb = 1\nc = 2\n"
    for text in ("ab = 1\n", "b = 1\nb = 1\n", "b = 1"):
        with pytest.raises(ValueError, match="times"):
            edit.applied(text)


@pytest.mark.process
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_it_says(title: str, tmp_path: Path) -> None:
    done = _try_out(RECIPES[title], tmp_path)
    assert done.returncode == 0, _said(done)


@pytest.mark.process
@pytest.mark.parametrize("title", MOST_FILES)
def test_a_recipe_leaves_its_files_as_the_linter_wants_them(title: str, tmp_path: Path) -> None:
    recipe = RECIPES[title]
    for name in {"pyproject.toml", *(edit.path for edit in recipe.edits if edit.anchor)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    recipe.apply(tmp_path)
    modules = sorted(path for path in recipe.files if path.endswith(".py"))
    for asked in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *asked, "--no-cache", *modules]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=WITHIN_S, check=False)
        assert done.returncode == 0, _said(done)


SHAPES_VERDICTS = "Mark(SCORES, fingerprint=True)"
PROOF_OF_ONE_THAT_SHAPES_VERDICTS = """
check() { factloop check answer.md --docs sources --json report.json "$@"; }
fails() { if "$@"; then return 1; fi; }
check --run-dir run
fails grep few_claims report.json run/run.json
check --run-dir run --few-claims 0
fails check --run-dir run --few-claims 100 2> refused.txt
grep "changed: few_claims" refused.txt
check --few-claims 100 --html report.html
grep '"few_claims": 100' report.json
grep -E "few_claims.{0,9} <code>.{0,9}100" report.html
"""


@pytest.mark.process
def test_a_setting_that_shapes_verdicts_takes_no_other_file(tmp_path: Path) -> None:
    """Marking the setting is enough to put it in the fingerprint; runs begun before it existed can still resume."""
    page = (DOCS / "extending.md").read_text(encoding="utf-8")
    assert f"`{SHAPES_VERDICTS}`" in page
    recipe = read_recipes(page.replace("Mark(SCORES)]", f"{SHAPES_VERDICTS}]"))["A setting"]
    done = _try_out(replace(recipe, proof=PROOF_OF_ONE_THAT_SHAPES_VERDICTS), tmp_path)
    assert done.returncode == 0, _said(done)


def _try_out(recipe: Recipe, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    site = tmp_path / "site"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, site / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    recipe.apply(site)
    if recipe.title == OUTSIDE:
        install(ROOT / "examples" / "acme", site)
    command = tmp_path / "bin" / "factloop"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m factloop "$@"\n')
    command.chmod(0o755)
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("FACTLOOP_", "OPENAI_"))}
    runs = {"python": [sys.executable, "-c"], "sh": ["bash", "-e", "-x", "-o", "pipefail", "-c"]}
    return subprocess.run(
        [*runs[recipe.language], recipe.proof],
        cwd=tmp_path / "examples" / "lighthouse",
        env={
            **outer,
            "PYTHONPATH": str(site),
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "FACTLOOP_CACHE_DIR": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
