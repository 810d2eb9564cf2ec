from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.cli.command import Command, build_command
from tests.documents.shown import ROOT
from tests.simulator import RunningSimulator, Simulator

EVALUATION = ("evaluation.md", "scoring.md", "agreement.md", "correcting-figures.md", "comparing.md", "auditing.md")
SHARED = {
    **dict.fromkeys(EVALUATION, "evaluation"),
    **dict.fromkeys(("two-systems.md", "accuracy.md"), "two-systems"),
    "prompt-decision.md": "prompt-experiment",
}
"""Documents whose commands need one example's folder and nothing else, and are tried in it one after the other."""


@pytest.fixture(scope="module")
def simulator() -> Iterator[RunningSimulator]:
    with Simulator(models=("gpt-4o-mini", "gpt-4o", "qwen3", "sim")) as running:
        yield running


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of each document, whose commands run in it in order: a later one may need an earlier one's output."""

    @cache
    def make(place: str) -> Path:
        folder = tmp_path_factory.mktemp(place.replace(".", "-"))
        if place in SHARED.values():
            return Path(shutil.copytree(ROOT / "examples" / place, folder, dirs_exist_ok=True))
        for example in ("lighthouse", "trust", "evaluation"):
            shutil.copytree(ROOT / "examples" / example, folder, dirs_exist_ok=True)
        shutil.copytree(ROOT / "examples" / "prompt-experiment", folder / "prompt-experiment")
        is_own = shutil.ignore_patterns("variants" if place == "prompts.md" else "")
        shutil.copytree(ROOT / "examples" / "prompt-experiment", folder, dirs_exist_ok=True, ignore=is_own)
        shutil.copytree(ROOT / "examples", folder / "examples")
        return folder

    return lambda document: make(SHARED.get(document, document))


@pytest.fixture
def environment(
    simulator: RunningSimulator, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    return {
        **os.environ,
        **simulator.environment,
        "OPENAI_BASE_URL": simulator.base_url,
        "FACTLOOP_CACHE_DIR": str(tmp_path / "cache"),
        "FACTLOOP_DATA_DIR": str(tmp_path_factory.getbasetemp() / "data"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "FACTLOOP_PRICE_IN": "0.15",
        "FACTLOOP_PRICE_OUT": "0.60",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.fixture
def inside(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def hub_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A huggingface_hub cache that holds a tiny model in place of MiniCheck."""
    from factloop.tools.judges.hub import JUDGES
    from tests.tools.judges.tiny_models import save_t5

    files = JUDGES["minicheck"].files
    assert files is not None
    cache = tmp_path_factory.mktemp("hub")
    repo = cache / f"models--{files.repo.replace('/', '--')}"
    save_t5(repo / "snapshots" / files.revision)
    (repo / "refs").mkdir()
    (repo / "refs" / files.revision).write_text(files.revision)
    return cache


@pytest.fixture(autouse=True)
def _weights_of_judges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    named = str(getattr(request.node, "callspec", None) and request.node.callspec.params.get("command", ""))
    if "minicheck" in named:
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(request.getfixturevalue("hub_cache")))


@pytest.fixture
def factloop(inside: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:  # noqa: ARG001 -- it sets the variables
    return build_command(monkeypatch, capsys)
