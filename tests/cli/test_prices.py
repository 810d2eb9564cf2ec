"""A dry run, the run and the limits on money count by the same price, wherever the model's server is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.checking.estimate import estimate
from factloop.core.errors import ConfigError
from factloop.setup.chat_model import build_model
from factloop.setup.settings import CheckSettings
from factloop.tools.models.prices import Price
from tests.cli.command import Command
from tests.simulator import Simulator

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
        with pytest.raises(ConfigError, match="is unknown, so no budget in USD can be kept: give price_in and"):
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
