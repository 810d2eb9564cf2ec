"""Coverage of corrected precision where labels lie outside the run, in part inside, and inside: see `chosen_labels`.

Runs of 70 prompts with four claims each, whose shares supported differ from prompt to prompt, and a judge with TPR 0.92
and FPR 0.12. Intervals of 95 % of the precision on such prompts, and of this run's own, shall hold the truth in 95 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Row, compared
from factloop.core.records import Counts
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import Estimate
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims
from factloop.evaluation.labels.sampling import (
    Pilot,
    probabilities,
    probability_after,
    share_of_draw,
    spreads,
    systematic_draw,
)

N_PROMPTS, A_PROMPT, N_LABELLED = 70, 4, 35
TPR, FPR, SPREAD = 0.92, 0.12, 0.8
COVERED, OFF = 0.95, 0.015
DRAWS = ("other prompts", "half in the run", "half of the run", "all of the run", "claims at random", "labels next",
         "labels next twice")  # fmt: skip
_OF_RUN = DRAWS[2:]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """Labels and verdicts of claims, with their scores; each (n_prompts, A_PROMPT)."""

    labels: Ints
    verdicts: Ints
    scores: Floats


def judged(rng: np.random.Generator, n_prompts: int) -> Judged:
    """Claims of prompts whose log-odds of support are normal with mean 1; scores know a little more than verdicts."""
    odds = 1.0 + rng.normal(0.0, SPREAD, n_prompts)
    labels = rng.random((n_prompts, A_PROMPT)) < (1.0 / (1.0 + np.exp(-odds)))[:, None]
    verdicts = rng.random(labels.shape) < np.where(labels, TPR, FPR)
    is_sure = rng.random(labels.shape) < np.where(labels == verdicts, 0.8, 0.2)
    scores = np.where(verdicts, np.where(is_sure, 0.99, 0.7), np.where(is_sure, 0.01, 0.3))
    return Judged(labels.astype(np.int64), verdicts.astype(np.int64), scores)


def true_precision() -> float:
    """The precision on such prompts: the mean of the logistic function of a normal one, by quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ (1.0 / (1.0 + np.exp(-(1.0 + SPREAD * points)))) / weights.sum())


def labelled(draw: str, run: Judged, rng: np.random.Generator) -> LabelledClaims:
    """The labelled claims of one repetition."""
    if draw in ("claims at random", "labels next", "labels next twice"):
        return _single_claims(draw, run, rng)
    n_inside = {"other prompts": 0, "half in the run": N_LABELLED // 2, "all of the run": N_PROMPTS}.get(
        draw, N_LABELLED
    )
    n_outside = max(0, N_LABELLED - n_inside)
    outside = judged(rng, n_outside)
    names = [f"p{place}" for place in range(n_inside)] + [f"q{place}" for place in range(n_outside)]
    return LabelledClaims(
        np.concatenate([run.labels[:n_inside], outside.labels]).ravel().tolist(),
        np.concatenate([run.verdicts[:n_inside], outside.verdicts]).ravel().tolist(),
        [name for name in names for _ in range(A_PROMPT)],
        is_own=[True] * (n_inside * A_PROMPT) + [False] * (n_outside * A_PROMPT),
        scores=np.concatenate([run.scores[:n_inside], outside.scores]).ravel().tolist(),
    )


def _single_claims(draw: str, run: Judged, rng: np.random.Generator) -> LabelledClaims:
    labels, verdicts, scores = run.labels.ravel(), run.verdicts.ravel(), run.scores.ravel()
    n = N_LABELLED * A_PROMPT
    chance = None
    if draw == "labels next":
        pilot = judged(rng, 20)
        spread = spreads(verdicts, scores, Pilot(pilot.labels.ravel(), pilot.verdicts.ravel(), pilot.scores.ravel()))
        chance = probabilities(spread, n)
        drawn = systematic_draw(chance, rng)
        chance = chance[drawn]
    elif draw == "labels next twice":
        drawn, chance = _two_draws(labels, verdicts, scores, n // 2, rng)
    else:
        drawn = np.sort(rng.permutation(len(labels))[:n])
    return LabelledClaims(
        labels[drawn].tolist(),
        verdicts[drawn].tolist(),
        [f"p{place // A_PROMPT}" for place in drawn.tolist()],
        None if chance is None else chance.tolist(),
        [True] * n,
        scores[drawn].tolist(),
    )


def _two_draws(labels: Ints, verdicts: Ints, scores: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Places and probabilities of n claims drawn without labels, and of n of the rest that learn from them."""
    chance = probabilities(spreads(verdicts, scores, None), n)
    first = systematic_draw(chance, rng)
    learnt = spreads(verdicts, scores, Pilot(labels[first], verdicts[first], scores[first]))
    rest = np.setdiff1d(np.arange(len(labels)), first)
    share = share_of_draw(len(labels), n, n)
    of_rest = probabilities(learnt[rest], n, share)
    second = systematic_draw(of_rest, rng)
    before = [probability_after(one, share) for one in chance[first].tolist()]
    return np.r_[first, rest[second]], np.minimum(np.r_[before, of_rest[second] / share], 1.0)


def coverage(draw: str, repetitions: int, seed: int = 0) -> tuple[float, float | None]:
    """Shares of intervals that hold the precision on such prompts, and that of the run; None where it is not given."""
    truth, held, held_own = true_precision(), 0, 0
    for rng in np.random.default_rng(seed).spawn(repetitions):
        run = judged(rng, N_PROMPTS)
        counts = [Counts(supported=n, not_supported=A_PROMPT - n) for n in run.verdicts.sum(axis=1).tolist()]
        names = [f"p{place}" for place in range(N_PROMPTS)]
        sums = run.scores.sum(axis=1).tolist()
        found = debiased_precision(labelled(draw, run, rng), JudgedResponses(counts, names, sums))
        held += _holds(found.prediction_powered, truth)
        if draw in _OF_RUN and found.own_claims is not None:
            held_own += _holds(found.own_claims, float(run.labels.mean()))
    return held / repetitions, held_own / repetitions if draw in _OF_RUN else None


def _holds(found: Estimate, truth: float) -> bool:
    assert found.low is not None
    assert found.high is not None
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def rows(repetitions: int, seed: int) -> Iterator[Row]:
    """Coverage of both figures for every way to draw labels: no less than 95 % by more than `OFF`, nor more of prompts.

    That of the run may be more: it allows for errors that come together, and of a census it is 1.
    """
    for draw in DRAWS:
        of_prompts, of_run = coverage(draw, repetitions, seed)
        for measure, share in (("such prompts", of_prompts), ("this run", of_run)):
            if share is not None:
                yield compared(f"labels: {draw}", measure, share, "at least", COVERED - OFF, "{:.3f}")
                if measure == "such prompts":
                    yield compared(f"labels: {draw}", measure, share, "at most", COVERED + OFF, "{:.3f}")
