"""The estimate against what the simulator then counts."""

from __future__ import annotations

from typing import Literal

import pytest

from factloop.checking.estimate import estimate
from factloop.setup.settings import CheckSettings
from tests.checking.simulated import simulated_checker
from tests.simulator import MODEL, Simulator

FACTOR = 2.0


@pytest.mark.statistical
@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_the_estimate_is_within_a_factor_of_two(sim: Simulator, plan: Literal["fused", "paper"]) -> None:
    response = sim.world.responses[2]
    settings = CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), plan=plan)
    expected = estimate(settings, response.text, response.prompt)
    assert sim.stats().stages == {}
    async with simulated_checker(sim, plan=plan) as checker:
        usage = (await checker.acheck(response.text, response.prompt)).usage
    for name in ("calls", "searches", "prompt_tokens", "completion_tokens"):
        ratio = getattr(expected, name) / getattr(usage, name)
        assert 1 / FACTOR <= ratio <= FACTOR, name


def test_cost_is_known_only_where_all_prices_are() -> None:
    text = "Rome is in Italy. Oslo is in Norway."
    priced = estimate(CheckSettings(model="openai:x", price_in=1.0, price_out=2.0, docs=("d",)), text, None)
    assert priced.cost_usd == pytest.approx((priced.prompt_tokens + 2 * priced.completion_tokens) / 1e6)
    assert estimate(CheckSettings(model="openai:x", docs=("d",)), text, None).cost_usd is None
    assert estimate(CheckSettings(docs=("d",)), text, None).cost_usd == 0.0
    assert estimate(CheckSettings(search=("serper",)), text, None).cost_usd == pytest.approx(0.002)  # of two queries


def test_grounded_searches_long_documents_for_each_sentence_and_once_more_for_doubted_claims() -> None:
    text = "Rome is in Italy. Oslo is in Norway. " * 5
    settings = CheckSettings(model="openai:x", docs=("d",), plan="grounded")
    told = estimate(settings, text, None)
    assert (told.n_sentences, told.n_claims) == (10, 10)
    assert told.searches == 10 + 3  # 3 of 10 claims are looked at again
    both = estimate(settings.model_copy(update={"search": ("wikipedia",)}), text, None)
    assert both.searches == 2 * told.searches


def test_the_offline_engine_calls_no_model() -> None:
    offline = estimate(CheckSettings(docs=("d",)), "Rome is in Italy.", "Where is Rome?")
    assert (offline.calls, offline.prompt_tokens, offline.n_claims) == (0, 0, 1)


def test_an_answer_a_little_too_long_is_counted_whole_and_of_a_longer_one_an_excerpt() -> None:
    def tokens_a_call(n_characters: int) -> float:
        text = "Rome is in Italy. " * (n_characters // 18)
        told = estimate(CheckSettings(model="openai:x", search=("serper",), plan="paper"), text, None)
        return told.prompt_tokens / told.calls

    assert tokens_a_call(7_100) > 1.03 * tokens_a_call(5_900)
    assert tokens_a_call(7_300) == pytest.approx(tokens_a_call(5_900), rel=0.01)
