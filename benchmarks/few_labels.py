"""Coverage of corrected precision by few labels that `labels next` chose: see `chosen_labels`.

The draw learns from a pilot of 100 labels, of the same kinds of claims or of other ones, whose rates of support lie
nearer to one half. Its labels then are 30 to 200 of 2,000 claims, and intervals of 95 % of the precision on such
prompts, and of the run's own, shall hold the truth in 95 % however well the pilot steered.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.judge_worlds import JudgeWorld, counted, names_of, scores_of
from benchmarks.rows import Row, compared
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import LabelledClaims
from factloop.evaluation.labels.sampling import Pilot, probabilities, spreads, systematic_draw

N_PILOT = 100
OTHER = 0.15
"""Share of the pilot's labels turned round where it is of other claims: a rate p becomes 0.7 p + 0.15."""
LEAST_COVERED = 0.94
"""Two standard errors of 2,000 repetitions below 0.95."""
SIZES = (30, 60, 120, 200)

WORLDS = (
    JudgeWorld("scores, unsure of 15 %", (0.998, 0.5, 0.02), (0.75, 0.15, 0.1)),
    JudgeWorld("scores that tell little", (0.93, 0.85, 0.4, 0.1), (0.4, 0.3, 0.1, 0.2)),
    JudgeWorld("no scores, rejects too much", (0.98, 0.3), (0.8, 0.2), has_scores=False),
    JudgeWorld("no scores, passes too much", (0.75, 0.03), (0.8, 0.2), has_scores=False),
    JudgeWorld("no scores, few errors", (0.97, 0.03), (0.7, 0.3), has_scores=False),
)


def coverage(world: JudgeWorld, n: int, repetitions: int, *, is_other: bool, seed: int = 0) -> tuple[float, float]:
    """Shares of intervals that hold the precision on such prompts, and that of the run; 0 to 1."""
    held = held_own = 0
    for rng in np.random.default_rng(seed).spawn(repetitions):
        labels, verdicts, scores, response = world.run(rng)
        pilot = rng.permutation(len(labels))[:N_PILOT]
        seen = labels[pilot] ^ (rng.random(N_PILOT) < (OTHER if is_other else 0.0))
        chance = probabilities(spreads(verdicts, scores, Pilot(seen, verdicts[pilot], scores[pilot])), n)
        drawn = systematic_draw(chance, rng)
        known = LabelledClaims(
            labels[drawn].tolist(),
            verdicts[drawn].tolist(),
            names_of(response[drawn]),
            chance[drawn].tolist(),
            [True] * len(drawn),
            scores_of(scores[drawn]),
        )
        found = debiased_precision(known, counted(verdicts, response, scores))
        held += _holds(found.prediction_powered.interval, world.truth)
        assert found.own_claims is not None
        held_own += _holds(found.own_claims.interval, float(labels.mean()))
    return held / repetitions, held_own / repetitions


def _holds(interval: tuple[float, float] | None, truth: float) -> bool:
    assert interval is not None
    return interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


def rows(repetitions: int, seed: int) -> Iterator[Row]:
    """Coverage of both figures for every judge, number of labels and pilot; more than 95 % is no miss."""
    for world in WORLDS:
        for n in SIZES:
            for is_other in (False, True):
                shares = coverage(world, n, repetitions, is_other=is_other, seed=seed)
                for measure, share in zip(("such prompts", "this run"), shares, strict=True):
                    name = f"{n} labels, {'other pilot, ' if is_other else ''}{measure}"
                    yield compared(world.name, name, share, "at least", LEAST_COVERED, "{:.3f}")
