"""`python -m benchmarks.chosen_labels`: how much narrower chosen labels make a corrected figure.

Runs of 200 responses with ten claims each, and a judge that is sure of most and unsure of some; 200 of 2,000 claims are
labelled: drawn by `research labels next` after a pilot of 100, or at random. The latter are used alone, with the run's
verdicts, and with its scores as the chosen ones are. Intervals of 95 % shall hold the truth in 95 % of repetitions, and
the chosen ones be at most 0.7 times as wide as those of as many labels alone, and, of judges with scores, as those with
verdicts. Beside labels at random that use the scores, too, no width is asked for, as no draw could reach 0.7. The pilot
counts on neither side there; then it does on both, as a first draw.

Then 30 to 200 chosen labels (`few_labels`), of judges with and without scores, and steered by labels of other claims.
Then labels from outside the run, in part inside, and inside (`labels_of_run`): both the precision on such prompts and
that of the run shall be held in 95 %, 1.5 points more or less. Ends with 1 where a target is missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from benchmarks import few_labels, labels_of_run
from benchmarks.judge_worlds import JudgeWorld, counted, names_of, scores_of
from benchmarks.rows import Row, compared, table
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.samples import LabelledClaims
from factloop.evaluation.labels.sampling import (
    Floats,
    Ints,
    Pilot,
    probabilities,
    probability_after,
    share_of_draw,
    spreads,
    systematic_draw,
)

N_LABELS, N_PILOT = 200, 100
MOST_WIDE, LEAST_COVERED = 0.7, 0.92
"""Coverage of 95 % intervals: two standard errors of 300 repetitions below."""

WORLDS = (
    JudgeWorld("unsure of 15 % of claims", (0.998, 0.5, 0.02), (0.75, 0.15, 0.1)),
    JudgeWorld("unsure of 10 % of claims", (0.995, 0.5, 0.01), (0.85, 0.1, 0.05)),
    JudgeWorld("rejects too much, no scores", (0.98, 0.3), (0.8, 0.2), has_scores=False),
)


@dataclass
class Widths:
    """Intervals over repetitions: how wide on average, and how many hold the truth."""

    width: float = 0.0
    held: int = 0

    def add(self, interval: tuple[float, float] | None, truth: float) -> None:
        assert interval is not None
        self.width += interval[1] - interval[0]
        self.held += interval[0] <= truth <= interval[1]


def compare(world: JudgeWorld, repetitions: int, seed: int = 0, *, counts_pilot: bool = False) -> dict[str, Widths]:
    """`chosen`; and labels at random: `alone`, by the run's `verdicts`, or by its `scores` where those narrow it.

    `counts_pilot`: the pilot was the first draw, whose labels count beside the chosen ones; at random are as many.
    """
    found = {name: Widths() for name in ("chosen", "scores", "verdicts", "alone")}
    for rng in np.random.default_rng(seed).spawn(repetitions):
        labels, verdicts, scores, response = world.run(rng)
        order = rng.permutation(len(labels))
        pilot, at_random = order[:N_PILOT], order[0 if counts_pilot else N_PILOT : N_PILOT + N_LABELS]
        spread = spreads(verdicts, scores, Pilot(labels[pilot], verdicts[pilot], scores[pilot]))
        chosen, chance = drawn_after(pilot, spread, rng) if counts_pilot else drawn_anew(spread, rng)
        run = counted(verdicts, response, scores)
        silent, none = np.ones_like(verdicts), np.full(len(scores), np.nan)
        for name, drawn, said, score, p in (
            ("chosen", chosen, verdicts, scores, chance.tolist()),
            ("scores", at_random, verdicts, scores, None),
            ("verdicts", at_random, verdicts, none, None),
            ("alone", at_random, silent, none, None),
        ):
            groups = names_of(response[drawn])
            labelled = LabelledClaims(
                labels[drawn].tolist(), said[drawn].tolist(), groups, p, scores=scores_of(score[drawn])
            )
            found[name].add(debiased_precision(labelled, run).prediction_powered.interval, world.truth)
    return found


def drawn_anew(spread: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Places and probabilities of a draw from all claims."""
    chance = probabilities(spread, N_LABELS)
    drawn = systematic_draw(chance, rng)
    return drawn, chance[drawn]


def drawn_after(pilot: Ints, spread: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Those of the pilot, which was drawn at random, and of a draw from the other claims."""
    size = len(spread)
    rest = np.setdiff1d(np.arange(size), pilot)
    share = share_of_draw(size, N_PILOT, N_LABELS)
    chance = probabilities(spread[rest], N_LABELS, share)
    drawn = systematic_draw(chance, rng)
    before = np.full(N_PILOT, probability_after(N_PILOT / size, share))
    return np.r_[pilot, rest[drawn]], np.minimum(np.r_[before, chance[drawn] / share], 1.0)


def main(
    repetitions: Annotated[int, typer.Option(help="Of each world.")] = 300,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    few: Annotated[int, typer.Option(help="Of each number of labels, judge and pilot.")] = 2000,
    of_run: Annotated[int, typer.Option(help="Repetitions of each way to draw labels from a run.")] = 3000,
) -> None:
    """Measure widths and coverage by simulation."""
    rows: list[Row] = []
    for world in WORLDS:
        found = compare(world, repetitions, seed)
        chosen = found["chosen"]
        covered = chosen.held / repetitions
        rows += [
            compared(world.name, "holds the truth", covered, "at least", LEAST_COVERED, "{:.3f}"),
            compared(world.name, "as wide as labels alone", chosen.width / found["alone"].width, "at most", MOST_WIDE,
                     "{:.2f}"),
            _beside(world, "verdicts", chosen.width / found["verdicts"].width),
            Row(world.name, "as wide as at random with scores", "",
                f"{chosen.width / found['scores'].width:.2f}", None),
            Row(world.name, "least of any draw beside that", "", f"{world.least_ratio(N_LABELS):.2f}", None),
        ]  # fmt: skip
    both: list[Row] = []
    for world in WORLDS:
        found = compare(world, repetitions, seed, counts_pilot=True)
        covered = found["chosen"].held / repetitions
        both.append(compared(world.name, "holds the truth", covered, "at least", LEAST_COVERED, "{:.3f}"))
        for name in ("alone", "verdicts", "scores"):
            ratio = found["chosen"].width / found[name].width
            both.append(Row(world.name, f"as wide as at random, {name}", "", f"{ratio:.2f}", None))
    Console().print(table(f"{N_LABELS} labels chosen, and as many at random, {repetitions} repetitions", rows))
    Console().print(table(f"{N_PILOT} at random and {N_LABELS} chosen, beside as many at random", both))
    chosen_few = list(few_labels.rows(few, seed))
    Console().print(table(f"Few labels: 95 % intervals that hold the truth, {few:,} repetitions", chosen_few))
    overlapping = list(labels_of_run.rows(of_run, seed))
    Console().print(table(f"Labels of a run: 95 % intervals that hold the truth, {of_run:,} repetitions", overlapping))
    raise typer.Exit(any(row.is_met is False for row in (*rows, *both, *chosen_few, *overlapping)))


def _beside(world: JudgeWorld, name: str, ratio: float) -> Row:
    """With a judge that gives no scores verdicts are all that either draw has: no target is set for that."""
    measure = f"as wide as at random with {name}"
    if world.has_scores:
        return compared(world.name, measure, ratio, "at most", MOST_WIDE, "{:.2f}")
    return Row(world.name, measure, "", f"{ratio:.2f}", None)


if __name__ == "__main__":
    typer.run(main)
