from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Literal

import numpy as np

from factloop.core.figure import Undefined, ends
from factloop.evaluation.comparing.demands import Demand, Judged, judge_demands, refuse_demands
from factloop.evaluation.comparing.differences import LEVEL, QUESTIONS, RESAMPLES, Judging, contrast, figures_of
from factloop.evaluation.comparing.pairs import flipped, missed_claims
from factloop.evaluation.comparing.records import DemandResult, GroupFigure, Outcome, PairedDifference, Quantity
from factloop.evaluation.comparing.table import (
    FEWEST_ALIKE,
    MISSING,
    SUPPORTED,
    UNSCORED,
    VERDICTS,
    ClaimPanel,
    Codes,
    ItemValues,
    SpentPanel,
    claim_quantities,
    headline_of,
    majority,
    measured_quantities,
    response_quantities,
    share_quantities,
    spent_quantities,
)
from factloop.evaluation.comparing.words import amount, conflicting_words, direction_of, losses, name_of
from factloop.evaluation.experiments.looks import Look, look_report
from factloop.evaluation.experiments.panel import Panel, flips_of, item_rows, panel_of
from factloop.evaluation.experiments.records import Conclusion, ExperimentReport, Latency, Results, VariantReport
from factloop.evaluation.statistics.stratified_means import clustered_mean, stratified_intervals
from factloop.reports.figures import percent, plural
from factloop.tools.calls.meter import total_usage

FEW_GROUPS = 20
"""With fewer groups, percentile intervals are too narrow."""


def assess(
    results: Results,
    *,
    level: float = LEVEL,
    look: Look | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    pairs: Literal["baseline", "all"] = "baseline",
    questions: Collection[Quantity] = QUESTIONS,
    demands: Sequence[Demand] = (),
    must_pass: Collection[str] = (),
    created_at: datetime | None = None,
) -> ExperimentReport:
    """Returns the report on an experiment's results, whose order does not matter. Costs nothing.

    Differences are tested at alpha = 1 - level. Tests and intervals are adjusted for the number of differences. A
    `look` has its own level. `pairs` determines whether each variant is compared with the baseline only or with every
    other variant. Flips are always relative to the baseline. A claim in `must_pass` that has no result does not pass.
    If `resamples` is 0, there are no intervals. Takes time linear in the number of results, and in the product of the
    numbers of resamples and groups.

    Raises DataError if a claim or response occurs twice in one repeat of a variant, or has two labels. Raises
    ValueError if the level is outside (0, 1) or `resamples` is negative.
    """
    level = level if look is None else look.level
    if not 0.0 < level < 1.0 or resamples < 0 or pairs not in ("baseline", "all"):
        raise ValueError("`level` must be between 0 and 1, `resamples` at least 0, and `pairs` 'baseline' or 'all'")
    refuse_demands(demands)
    panel = panel_of(results)
    quantities = list(_quantities(panel, results))
    headline = headline_of(quantities)
    n_variants = len(panel.variants)
    compared = combinations(range(n_variants), 2) if pairs == "all" else ((0, place) for place in range(1, n_variants))
    contrasts = [contrast(values, *pair) for pair in compared for values in quantities]
    judging = Judging(panel.variants, results.kind, level, seed, has_intervals=resamples > 0)
    differences, families = judging.judge(contrasts, (headline,), questions)
    most = [majority(verdicts) for verdicts in panel.claims.verdicts]
    gold = panel.claims.gold
    missed = {
        name: missed_claims(most[0], of_variant, gold, panel.text) if panel.claims.n_labelled else None
        for name, of_variant in zip(panel.variants, most, strict=True)
    }
    causes = {name: why_unscored(results, name) for name in panel.variants}
    asked = Judged(panel.variants, results.kind, quantities, contrasts, missed, causes=causes)
    flips = [flips_of(panel, 0, place) for place in range(1, n_variants)]
    variants = tuple(_variants(results, panel, quantities, seed=seed, resamples=resamples, level=level))
    return ExperimentReport(
        name=results.name,
        kind=results.kind,
        data=results.data,
        n_items=results.n_items,
        n_labelled=panel.claims.n_labelled,
        n_supported=int((panel.claims.gold == SUPPORTED).sum()),
        repeats=results.repeats,
        baseline=results.baseline,
        k=results.k,
        level=level,
        n_resamples=resamples,
        seed=seed,
        look=None if look is None else look_report(look, headline, differences, panel.variants),
        families=families,
        headline=headline.quantity,
        headline_k=headline.k,
        conclusions=tuple(_conclusions(differences)),
        pooled=tuple(_pooled_words(results, level, seed)),
        demands=(
            *judge_demands(demands, asked, alpha=judging.alpha, seed=seed),
            *(_must_pass(panel, {*must_pass}, causes) if must_pass else ()),
        ),
        variants=variants,
        differences=differences,
        flip_counts=tuple(count for count, _ in flips),
        flips=tuple(flip for _, found in flips for flip in found),
        items=tuple(item_rows(panel, results)),
        paid=results.paid,
        warnings=(
            *_one_verdict_words(panel.variants, most),
            *_drawn_words(panel.claims),
            *_cautions(variants, differences, n_conflicting=panel.n_conflicting, repeats=results.repeats),
        ),
        created_at=created_at,
    )


