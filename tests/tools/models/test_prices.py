from __future__ import annotations

import pytest

from factloop.tools.models.prices import Price, model_price


def test_a_price_is_dollars_for_a_million_tokens() -> None:
    # 2,000 x 0.15 + 500 x 0.60 = 600 dollars for a million such calls.
    assert Price(0.15, 0.60).cost_usd(2_000, 500) == pytest.approx(600 / 1e6)


@pytest.mark.parametrize("dated", ["openai:gpt-4o-2024-08-06", "openai:gpt-4o-20240806", "openai:gpt-4o-latest"])
def test_a_dated_snapshot_costs_what_its_name_does(dated: str) -> None:
    assert model_price(dated) == model_price("openai:gpt-4o")
    assert model_price(dated) is not None


@pytest.mark.parametrize(
    "unknown", ["openai:gpt-99", "gpt-4o", "", "openai:", "somebody:gpt-4o", "openai:gpt-4o-2024-08-06-tuned"]
)
def test_an_unknown_price_is_none(unknown: str) -> None:
    assert model_price(unknown) is None
