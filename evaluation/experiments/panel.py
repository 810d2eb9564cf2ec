"""The results of an experiment as arrays: variants, repeats and items along the axes.

An item is a claim or a response. Its cluster is what is resampled: the group of a claim, the prompt of a response. The
order of the results changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.core.errors import DataError
from factloop.core.records import Usage, Verdict
from factloop.evaluation.comparing.matching import plain
from factloop.evaluation.experiments.records import JudgedClaim, JudgedText, Results

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int8]

SUPPORTED, NOT_SUPPORTED, IRRELEVANT, UNSCORED, MISSING = 0, 1, 2, 3, -1
"""Codes of verdicts; MISSING where the experiment has no result."""
VERDICTS = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT)
_CODES: Mapping[Verdict | None, int] = {verdict: code for code, verdict in enumerate(VERDICTS)} | {None: UNSCORED}

ClaimKey = tuple[str, str]
"""Group and the claim's id; for responses, whose variants may split differently, its text instead of the id."""


@dataclass(frozen=True)
class ClaimPanel:
    """The verdict of every variant on every claim in every repeat."""

    cluster: Ints
    """(n_claims,)"""
    n_clusters: int
    gold: Floats
    """(n_claims,): 1 supported, 0 not, NaN where people gave no label."""
    verdicts: Codes
    """(n_variants, n_repeats, n_claims)"""

    @property
    def n_labelled(self) -> int:
        return int((~np.isnan(self.gold)).sum())

    @property
    def n_supported(self) -> int:
        """Those that people called supported."""
        return int((self.gold == 1).sum())


@dataclass(frozen=True)
class ResponsePanel:
    """How many claims of every response got each verdict."""

    cluster: Ints
    n_clusters: int
    counts: Floats
    """(n_variants, n_repeats, n_responses, 4): supported, not supported, irrelevant, unscored; NaN where missing."""


@dataclass(frozen=True)
class SpentPanel:
    """The cost of every item in every repeat, as if its variant had been run alone; NaN where missing or unknown."""

    cluster: Ints
    n_clusters: int
    is_there: NDArray[np.bool_]
    """(n_variants, n_repeats, n_items), like all that follow."""
    cost_usd: Floats
    tokens: Floats
    wall_s: Floats


@dataclass(frozen=True)
class Panel:
    """All that figures are computed from, with the records behind it."""

    variants: tuple[str, ...]
    """The variants: the baseline first, the others in the order of the plan."""
    claims: ClaimPanel
    claim_keys: tuple[ClaimKey, ...]
    found: Mapping[tuple[str, int, ClaimKey], JudgedClaim]
    """The judgements by variant, repeat and claim."""
    responses: ResponsePanel | None
    spent: SpentPanel
    n_conflicting: int
    """Claims of responses that came with two different labels; they count as unlabelled."""


def panel_of(results: Results) -> Panel:
    """The arrays. Raises DataError where a claim comes twice in one repeat of a variant, or with two labels."""
    variants = (results.baseline, *(one.name for one in results.variants if one.name != results.baseline))
    found = _claims(results)
    keys = tuple(sorted({key for _, _, key in found}))
    clusters = _clusters(results, keys)
    codes = {name: code for code, name in enumerate(sorted({*clusters.values(), *_prompts(results)}))}
    n_clusters = max(1, len(codes))
    gold, n_conflicting = _gold(results, found.values(), keys)
    place = {key: number for number, key in enumerate(keys)}
    place_of = {name: number for number, name in enumerate(variants)}
    verdicts = np.full((len(variants), results.repeats, len(keys)), MISSING, np.int8)
    for (variant, repeat, key), one in found.items():
        verdicts[place_of[variant], repeat - 1, place[key]] = _CODES[one.judgement.verdict]
    cluster = np.array([codes[clusters[key]] for key in keys], np.int64)
    claims = ClaimPanel(cluster, n_clusters, gold, verdicts)
    if results.kind == "claims":
        usages = {(place_of[name], repeat - 1, place[key]): one.usage for (name, repeat, key), one in found.items()}
        spent = _spent(usages, verdicts.shape, cluster, n_clusters)
        return Panel(variants, claims, keys, found, None, spent, n_conflicting)
    responses, spent = _responses(results, place_of, codes, n_clusters)
    return Panel(variants, claims, keys, found, responses, spent, n_conflicting)


def _claims(results: Results) -> dict[tuple[str, int, ClaimKey], JudgedClaim]:
    """The claims by key; a text that comes again in a response counts once, a claim's id that does is an error."""
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
        raise DataError(f"{one.variant}: a result of repeat {one.repeat}, and the experiment has {repeats}")


def _prompts(results: Results) -> set[str]:
    return {one.prompt_id for one in results.responses}


def _clusters(results: Results, keys: Sequence[ClaimKey]) -> dict[ClaimKey, str]:
    """The cluster of each claim; those of responses are resampled with the prompt of their response."""
    prompt_of = {one.response_id: one.prompt_id for one in results.responses}
    return {key: prompt_of.get(key[0], key[0]) for key in keys}


def _gold(results: Results, claims: Iterable[JudgedClaim], keys: Sequence[ClaimKey]) -> tuple[Floats, int]:
    by_responses = results.kind == "responses"
    labels: dict[ClaimKey, set[bool]] = {key: set() for key in keys}
    for one in claims:
        name = plain(one.claim) if by_responses else one.claim_id
        if one.gold is not None:
            labels[one.group, name].add(one.gold)
    conflicting = [key for key in keys if len(labels[key]) > 1]
    if conflicting and not by_responses:
        raise DataError(f"the claim {conflicting[0][1]!r} comes with two labels")
    gold = [float(next(iter(labels[key]))) if len(labels[key]) == 1 else np.nan for key in keys]
    return np.array(gold, np.float64), len(conflicting)


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
    for one in results.responses:
        _refuse_repeat(one, results.repeats)
        at = place_of[one.variant], one.repeat - 1, place[one.response_id]
        if one.prompt_id != prompt_of[one.response_id]:
            raise DataError(f"the response {one.response_id!r} answers two prompts")
        if not np.isnan(counts[at]).all():
            raise DataError(f"{one.variant}, repeat {one.repeat}: the response {one.response_id!r} has two results")
        found = one.counts
        counts[at] = found.supported, found.not_supported, found.irrelevant, found.unscored
        usages[at] = one.usage
    return ResponsePanel(cluster, n_clusters, counts), _spent(usages, shape, cluster, n_clusters)


def _spent(
    usages: Mapping[tuple[int, int, int], Usage], shape: tuple[int, ...], cluster: Ints, n_clusters: int
) -> SpentPanel:
    """`usages` by place in the arrays."""
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
