"""Each recipe of docs/extending.md is applied to a copy of the package, and does what the page says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.recipes import Edit, Recipe, install, read_recipes
from tests.documents.shown import DOCS, ROOT

WITHIN_S = 110
FOLDERS = ("agents", "tools", "prompts", "evaluation", "factloop")
RECIPES = read_recipes((DOCS / "extending.md").read_text(encoding="utf-8"))
MOST_FILES = {
    "A search provider": 2,
    "A setting": 2,
    "A reason for unscored claims": 3,
    "A stage": 2,
    "A figure": 3,
    "A data set": 2,
    "A verifier": 2,
    "A door": 3,
    "A distribution of your own": 2,
}
"""Files that a recipe may ask a reader to edit or add. A recipe that takes more has found a thing told twice."""

NO_OTHER_COPY = """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in getattr(one, "__module__", "")]
"""
"""An editable installation would find modules that are missing here where it lies."""
FACTLOOP = f"""#!/bin/sh
exec {sys.executable} -m factloop "$@"
"""


def test_every_recipe_is_there_and_edits_few_files() -> None:
    assert set(RECIPES) == set(MOST_FILES)
    for title, recipe in RECIPES.items():
        assert 0 < len(recipe.files) <= MOST_FILES[title], title


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


def test_a_distribution_of_its_own_edits_nothing_of_ours() -> None:
    recipe = RECIPES["A distribution of your own"]
    assert not any(edit.anchor for edit in recipe.edits)
    assert {Path(path).parts[0] for path in recipe.files} == {"acme"}


@pytest.mark.process
@pytest.mark.parametrize("title", MOST_FILES)
def test_a_recipe_does_what_it_says(title: str, tmp_path: Path) -> None:
    recipe, site = RECIPES[title], tmp_path / "site"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, site / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (site / "sitecustomize.py").write_text(NO_OTHER_COPY)
    recipe.apply(site)
    for project in {site / path for path in recipe.files if path.endswith("pyproject.toml")}:
        install(project.parent, site)
    done = _prove(recipe, tmp_path, site)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def _prove(recipe: Recipe, folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = folder / "bin" / "factloop"
    command.parent.mkdir()
    command.write_text(FACTLOOP)
    command.chmod(0o755)
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("FACTLOOP_", "OPENAI_"))}
    runs = {"python": [sys.executable, "-c"], "sh": ["bash", "-e", "-x", "-o", "pipefail", "-c"]}
    return subprocess.run(
        [*runs[recipe.language], recipe.proof],
        cwd=folder / "examples" / "lighthouse",
        env={
            **outer,
            "PYTHONPATH": str(site),
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "FACTLOOP_CACHE_DIR": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
