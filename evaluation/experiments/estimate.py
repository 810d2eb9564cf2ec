"""Estimates what an experiment costs at most, without spending anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from factloop.checking.estimate import Estimate, estimate
from factloop.core.records import Count, NonNegative, Record
from factloop.evaluation.comparing.demands import DIFFERING, Demand, items_needed
from factloop.evaluation.experiments.items import Data, Item, Kind
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import Name, PromptFile, Repeat
from factloop.evaluation.experiments.variants import prompt_files
from factloop.setup.settings import CheckSettings


class VariantEstimate(Estimate):
    """Roughly what one repeat of a variant would cost if it were run alone."""

    variant: Name
    prompt_files: tuple[PromptFile, ...] = ()
    """The prompts of the folder that it names."""


class ClaimsNeeded(Record):
    """The claims that a demand with a margin needs, so that a variant as good as the baseline meets it."""

    metric: str
    margin: NonNegative
    n_needed: Count
    """Of independent claims that the metric is about; for balanced accuracy half of them of either label."""
    n: Count
    """The independent claims that the data are worth at least: claims of one group may count for one."""

    @property
    def words(self) -> str:
        enough = "enough" if self.n >= self.n_needed else "too few"
        return (
            f"{self.metric}:{self.margin:g} needs about {self.n_needed:,} independent claims of its kind, if the "
            f"variants differ on up to {DIFFERING:.0%}; the data are worth {self.n:,}: {enough}"
        )


class ExperimentEstimate(Record):
    """Roughly what an experiment costs if its variants share nothing; what they share is paid for once.

    `budget_usd` and `max_calls` are bounds.
    """

    name: Name
    data: str
    kind: Kind
    n_items: Count
    repeats: Repeat
    n_cells: Count
    """Items, times variants, times repeats."""
    variants: tuple[VariantEstimate, ...]
    needed: tuple[ClaimsNeeded, ...] = ()
    """For each demand on agreement with labels that has a margin."""
    calls: Count
    searches: Count
    """Searches, which all repeats share."""
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None where a price is unknown."""


def estimate_experiment(
    plan: ExperimentPlan,
    data: Data,
    settings: Mapping[str, CheckSettings],
    demands: Sequence[Demand] = (),
    alpha: float = 0.05,
) -> ExperimentEstimate:
    """The estimate for settings as `variants.all_settings` gives them. Costs nothing, needs no key."""
    plan.refuse_unknown_claims(data)
    variants = []
    for name, of_variant in settings.items():
        given = of_variant.model_copy(update={"search": ()})  # an item's own documents cost nothing to search
        alone = [item for item in data.items if item.run.documents is None]
        own = [item for item in data.items if item.run.documents is not None]
        found = [*_item_estimates(of_variant, data.kind, alone), *_item_estimates(given, data.kind, own)]
        files = tuple(prompt_files(of_variant))
        added = _added(found, ("n_sentences", "n_claims", *_SPENT), 1)
        variants.append(VariantEstimate(variant=name, prompt_files=files, **added))
    return ExperimentEstimate(
        name=plan.name,
        data=data.name,
        kind=data.kind,
        n_items=len(data.items),
        repeats=plan.repeats,
        n_cells=len(data.items) * len(variants) * plan.repeats,
        variants=tuple(variants),
        needed=tuple(_needed(demands, data, alpha)),
        searches=sum(one.searches for one in variants),
        **_added(variants, ("calls", "prompt_tokens", "completion_tokens"), plan.repeats),
    )


_LABELS = {"tpr": (True,), "tnr": (False,), "balanced_accuracy": (True, False), "accuracy": ((True, False),)}
"""The labels of the claims that a metric is about, a mean of as many rates."""


def _needed(demands: Sequence[Demand], data: Data, alpha: float) -> Iterator[ClaimsNeeded]:
    for one in demands:
        if one.margin is not None and one.metric in _LABELS:
            worth = [_independent(data, label) for label in _LABELS[one.metric]]
            n = int(len(worth) ** 2 / sum(1.0 / each for each in worth)) if all(worth) else 0
            needed = items_needed(one.margin, alpha)
            yield ClaimsNeeded(metric=one.metric, margin=one.margin, n_needed=needed, n=n)


def _independent(data: Data, label: bool | tuple[bool, ...]) -> float:
    """How many independent claims those of a label are worth if the claims of a group are all alike (Kish 1965)."""
    wanted = label if isinstance(label, tuple) else (label,)
    sizes = Counter(item.group for item in data.items for gold in item.gold if gold in wanted).values()
    return sum(sizes) ** 2 / sum(size**2 for size in sizes) if sizes else 0.0


_SPENT = ("calls", "searches", "prompt_tokens", "completion_tokens")


def _added(found: Sequence[Estimate], fields: Sequence[str], times: int) -> dict[str, Any]:
    """The sums of these fields and of the cost, so many times; the cost is None where one is unknown."""
    known = [one.cost_usd for one in found if one.cost_usd is not None]
    cost_usd = times * sum(known) if len(known) == len(found) else None
    return {field: times * sum(getattr(one, field) for one in found) for field in fields} | {"cost_usd": cost_usd}


def _item_estimates(settings: CheckSettings, kind: Kind, items: Sequence[Item]) -> list[Estimate]:
    """The estimates of items; claims get one together, since the 1.2 rounds that a claim takes would round to 1."""
    if kind == "claims":
        facts = [given for item in items for given in item.run.facts or ()]
        return [estimate(settings, "", None, facts)] if facts else []
    return [estimate(settings, item.run.response, item.run.prompt, item.run.facts) for item in items]