def _pooled(results: Results) -> tuple[Results, int] | None:
    """Treats models (or other settings) as repeats, to show the effect of each prompt across all of them. Returns the
    results and the number of models, or None unless at least two prompts were all tried with the same two or more
    models."""
    settings = {
        one.name: json.dumps({name: of for name, of in one.changes.items() if name != "prompts"}, sort_keys=True)
        for one in results.variants
    }
    prompts = {one.name: str(one.changes.get("prompts") or "") for one in results.variants}
    tried = {(prompts[name], settings[name]): name for name in settings}
    of_prompts, of_settings = dict.fromkeys(prompts.values()), dict.fromkeys(settings.values())
    if min(len(of_prompts), len(of_settings)) < 2 or len(tried) != len(of_prompts) * len(of_settings):
        return None
    place, first = {one: number for number, one in enumerate(of_settings)}, settings[results.baseline]
    named = {name: tried[prompts[name], first] for name in settings}
    claims = (
        one.model_copy(
            update={
                "variant": named[one.variant],
                "repeat": one.repeat + results.repeats * place[settings[one.variant]],
            }
        )
        for one in results.claims
    )
    kept = tuple(one for one in results.variants if settings[one.name] == first)
    update = {"claims": tuple(claims), "variants": kept, "repeats": results.repeats * len(place)}
    return results.model_copy(update=update), len(place)


def _pooled_words(results: Results, level: float, seed: int) -> Iterator[str]:
    found = _pooled(results) if results.kind == "claims" else None
    if found is not None:
        report = assess(found[0], level=level, seed=seed, resamples=1)
        yield from (f"On average over {found[1]:,} models or settings: {one.words}" for one in report.conclusions)


def _drawn_words(panel: ClaimPanel) -> Iterator[str]:
    if not panel.n_labelled and len(panel.verdicts) > 1:
        yield "No claims are labelled. Use `factloop research labels next`, which draws flipped claims first."
    if panel.chance is not None:
        most = [majority(verdicts) for verdicts in panel.verdicts]
        flips = {place for other in most[1:] for place in flipped(most[0], other)}
        n = sum(panel.gold[place] != MISSING for place in flips)
        yield (
            f"A sample of claims is labelled: {panel.n_labelled:,} of {plural(len(panel.gold), 'claim')}, and {n:,} of "
            f"{plural(len(flips), 'flip')}. Accuracies and their differences are estimates for all claims, in which "
            "labels are weighted by inverse probability. TPR and TNR would need more labels."
        )
        if panel.n_labelled - n < min(FEWEST_ALIKE, len(panel.gold) - len(flips)):
            yield (
                f"Only the difference is estimated. Estimating the accuracy of each variant needs "
                f"{plural(FEWEST_ALIKE, 'label')} on claims that did not flip."
            )


FEWEST_ALL_ALIKE = 10


def _one_verdict_words(variants: Sequence[str], most: Sequence[Codes]) -> Iterator[str]:
    for name, codes in zip(variants, most, strict=True):
        found = codes[codes >= 0]
        if len(found) >= FEWEST_ALL_ALIKE and len({*found.tolist()}) == 1:
            verdict = VERDICTS[found[0]].replace("_", " ")
            yield f"{name}: all {len(found):,} claims are judged {verdict}. Check that the model follows the prompt."


