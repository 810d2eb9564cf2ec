from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[1]
WITHIN_S = 110
PROGRAM = """
import asyncio, importlib.util, json, pathlib, sys

assert importlib.util.find_spec("factloop.evaluation") is None

import factloop.testing
from factloop import CheckSettings, Corrector, FactChecker, TrustScorer, TrustSettings
from factloop.guarding import StreamGuard
from factloop.integrations.langchain import FactCheckMiddleware
from factloop.integrations.mcp.server import build_server
from factloop.service.app import build_app
from factloop.service.settings import ServiceSettings

folder, model, text = sys.argv[1:]


async def chunks():
    for word in text.split(" "):
        yield word + " "


async def everything():
    async with FactChecker(docs=f"{folder}/docs", cache=False) as checker:
        report = await checker.acheck(text)
        correction = await Corrector(checker).acorrect(text)
        guarded = "".join([part async for part in StreamGuard(checker, "drop").aguard(chunks())])
        async with TrustScorer(subject_model=model, corpus=f"{folder}/docs", cache=False) as scorer:
            trust = await scorer.ascore("Where was Ada Lovelace born?", "London")
            build_server(checker, scorer)
    settings = ServiceSettings(folder=pathlib.Path(folder, "service"))
    app = build_app(settings, CheckSettings(cache=False), TrustSettings(cache=False))
    import httpx

    ask = {"response": text, "documents": [{"text": text}]}
    rows = {"rows": [{"id": "1", "claim": "c", "label": 1, "scores": {"x": 1.0}}]}
    reached = {"transport": httpx.ASGITransport(app), "base_url": "http://127.0.0.1"}
    async with app.router.lifespan_context(app), httpx.AsyncClient(**reached) as client:
        statuses = [
            (await client.post("/v1/checks?wait=true", json=ask)).status_code,
            (await client.get("/v1/results")).status_code,
        ]
        refused = (await client.post("/v1/audits", json=rows)).json()["error"]["message"]
    return {
        "counts": [report.counts.supported, report.counts.not_supported],
        "corrected": correction.text,
        "guarded": guarded,
        "trust_fc": trust.trust_fc.value,
        "bc_checks": len(trust.trust_bc.checks),
        "statuses": statuses,
        "refused": refused,
    }


print(json.dumps(asyncio.run(everything())))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The repository's packages without evaluation."""
    for name in ("factloop", "agents", "tools", "prompts"):
        shutil.copytree(ROOT / name, tmp_path / "site" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/ada.txt").write_text("Ada Lovelace was born in London on 10 December 1815.\n")
    (tmp_path / "answer.md").write_text(TEXT)
    return tmp_path


TEXT = "Ada Lovelace was born in London. Ada Lovelace was born on 12 December 1815."


def run(package: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("FACTLOOP_", "OPENAI_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=package,
        env={**outer, "PYTHONPATH": str(package / "site"), "FACTLOOP_CACHE_DIR": str(package / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


@pytest.mark.process
def test_everything_but_evaluation_works(package: Path, sim: Simulator) -> None:
    reached = {"OPENAI_BASE_URL": sim.base_url, "OPENAI_API_KEY": "x"}
    done = run(package, "-c", PROGRAM, str(package), MODEL, TEXT, **reached)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["counts"] == [1, 1]
    assert found["corrected"].endswith("born on 10 December 1815.")
    assert found["guarded"].strip() == "Ada Lovelace was born in London."
    assert found["trust_fc"] is not None
    assert found["bc_checks"] > 0
    assert found["statuses"] == [200, 200]
    assert found["refused"] == "audits need factloop.evaluation, which is not installed"


@pytest.mark.process
def test_the_command_line_works_but_for_what_is_missing(package: Path) -> None:
    checked = run(package, "-m", "factloop", "check", "answer.md", "--docs", "docs", "--json", "-")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["counts"]["supported"] == 1
    refused = run(package, "-m", "factloop", "research", "audit", "rows.jsonl")
    said = "factloop: this command needs the factloop.evaluation package, which is not installed\n"
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", said)
