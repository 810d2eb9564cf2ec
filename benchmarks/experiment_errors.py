"""`python -m benchmarks.experiment_errors`: how often an experiment calls equal variants different, or its gate errs.

Claims are judged by variants whose true TPR and TNR are known. Where no two differ in balanced accuracy, an experiment
errs if its headline calls any variant better or worse than the baseline, or if its details call it different in any
other quantity; each may happen in 5 % of experiments at most. Where one differs by 0.1 at n = 400, the headline shall
say so. Of the headline's intervals all shall hold the true difference in 95 % of experiments, and none may leave 0 out
beside "no difference shown".

A demand that rules out a loss of 0.1 passes a variant that is worse by 0.1 in 5 % at most, whatever it leaves out, and
fails an equal one in 10 % at most where there are as many claims as a dry run asks for.

An experiment that looks four times, and stops once a difference of 0.1 is shown or ruled out, shows one where there is
none, or rules out one that there is, in 5 % at most; how many of the claims it judges is reported. Ends with 1 where a
target is missed.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop.evaluation.comparing.demands import Judged, items_needed, judge_demands, read_demand
from factloop.evaluation.comparing.differences import Judging, contrast
from factloop.evaluation.comparing.records import Outcome, PairedDifference
from factloop.evaluation.comparing.table import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNSCORED,
    ClaimPanel,
    claim_quantities,
    share_quantities,
)
from factloop.evaluation.experiments.looks import rules_out, schedule
from factloop.evaluation.experiments.plan import Until

SAMPLING = 0.02
"""Three standard errors of a share of 0.05 of 1,000 experiments: simulation alone leaves a share that far away."""
LEVEL = 0.95
MARGIN = 0.1
"""The loss that the gate is to rule out."""

Rates = tuple[float, float]
"""True TPR and TNR."""
Shares = tuple[float, float, float]
"""Shares of the variance of a judge's errors: the claim's difficulty, the variant's view of its group, and chance."""


@dataclass(frozen=True)
class World:
    """A world of claims and variants."""

    name: str
    n_claims: int
    judges: tuple[Rates, ...]
    """The baseline first."""
    claims_a_group: int = 1
    supported: float = 0.5
    repeats: int = 1
    unscored: float = 0.0
    hidden: float = 0.0
    """The share of its errors that the last judge leaves without a verdict."""
    shares: Shares = (0.4, 0.2, 0.4)
    idle: int = 0
    """Further variants that judge each claim as the baseline does."""

    def panel(self, rng: np.random.Generator) -> ClaimPanel:
        """One experiment's verdicts. A claim's verdicts are alike across variants, and a variant's within a group."""
        n, group = self.n_claims, np.arange(self.n_claims) // self.claims_a_group
        n_groups = int(group[-1]) + 1
        gold = rng.random(n) < self.supported
        shape = (len(self.judges), self.repeats, n)
        claim, of_group = rng.normal(size=n), rng.normal(size=(len(self.judges), 1, n_groups))[:, :, group]
        weights = np.sqrt(self.shares)
        difficulty = weights[0] * claim + weights[1] * of_group + weights[2] * rng.normal(size=shape)
        rates = np.array([np.where(gold, tpr, tnr) for tpr, tnr in self.judges])[:, None, :]
        is_right = _normal_share(difficulty) < rates
        verdicts = np.where(is_right == gold, SUPPORTED, NOT_SUPPORTED)
        is_lost = rng.random(shape) < self.unscored
        is_lost[-1] |= ~is_right[-1] & (rng.random(shape[1:]) < self.hidden)
        verdicts[is_lost] = UNSCORED
        verdicts = np.concatenate([verdicts, *[verdicts[:1]] * self.idle])
        labels = np.where(gold, SUPPORTED, NOT_SUPPORTED).astype(np.int8)
        return ClaimPanel(group, n_groups, labels, verdicts.astype(np.int8))

    def true_difference(self, judge: int) -> float:
        """The true difference in balanced accuracy between a judge and the baseline; an idle variant has none."""
        return 0.0 if judge >= len(self.judges) else (sum(self.judges[judge]) - sum(self.judges[0])) / 2.0


def _normal_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are no dependency

    return np.asarray(ndtr(values))


