"""Arranges an experiment's results as arrays for its figures, and as the rows, cells and flips behind them.

Claims are identified by group and id. Variants may split a response differently, so claims of responses are identified
by response and text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factloop.core.citations import named
from factloop.core.errors import DataError
from factloop.core.factuality import f1_at_k, is_unknown, precision
from factloop.core.records import Usage
from factloop.evaluation.comparing.matching import plain
from factloop.evaluation.comparing.pairs import count_flips, flipped, in_order, make_flip
from factloop.evaluation.comparing.records import Flip, FlipCount, FlipSide, Quantity
from factloop.evaluation.comparing.table import (
    CODES,
    MISSING,
    NOT_SUPPORTED,
    SUPPORTED,
    VERDICTS,
    ClaimPanel,
    Codes,
    Ints,
    ResponsePanel,
    SpentPanel,
    count_row,
    majority,
)
from factloop.evaluation.experiments.records import ItemCell, ItemRow, JudgedClaim, JudgedText, Results
from factloop.evaluation.experiments.splitting import SplitQuality

ClaimKey = tuple[str, str]
"""The claim's group and id or, for a claim of a response, its group and text."""


@dataclass(frozen=True)
class Panel:
    variants: tuple[str, ...]
    """The baseline first, then the others in the order of the plan."""
    claims: ClaimPanel
    claim_keys: tuple[ClaimKey, ...]
    found: Mapping[tuple[str, int, ClaimKey], JudgedClaim]
    responses: ResponsePanel | None
    spent: SpentPanel
    n_conflicting: int
    """Claims of responses with two different labels, which count as unlabelled."""

    def results_of(self, variant: int, claim: int) -> list[JudgedClaim]:
        repeats = range(1, self.claims.verdicts.shape[1] + 1)
        found = (self.found.get((self.variants[variant], repeat, self.claim_keys[claim])) for repeat in repeats)
        return [one for one in found if one is not None]

    def text(self, claim: int) -> str:
        """Returns the claim's id and its text, as worded by the first variant that has it."""
        one = next(one for side in range(len(self.variants)) for one in self.results_of(side, claim))
        return f"{one.claim_id}: {one.claim}"


def panel_of(results: Results) -> Panel:
    """Raises DataError if a claim has two labels, or two results in one repeat."""
    variants = (results.baseline, *(one.name for one in results.variants if one.name != results.baseline))
    found = _claims(results)
    keys = tuple(sorted({key for _, _, key in found}))
    prompt_of = {one.response_id: one.prompt_id for one in results.responses}
    clusters = [prompt_of.get(group, group) for group, _ in keys]  # claims of responses are grouped by prompt
    codes = {name: code for code, name in enumerate(sorted({*clusters, *prompt_of.values()}))}
    n_clusters = max(1, len(codes))
    gold, n_conflicting = _gold(found, keys, by_responses=results.kind == "responses")
    place = {key: number for number, key in enumerate(keys)}
    place_of = {name: number for number, name in enumerate(variants)}
    verdicts = np.full((len(variants), results.repeats, len(keys)), MISSING, np.int8)
    for (variant, repeat, key), one in found.items():
        verdicts[place_of[variant], repeat - 1, place[key]] = CODES[one.judgement.verdict]
    cluster = np.array([codes[name] for name in clusters], np.int64)
    chances = {key: one.probability for (_, _, key), one in found.items() if one.probability is not None}
    chance = np.array([chances.get(key, 1.0) for key in keys]) if chances else None
    claims = ClaimPanel(cluster, n_clusters, gold, verdicts, chance)
    if results.kind == "claims":
        usages = {(place_of[name], repeat - 1, place[key]): one.usage for (name, repeat, key), one in found.items()}
        spent = _spent(usages, verdicts.shape, cluster, n_clusters)
        return Panel(variants, claims, keys, found, None, spent, n_conflicting)
    responses, spent = _responses(results, place_of, codes, n_clusters)
    return Panel(variants, claims, keys, found, responses, spent, n_conflicting)


