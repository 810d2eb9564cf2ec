"""Estimates the maximum cost of an experiment without spending any money."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from factloop.checking.estimate import SCHEMA_TOKENS, Estimate, estimate
from factloop.core.records import Count, NonNegative, Record, Share, Usage
from factloop.evaluation.comparing.demands import DIFFERING, Demand, items_needed, shown_by
from factloop.evaluation.comparing.differences import can_be_shown
from factloop.evaluation.experiments.cells import CELL_LOG, Cell
from factloop.evaluation.experiments.items import Data, Item, Kind
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import Name, PromptFile, Repeat
from factloop.evaluation.experiments.variants import prompt_files
from factloop.prompts.registry import PromptRegistry
from factloop.reports.figures import plural
from factloop.setup.chat_model import price_of
from factloop.setup.settings import CheckSettings
from factloop.tools.judges.build import BASELINE, parse_spec
from factloop.tools.judges.served import ATTRIBUTION
from factloop.tools.models.tokens import count_tokens
from factloop.tools.text.outline import read_outline
from factloop.tools.text.silence import silence_of

READING_COMPLETION = 8
"""Tokens in a judge's answer (yes or no, as JSON)."""
SHORT_CLAIM = 6
"""Assumed number of words per claim when a sentence is split into many claims."""


class VariantEstimate(Estimate):
    """The approximate cost of one repeat if only this variant is run."""

    variant: Name
    prompt_files: tuple[PromptFile, ...] = ()


class ClaimsNeeded(Record):
    """The number of claims needed to meet a demand with a margin, if the variant is as good as the baseline."""

    metric: str
    margin: NonNegative
    n_needed: Count
    """Independent claims that the metric must cover. For balanced accuracy, half of them have each label."""
    n: Count
    """Number of independent claims in the data, if the claims in a group count as identical."""
    n_claims: Count = 0
    n_groups: Count = 0

    @property
    def words(self) -> str:
        enough = "enough" if self.n >= self.n_needed else "too few"
        return (
            f"{self.metric}:{self.margin:g} needs about {self.n_needed:,} independent claims, if the variants "
            f"differ on up to {DIFFERING:.0%} of them; the {plural(self.n_claims, 'claim')} in "
            f"{plural(self.n_groups, 'group')} are worth {self.n:,} independent claims, which is {enough}"
        )


