"""Compares two runs: two systems on the same prompts, or two evaluators on the same responses.

Intermediate runs show what caused the difference between runs A and B, by changing the judge, the search and the
answers one at a time. The first judges A's answers and evidence with B's judge, the second also uses B's search, and
the last step changes the answers. They call only B's judge and search, because A's may no longer exist. `factloop eval
A` re-judges the answers of a run, on the stored evidence if there is no search.

A part is the change in a figure from one run to the next. The parts add up to the whole difference, because only
responses that have the figure in every run are used. If two changes interact, the effect is attributed to the later
one, so a different order may give different parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from factloop.core.errors import ConfigError
from factloop.core.records import Counts, Fingerprint
from factloop.evaluation.comparing.demands import Demand, Judged, judge_demands, metric_of, refuse_demands
from factloop.evaluation.comparing.differences import RESAMPLES, Judging, contrast, figures_of
from factloop.evaluation.comparing.pairs import (
    Key,
    Pairing,
    SeenResponse,
    agree,
    count_flips,
    missed_claims,
    pair_flips,
    pair_responses,
    paired_claims,
    seen_responses,
)
from factloop.evaluation.comparing.records import (
    Attribution,
    Changed,
    Comparison,
    ComparisonKind,
    Pair,
    PairedDifference,
    Quantity,
    QuantityFigure,
    Setting,
    Side,
    Step,
)
from factloop.evaluation.comparing.table import (
    ClaimPanel,
    ItemValues,
    ResponsePanel,
    claim_quantities,
    count_row,
    headline_of,
    majority,
    measured_quantities,
    response_quantities,
    share_quantities,
)
from factloop.evaluation.comparing.words import agreement_sentences, comparison_cautions, direction_of, losses
from factloop.evaluation.runs.longform import SHARES, AbstentionPolicy, KRule, choose_ks, is_rated
from factloop.evaluation.runs.records import JudgedResponse, ResponseLine, RunSummary
from factloop.tools.search.given import is_given

ALPHA = 0.05
NAMED = 5
SIDES = ("A", "B")


@dataclass(frozen=True)
class ComparedRun:
    """One side of a comparison: a finished run, or one system in it."""

    name: str
    summary: RunSummary
    responses: Iterable[JudgedResponse]
    """The responses are read only once."""
    system: str | None = None
    """If None, all systems are compared."""


def compare(
    first: ComparedRun,
    second: ComparedRun,
    *,
    ks: Sequence[int | Literal["median", "maximum"]] = (),
    abstention: AbstentionPolicy | None = None,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
    seed: int = 0,
    demands: Sequence[Demand] = (),
    between: Sequence[ComparedRun] = (),
) -> Comparison:
    """Compares two runs.

    `ks` and `abstention` default to those of the runs. Tests are at level `alpha` and intervals at level 1 - alpha, so
    the two never disagree. `between` holds the intermediate runs, in order.

    Evaluators are compared if the runs differ and most of their paired responses have the same text. Otherwise, systems
    are compared.

    Raises ConfigError if:
    - the runs have no prompts in common, or a run has several systems and no system is in both runs;
    - the runs count abstentions differently, and `abstention` is None;
    - a demand names a metric that is not compared.
    """
    level = round(1.0 - alpha, 12)
    policy = abstention or _shared_policy(first, second)
    by_system = _by_system(first, second)
    one_run = first.summary is second.summary
    found = pair_responses(_chosen(first), _chosen(second), by_system=by_system, with_claims=not one_run)
    kind = _kind(found, one_run=one_run)
    is_of_evaluators = kind is ComparisonKind.EVALUATORS
    pairs, other_text = _comparable(found, kind)
    prompts = {name: place for place, name in enumerate(sorted({pair.first.prompt_id for pair in pairs}))}
    sides = [[pair.first for pair in pairs], [pair.second for pair in pairs]]
    responses = _response_panel(sides, prompts, policy)
    claims, n_conflicting = paired_claims(found.claims if is_of_evaluators else (), prompts)
    chosen_ks = _ks(first, second, pairs, ks, policy)
    headline = quantities = list(response_quantities(responses, chosen_ks))
    if is_of_evaluators:
        quantities, headline = _of_evaluators(claims, responses, quantities)
    quantities = [*quantities, *measured_quantities(responses)]
    contrasts = [contrast(values, 0, 1) for values in quantities]
    metrics = [metric_of(one) for one in quantities if not is_of_evaluators or direction_of(one.quantity)]
    refuse_demands(demands, metrics, "evaluators" if is_of_evaluators else "systems")
    judging = Judging(SIDES, "responses", level, seed=seed, has_intervals=resamples > 0, group="prompt")
    differences, families = judging.judge(contrasts, headline)
    figures = figures_of(quantities, 2, seed=seed, resamples=resamples, level=level)
    agreement = agree(found, claims, seed=seed, resamples=resamples, level=level) if is_of_evaluators else None
    flips = pair_flips(found.claims, claims) if is_of_evaluators else ()
    first_verdicts, second_verdicts = (majority(side) for side in claims.verdicts)
    missed = missed_claims(first_verdicts, second_verdicts, claims.gold, lambda place: found.claims[place].second.shown)
    counted = [count_flips(SIDES, first_verdicts, second_verdicts, flips)] if is_of_evaluators else []
    settings = differing_settings(first.summary, second.summary)
    n_unpaired = len(found.only_first) + len(found.only_second) + len(other_text)
    sentences = () if agreement is None else agreement_sentences(agreement, level)
    cautions = comparison_cautions(kind, settings, one_run=one_run, n_unpaired=n_unpaired, n_conflicting=n_conflicting)
    return Comparison(
        kind=kind,
        first=_side(first, [*(pair.first for pair in found.pairs), *found.only_first], figures[0]),
        second=_side(second, [*(pair.second for pair in found.pairs), *found.only_second], figures[1]),
        settings=settings,
        abstention=policy,
        alpha=alpha,
        level=level,
        n_resamples=resamples,
        seed=seed,
        families=families,
        differences=differences,
        conclusions=(*_conclusions(differences), *sentences),
        attribution=_attribution([first, *between, second], by_system, chosen_ks, policy, judging) if between else None,
        demands=judge_demands(
            demands, Judged(SIDES, "responses", quantities, contrasts, {"B": missed}, "prompt"), alpha=alpha, seed=seed
        ),
        pairs=tuple(pairs),
        only_first=tuple(found.only_first),
        only_second=tuple(found.only_second),
        other_text=other_text,
        claims=agreement,
        flip_counts=tuple(counted),
        flips=flips,
        created_at=datetime.now(UTC),
        warnings=tuple(cautions),
    )


def _attribution(
    runs: Sequence[ComparedRun], by_system: bool, ks: Sequence[int], policy: AbstentionPolicy, judging: Judging
) -> Attribution:
    seen = [
        _SeenRun(run.name, run.summary.fingerprint, dict(seen_responses(_chosen(run), by_system=by_system)))
        for run in runs
    ]
    keys = _shared_by(seen)
    prompts = {name: place for place, name in enumerate(sorted({prompt for _, prompt in keys}))}
    panel = _response_panel([[run.responses[key].line for key in keys] for run in seen], prompts, policy)
    names = (SIDES[0], *(run.name for run in seen[1:-1]), SIDES[1])
    quantities = [_in_all(values) for values in response_quantities(panel, ks)]
    places = [*pairwise(range(len(seen))), (0, len(seen) - 1)]
    contrasts = [contrast(values, *place) for place in places for values in quantities]
    found, _ = replace(judging, sides=names).judge(contrasts, quantities)
    *parts, whole = (found[start : start + len(quantities)] for start in range(0, len(found), len(quantities)))
    steps = (
        Step(run=after.name, judge=after.fingerprint.judge, changed=tuple(_changed(before, after, keys)), parts=part)
        for (before, after), part in zip(pairwise(seen), parts, strict=True)
    )
    return Attribution(steps=tuple(steps), whole=whole)


def _of_evaluators(
    claims: ClaimPanel, responses: ResponsePanel, quantities: list[ItemValues]
) -> tuple[list[ItemValues], list[ItemValues]]:
    labelled = list(claim_quantities(claims)) if claims.n_labelled else []
    whole = [*labelled, *quantities, *share_quantities(responses)]
    return whole, [headline_of(whole)] if labelled else quantities


def _conclusions(differences: Sequence[PairedDifference]) -> list[str]:
    shown = [one.words for one in differences if one.is_headline]
    headline = next((one for one in differences if one.is_headline), None)
    left_out = [] if headline is None else list(losses(headline, differences))
    rest = [one.words for one in differences if not one.is_headline and one.words not in left_out]
    return [f"{words}." for words in (*shown, *left_out, *rest)]


def differing_settings(first: RunSummary, second: RunSummary) -> tuple[Setting, ...]:
    one = {"data": first.data, **flat_settings(first.fingerprint.model_dump(mode="json"))}
    other = {"data": second.data, **flat_settings(second.fingerprint.model_dump(mode="json"))}
    return tuple(
        Setting(name=name, first=one.get(name), second=other.get(name))
        for name in dict.fromkeys((*one, *other))
        if one.get(name) != other.get(name)
    )


def flat_settings(settings: Mapping[str, Any], before: str = "") -> dict[str, str | None]:
    """Maps the dotted name of each setting to its value as a string, or to None if it is not set."""
    found: dict[str, str | None] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat_settings(value, f"{before}{name}.")
        elif isinstance(value, list):
            found[before + name] = ", ".join(map(str, value)) or None
        else:
            found[before + name] = None if value is None else str(value)
    return found


def _shared_policy(first: ComparedRun, second: ComparedRun) -> AbstentionPolicy:
    one, other = first.summary.scores.abstention, second.summary.scores.abstention
    if one is not other:
        raise ConfigError(
            f"the runs count abstentions differently ({first.name}: {one}, {second.name}: {other}); "
            "set `--abstention` to one policy for both"
        )
    return one


def _by_system(first: ComparedRun, second: ComparedRun) -> bool:
    """Whether to pair responses by system and prompt. If each side has a single system, the prompt alone is enough."""
    ours, theirs = _systems(first), _systems(second)
    if len(ours) == 1 and len(theirs) == 1:
        if first.summary is second.summary and ours == theirs:
            raise ConfigError(f"cannot compare {first.name} with itself; select two systems or two runs")
        return False
    if not {*ours} & {*theirs}:
        raise ConfigError(
            f"{first.name} and {second.name} have no system in common; "
            f"use `--system` to select one system from A ({_some(ours)}) and one from B ({_some(theirs)})"
        )
    if first.summary is second.summary:
        raise ConfigError(f"cannot compare {first.name} with itself; use `--system` to select two of {_some(ours)}")
    return True


def _systems(run: ComparedRun) -> list[str]:
    names = sorted({line.system for line in run.summary.responses})
    if not names:
        raise ConfigError(f"{run.name} contains no responses, so there is nothing to compare")
    if run.system is None:
        return names
    if run.system not in names:
        raise ConfigError(f"{run.name} contains no responses by {run.system}; choose from {_some(names)}")
    return [run.system]


def _some(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _chosen(run: ComparedRun) -> Iterator[JudgedResponse]:
    return (one for one in run.responses if run.system in (None, one.system))


def _kind(found: Pairing, *, one_run: bool) -> ComparisonKind:
    n_same = sum(pair.same_text for pair in found.pairs)
    return ComparisonKind.EVALUATORS if not one_run and 2 * n_same > len(found.pairs) else ComparisonKind.SYSTEMS


def _comparable(found: Pairing, kind: ComparisonKind) -> tuple[list[Pair], tuple[ResponseLine, ...]]:
    if kind is ComparisonKind.SYSTEMS:
        return found.pairs, ()
    kept = [pair for pair in found.pairs if pair.same_text]
    return kept, tuple(pair.first for pair in found.pairs if not pair.same_text)


def _response_panel(
    sides: Sequence[Sequence[ResponseLine]], prompts: Mapping[str, int], policy: AbstentionPolicy
) -> ResponsePanel:
    counts = np.array([[[count_row(line.as_counted) for line in side]] for side in sides], np.float64)
    if policy is AbstentionPolicy.EXCLUDE:
        counts[np.array([[[line.abstained for line in side]] for side in sides])] = np.nan
    cluster = np.array([prompts[line.prompt_id] for line in sides[0]], np.int64)
    measured = {}
    for one in SHARES:
        values = np.array([[[one.value(line, None, policy) for line in side]] for side in sides], np.float64)
        if (~np.isnan(values)).any(axis=(1, 2)).all():
            measured[Quantity(one.quantity)] = values
    return ResponsePanel(cluster, len(prompts), counts, measured)


def _ks(
    first: ComparedRun,
    second: ComparedRun,
    pairs: Sequence[Pair],
    ks: Sequence[int | Literal["median", "maximum"]],
    abstention: AbstentionPolicy,
) -> list[int]:
    """Resolves `ks` over the compared responses that count in means. If `ks` is empty, returns the Ks that both runs
    use, or else those given for either run, or else all."""
    if ks:
        lines = [line for pair in pairs for line in (pair.first, pair.second)]
        return sorted(choice.k for choice in choose_ks((one for one in lines if is_rated(one, abstention)), ks))
    chosen = [{choice.k for choice in run.summary.scores.ks} for run in (first, second)]
    given = {choice.k for run in (first, second) for choice in run.summary.scores.ks if choice.rule is KRule.GIVEN}
    return sorted(chosen[0] & chosen[1] or given or chosen[0] | chosen[1])


def _side(run: ComparedRun, lines: Sequence[ResponseLine], figures: tuple[QuantityFigure, ...]) -> Side:
    return Side(
        run=run.name,
        data=run.summary.data,
        judge=run.summary.fingerprint.judge,
        systems=tuple(sorted({line.system for line in lines})),
        n_responses=len(lines),
        n_abstained=sum(line.abstained for line in lines),
        n_unscored_responses=sum(line.unscored for line in lines),
        counts=Counts.sum_of(line.as_counted for line in lines),
        figures=figures,
        usage=run.summary.usage,
    )


_OF_SEARCH = {"search_tools", "max_searches", "results_per_search", "passage_characters", "embeddings"}
_OF_VERSIONS = {"factloop_version", "versions"}
_OF_NEITHER = {"seed", "prompt_lines"}


@dataclass(frozen=True)
class _SeenRun:
    name: str
    fingerprint: Fingerprint
    responses: Mapping[Key, SeenResponse]


def _shared_by(runs: Sequence[_SeenRun]) -> list[Key]:
    keys = set.intersection(*({*run.responses} for run in runs))
    if not keys:
        raise ConfigError("cannot attribute the difference: the runs have no prompts in common")
    return sorted(keys, key=lambda key: (key[1], key[0]))


def _in_all(values: ItemValues) -> ItemValues:
    has_all = ~np.isnan(values.values).any(axis=0)
    return replace(values, values=np.where(has_all, values.values, np.nan))


def _changed(before: _SeenRun, after: _SeenRun, keys: Sequence[Key]) -> Iterator[Changed]:
    one, other = (run.fingerprint.model_dump(mode="json", exclude=_OF_NEITHER) for run in (before, after))
    answers = [(before.responses[key], after.responses[key]) for key in keys]
    is_told = one["snapshots"] and other["snapshots"]
    differing = {name for name in one if one[name] != other[name] and (is_told or name != "snapshots")}
    keeps_evidence = (
        any(map(is_given, other["search_tools"]))
        and not any(map(is_given, one["search_tools"]))
        and all(second.sources <= first.sources for first, second in answers)
    )
    if differing - _OF_SEARCH - _OF_VERSIONS - {"repeats"}:
        yield Changed.JUDGE
    if differing & _OF_SEARCH and not keeps_evidence:
        yield Changed.SEARCH
    if any(first.digest != second.digest for first, second in answers):
        yield Changed.ANSWERS
    if "repeats" in differing:
        yield Changed.COUNTING
    if differing & _OF_VERSIONS:
        yield Changed.VERSIONS
