"""Two evaluators claim by claim: how far they agree, and which of them is nearer to people's labels.

Intervals are percentile bootstraps over whole prompts, as claims of one response resemble each other; a resample in
which a figure is undefined is passed over. There is none where the claims (those of a label, for balanced accuracy)
come from one prompt, and where every resample gives the same. That of the difference in agreement with labels goes
with its test, by turning the signs of whole prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Undefined, ends
from factloop.core.records import Verdict
from factloop.evaluation.comparing.matching import flip_of
from factloop.evaluation.comparing.paired import sign_flip_test, simultaneous_interval
from factloop.evaluation.comparing.pairs import ClaimPair
from factloop.evaluation.comparing.records import ClaimAgreement, ClaimFigure, Flip, LabelComparison
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval
from factloop.evaluation.statistics.discrete_tests import DiscreteTest
from factloop.evaluation.statistics.kappa import kappas
from factloop.evaluation.statistics.significance import mcnemar
from factloop.evaluation.statistics.stratified_means import StratifiedMean

Floats = NDArray[np.float64]

VERDICTS = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None)
"""The order of rows and columns; None is a claim without a verdict."""
RIGHT = {
    FactLabel.SUPPORTED: Verdict.SUPPORTED,
    FactLabel.NOT_SUPPORTED: Verdict.NOT_SUPPORTED,
    FactLabel.IRRELEVANT: Verdict.IRRELEVANT,
}
"""The verdict that agrees with a label."""
_SCORED = slice(0, 3)
_BINARY = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)


class Resampler:
    """Figures of counts by prompt, with intervals; every figure draws its prompts anew."""

    def __init__(self, rng: np.random.Generator, resamples: int, level: float) -> None:
        self.rng, self.resamples, self.level = rng, resamples, level

    def figure(self, counts: Floats, statistic: Callable[[Floats], Floats], n: int, why: Undefined) -> ClaimFigure:
        """`counts` is (n_prompts, ...), in four dimensions with the label first among the rest; `statistic` takes
        (n_resamples, ...) and gives NaN where it is undefined.
        """
        (value,) = statistic(counts.sum(axis=0)[None])
        if np.isnan(value):
            return ClaimFigure(value=None, n=n, undefined=why)
        return ClaimFigure(value=_within(float(value)), **ends(self._interval(counts, statistic)), n=n)

    def tested(self, figure: ClaimFigure, apart: StratifiedMean, test: DiscreteTest | None) -> ClaimFigure:
        """The figure of a difference with the interval that goes with its test."""
        if test is None or not self.resamples:
            return figure
        found = simultaneous_interval(apart, test.p, self.level, 1, self.rng)
        interval = None if found is None else (_within(found[0]), _within(found[1]))
        return figure.model_copy(update={"low": None, "high": None, **ends(interval)})

    def _interval(self, counts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, float] | None:
        by_label = counts.sum(axis=(2, 3)) if counts.ndim > 3 else counts.reshape(len(counts), -1).sum(axis=1)[:, None]
        if np.count_nonzero(by_label, axis=0).min() < 2 or not self.resamples:
            return None
        interval = percentile_interval(bootstrap(counts, statistic, self.rng, self.resamples), self.level)
        return None if interval is None else (_within(interval[0]), _within(interval[1]))


def agree(
    claims: Sequence[ClaimPair], *, n_responses: int, n_only_first: int, n_only_second: int, resampler: Resampler
) -> ClaimAgreement:
    """The table of both sides' verdicts, and what follows from it."""
    tables = _tables(claims)
    table = tables.sum(axis=0)
    scored = tables[:, _SCORED, _SCORED]
    n = int(scored.sum())
    return ClaimAgreement(
        n_responses=n_responses,
        n_matched=len(claims),
        n_only_first=n_only_first,
        n_only_second=n_only_second,
        table=tuple(tuple(int(cell) for cell in row) for row in table),
        agreement=resampler.figure(scored, _equal_share, n, Undefined.NOT_BOTH_SCORED),
        kappa=resampler.figure(scored, kappas, n, Undefined.ONE_CLASS if n else Undefined.NOT_BOTH_SCORED),
    )


def compare_with_labels(claims: Sequence[ClaimPair], *, resampler: Resampler) -> LabelComparison | None:
    """Compares both evaluators with people's labels; None if no matched claim has a label."""
    labelled = [pair for pair in claims if pair.first.label is not None or pair.second.label is not None]
    if not labelled:
        return None
    agreed, judged = _agreed_and_judged(labelled)
    right = _right(judged)
    (neither, second_only), (first_only, both) = ((int(cell) for cell in row) for row in right.sum(axis=0))
    binary = _binary(judged)
    outcomes = _outcomes(binary)
    apart = _apart(right)
    test = sign_flip_test(apart)
    shares = _three(resampler, right, _first_share, _second_share, len(judged), Undefined.NOT_BOTH_SCORED)
    return LabelComparison(
        n_labelled=len(labelled),
        n_conflicting=len(labelled) - len(agreed),
        n_unscored=len(agreed) - len(judged),
        both_right=both,
        first_right=first_only,
        second_right=second_only,
        neither_right=neither,
        agreement=(*shares[:2], resampler.tested(shares[2], apart, test)),
        p_mcnemar=mcnemar(first_only, second_only) if judged else None,
        p_by_prompt=None if test is None else test.p,
        balanced_accuracy=_three(
            resampler, outcomes, _first_balanced, _second_balanced, len(binary), Undefined.CLASS_MISSING
        ),
    )


