from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.setup.settings import CheckSettings


@pytest.mark.parametrize("limit", ["max_calls", "budget_usd", "price_in", "price_out", "concurrency"])
def test_zero_is_a_limit(limit: str) -> None:
    assert getattr(CheckSettings.of(None, **{limit: 0}), limit) == 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"k": 0}, r"k = 0: input should be greater than or equal to 1"),
        ({"k": (64, -2)}, r"k = -2"),
        ({"plan": "quick"}, r"plan = 'quick': input should be 'safe', 'paper', 'fused' or 'grounded'"),
        ({"budget_usd": -1}, r"budget_usd = -1"),
        ({"max_calls": -1}, r"max_calls = -1"),
        ({"temperature": 3}, r"temperature = 3"),
        ({"timeout_s": 0}, r"timeout_s = 0"),
        ({"timeout_s": 1e7}, r"timeout_s = 10000000.0: input should be less than or equal to 1000000"),
        ({"timeout_s": float("inf")}, r"timeout_s = inf"),
        ({"price_in": float("inf")}, r"price_in = inf"),
        ({"price_out": 1e7}, r"price_out = 10000000.0"),
        ({"max_searches": 0}, r"max_searches = 0"),
        ({"colour": "red"}, r"there is no setting 'colour'$"),
        ({"patience": 5}, r"there is no setting 'patience'; did you mean 'patience_s'\?$"),
        ({"max_serches": 5}, r"there is no setting 'max_serches'; did you mean 'max_searches'\?$"),
    ],
)
def test_a_wrong_setting_is_named_with_what_was_given(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        CheckSettings.of(**changes)


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("k", 10, (10,)),
        ("k", [10, 20], (10, 20)),
        ("search", "serper", ("serper",)),
        ("docs", Path("a"), None),
        ("docs", "a", ("a",)),
    ],
)
def test_one_of_a_list_may_stand_alone(field: str, given: object, expected: object) -> None:
    if expected is None:
        with pytest.raises(ConfigError, match="docs = "):
            CheckSettings.of(None, **{field: given})
    else:
        assert getattr(CheckSettings.of(None, **{field: given}), field) == expected


def test_changes_are_laid_over_a_base() -> None:
    base = CheckSettings(plan="paper", temperature=0.0)
    changed = CheckSettings.of(base, temperature=None)
    assert (changed.plan, changed.temperature) == ("paper", None)
    assert base.temperature == 0.0