def _must_pass(panel: Panel, ids: Collection[str], causes: Mapping[str, str]) -> Iterator[DemandResult]:
    wanted = [place for place, (_, claim_id) in enumerate(panel.claim_keys) if claim_id in ids]
    unjudged = sorted({*ids} - {claim_id for _, claim_id in panel.claim_keys})
    notes = f"; not judged: {', '.join(unjudged)}" if unjudged else ""
    for place in range(1, len(panel.variants)) or (0,):
        name, verdicts = panel.variants[place], majority(panel.claims.verdicts[place])
        wrong = [claim for claim in wanted if verdicts[claim] != panel.claims.gold[claim]]
        failed = (*map(panel.text, wrong), *unjudged)
        said = f"all {len(ids):,} must-pass claims are right" if len(ids) != 1 else "the must-pass claim is right"
        if failed:
            named = ", ".join(panel.claim_keys[claim][1] for claim in wrong)
            are = "is not right" if len(failed) == 1 else "are not right"
            said = f"{len(failed):,} of {plural(len(ids), 'must-pass claim')} {are}{f': {named}' if named else ''}"
        is_open = bool(wrong) and not unjudged and (verdicts[wrong] == MISSING).all()
        yield DemandResult(
            metric="must_pass", demand="must_pass", first=panel.variants[0], second=name, value=len(failed),
            is_met=not failed, words=f"{name}: {said}{notes}", claims=failed, unscored=causes[name] if is_open else "",
        )  # fmt: skip


def _quantities(panel: Panel, results: Results) -> Iterator[ItemValues]:
    if panel.responses is None or panel.claims.n_labelled:
        yield from claim_quantities(panel.claims)
    if panel.responses is not None:
        yield from response_quantities(panel.responses, sorted({*results.k}))
        yield from measured_quantities(panel.responses)
    yield from share_quantities(panel.claims if panel.responses is None else panel.responses)
    yield from spent_quantities(panel.spent)


def _variants(
    results: Results, panel: Panel, quantities: Sequence[ItemValues], *, seed: int, resamples: int, level: float
) -> Iterator[VariantReport]:
    figures = figures_of(quantities, len(panel.variants), seed=seed, resamples=resamples, level=level)
    by_name = {one.name: one for one in results.variants}
    judged = results.responses if results.kind == "responses" else results.claims
    judged_any = [(majority(verdicts) != MISSING).any() for verdicts in panel.claims.verdicts]
    for place, name in enumerate(panel.variants):
        is_there = panel.spent.is_there[place]
        yield VariantReport(
            variant=by_name[name],
            n_items=int(is_there.any(axis=0).sum()),
            n_missing=max(0, results.n_items * results.repeats - int(is_there.sum())),
            figures=figures[place],
            stability=stability_of(panel.claims, place, seed=seed, resamples=resamples, level=level),
            latency=_latency(panel.spent, place),
            usage=total_usage(one.usage for one in judged if one.variant == name),
            why_unscored=None if judged_any[place] else why_unscored(results, name) or None,
        )


def why_unscored(results: Results, variant: str) -> str:
    """Returns the variant's first reason for leaving a claim unscored, or an empty string if it judged all claims."""
    judgements = (one.judgement for one in results.claims if one.variant == variant)
    reasons = ((one.rationale, one.unscored_reason) for one in judgements if one.unscored_reason is not None)
    return next((" ".join(said.split()) or reason.value for said, reason in reasons), "")


def _latency(panel: SpentPanel, variant: int) -> Latency:
    seconds = panel.wall_s[variant][panel.is_there[variant]]
    if not len(seconds):
        return Latency(median_s=None, p95_s=None, n=0)
    median, p95 = np.quantile(seconds, [0.5, 0.95])
    return Latency(median_s=float(median), p95_s=float(p95), n=len(seconds))


def stability_of(panel: ClaimPanel, variant: int, *, seed: int, resamples: int, level: float) -> GroupFigure:
    """Returns the proportion of claims on which all repeats of a variant agree. Claims that lack a verdict in any
    repeat are left out, and their number is reported."""
    verdicts = panel.verdicts[variant]
    whole = ((verdicts >= 0) & (verdicts != UNSCORED)).all(axis=0)
    n_left_out = int(verdicts.shape[1] - whole.sum())
    if len(verdicts) < 2 or not whole.any():
        why = Undefined.ONE_REPEAT if len(verdicts) < 2 else Undefined.NOTHING_SCORED
        return GroupFigure(value=None, undefined=why, n=0, n_groups=0, n_left_out=n_left_out)
    same = (verdicts == verdicts[0]).all(axis=0)[whole].astype(np.float64)
    mean = clustered_mean(same, panel.cluster[whole], panel.n_clusters)
    (interval,) = stratified_intervals([mean], np.random.default_rng(seed), resamples, level)
    return GroupFigure(value=mean.value, **ends(interval), n=len(same), n_groups=mean.n_clusters, n_left_out=n_left_out)