def label_gains(claims: Sequence[ClaimPair]) -> dict[str, StratifiedMean]:
    """By how much the second evaluator is nearer to people's labels, by prompts: `agreement`, `balanced_accuracy`.

    Empty if no matched claim has a label.
    """
    labelled = [pair for pair in claims if pair.first.label is not None or pair.second.label is not None]
    if not labelled:
        return {}
    _, judged = _agreed_and_judged(labelled)
    outcomes = _outcomes(_binary(judged))
    balanced = StratifiedMean((outcomes[..., 0, 1] - outcomes[..., 1, 0]).T, outcomes.sum(axis=(2, 3)).T)
    return {"agreement": _apart(_right(judged)), "balanced_accuracy": balanced}


def _agreed_and_judged(labelled: Sequence[ClaimPair]) -> tuple[list[ClaimPair], list[ClaimPair]]:
    """The claims to which the two runs give no different labels, and those of them that both judged."""
    agreed = [pair for pair in labelled if None in (pair.first.label, pair.second.label) or _same_label(pair)]
    return agreed, [pair for pair in agreed if None not in (pair.first.verdict, pair.second.verdict)]


def _binary(judged: Sequence[ClaimPair]) -> list[ClaimPair]:
    return [pair for pair in judged if {RIGHT[_label(pair)], pair.first.verdict, pair.second.verdict} <= {*_BINARY}]


def _right(judged: Sequence[ClaimPair]) -> Floats:
    """(n_prompts, 2, 2): a row for whether the first is right, a column for the second."""
    return _by_prompt(judged, (2, 2), lambda pair: tuple(int(one) for one in _is_right(pair)))


def _outcomes(binary: Sequence[ClaimPair]) -> Floats:
    """(n_prompts, 2, 2, 2): the same by label, supported first."""
    return _by_prompt(binary, (2, 2, 2), lambda pair: (_BINARY.index(RIGHT[_label(pair)]), *map(int, _is_right(pair))))


def _apart(right: Floats) -> StratifiedMean:
    return StratifiedMean((right[:, 0, 1] - right[:, 1, 0])[None], right.sum(axis=(1, 2))[None])


def flips(claims: Iterable[ClaimPair]) -> tuple[Flip, ...]:
    """The claims on which both sides have a verdict, and not the same."""
    return tuple(
        Flip(
            system=pair.system,
            prompt_id=pair.prompt_id,
            response_id=pair.response_id,
            first_claim_id=pair.first.id,
            second_claim_id=pair.second.id,
            claim=pair.first.shown,
            first=turned[0],
            second=turned[1],
            first_rationale=pair.first.rationale,
            second_rationale=pair.second.rationale,
            label=pair.first.label or pair.second.label,
        )
        for pair in claims
        if (turned := flip_of(pair.first.verdict, pair.second.verdict)) is not None
    )


def _tables(claims: Sequence[ClaimPair]) -> Floats:
    return _by_prompt(
        claims, (4, 4), lambda pair: (VERDICTS.index(pair.first.verdict), VERDICTS.index(pair.second.verdict))
    )


def _by_prompt(
    claims: Sequence[ClaimPair], shape: tuple[int, ...], cell: Callable[[ClaimPair], tuple[int, ...]]
) -> Floats:
    """(n_prompts, *shape): how many claims of each prompt fall into each cell; at least one row."""
    places = {prompt: place for place, prompt in enumerate(sorted({pair.prompt_id for pair in claims}))}
    counts = np.zeros((max(1, len(places)), *shape))
    for pair in claims:
        counts[places[pair.prompt_id], *cell(pair)] += 1
    return counts


def _same_label(pair: ClaimPair) -> bool:
    return pair.first.label is pair.second.label


def _label(pair: ClaimPair) -> FactLabel:
    label = pair.first.label or pair.second.label
    assert label is not None
    return label


def _is_right(pair: ClaimPair) -> tuple[bool, bool]:
    right = RIGHT[_label(pair)]
    return pair.first.verdict is right, pair.second.verdict is right


def _three(
    resampler: Resampler,
    counts: Floats,
    first: Callable[[Floats], Floats],
    second: Callable[[Floats], Floats],
    n: int,
    undefined: Undefined,
) -> tuple[ClaimFigure, ClaimFigure, ClaimFigure]:
    """The figures of the first side, of the second, and of their difference."""
    return (
        resampler.figure(counts, first, n, undefined),
        resampler.figure(counts, second, n, undefined),
        resampler.figure(counts, lambda drawn: second(drawn) - first(drawn), n, undefined),
    )


def _equal_share(tables: Floats) -> Floats:
    return _share(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2)))


def _first_share(right: Floats) -> Floats:
    """The first side's share right; tables have a row for whether it is right, and a column for the second side."""
    return _share(right[..., 1, :].sum(axis=-1), right.sum(axis=(-2, -1)))


def _second_share(right: Floats) -> Floats:
    return _share(right[..., :, 1].sum(axis=-1), right.sum(axis=(-2, -1)))


def _first_balanced(outcomes: Floats) -> Floats:
    """The mean of the first side's shares on both labels; `outcomes` are (n, label, first right, second right)."""
    return np.asarray(_first_share(outcomes).mean(axis=-1))


def _second_balanced(outcomes: Floats) -> Floats:
    return np.asarray(_second_share(outcomes).mean(axis=-1))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))


def _within(value: float) -> float:
    return min(1.0, max(-1.0, value))