def _claims(results: Results) -> dict[tuple[str, int, ClaimKey], JudgedClaim]:
    """A text that a response repeats counts once, but a repeated claim id is an error."""
    found: dict[tuple[str, int, ClaimKey], JudgedClaim] = {}
    for one in results.claims:
        _refuse_repeat(one, results.repeats)
        name = one.claim_id if results.kind == "claims" else plain(one.claim)
        key = one.variant, one.repeat, (one.group, name)
        if key not in found:
            found[key] = one
        elif results.kind == "claims":
            raise DataError(f"{one.variant}, repeat {one.repeat}: the claim {one.claim_id!r} has two results")
    return found


def _refuse_repeat(one: JudgedClaim | JudgedText, repeats: int) -> None:
    if one.repeat > repeats:
        raise DataError(f"{one.variant}: a result belongs to repeat {one.repeat}, but `repeats` is {repeats}")


def _gold(
    found: Mapping[tuple[str, int, ClaimKey], JudgedClaim], keys: Sequence[ClaimKey], *, by_responses: bool
) -> tuple[Codes, int]:
    labels: dict[ClaimKey, set[int]] = {key: set() for key in keys}
    for (_, _, key), one in found.items():
        if one.gold is not None:
            labels[key].add(SUPPORTED if one.gold else NOT_SUPPORTED)
    conflicting = [key for key in keys if len(labels[key]) > 1]
    if conflicting and not by_responses:
        raise DataError(f"the claim {conflicting[0][1]!r} has two different labels; keep only one")
    gold = [next(iter(labels[key])) if len(labels[key]) == 1 else MISSING for key in keys]
    return np.array(gold, np.int8), len(conflicting)


def _responses(
    results: Results, place_of: Mapping[str, int], codes: Mapping[str, int], n_clusters: int
) -> tuple[ResponsePanel, SpentPanel]:
    prompt_of = {one.response_id: one.prompt_id for one in results.responses}
    ids = sorted(prompt_of)
    place = {name: number for number, name in enumerate(ids)}
    cluster = np.array([codes[prompt_of[name]] for name in ids], np.int64)
    shape = (len(place_of), results.repeats, len(ids))
    counts = np.full((*shape, 4), np.nan)
    usages: dict[tuple[int, int, int], Usage] = {}
    is_measured = any(one.quality is not None for one in results.responses)
    quality = {name: np.full(shape, np.nan) for name in SplitQuality.model_fields if is_measured}
    for one in results.responses:
        _refuse_repeat(one, results.repeats)
        at = place_of[one.variant], one.repeat - 1, place[one.response_id]
        if one.prompt_id != prompt_of[one.response_id]:
            raise DataError(f"the response {one.response_id!r} answers two prompts")
        if at in usages:
            raise DataError(f"{one.variant}, repeat {one.repeat}: the response {one.response_id!r} has two results")
        counts[at] = count_row(one.counts)
        for name, values in quality.items():
            share = None if one.quality is None else getattr(one.quality, name).value
            values[at] = np.nan if share is None else share
        usages[at] = one.usage
    measured = {Quantity(name): values for name, values in quality.items()}
    return ResponsePanel(cluster, n_clusters, counts, measured), _spent(usages, shape, cluster, n_clusters)


def _spent(
    usages: Mapping[tuple[int, int, int], Usage], shape: tuple[int, ...], cluster: Ints, n_clusters: int
) -> SpentPanel:
    is_there = np.zeros(shape, np.bool_)
    cost, tokens, wall = (np.full(shape, np.nan) for _ in range(3))
    for at, usage in usages.items():
        is_there[at] = True
        tokens[at], wall[at] = usage.prompt_tokens + usage.completion_tokens, usage.wall_s
        if usage.cost_usd is not None:
            cost[at] = usage.cost_usd
        elif not usage.calls:
            cost[at] = 0.0
    return SpentPanel(cluster, n_clusters, is_there, cost, tokens, wall)


