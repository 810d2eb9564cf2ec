from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.checking.estimate import estimate
from factloop.cli.console import DONE
from factloop.core.errors import ConfigError
from factloop.setup.chat_model import build_model
from factloop.setup.settings import CheckSettings
from factloop.tools.models.prices import Price
from tests.cli.command import Command
from tests.simulator import Simulator
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving

MINI, OURS = Price(0.15, 0.6, 0.075), Price(1.0, 2.0)
STATED = {"price_in": 1.0, "price_out": 2.0}
OWN = "http://127.0.0.1:9/v1"
TEXT = "Rome is in Italy. Oslo is in Norway."
CASES: dict[str, tuple[dict[str, Any], dict[str, str], Price | None]] = {
    "known model": ({"model": "openai:gpt-4o-mini"}, {}, MINI),
    "known model without its provider": ({"model": "gpt-4o-mini"}, {}, MINI),
    "at a base URL": ({"model": "openai:gpt-4o-mini", "base_url": OWN}, {}, None),
    "at the base URL of the environment": ({"model": "gpt-4o-mini"}, {"OPENAI_BASE_URL": OWN}, None),
    "at the older variable": ({"model": "gpt-4o-mini"}, {"OPENAI_API_BASE": OWN}, None),
    "at its provider's own address": ({"model": "gpt-4o-mini", "base_url": "https://api.openai.com/v1"}, {}, MINI),
    "unknown model": ({"model": "openai:gpt-99"}, {}, None),
    "unknown model, price given": ({"model": "openai:gpt-99", **STATED}, {}, OURS),
    "at a base URL, price given": ({"model": "gpt-4o-mini", "base_url": OWN, **STATED}, {}, OURS),
}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("case", CASES)
async def test_the_estimate_and_the_run_have_one_price(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, environment, price = CASES[case]
    for name, value in {"OPENAI_API_KEY": "sk-none", **environment}.items():
        monkeypatch.setenv(name, value)
    settings = CheckSettings(docs=("d",), **changes)
    expected = estimate(settings, TEXT, None)
    chat = build_model(settings, changes["model"], base_url=settings.base_url, temperature=settings.temperature)
    await chat.aclose()
    assert chat.price == price
    if price is not None:
        assert expected.cost_usd == price.cost_usd(expected.prompt_tokens, expected.completion_tokens)
        return
    assert expected.cost_usd is None
    for limit in ("budget_usd", "budget_usd_per_check"):  # which the run could not keep
        with pytest.raises(ConfigError, match="is unknown, so a budget in USD cannot be enforced; set `price_in` and"):
            estimate(CheckSettings(docs=("d",), **{**changes, limit: 1.0}), TEXT, None)


def test_a_dry_run_complains_in_the_words_of_the_run(factloop: Command, answer: Path, docs: Path) -> None:
    flags = (answer, "--docs", docs, "--model", "openai:gpt-4o-mini", "--base-url", OWN, "--budget-usd", 1)
    dry, run = factloop("check", *flags, "--dry-run"), factloop("check", *flags)
    assert (dry.code, dry.complaint) == (run.code, run.complaint)


def test_the_run_costs_what_its_tokens_do_at_that_price(
    factloop: Command, sim: Simulator, answer: Path, docs: Path
) -> None:
    flags = (answer, "--docs", docs, "--model", "openai:sim", "--base-url", sim.base_url, "--json", "-")
    usage = json.loads(factloop("check", *flags, "--price-in", 1, "--price-out", 2, "--budget-usd", 1).out)["usage"]
    assert usage["cost_usd"] == pytest.approx((usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6)
    assert usage["cost_usd"] > 0


def test_the_dearest_search_counts() -> None:
    both = estimate(CheckSettings(search=("wikipedia", "serper")), TEXT, None)
    assert both.cost_usd == pytest.approx(0.001 * both.searches)


BROKEN = 2
LISTED = {"large": 32_768, "small": 4_096}
"""The models with their contexts; the small one takes neither tools nor log-probabilities."""
REFUSED_BY_SMALL = ("tools", "logprobs")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as fake:
        fake.respond = respond
        yield fake


def respond(request: ReceivedRequest) -> Reply:
    if request.path == "/v1/models":
        listed = [{"id": name, "meta": {"n_ctx": n_tokens}} for name, n_tokens in LISTED.items()]
        return reply(200, {"object": "list", "data": listed})
    name = request.payload["model"]
    if name not in LISTED:
        return failure(404, f"model {name!r} not found")
    for field in REFUSED_BY_SMALL if name == "small" else ():
        if request.payload.get(field):
            return failure(400, f"this model does not take {field}", param=field)
    told = re.findall(r'<sentence id="(\d+)">(.*?)</sentence>', request.payload["messages"][-1]["content"], re.DOTALL)
    if not told:
        return completion(name, {"rationale": "[1] says so.", "cited": [1], "wrong": "", "verdict": "supported"})
    facts = [
        {"sentence": int(number), "fact": text.strip(), "verdict": "supported", "passages": [1]}
        for number, text in told
    ]
    return completion(name, {"facts": facts, "without_fact": [], "off_topic": []})


def completion(model: str, said: dict[str, Any]) -> Reply:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(said)}}
    return reply(200, {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]})


def failure(status: int, message: str, param: str | None = None) -> Reply:
    return reply(status, {"error": {"message": message, "type": "invalid_request_error", "param": param}})


def reply(status: int, value: object) -> Reply:
    return Reply(status, json.dumps(value).encode())


def test_their_answers_are_not_taken_for_each_other_s(
    factloop: Command, server: FakeServer, answer: Path, docs: Path
) -> None:
    answer.write_text("Ada Lovelace was born in London.\n", encoding="utf-8")
    asked = []
    for name in ("large", "small", "large"):
        before = len(server.received)
        done = factloop("check", answer, "--docs", docs, "--model", f"openai:{name}", "--base-url", f"{server.url}/v1")
        assert done.code == DONE, done.err
        asked.append({request.payload["model"] for request in server.received[before:] if request.payload})
    assert asked == [{"large"}, {"small"}, set()]


def test_one_that_is_not_there_is_the_set_up_s_whatever_the_other_answers(
    factloop: Command, server: FakeServer, docs: Path
) -> None:
    address = ("--base-url", f"{server.url}/v1", "--corpus", docs, "--no-cache")
    asked = ("--question", "Where was Ada Lovelace born?", "--response", "Ada Lovelace was born in London.")
    done = factloop("trust", *asked, "--subject-model", "openai:large", "--judge-model", "openai:smal", *address)
    assert (done.code, "openai:smal: HTTP 404" in done.err) == (BROKEN, True)
    assert "openai:large" not in done.err