SAME, WORSE = (0.85, 0.7), (0.75, 0.6)
NULLS = (
    World("120 claims", 120, (SAME,) * 2),
    World("120 claims in 40 groups", 120, (SAME,) * 2, 3),
    World("120 claims in 40 groups, 3 repeats", 120, (SAME,) * 2, 3, repeats=3),
    World("120 claims in 12 groups", 120, (SAME,) * 2, 10),
    World("200 claims, 1 in 10 unsupported", 200, (SAME,) * 2, 2, 0.9),
    World("200 claims, 5 variants", 200, (SAME,) * 5, 2),
    World("200 claims, 5 variants, 3 repeats, 10 % unscored", 200, (SAME,) * 5, 4, 0.7, 3, 0.1),
    World("400 claims, TPR 0.1 lower and TNR 0.1 higher", 400, (SAME, (0.75, 0.8)), 2),
)
POWERS = (
    World("400 claims, 0.1 better", 400, (SAME, (0.95, 0.8))),
    World("400 claims in 133 groups, 0.1 better", 400, (SAME, (0.95, 0.8)), 3),
    World("400 claims, 3 repeats, 4 variants, one 0.1 worse", 400, (SAME, SAME, SAME, WORSE), 2, repeats=3),
)
DETAILS = (NULLS[0], NULLS[5], NULLS[6], World("60 claims, 3 variants, 2 idle", 60, (SAME,) * 3, idle=2))
"""Worlds in which no two variants differ in anything."""
COVERED = (NULLS[1], NULLS[5], POWERS[0], POWERS[2])
SMALL_POWERS = (
    World("40 claims, TNR 0.55 against 0.90, 2 idle variants", 40, ((0.9, 0.55), (0.9, 0.9)), idle=2),
    World("40 claims, TNR 0.55 against 0.90, 4 idle variants", 40, ((0.9, 0.55), (0.9, 0.9)), idle=4),
)
"""Small experiments; no target is set for so few claims."""
STATED = World("200 claims in 100 groups", 200, (SAME,) * 2, 2)
"""The world in which the difference that an experiment says it would have seen is tried."""
ENOUGH = items_needed(MARGIN, 1.0 - LEVEL)
GATED = (
    World(f"{ENOUGH} claims", ENOUGH, (SAME, WORSE)),
    World(f"{3 * ENOUGH} claims in {ENOUGH} groups", 3 * ENOUGH, (SAME, WORSE), 3),
    World(f"{ENOUGH} claims, 10 % of each without a verdict", ENOUGH, (SAME, WORSE), unscored=0.1),
    World(f"{ENOUGH} claims, half its errors without a verdict", ENOUGH, (SAME, WORSE), hidden=0.5),
    World("40 claims, all its errors without a verdict", 40, (SAME, WORSE), hidden=1.0),
    World("30 claims, some lost and none won", 30, (SAME, WORSE), shares=(1.0, 0.0, 0.0)),
)
"""Worlds in which the variant is worse by the margin."""
EQUAL = tuple(replace(world, judges=(SAME, SAME)) for world in GATED[:3])
UNTIL = Until(difference=MARGIN)
FAR = replace(GATED[0], name=f"{ENOUGH} claims, 0.2 worse", judges=(SAME, (0.65, 0.5)))
SAVED = (EQUAL[0], replace(GATED[0], name=f"{ENOUGH} claims, 0.1 worse"), FAR)


def headline(panel: ClaimPanel, *, has_intervals: bool = False, level: float = LEVEL) -> tuple[PairedDifference, ...]:
    """The headline of every variant against the baseline, as `assess` finds it."""
    values = next(claim_quantities(panel))
    names = [f"v{place}" for place in range(len(panel.verdicts))]
    contrasts = [contrast(values, 0, place) for place in range(1, len(names))]
    return Judging(names, "claims", level, has_intervals=has_intervals).judge(contrasts, (values,))[0]


def calls_headline(world: World, rng: np.random.Generator) -> bool:
    """Whether an experiment calls any variant different."""
    return any(map(_is_called, headline(world.panel(rng))))


def calls_detail(world: World, rng: np.random.Generator) -> bool:
    """Whether it does so in a quantity other than the headline; cost and tokens are not simulated."""
    panel = world.panel(rng)
    first, *others = [*claim_quantities(panel), *share_quantities(panel)]
    names = [f"v{place}" for place in range(len(panel.verdicts))]
    contrasts = [contrast(values, 0, place) for place in range(1, len(names)) for values in others]
    return any(map(_is_called, Judging(names, "claims", LEVEL, has_intervals=False).judge(contrasts, (first,))[0]))


def finds(world: World, rng: np.random.Generator) -> bool:
    """Whether an experiment calls the last of the judges different in its true direction."""
    last = len(world.judges) - 1
    wanted = Outcome.BETTER if world.true_difference(last) > 0 else Outcome.WORSE
    return headline(world.panel(rng))[last - 1].outcome is wanted


def covers(world: World, rng: np.random.Generator) -> bool:
    """Whether all its intervals hold the true difference."""
    return all(
        one.low <= world.true_difference(place) <= one.high
        for place, one in enumerate(headline(world.panel(rng), has_intervals=True), 1)
        if one.low is not None and one.high is not None
    )


def contradicts(world: World, rng: np.random.Generator) -> bool:
    """Whether 0 is outside of an interval beside "no difference shown", or inside beside one shown."""
    return any(
        one.low < 0.0 < one.high if _is_called(one) else not one.low <= 0.0 <= one.high
        for one in headline(world.panel(rng), has_intervals=True)
        if one.low is not None and one.high is not None
    )


def passes(world: World, rng: np.random.Generator) -> bool:
    """Whether the gate lets the last of the judges pass."""
    values = next(claim_quantities(world.panel(rng)))
    on = Judged(("old", "new"), "claims", [values], [contrast(values, 0, 1)], {})
    (found,) = judge_demands([read_demand(f"balanced_accuracy:{MARGIN}")], on, alpha=1.0 - LEVEL, seed=0)
    return found.is_met


