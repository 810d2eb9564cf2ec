"""What an evaluator may be used for, by limits on its figures; and what an audit leaves out, or weakens.

Godbole & Jia (sections 6.1 to 6.3) ask for such a reading of every evaluator and give no limits; those of `CRITERIA`
are this project's. A use is allowed only if the less favourable end of the interval is good, and advised against only
if the more favourable end is poor, too. Where the interval of a rate or an order holds both poor and fair values, there
are too few claims or systems to tell. A size of error, which noise alone puts above 0, then asks for care. Orders of
systems, chunks and wording may have no interval: then the figure itself decides.

Every use takes verdicts that are better than chance, which have a balanced accuracy of 0.5: an evaluator that rejects
everything stops every false claim. So a use is advised against where the interval of the balanced accuracy is not above
0.5, whatever its own figures are, and not known where there are too few claims of either kind to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

import numpy as np

from factloop.evaluation.audit.chunking import ChunkingBias, chunked_evaluators
from factloop.evaluation.audit.figures import AuditFigure, Group
from factloop.evaluation.audit.ranking import Order, Ranking
from factloop.evaluation.audit.report import (
    Advice,
    AdviceFigure,
    AuditAt,
    AuditSettings,
    Leave,
    Measure,
    Notice,
    NoticeKind,
    Reason,
    Use,
)
from factloop.evaluation.audit.surface import SurfaceBias
from factloop.evaluation.audit.table import (
    THRESHOLD,
    Level,
    PredictionTable,
    any_within,
    are_known,
    cells_of,
    clusters_of,
    numbered,
)
from factloop.evaluation.statistics.correlation import Correlation

CHANCE = 0.5
"""Balanced accuracy of verdicts that have nothing to do with the claims, however many of them say "supported"."""
FEWEST_CLAIMS = 30
"""With fewer a rate has a standard error of up to 0.09 and decides nothing."""
FEWEST_CLUSTERS = 10
"""Prompts or responses, the claims of which resemble each other: percentile intervals over fewer are far too narrow."""
CLUSTERS_WARNED = 30
"""With fewer, percentile intervals are known to be too narrow."""
FEWEST_RESAMPLES = 100
"""With fewer the ends of an interval are those of a handful of draws."""


@dataclass(frozen=True)
class Criterion:
    """The limits of one figure: good from, or up to, `good`; poor beyond `poor`."""

    measure: Measure
    good: float
    poor: float
    fewest: int = FEWEST_CLAIMS
    """Claims, systems or pairs without which nothing is said."""
    rises: bool = True
    """Whether higher is better."""
    role: Literal["needed", "optional", "against"] = "needed"
    """Without a needed figure nothing is said of the use; one `against` counts only where it is poor."""
    few: int = 0
    """Below so many the figure asks for care, whatever it is."""


_RATES = tuple(Criterion(one, good=0.8, poor=0.6) for one in (Measure.TPR, Measure.TNR))
"""At 0.8 at most one claim in five is sorted wrongly, of either kind; a coin has 0.5."""


def _wording(drop: Measure, *rates: Measure) -> tuple[Criterion, ...]:
    """A rate may fall by a tenth there; after 0.2 twice as many claims are sorted wrongly as a good rate allows."""
    return (Criterion(drop, good=0.1, poor=0.2, rises=False), *(Criterion(one, good=0.6, poor=0.6) for one in rates))


CRITERIA: Mapping[Use, tuple[Criterion, ...]] = {
    Use.FILTER_CLAIMS: _RATES,
    # Two points: the systems of a data set often lie no further apart. Five: more than the error rate of a good system.
    Use.ERROR_RATE: (Criterion(Measure.MEAN_BIAS, good=0.02, poor=0.05, fewest=3, rises=False),),
    Use.HEADROOM: (Criterion(Measure.HEADROOM_BIAS, good=0.02, poor=0.05, fewest=3, rises=False),),
    # The paper's evaluators order 20 to 26 % of the pairs wrongly. Of the differences 80 % is the power that tests are
    # commonly planned for (Cohen 1988, 2.4); with fewer than five of them it is hardly tried.
    Use.COMPARE_SYSTEMS: (
        Criterion(Measure.WRONG_PAIRS, good=0.1, poor=0.25, fewest=10, rises=False),
        Criterion(Measure.REVERSED_PAIRS, good=0.0, poor=inf, fewest=10, rises=False),
        Criterion(Measure.FOUND_PAIRS, good=0.8, poor=0.5, fewest=1, few=5, role="optional"),
    ),
    # Kendall's tau of 0.8: at most one pair in ten is reversed. Of 0.5: a quarter. Five systems make ten pairs.
    Use.RANK_SYSTEMS: (
        Criterion(Measure.TAU, good=0.8, poor=0.5, fewest=5),
        Criterion(Measure.FOUND_PAIRS, good=0.0, poor=0.0, fewest=1, few=5),
    ),
    # In the paper 5 % change the other way round by noise alone, and above 10 % is a marked loss (section 4.2).
    Use.LONG_DOCUMENTS: (
        Criterion(Measure.LOST_ACROSS_CHUNKS, good=0.05, poor=0.1, rises=False),
        *(Criterion(one.measure, good=0.8, poor=0.6, role="against") for one in _RATES),
    ),
    Use.PARAPHRASED_CLAIMS: _wording(Measure.TPR_DROP, Measure.TPR_LEAST_SIMILAR, Measure.TNR_LEAST_SIMILAR),
    Use.COPIED_CLAIMS: _wording(Measure.TNR_DROP, Measure.TNR_MOST_SIMILAR, Measure.TPR_MOST_SIMILAR),
}
_CAUTION = (Leave.YES, Leave.WITH_CARE, Leave.UNKNOWN, Leave.NO)
Outcome = tuple[Leave, Reason]


@dataclass(frozen=True)
class Finding:
    """A measured number; `value` is None where it is undefined. Rates, biases and shares are between 0 and 1."""

    value: float | None
    n: int
    """Claims, pairs or systems that it rests on."""
    low: float | None = None
    high: float | None = None
    n_clusters: int | None = None
    """Prompts or responses that the claims belong to, where that is known."""


Findings = Mapping[Measure, Finding]
"""What was measured of one evaluator on one group."""


def advise(found: Findings) -> tuple[Advice, ...]:
    """The advice on each use, in the order of `Use`."""
    return tuple(_advice(use, found) for use in Use)


def _advice(use: Use, found: Findings) -> Advice:
    leave, reason = _beyond_chance(found, _by_criteria(CRITERIA[use], found))
    figures = [
        AdviceFigure(
            measure=one.measure,
            value=figure.value,
            low=figure.low,
            high=figure.high,
            n=figure.n,
            good=one.good if one.role != "against" and one.good != one.poor else None,
            poor=one.poor if isfinite(one.poor) else None,
        )
        for one in CRITERIA[use]
        if (figure := found.get(one.measure)) is not None
    ]
    return Advice(use=use, leave=leave, reason=reason, figures=tuple(figures))


def _by_criteria(criteria: Sequence[Criterion], found: Findings) -> Outcome:
    outcomes: list[Outcome] = []
    for one in criteria:
        figure = found.get(one.measure)
        lacks = _lacking(figure, one.fewest)
        if figure is not None and lacks is None:
            outcome = _judged(one, figure)
            if one.role != "against" or outcome[0] is Leave.NO:
                outcomes.append(outcome)
        elif one.measure is Measure.FOUND_PAIRS and lacks is not Reason.NOT_MEASURED:
            outcomes.append((Leave.UNKNOWN, Reason.NO_DIFFERENCES))
        if lacks is not None and one.role == "needed":
            return Leave.UNKNOWN, Reason.NO_DIFFERENCES if one.measure is Measure.FOUND_PAIRS else lacks
    return max(outcomes, key=lambda one: _CAUTION.index(one[0]))


def _lacking(figure: Finding | None, fewest: int) -> Reason | None:
    """Why nothing can be said of a figure; None where something can."""
    if figure is None:
        return Reason.NOT_MEASURED
    if figure.n < fewest:
        return Reason.TOO_FEW
    if figure.n_clusters is not None and figure.n_clusters < FEWEST_CLUSTERS:
        return Reason.TOO_FEW_CLUSTERS
    return Reason.UNDEFINED if figure.value is None else None


def _judged(by: Criterion, figure: Finding) -> Outcome:
    value = 0.0 if figure.value is None else figure.value
    low, high = value if figure.low is None else figure.low, value if figure.high is None else figure.high
    if by.few > figure.n:
        return Leave.WITH_CARE, Reason.FEW_DIFFERENCES
    worst, best = (low, high) if by.rises else (-high, -low)
    good, poor = (by.good, by.poor) if by.rises else (-by.good, -by.poor)
    if worst >= good:
        return Leave.YES, Reason.WITHIN_LIMITS
    if best < poor:
        return Leave.NO, Reason.BEYOND_LIMITS
    if by.rises and worst < poor:
        return Leave.UNKNOWN, Reason.WIDE_INTERVAL
    return Leave.WITH_CARE, Reason.BETWEEN_LIMITS


def _beyond_chance(found: Findings, outcome: Outcome) -> Outcome:
    """The outcome, where the verdicts are better than chance; otherwise at most that it is not known."""
    needed = [found.get(one) for one in (Measure.BALANCED_ACCURACY, Measure.TPR, Measure.TNR)]
    if any(_lacking(one, FEWEST_CLAIMS) for one in needed):
        is_open = outcome[0] in (Leave.YES, Leave.WITH_CARE)
        return (Leave.UNKNOWN, Reason.CHANCE_NOT_EXCLUDED) if is_open else outcome
    accuracy = found[Measure.BALANCED_ACCURACY]
    least = accuracy.value if accuracy.low is None else accuracy.low
    return outcome if least is not None and least > CHANCE else (Leave.NO, Reason.NOT_ABOVE_CHANCE)


def findings_of(at: AuditAt, evaluator: str, group: Group, datasets: Sequence[str]) -> Findings:
    """The findings at claim level. `datasets` are those of the group. What is pooled is taken over all its claims.

    Raises StopIteration for an evaluator or group that was not audited.
    """
    rates, biases = at.rates.find(evaluator, group), at.quantification.find(evaluator, group)
    headrooms = [at.quantification.find(evaluator, Group(kind="dataset", name=name)) for name in datasets]
    n_compared = sum(one.n_systems for one in headrooms if one.headroom_bias.value is not None)
    headroom = (
        _magnitude(_figure(biases.headroom_bias, n_compared))
        if group.kind == "dataset"
        else _figure(biases.headroom_absolute, n_compared)
    )
    return {
        Measure.TPR: _figure(rates.tpr),
        Measure.TNR: _figure(rates.tnr),
        Measure.BALANCED_ACCURACY: _figure(rates.balanced_accuracy),
        Measure.MEAN_BIAS: _figure(biases.mean_absolute, biases.n_systems),
        Measure.HEADROOM_BIAS: headroom,
        **_order(at, evaluator, group, datasets),
        **_lost(at.chunking, evaluator, group),
        **_by_wording(at.surface, evaluator, group),
    }


def _figure(estimate: AuditFigure, n: int | None = None) -> Finding:
    """`n` where the figure rests on something else than claims."""
    n = estimate.n if n is None else n
    return Finding(estimate.value, n, estimate.low, estimate.high, estimate.n_clusters)


def _magnitude(one: Finding) -> Finding:
    """The finding without its sign; the interval starts at 0 where its ends lie on both sides."""
    if one.value is None or one.low is None or one.high is None:
        return Finding(None if one.value is None else abs(one.value), one.n, n_clusters=one.n_clusters)
    near, far = sorted((abs(one.low), abs(one.high)))
    return Finding(abs(one.value), one.n, 0.0 if one.low <= 0.0 <= one.high else near, far, one.n_clusters)


def _order(at: AuditAt, evaluator: str, group: Group, datasets: Sequence[str]) -> dict[Measure, Finding]:
    def is_here(one: Ranking) -> bool:
        return (one.evaluator, one.level) == (evaluator, Level.CLAIM) and one.dataset in datasets

    found = [one for one in at.rankings if is_here(one)]
    is_one = group.kind == "dataset"
    n_ranked = sum(len(one.systems) for one in found if is_one or one.kendall.value is not None)
    wanted = (evaluator, Level.CLAIM, group)
    of_group = found[0] if is_one else next(m for m in at.mean_rankings if (m.evaluator, m.level, m.group) == wanted)
    tau = of_group.kendall.value if isinstance(of_group.kendall, Correlation) else of_group.kendall
    # Over the pairs of all the data sets together: each may have few that differ by the labels.
    apart = [pair for one in found for pair in one.pairs if pair.labelled is not Order.SAME]
    n_found = sum(not pair.is_wrong for pair in apart)
    return {
        Measure.WRONG_PAIRS: Finding(of_group.share_wrong, of_group.n_pairs),
        Measure.REVERSED_PAIRS: Finding(of_group.share_reversed, of_group.n_pairs),
        Measure.FOUND_PAIRS: Finding(n_found / len(apart) if apart else None, len(apart)),
        Measure.TAU: Finding(tau, n_ranked),
    }


def _lost(biases: Iterable[ChunkingBias], evaluator: str, group: Group) -> dict[Measure, Finding]:
    """The largest loss over all sizes of chunks in which the evaluator read; said of its chunked column, too.

    Of the claims that pass with the whole document: what never passes cannot be lost.
    """
    here = [one.across for one in biases if one.group.is_like(group) and evaluator in (one.evaluator, one.chunked)]
    lost = [Finding(one.n_lost / one.n_passed if one.n_passed else None, one.n_passed) for one in here]
    most = max(lost, key=lambda one: -1.0 if one.value is None else one.value, default=None)
    return {} if most is None else {Measure.LOST_ACROSS_CHUNKS: most}


def _by_wording(biases: Iterable[SurfaceBias], evaluator: str, group: Group) -> dict[Measure, Finding]:
    """The rates by wording; empty where all claims are equally similar, and so fall into one bin.

    Of what is copied most holds, and of what is reworded little: a rate of fewer than 30 claims there is that of all.
    """
    here = (one for one in biases if one.evaluator == evaluator and one.group.is_like(group))
    bins = [each for one in here for each in one.bins if each.low is not None]
    if len(bins) < 2:
        return {}
    tprs = [Finding(one.tpr, one.n_attributable) for one in bins]
    tnrs = [Finding(one.tnr, one.n_unattributable) for one in bins]

    def or_all(there: Finding, every: Sequence[Finding]) -> Finding:
        return there if there.n >= FEWEST_CLAIMS else _together(every)

    return {
        Measure.TPR_LEAST_SIMILAR: tprs[0],
        Measure.TNR_LEAST_SIMILAR: or_all(tnrs[0], tnrs),
        Measure.TPR_DROP: _drop(tprs[0], tprs),
        Measure.TNR_MOST_SIMILAR: tnrs[-1],
        Measure.TPR_MOST_SIMILAR: or_all(tprs[-1], tprs),
        Measure.TNR_DROP: _drop(tnrs[-1], tnrs),
    }


def _together(bins: Sequence[Finding]) -> Finding:
    """The rate in all bins together."""
    n = sum(one.n for one in bins)
    return Finding(sum((one.value or 0.0) * one.n for one in bins) / n if n else None, n)


def _drop(there: Finding, bins: Sequence[Finding]) -> Finding:
    every = _together(bins)
    if every.value is None or there.value is None:
        return Finding(None, there.n)
    return Finding(round(every.value - there.value, 9), there.n)  # .8 less .7 is a little more than .1


def left_out(table: PredictionTable) -> tuple[Notice, ...]:
    """Parts of the audit that this table does not allow."""
    return tuple(_left_out(table))


def _left_out(table: PredictionTable) -> Iterator[Notice]:
    yield from (Notice(kind=NoticeKind.NO_SCORES, about=name) for name in table.without_scores)
    absent = {
        NoticeKind.NO_TEXT: not table.has_text,
        NoticeKind.NO_CHUNKS: not chunked_evaluators(table.scores),
        NoticeKind.NO_TASKS: table.task is None,
        NoticeKind.NO_PROMPTS: table.prompt is None,
        NoticeKind.ONE_EVALUATOR: len(table.scores) == 1,
    }
    yield from (Notice(kind=kind) for kind, is_absent in absent.items() if is_absent)
    n_datasets, dataset = len(table.dataset.names), table.dataset.codes.astype(np.int64)
    cells = cells_of(table)
    n_systems = np.bincount(cells.dataset[are_known(table.system.names)[cells.system]], minlength=n_datasets)
    n_claims, n_unknown, n_errors, n_others = (
        np.bincount(dataset[rows], minlength=n_datasets)
        for rows in (table.label >= 0, ~table.is_of_known_system, table.label == 0, table.label == 1)
    )
    for place, name in enumerate(table.dataset.names):
        if n_unknown[place]:
            n, of = int(n_unknown[place]), int(n_claims[place])
            yield Notice(kind=NoticeKind.UNKNOWN_SYSTEM, about=name, n=n, of=of)
        if n_systems[place] in (1, 2):
            yield Notice(kind=NoticeKind.ONE_SYSTEM if n_systems[place] == 1 else NoticeKind.TWO_SYSTEMS, about=name)
        if not n_errors[place]:
            yield Notice(kind=NoticeKind.NO_UNATTRIBUTABLE, about=name)
        if not n_others[place]:
            yield Notice(kind=NoticeKind.NO_ATTRIBUTABLE, about=name)
    for name, scores in table.scores.items():
        if not ((scores > 0.0) & (scores < 1.0)).any():
            yield Notice(kind=NoticeKind.LABELS_ONLY, about=name)


def warnings(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> tuple[Notice, ...]:
    """Warnings for readers of the figures."""
    return (*_weaknesses(table, at), *_intervals(table, at, settings))


def _weaknesses(table: PredictionTable, at: AuditAt) -> Iterator[Notice]:
    if table.n_effective is not None:
        yield Notice(kind=NoticeKind.WEIGHTED, n=round(table.n_effective), of=table.n_rows)
    response, n_responses = numbered(table.response.codes)
    for name, scores in table.scores.items():
        is_missing = np.isnan(scores)
        if is_missing.any():
            yield Notice(kind=NoticeKind.UNSCORED, about=name, n=int(is_missing.sum()), of=table.n_rows)
            lacks = any_within(is_missing, response, n_responses)
            n_wrong = int((lacks & any_within(scores < THRESHOLD, response, n_responses)).sum())
            if n_wrong:
                yield Notice(kind=NoticeKind.UNSCORED_RESPONSES, about=name, n=n_wrong, of=int(lacks.sum()))
    for one in at.chunking:
        if one.group.kind == "all" and not one.within.n + one.across.n:
            yield Notice(kind=NoticeKind.NO_LONG_DOCUMENT, about=one.chunked)


def _intervals(table: PredictionTable, at: AuditAt, settings: AuditSettings) -> Iterator[Notice]:
    if not settings.n_resamples:
        yield Notice(kind=NoticeKind.NO_RESAMPLES)
        return
    if settings.n_resamples < FEWEST_RESAMPLES:
        yield Notice(kind=NoticeKind.FEW_RESAMPLES, n=settings.n_resamples)
    if at.rates.basis.n_clusters < 2:
        yield Notice(kind=NoticeKind.ONE_CLUSTER)
        return
    _, first = np.unique(clusters_of(table), return_index=True)
    of_dataset = np.bincount(table.dataset.codes[first], minlength=len(table.dataset.names)).tolist()
    for name, n in zip(table.dataset.names, of_dataset, strict=True):
        if n < CLUSTERS_WARNED:
            yield Notice(kind=NoticeKind.FEW_CLUSTERS, about=name, n=n)
