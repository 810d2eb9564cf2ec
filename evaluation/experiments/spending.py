"""Adds up what many items cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Any

from factloop.core.records import StageUsage, Usage

_COUNTS = ("calls", "failed_calls", "cache_hits", "prompt_tokens", "completion_tokens", "searches")


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sums, stage by stage. The cost is None as soon as that of one item that asked a model is unknown.

    `wall_s` is the sum of the items' own times: what one after the other would take.
    """
    found = list(usages)
    names = sorted({name for one in found for name in one.stages})
    stages = {name: StageUsage(**_summed([one.stages[name] for one in found if name in one.stages])) for name in names}
    return Usage(**_summed(found), stages=stages)


def _summed(found: Sequence[StageUsage]) -> dict[str, Any]:
    is_known = all(one.cost_usd is not None or not one.asked_a_model for one in found)
    return {name: sum(getattr(one, name) for one in found) for name in _COUNTS} | {
        "approximate_tokens": any(one.approximate_tokens for one in found),
        "cost_usd": fsum(one.cost_usd or 0.0 for one in found) if is_known else None,
        "wall_s": fsum(one.wall_s for one in found),
    }
