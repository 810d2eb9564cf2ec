"""Accounting of one run by stage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field

from factloop.core.records import StageUsage, Usage
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


@dataclass(frozen=True)
class CallCost:
    """The cost of one answered model call."""

    prompt_tokens: int
    completion_tokens: int
    approximate: bool
    cost_usd: float | None
    cached_tokens: int = 0
    """Of the prompt's tokens those that came from the server's cache."""


@dataclass
class UsageMeter:
    """Adds up what the stages of one run cost. `snapshot` may be taken at any time.

    It goes with each call of the run, and so does the `allowance`, which says what the run may still take.
    """

    allowance: Allowance = field(default_factory=Allowance)
    before_paying: Callable[[], Awaitable[None]] | None = None
    """Awaited ahead of each request to a model: it may refuse to let anything be spent."""
    _stages: dict[str, _Stage] = field(default_factory=dict)
    _charged: set[str] = field(default_factory=set)

    def _stage(self, name: str) -> _Stage:
        return self._stages.setdefault(name, _Stage())

    def called(self, stage: str, cost: CallCost, wall_s: float) -> None:
        """A model answered."""
        self._stage(stage).calls += 1
        self._paid(stage, cost, wall_s)

    def searched(self, stage: str, wall_s: float, cost_usd: float | None) -> None:
        """A search tool answered."""
        entry = self._stage(stage)
        entry.searches += 1
        entry.wall_s += wall_s
        self._add_cost(entry, cost_usd)

    def searched_in_vain(self, stage: str, wall_s: float, cost_usd: float | None) -> None:
        """A search tool gave an answer that is paid for and cannot be used."""
        self._stage(stage).failed_calls += 1
        self.searched(stage, wall_s, cost_usd)

    def given_up(self, stage: str, most: CallCost, wall_s: float) -> None:
        """A model or a search was asked, and not waited for any longer: it may answer yet, and cost so much at most."""
        self._stage(stage).failed_calls += 1
        self._paid(stage, most, wall_s)

    def failed(self, stage: str, wall_s: float) -> None:
        entry = self._stage(stage)
        entry.failed_calls += 1
        entry.wall_s += wall_s

    def hit(self, stage: str) -> None:
        self._stage(stage).cache_hits += 1

    def add(self, usage: Usage) -> None:
        """Adds the sums of another account."""
        for name, stage in usage.stages.items():
            entry = self._stage(name)
            for field_name in _SUMMED:
                setattr(entry, field_name, getattr(entry, field_name) + getattr(stage, field_name))
            entry.approximate_tokens |= stage.approximate_tokens
            self._add_cost(entry, stage.cost_usd)

    def was_charged(self, key: str) -> bool:
        """Whether the answer called `key` is in this account."""
        return key in self._charged

    def charge(self, key: str, usage: Usage, *, stage: str) -> bool:
        """Adds what the answer called `key` cost, even if another caller paid; a second time it counts as a hit.

        Says whether it was the first.
        """
        if self.was_charged(key):
            self.hit(stage)
            return False
        self._charged.add(key)
        self.add(usage)
        return True

    def snapshot(self, elapsed_s: float) -> Usage:
        """The sums so far; `cost_usd` of the whole is None as soon as that of any stage with costs is."""
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
        """Once one cost is unknown, so is the sum."""
        entry.cost_usd = None if entry.cost_usd is None or cost_usd is None else entry.cost_usd + cost_usd
