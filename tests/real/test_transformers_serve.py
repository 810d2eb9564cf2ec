"""A chat model behind `transformers serve`, which accepts every mode of asking and only honors plain text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker
from factloop.core.errors import ModelOutputError
from factloop.core.records import Plan
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.wire import Mode
from tests.cli.command import build_command
from tests.real.any_judge import ANSWER, SOURCE
from tests.real.any_judge import (
    test_a_stopped_check_leaves_the_server_to_the_next as test_a_stopped_check_leaves_the_server_to_the_next,
)
from tests.real.transformers_server import is_installed, running_transformers, write_model
from tests.tools.models.questions import assess
from tests.tools.models.talk import Talk, talking

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not is_installed(), reason="transformers, torch or accelerate are not installed"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def judge(model: Path) -> Iterator[dict[str, Any]]:
    with running_transformers(model) as address:
        yield {"model": f"openai:{model}", "base_url": address, "temperature": 1.0, "max_tokens": 64, "cache": False}


@pytest.fixture
async def talk(judge: dict[str, Any]) -> AsyncIterator[Talk]:
    chat = build_chat_model(judge["model"], base_url=judge["base_url"], temperature=1.0)
    async with talking(chat, {"timeout_s": 60.0}) as talk:
        yield talk


async def test_what_it_does_not_heed_is_learnt(talk: Talk) -> None:
    for _ in range(2):
        with suppress(ModelOutputError):  # a model of random weights fills in no form
            await assess(talk, "web", "documents")
    assert {Mode.TOOLS, Mode.JSON_SCHEMA} <= talk.gateway.abilities.known.unavailable


@pytest.mark.parametrize("plan", ["paper", "fused", "grounded"])
async def test_a_check_loses_no_claim(judge: dict[str, Any], plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "institute.md").write_text(SOURCE, encoding="utf-8")
    async with FactChecker(**judge, plan=plan, docs=str(tmp_path)) as checker:
        report = await checker.acheck(ANSWER)
    assert report.usage.calls > 0
    assert not report.usage.approximate_tokens
    assert len(report.sentences) == 2  # each with its claims, or the reason why it has none
    assert all(claim.judgement.verdict or claim.judgement.unscored_reason for claim in report.claims)


def test_a_doctor_says_that_it_fills_in_no_form(
    judge: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    factloop = build_command(monkeypatch, capsys)
    done = factloop(
        "doctor", "--model", judge["model"], "--base-url", judge["base_url"], "--json", "-", "--temperature", "1"
    )  # fmt: skip
    (found,) = (part for part in json.loads(done.out)["parts"] if part["part"] == "model")
    assert (done.code, found["state"]) == (2, "fails")
    assert "docs/models.md" in found["advice"]