def flips_of(panel: Panel, first: int, second: int) -> tuple[FlipCount, tuple[Flip, ...]]:
    """Returns the flips between two variants, given by index. Flips for the worse come first."""
    one, other = (majority(panel.claims.verdicts[place]) for place in (first, second))
    names = panel.variants[first], panel.variants[second]

    def flip(claim: int) -> Flip:
        shown = panel.results_of(first, claim)[0]
        sides = [
            _side(panel.results_of(first, claim), one[claim]),
            _side(panel.results_of(second, claim), other[claim]),
        ]
        return make_flip(names, shown.group, shown.claim, int(panel.claims.gold[claim]), sides)

    flips = in_order(flip(claim) for claim in flipped(one, other))
    return count_flips(names, one, other, flips), flips


def _side(results: Sequence[JudgedClaim], code: int) -> FlipSide:
    of_verdict = [one for one in results if one.judgement.verdict is VERDICTS[code]]
    shown = of_verdict[0]
    cited = {*shown.judgement.cited}
    return FlipSide(
        claim_id=shown.claim_id, verdict=VERDICTS[code], contradicted=shown.judgement.contradicted,
        wrong=shown.judgement.wrong, n_repeats=len(of_verdict),
        n_scored=sum(one.judgement.verdict is not None for one in results),
        rationale=named(shown.judgement.rationale, shown.evidence),
        cited=tuple(one for one in shown.evidence if one.id in cited), n_evidence=len(shown.evidence),
    )  # fmt: skip


def item_rows(panel: Panel, results: Results) -> Iterator[ItemRow]:
    """Yields a row for each claim or response, sorted by group and item, with cells in the order of the variants."""
    return _claim_rows(panel) if results.kind == "claims" else _response_rows(panel, results)


def _claim_rows(panel: Panel) -> Iterator[ItemRow]:
    most = [majority(verdicts) for verdicts in panel.claims.verdicts]
    for place in range(len(panel.claim_keys)):
        by_variant = [panel.results_of(variant, place) for variant in range(len(panel.variants))]
        shown = next(one for found in by_variant for one in found)
        gold = int(panel.claims.gold[place])
        yield ItemRow(
            item_id=shown.claim_id,
            group=shown.group,
            claim=shown.claim,
            gold=VERDICTS[gold] if gold >= 0 else None,
            cells=tuple(
                _claim_cell(found, int(codes[place]), gold) for found, codes in zip(by_variant, most, strict=True)
            ),
        )


def _claim_cell(found: Sequence[JudgedClaim], code: int, gold: int) -> ItemCell:
    """`code` is the majority verdict, or negative if there is none."""
    scored = [one for one in found if one.judgement.verdict is not None]
    right = sum(CODES[one.judgement.verdict] == gold for one in scored)
    return ItemCell(
        verdict=VERDICTS[code] if code >= 0 else None,
        unscored_reason=found[0].judgement.unscored_reason if found and not scored else None,
        value=right / len(scored) if scored and gold >= 0 else None,
        n_scored=len(scored),
        n_repeats=len(found),
    )


def _response_rows(panel: Panel, results: Results) -> Iterator[ItemRow]:
    found: dict[tuple[str, str], list[JudgedText]] = {}
    for one in sorted(results.responses, key=lambda one: one.repeat):
        found.setdefault((one.response_id, one.variant), []).append(one)
    prompts = {one.response_id: one.prompt_id for one in results.responses}
    k = min(results.k) if results.k else None
    for name in sorted(prompts, key=lambda name: (prompts[name], name)):
        cells = tuple(_response_cell(found.get((name, variant), ()), k) for variant in panel.variants)
        yield ItemRow(item_id=name, group=prompts[name], cells=cells)


def _response_cell(found: Iterable[JudgedText], k: int | None) -> ItemCell:
    """F1@K is 0 if there are no claims, and undefined if none are scored."""
    counts = [one.counts for one in found]
    values = [precision(one) if k is None else None if is_unknown(one) else f1_at_k(one, k) for one in counts]
    known = [value for value in values if value is not None]
    return ItemCell(
        value=sum(known) / len(known) if known else None,
        n_scored=sum(one.scored > 0 for one in counts),
        n_repeats=len(counts),
    )
