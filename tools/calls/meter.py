from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, field
from math import fsum

import pydantic.dataclasses

from factloop.core.records import Count, NonNegative, StageUsage, Usage
from factloop.tools.calls.budget import Allowance

_TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens")
_SUMMED = ("calls", "failed_calls", "cache_hits", *_TOKENS, "searches", "wall_s")


@dataclass
class _Stage:
    calls: int = 0
    failed_calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    approximate_tokens: bool = False
    searches: int = 0
    cost_usd: float | None = 0.0
    wall_s: float = 0.0


@pydantic.dataclasses.dataclass(frozen=True, config={"strict": True})
class CallCost:
    """The cost of an answered model call. Raises ValueError if it cannot be right (in an edited file)."""

    prompt_tokens: Count
    completion_tokens: Count
    approximate: bool
    cost_usd: NonNegative | None
    cached_tokens: Count = 0


@dataclass
class UsageMeter:
    """Adds up the usage of a run by stage.

    Every call of the run gets the meter. Its `allowance` holds the run's remaining limits.
    """

    allowance: Allowance = field(default_factory=Allowance)
    before_paying: Callable[[], Awaitable[None]] | None = None
    """This function is awaited before each request to a model. It may raise an error to prevent any spending."""
    snapshots: set[str] = field(default_factory=set)
    """Names of the models that answered, as reported by their servers."""
    on_sent: Callable[[CallCost, int], None] | None = None
    """Receives the maximum cost of each request when it is sent, and the number of model calls (0 for a search)."""
    on_failed: Callable[[], None] | None = None
    earlier_calls: int = 0
    earlier_usd: float = 0.0
    """Calls (including failed ones) and dollars spent by earlier attempts at the run. The totals include them."""
    _stages: dict[str, _Stage] = field(default_factory=dict)
    _charged: set[str] = field(default_factory=set)

    def _stage(self, name: str) -> _Stage:
        return self._stages.setdefault(name, _Stage())

    def sent(self, most: Callable[[], CallCost], *, calls: int = 1) -> None:
        if self.on_sent is not None:
            self.on_sent(most(), calls)

    def note_earlier(self, calls: int, usd: float) -> None:
        self.earlier_calls += calls
        self.earlier_usd += usd

    def called(self, stage: str, cost: CallCost, wall_s: float) -> None:
        self._stage(stage).calls += 1
        self._paid(stage, cost, wall_s)

    def searched(self, stage: str, wall_s: float, cost_usd: float | None) -> None:
        entry = self._stage(stage)
        entry.searches += 1
        entry.wall_s += wall_s
        self._add_cost(entry, cost_usd)

    def searched_in_vain(self, stage: str, wall_s: float, cost_usd: float | None) -> None:
        """Records a search that costs money but returned nothing usable."""
        self._stage(stage).failed_calls += 1
        self.searched(stage, wall_s, cost_usd)

    def given_up(self, stage: str, most: CallCost, wall_s: float) -> None:
        """Records an abandoned call, which the server may still answer and charge for, up to `most`."""
        self._stage(stage).failed_calls += 1
        self._paid(stage, most, wall_s)

    def failed(self, stage: str, wall_s: float) -> None:
        entry = self._stage(stage)
        entry.failed_calls += 1
        entry.wall_s += wall_s
        if self.on_failed is not None:
            self.on_failed()

    def hit(self, stage: str) -> None:
        self._stage(stage).cache_hits += 1

    def add(self, usage: Usage) -> None:
        for name, stage in usage.stages.items():
            entry = self._stage(name)
            for field_name in _SUMMED:
                setattr(entry, field_name, getattr(entry, field_name) + getattr(stage, field_name))
            entry.approximate_tokens |= stage.approximate_tokens
            self._add_cost(entry, stage.cost_usd)

    def was_charged(self, key: str) -> bool:
        return key in self._charged

    def charge(self, key: str, usage: Usage, *, stage: str) -> bool:
        """Adds the cost of the answer with this key, even if another caller paid for it.

        If the cost is already included, counts a cache hit instead and returns False.
        """
        if self.was_charged(key):
            self.hit(stage)
            return False
        self._charged.add(key)
        self.add(usage)
        return True

    def snapshot(self, elapsed_s: float) -> Usage:
        """Returns the totals so far. The total `cost_usd` is None if any stage with usage has an unknown cost."""
        stages = {name: StageUsage(**asdict(entry)) for name, entry in sorted(self._stages.items())}
        paid = [stage for stage in stages.values() if stage.asked_a_model or stage.searches or stage.cost_usd]
        costs = [stage.cost_usd for stage in paid if stage.cost_usd is not None]
        return Usage(
            calls=sum(stage.calls for stage in paid),
            failed_calls=sum(stage.failed_calls for stage in stages.values()),
            cache_hits=sum(stage.cache_hits for stage in stages.values()),
            **{name: sum(getattr(stage, name) for stage in paid) for name in _TOKENS},
            approximate_tokens=any(stage.approximate_tokens for stage in paid),
            searches=sum(stage.searches for stage in paid),
            cost_usd=sum(costs) if len(costs) == len(paid) else None,
            wall_s=elapsed_s,
            stages=stages,
        )

    def _paid(self, stage: str, cost: CallCost, wall_s: float) -> None:
        entry = self._stage(stage)
        for name in _TOKENS:
            setattr(entry, name, getattr(entry, name) + getattr(cost, name))
        entry.approximate_tokens |= cost.approximate
        entry.wall_s += wall_s
        self._add_cost(entry, cost.cost_usd)

    @staticmethod
    def _add_cost(entry: _Stage, cost_usd: float | None) -> None:
        entry.cost_usd = None if entry.cost_usd is None or cost_usd is None else entry.cost_usd + cost_usd


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Returns the sum of the usages by stage. Its `wall_s` is the sum of theirs, even if they overlapped."""
    found, meter = sorted(usages, key=Usage.model_dump_json), UsageMeter()  # sums of floats depend on their order
    for one in found:
        meter.add(one)
    return meter.snapshot(fsum(one.wall_s for one in found))