def _conclusions(differences: Sequence[PairedDifference]) -> Iterator[Conclusion]:
    for one in differences:
        if one.is_headline:
            of_pair = [each for each in differences if (each.first, each.second) == (one.first, one.second)]
            asked = [each for each in of_pair if each.is_question]
            answers = [each.words for each in asked if each.outcome.is_shown]
            answers += filter(None, map(_left_open, asked)) if one.outcome is Outcome.BETTER else ()
            words = ". ".join([one.words, *answers, *losses(one, differences)]) + "."
            yield Conclusion(first=one.first, second=one.second, outcome=one.outcome, words=words)


def _left_open(one: PairedDifference) -> str:
    """Returns, for example, `In TPR (−0.160), no difference is shown, but a loss of up to 0.333 is not ruled out`."""
    worst = one.low if direction_of(one.quantity) > 0 else one.high
    if one.outcome.is_shown or worst is None or round(direction_of(one.quantity) * worst, 3) >= 0:
        return ""
    name, by = name_of(one.quantity, one.k), amount(one.value, one.quantity, signed=True)
    lost = f"a loss of up to {amount(abs(worst), one.quantity)} is not ruled out"
    return f"In {name} ({by}), no difference is shown, but {lost}"


def _cautions(
    variants: Sequence[VariantReport], differences: Sequence[PairedDifference], *, n_conflicting: int, repeats: int
) -> Iterator[str]:
    if len(variants) < 2:
        yield "There is only one variant, so nothing is compared."
    yield from (said for one in variants for said in _result_cautions(one))
    yield from (said for one in variants[1:] for said in _setting_cautions(one, variants[0]))
    if n_conflicting:
        yield conflicting_words(n_conflicting)
    n_groups = [one.n_groups for one in differences if one.is_headline and one.value is not None]
    if n_groups and min(n_groups) < FEW_GROUPS:
        yield (
            f"The headline is based on {plural(min(n_groups), 'group')}. With fewer than {FEW_GROUPS}, intervals are "
            "too narrow; the p-values remain valid."
        )
    if len(variants) > 1 and repeats < 2:
        yield "There is only one repeat, so it is unknown how much a variant's verdicts vary."


def _result_cautions(one: VariantReport) -> Iterator[str]:
    name = one.variant.name
    if one.n_missing:
        yield f"{name}: {plural(one.n_missing, 'result')} missing; the experiment was stopped early."
    unscored = one.find(Quantity.UNSCORED_SHARE)
    if unscored is not None and unscored.value:
        share = "every claim is" if unscored.value == 1 else f"{percent(round(unscored.value, 3))} of claims are"
        why = f": {one.why_unscored}" if one.why_unscored else "."
        yield f"{name}: {share} without a verdict and excluded from all figures of agreement{why}"
    irrelevant = one.find(Quantity.IRRELEVANT_SHARE)
    if irrelevant is not None and irrelevant.value:
        yield (
            f"{name}: {amount(irrelevant.value, Quantity.IRRELEVANT_SHARE)} of claims are judged irrelevant, which "
            "counts as wrong for accuracy and is excluded from the other figures of agreement."
        )


def _setting_cautions(one: VariantReport, baseline: VariantReport) -> Iterator[str]:
    name, shares = one.variant.name, one.variant.n_same_evidence == one.variant.n_compared
    if one.variant.fingerprint == baseline.variant.fingerprint and not one.variant.changes and shares:
        yield f"{name} has the same settings and prompts as {baseline.variant.name}, so differences are due to chance."
    elif not one.variant.shares_evidence:
        n_other = one.variant.n_compared - one.variant.n_same_evidence
        seen = f" in {n_other:,} of {plural(one.variant.n_compared, 'result')}" if one.variant.n_compared else ""
        said = f"{name} judged different evidence than {baseline.variant.name}{seen}"
        yield f"{said}, so a difference may be due to the search."