@dataclass(frozen=True)
class Stopped:
    """Where an experiment stopped that looks step by step."""

    is_shown: bool
    is_ruled_out: bool
    share: float
    """Of the claims, those that were judged."""


def decided(world: World, rng: np.random.Generator) -> Stopped:
    panel = world.panel(rng)
    for end, alpha in schedule(panel.n_clusters, UNTIL, 1.0 - LEVEL):
        here = panel.cluster < end
        part = ClaimPanel(panel.cluster[here], end, panel.gold[here], panel.verdicts[:, :, here])
        is_shown = any(map(_is_called, headline(part, level=1.0 - alpha)))
        is_ruled_out = rules_out(next(claim_quantities(part)), 1, MARGIN, alpha)
        if is_shown or is_ruled_out:
            break
    return Stopped(is_shown, is_ruled_out, float(here.mean()))


def shows_at_a_look(world: World, rng: np.random.Generator) -> bool:
    return decided(world, rng).is_shown


def rules_out_at_a_look(world: World, rng: np.random.Generator) -> bool:
    return decided(world, rng).is_ruled_out


def share_judged(world: World, rng: np.random.Generator) -> float:
    return decided(world, rng).share


def fails(world: World, rng: np.random.Generator) -> bool:
    return not passes(world, rng)


def _is_called(one: PairedDifference) -> bool:
    return one.outcome.is_shown


@dataclass(frozen=True)
class Study:
    """A share of simulated experiments, and its bound."""

    what: str
    worlds: Sequence[World]
    measure: Callable[[World, np.random.Generator], float]
    kind: Literal["at most", "at least"]
    bound: float
    part: int = 1
    """Experiments: so many times fewer than of a study without a difference."""
    has_target: bool = True


STUDIES = (
    Study("no difference, called one", NULLS, calls_headline, "at most", 0.05),
    Study("no difference, a detail called one", DETAILS, calls_detail, "at most", 0.05),
    Study("a difference, found", POWERS, finds, "at least", 0.8, 4),
    Study("a difference, found", SMALL_POWERS, finds, "at least", 0.0, has_target=False),
    Study("all intervals hold the truth", COVERED, covers, "at least", 0.95 - SAMPLING),
    Study("verdicts against their intervals", COVERED, contradicts, "at most", 0.0),
    Study("worse by the margin, passed", GATED, passes, "at most", 0.05 + SAMPLING),
    Study("equal, failed", EQUAL, fails, "at most", 0.1),
    Study("step by step: no difference, one shown", EQUAL, shows_at_a_look, "at most", 0.05),
    Study("step by step: worse by the margin, ruled out", GATED, rules_out_at_a_look, "at most", 0.05 + SAMPLING),
    Study("step by step: share of the claims judged", SAVED, share_judged, "at most", 1.0, 4, has_target=False),
    Study("step by step: a difference, shown", SAVED[1:], shows_at_a_look, "at least", 0.0, 4, has_target=False),
)


def share(measure: Callable[[World, np.random.Generator], float], world: World, n: int, seed: int = 0) -> float:
    """The share of n experiments of which it is so, or the mean of what was measured."""
    return sum(measure(world, rng) for rng in np.random.default_rng(seed).spawn(n)) / n


def stated_difference(world: World, n: int, seed: int = 0) -> float:
    """The mean difference that such experiments say they would have seen 4 times out of 5."""
    found = [headline(world.panel(rng))[-1].detectable for rng in np.random.default_rng(seed).spawn(n)]
    return float(np.mean([one for one in found if one is not None]))


def main(
    experiments: Annotated[int, typer.Option(help="Simulated in each setting without a difference.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    processes: Annotated[int, typer.Option(help="At once.")] = 2,
) -> None:
    """Measure errors and power by simulation."""
    console = Console()
    stated = stated_difference(STATED, 50, seed)
    (tpr, tnr), said = SAME, "said to be seen 4 times of 5"
    better = replace(STATED, name=f"{STATED.name}: {stated:.3f}", judges=(SAME, (tpr + stated, tnr + stated)))
    # The stated power is 0.8 or more; approximate, as experiments say.
    studies = (
        *STUDIES,
        Study(said, (better,), finds, "at least", 0.75, 4),
        Study(said, (better,), finds, "at most", 0.98, 4),
    )
    tasks = [(one, world) for one in studies for world in one.worlds]
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(share, one.measure, world, experiments // one.part, seed) for one, world in tasks]
        rows = [
            compared(one.what, world.name, future.result(), one.kind, one.bound, "{:.3f}")
            if one.has_target
            else Row(one.what, world.name, "", f"{future.result():.3f}", None)
            for (one, world), future in zip(tasks, futures, strict=True)
        ]
    console.print(table(f"Headline verdicts of {experiments:,} experiments in each setting", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


if __name__ == "__main__":
    typer.run(main)