class ExperimentEstimate(Record):
    """The approximate cost of an experiment whose variants share no answers. In fact, shared answers are paid for once.
    `budget_usd` and `max_calls` are hard limits."""

    name: Name
    data: str
    kind: Kind
    n_items: Count
    repeats: Repeat
    n_cells: Count
    """The number of items times variants times repeats."""
    variants: tuple[VariantEstimate, ...]
    needed: tuple[ClaimsNeeded, ...] = ()
    """One entry for each demand that has a margin and concerns agreement with labels."""
    can_show: Mapping[str, Share | None] = Field(default_factory=dict)
    """The true difference in balanced accuracy, TPR and TNR that would be shown 4 times out of 5 if variants differ on
    as many claims as `needed` assumes. None if there are too few claims to show any difference."""
    n_for_tenth: Count = 0
    """Independent claims needed to show a difference of 0.1 in balanced accuracy."""
    calls: Count
    answered_calls: Count = 0
    """Calls whose answers are already in the run directory. The fields below exclude these calls."""
    splitting_calls: Count = 0
    """Maximum number of calls that the judge makes to measure how responses are split."""
    searches: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None if any price is unknown."""


def estimate_experiment(
    plan: ExperimentPlan,
    data: Data,
    settings: Mapping[str, CheckSettings],
    demands: Sequence[Demand] = (),
    alpha: float = 0.05,
    *,
    cells: Sequence[Cell] = (),
) -> ExperimentEstimate:
    """Estimates an experiment, given settings from `variants.all_settings`. Costs nothing and needs no key. `cells`
    holds the results that stored answers already provide at no cost."""
    judged = {(one.variant, one.repeat, one.item) for one in cells if CELL_LOG.is_final(one)}
    begun = [one for one in cells if not CELL_LOG.is_final(one)]
    variants, left, splitting, searches = [], [], 0, 0
    for name, of_variant in settings.items():
        found = _estimates(of_variant, data)
        added = _added(found, ("n_sentences", "n_claims", *_SPENT))
        variants.append(
            VariantEstimate(
                variant=name, prompt_files=tuple(prompt_files(of_variant, settings[plan.baseline_name])), **added
            )
        )
        of_repeats = []
        for repeat in range(1, plan.repeats + 1):
            items = [item for item in data.items if (name, repeat, item.run.id) not in judged]
            waiting = replace(data, items=tuple(items))
            measuring = _measuring(plan, settings[plan.baseline_name], waiting)
            rest = found if len(items) == len(data.items) else _estimates(of_variant, waiting)
            kept = [_usage(one) for one in begun if (one.variant, one.repeat) == (name, repeat)]
            of_repeats.append(_added([*rest, measuring], _SPENT, less=kept))
            splitting += measuring.calls
        left += of_repeats
        searches += max(one["searches"] for one in of_repeats)
    answered = sum(_usage(one).calls for one in cells)
    costs = [one["cost_usd"] for one in left]
    return ExperimentEstimate(
        name=plan.name,
        data=data.name,
        kind=data.kind,
        n_items=len(data.items),
        repeats=plan.repeats,
        n_cells=len(data.items) * len(variants) * plan.repeats,
        variants=tuple(variants),
        needed=tuple(_needed(demands, data, alpha)),
        can_show=dict(_can_show(data, alpha / max(1, len(settings) - 1))),
        n_for_tenth=math.ceil((shown_by(1.0, alpha / max(1, len(settings) - 1)) / 0.1) ** 2),
        calls=answered + sum(one["calls"] for one in left),
        answered_calls=answered,
        splitting_calls=splitting,
        searches=searches,
        prompt_tokens=sum(one["prompt_tokens"] for one in left),
        completion_tokens=sum(one["completion_tokens"] for one in left),
        cost_usd=None if None in costs else sum(costs),
    )


_LABELS = {"tpr": (True,), "tnr": (False,), "balanced_accuracy": (True, False), "accuracy": ((True, False),)}
"""The labels of the claims that each metric covers. Each metric is the mean of the rates for these labels."""


def _needed(demands: Sequence[Demand], data: Data, alpha: float) -> Iterator[ClaimsNeeded]:
    for one in demands:
        if one.margin is not None and one.metric in _LABELS:
            n, n_claims, n_groups = _independent(data, one.metric)
            needed, of_data = items_needed(one.margin, alpha), {"n_claims": n_claims, "n_groups": n_groups}
            yield ClaimsNeeded(metric=one.metric, margin=one.margin, n_needed=needed, n=int(n), **of_data)


def _can_show(data: Data, alpha: float) -> Iterator[tuple[str, float | None]]:
    for metric, n_tests in (("balanced_accuracy", 1), ("tpr", 2), ("tnr", 2)):
        n, _, n_groups = _independent(data, metric)
        if n:
            least = shown_by(n, alpha / n_tests)
            yield metric, least if least < 1.0 and can_be_shown(n_groups, alpha=alpha, n_tests=n_tests) else None


def _independent(data: Data, metric: str) -> tuple[float, int, int]:
    """Returns the numbers of independent claims, of claims and of groups that a metric covers. Claims in a group count
    as if they were identical (Kish 1965)."""
    worth, groups, n_claims = list[float](), set[str](), 0
    for label in _LABELS[metric]:
        wanted = label if isinstance(label, tuple) else (label,)
        sizes = Counter(item.group for item in data.items for gold in item.gold if gold in wanted)
        n_claims += sizes.total()
        groups |= sizes.keys()
        worth.append(sizes.total() ** 2 / sum(size**2 for size in sizes.values()) if sizes else 0.0)
    return len(worth) ** 2 / sum(1.0 / each for each in worth) if all(worth) else 0.0, n_claims, len(groups)


_SPENT = ("calls", "searches", "prompt_tokens", "completion_tokens")


def _usage(cell: Cell) -> Usage:
    return cell.claims[0].usage if cell.response is None else cell.response.usage


def _added(found: Sequence[Estimate], fields: Sequence[str], less: Sequence[Usage] = ()) -> dict[str, Any]:
    """Sums these fields and the cost, less the usage in `less`. The cost is None if any price is unknown."""
    sums: dict[str, Any] = {
        field: max(0, sum(getattr(one, field) for one in found) - sum(getattr(one, field) for one in less))
        for field in fields
    }
    known = [one.cost_usd for one in found if one.cost_usd is not None]
    cost_usd = max(0.0, sum(known) - sum(one.cost_usd or 0.0 for one in less)) if len(known) == len(found) else None
    return sums | {"cost_usd": cost_usd}


def _estimates(settings: CheckSettings, data: Data) -> list[Estimate]:
    """Returns the estimates of the items. Searching an item's own documents costs nothing. All claims share one
    estimate, because rounding would turn the 1.2 rounds per claim into 1."""
    found = []
    for own, of in ((False, settings), (True, settings.model_copy(update={"search": ()}))):
        runs = [item.run for item in data.items if (item.run.documents is not None) is own]
        sizes = [sum(len(one.text) for one in run.documents or ()) if own else None for run in runs]
        if data.kind == "claims":
            facts = [given for run in runs for given in run.facts or ()]
            mean = sum(one or 0 for one in sizes) // len(runs) if own and runs else None
            found += [estimate(of, "", None, facts, mean)] if facts else []
        else:
            found += [estimate(of, run.response, run.prompt, run.facts, n) for run, n in zip(runs, sizes, strict=True)]
    return found


def _measuring(plan: ExperimentPlan, settings: CheckSettings, data: Data) -> Estimate:
    """Estimates the maximum cost of measuring how a variant splits in one repeat, which is 0 without a model. A
    sentence with n claims takes n calls for statements, n calls for claims, and n (n - 1) calls for pairs of claims."""
    spec = parse_spec(plan.splitting or BASELINE)
    sizes = [(item, n) for item in data.items for n in _claims_of_sentences(item)] if spec.calls is not None else []
    calls, n_claims = sum(n * (n + 1) for _, n in sizes), sum(n for _, n in sizes)
    rules = PromptRegistry.load(settings.prompts)[ATTRIBUTION].render(document="x" * 160, claim="x" * 80)
    each = count_tokens(rules.system) + count_tokens(rules.user) + SCHEMA_TOKENS
    contexts = sum(n * count_tokens(f"{item.run.prompt or ''} {item.run.response}") for item, n in sizes)
    prompt_tokens, completion_tokens = calls * each + contexts, calls * READING_COMPLETION
    price = price_of(settings, spec.target, settings.base_url) if calls else None
    cost_usd = None if price is None else price.cost_usd(prompt_tokens, completion_tokens)
    return Estimate(
        n_sentences=len(sizes), n_claims=n_claims, calls=calls, searches=0, prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens, cost_usd=cost_usd if calls else 0.0,
    )  # fmt: skip


def _claims_of_sentences(item: Item) -> list[int]:
    if item.run.facts is not None:
        return [len(given.facts) for given in item.run.facts]
    parts = (part for part in read_outline(item.run.response) if silence_of(part) is None)
    return [math.ceil(len(part.text.split()) / SHORT_CLAIM) for part in parts]
