"""Estimates what an experiment costs at most, without spending anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factloop.checking.estimate import Estimate, estimate
from factloop.core.records import Count, NonNegative, Record
from factloop.evaluation.experiments.items import Data, Item, Kind
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import Name, Repeat
from factloop.setup.settings import CheckSettings


class VariantEstimate(Estimate):
    """Roughly what one repeat of a variant would cost if it were run alone."""

    variant: Name


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
    calls: Count
    searches: Count
    """Searches, which all repeats share."""
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None where a price is unknown."""


def estimate_experiment(plan: ExperimentPlan, data: Data, settings: Mapping[str, CheckSettings]) -> ExperimentEstimate:
    """The estimate for settings as `variants.all_settings` gives them. Costs nothing, needs no key."""
    variants = [_variant_estimate(name, of_variant, data) for name, of_variant in settings.items()]
    known = [one.cost_usd for one in variants if one.cost_usd is not None]
    return ExperimentEstimate(
        name=plan.name,
        data=data.name,
        kind=data.kind,
        n_items=len(data.items),
        repeats=plan.repeats,
        n_cells=len(data.items) * len(variants) * plan.repeats,
        variants=tuple(variants),
        calls=plan.repeats * sum(one.calls for one in variants),
        searches=sum(one.searches for one in variants),
        prompt_tokens=plan.repeats * sum(one.prompt_tokens for one in variants),
        completion_tokens=plan.repeats * sum(one.completion_tokens for one in variants),
        cost_usd=plan.repeats * sum(known) if len(known) == len(variants) else None,
    )


def _variant_estimate(name: str, settings: CheckSettings, data: Data) -> VariantEstimate:
    given = settings.model_copy(update={"search": ()})  # an item's own documents cost nothing to search
    found = [
        one
        for of_part, documents in ((settings, False), (given, True))
        for one in _item_estimates(
            of_part, data.kind, [item for item in data.items if (item.run.documents is not None) is documents]
        )
    ]
    known = [one.cost_usd for one in found if one.cost_usd is not None]
    return VariantEstimate(
        variant=name,
        n_sentences=sum(one.n_sentences for one in found),
        n_claims=sum(one.n_claims for one in found),
        calls=sum(one.calls for one in found),
        searches=sum(one.searches for one in found),
        prompt_tokens=sum(one.prompt_tokens for one in found),
        completion_tokens=sum(one.completion_tokens for one in found),
        cost_usd=sum(known) if len(known) == len(found) else None,
    )


def _item_estimates(settings: CheckSettings, kind: Kind, items: Sequence[Item]) -> list[Estimate]:
    """The estimates of items; claims get one together, since the 1.2 rounds that a claim takes would round to 1."""
    if kind == "claims":
        facts = [given for item in items for given in item.run.facts or ()]
        return [estimate(settings, "", None, facts)] if facts else []
    return [estimate(settings, item.run.response, item.run.prompt, item.run.facts) for item in items]
