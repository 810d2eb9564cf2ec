from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker, TrustScorer
from factloop.agents.safe.schemas import Assessment
from factloop.agents.trustscore.graph import LEAST_MASS
from factloop.core.errors import ModelOutputError
from factloop.setup.settings import CheckSettings
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.wire import Mode
from tests.cli.command import Command, build_command
from tests.real.any_judge import ANSWER, QUESTION, SOURCE
from tests.real.any_judge import (
    test_a_stopped_check_leaves_the_server_to_the_next as test_a_stopped_check_leaves_the_server_to_the_next,
)
from tests.real.llama import PLAIN, WITH_TOOLS, is_installed, running_llama, write_model
from tests.tools.models.questions import STAGE, assess, question
from tests.tools.models.talk import Talk, talking

pytestmark = [pytest.mark.real, pytest.mark.skipif(not is_installed(), reason="xllamacpp and gguf are not installed")]

TEMPLATES = {"plain": PLAIN, "tools": WITH_TOOLS}
CONTEXT = 4096  # tokens of one conversation: the server divides what it has between two
WARM = ("--temperature", "1")


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("models")
    plain, tools = (write_model(folder / f"{name}.gguf", text) for name, text in TEMPLATES.items())
    with running_llama(plain) as of_plain, running_llama(tools) as of_tools:
        yield {"plain": of_plain, "tools": of_tools}


@pytest.fixture(params=TEMPLATES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def talk(addresses: dict[str, str], name: str) -> AsyncIterator[Talk]:
    async with talking(
        build_chat_model(f"openai:{name}", base_url=addresses[name], temperature=1.0), {"timeout_s": 60.0}
    ) as talk:
        yield talk


@pytest.fixture
def judge(addresses: dict[str, str], name: str) -> dict[str, Any]:
    return {"model": f"openai:{name}", "base_url": addresses[name], "temperature": 1.0, "cache": False}


@pytest.fixture
def factloop(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    Path("answer.md").write_text(ANSWER, encoding="utf-8")
    Path("sources").mkdir()
    Path("sources/institute.md").write_text(SOURCE, encoding="utf-8")
    return build_command(monkeypatch, capsys)


@pytest.mark.parametrize("name", ["plain"], indirect=True)
async def test_that_a_template_knows_no_tools_is_learnt_from_one_reply(talk: Talk) -> None:
    with suppress(ModelOutputError):  # a model of random weights may fill in no form at all
        await assess(talk, "web", "documents")
    assert talk.gateway.abilities.known.unavailable == {Mode.TOOLS}


async def test_a_schema_is_heeded_and_log_probabilities_are_given(talk: Talk) -> None:
    answered = await talk.gateway.ask_graded(
        question(), Assessment, stage=STAGE, meter=talk.meter, top_logprobs=5
    )  # fmt: skip
    assert isinstance(answered.value, Assessment)
    assert '"verdict"' in "".join(token.text for token in answered.tokens)
    assert all(len(token.alternatives) >= 5 for token in answered.tokens)


@pytest.mark.parametrize("plan", ["paper", "fused", "grounded"])
async def test_a_check_loses_no_claim(addresses: dict[str, str], name: str, plan: str, tmp_path: Path) -> None:
    (tmp_path / "institute.md").write_text(SOURCE, encoding="utf-8")
    settings = CheckSettings.of(
        None,
        model=f"openai:{name}",
        base_url=addresses[name],
        plan=plan,
        temperature=1.0,
        docs=str(tmp_path),
        cache=False,
    )
    async with FactChecker(settings=settings) as checker:
        report = await checker.acheck(ANSWER)
    assert report.usage.calls > 0
    assert len(report.sentences) == 2  # each with its claims, or the reason why it has none
    assert all(claim.judgement.verdict or claim.judgement.unscored_reason for claim in report.claims)


async def test_a_score_of_letters_that_were_forced_is_not_graded(addresses: dict[str, str], name: str) -> None:
    """A letter that the grammar forces says nothing about the answer."""
    async with TrustScorer(subject_model=f"openai:{name}", base_url=addresses[name], cache=False) as scorer:
        report = await scorer.ascore(QUESTION, "Mira Halden founded it.")
    found = report.trust_bc
    assert found.n_asked > 0
    assert all(check.letter_probabilities is not None for check in found.checks)
    assert found.letters_mass is not None
    assert 0.0 < found.letters_mass < LEAST_MASS
    assert found.graded is None


async def test_a_prompt_that_is_too_long_is_no_verdict(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "institute.md").write_text(SOURCE, encoding="utf-8")
    model = write_model(tmp_path / "short.gguf", PLAIN)
    with running_llama(model, n_ctx=512) as address:
        async with FactChecker(model="openai:short", base_url=address, docs=str(sources), cache=False) as checker:
            report = await checker.acheck(ANSWER)
    assert {claim.judgement.unscored_reason for claim in report.claims} == {"tool_failure"}


@pytest.mark.parametrize(
    "command",
    [
        ("check", "answer.md", "--docs", "sources"),
        ("correct", "answer.md", "--docs", "sources"),
        ("trust", "answer.md", "--long-form", "--question", "Who was Mira Halden?", "--corpus", "sources"),
        ("trust", "--question", QUESTION, "--response", "Mira Halden founded it."),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_commands_end_with_a_report(
    factloop: Command, addresses: dict[str, str], name: str, command: tuple[str, ...]
) -> None:
    flag = "--subject-model" if command[0] == "trust" else "--model"
    done = factloop(*command, flag, f"openai:{name}", "--base-url", addresses[name], "--json", "-", "--no-cache", *WARM)
    assert done.code in {0, 3}, done.err
    assert isinstance(json.loads(done.out), dict)


def test_a_doctor_sees_what_it_can_do(factloop: Command, addresses: dict[str, str], name: str) -> None:
    done = factloop("doctor", "--model", f"openai:{name}", "--base-url", addresses[name], "--json", "-", *WARM)
    assert done.code == 0, done.out
    (found,) = (part["model"] for part in json.loads(done.out)["parts"] if part["part"] == "model")
    assert (found["with_tools"] == "tools") is (name == "tools")
    assert found["alone"] == "json_schema"
    assert found["log_probabilities"] is True
    assert found["context_tokens"] == CONTEXT
