"""`python -m benchmarks.experiment_errors`: how often an experiment calls variants different that are not.

Claims are judged by variants whose true TPR and TNR are known. Where no two differ in balanced accuracy, an experiment
errs if its headline calls any variant better or worse than the baseline, or if its details call it different in any
other quantity; each may happen in 5 % of experiments at most. Where one differs by 0.1 at n = 400, the headline shall
say so. Beside each power stands that of Holm's method over all tests, those included that could never reject. Of the
headline's intervals all shall hold the true difference in 95 % of experiments, and none may leave 0 out beside "no
difference shown". Ends with 1 where a target is missed.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop.evaluation.comparing.differences import Contrast, Judging, contrast
from factloop.evaluation.comparing.records import Outcome, PairedDifference
from factloop.evaluation.comparing.table import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNSCORED,
    ClaimPanel,
    claim_quantities,
    share_quantities,
)
from factloop.evaluation.statistics.significance import PValueAdjustment, adjusted_p_values

MOST_FALSE = 0.05
LEAST_POWER = 0.8
LEAST_COVERED = 0.95
SAMPLING = 0.02
"""Three standard errors of a share of 0.05 of 1,000 experiments: simulation alone leaves a share that far away."""
LEVEL = 0.95

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
        supported = (_normal_share(difficulty) < rates) == gold
        verdicts = np.where(supported, SUPPORTED, NOT_SUPPORTED)
        verdicts[rng.random(shape) < self.unscored] = UNSCORED
        verdicts = np.concatenate([verdicts, *[verdicts[:1]] * self.idle])
        labels = np.where(gold, SUPPORTED, NOT_SUPPORTED).astype(np.int8)
        return ClaimPanel(group, n_groups, labels, verdicts.astype(np.int8))


def _normal_share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are no dependency

    return np.asarray(ndtr(values))


SAME = (0.85, 0.7)
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
    World("400 claims, 3 repeats, 4 variants, one 0.1 worse", 400, (SAME, SAME, SAME, (0.75, 0.6)), 2, repeats=3),
)
DETAILS = (NULLS[0], NULLS[5], NULLS[6], World("60 claims, 3 variants, 2 idle", 60, (SAME,) * 3, idle=2))
"""Worlds in which no two variants differ in anything."""
COVERED = (NULLS[1], NULLS[5], POWERS[0], POWERS[2])
SMALL_POWERS = (
    World("40 claims, TNR 0.55 against 0.90, 2 idle variants", 40, ((0.9, 0.55), (0.9, 0.9)), idle=2),
    World("40 claims, TNR 0.55 against 0.90, 4 idle variants", 40, ((0.9, 0.55), (0.9, 0.9)), idle=4),
)
"""Small experiments, of which before and after are compared; no target is set for so few claims."""
STATED = World("200 claims in 100 groups", 200, (SAME,) * 2, 2)
"""The world in which the difference that an experiment says it would have seen is tried."""


def headline(panel: ClaimPanel, *, has_intervals: bool = False) -> tuple[PairedDifference, ...]:
    """The headline of every variant against the baseline, as `assess` finds it."""
    values = next(claim_quantities(panel))
    n_variants = len(panel.verdicts)
    contrasts = [contrast(values, 0, place) for place in range(1, n_variants)]
    names = [f"v{place}" for place in range(n_variants)]
    judging = Judging(names, "claims", LEVEL, has_intervals=has_intervals)
    return judging.judge(contrasts, (values,))[0]


def details(panel: ClaimPanel) -> tuple[PairedDifference, ...]:
    """All other quantities but cost and tokens, of every variant against the baseline, without intervals."""
    first, *others = [*claim_quantities(panel), *share_quantities(panel)]
    n_variants = len(panel.verdicts)
    contrasts: list[Contrast] = [contrast(values, 0, place) for place in range(1, n_variants) for values in others]
    names = [f"v{place}" for place in range(n_variants)]
    return Judging(names, "claims", LEVEL, has_intervals=False).judge(contrasts, (first,))[0]


def called(found: Sequence[PairedDifference]) -> list[Outcome]:
    return [one.outcome for one in found if one.outcome not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN)]


def share_called(world: World, n: int, seed: int = 0) -> float:
    """Share of experiments that call any variant different."""
    generators = np.random.default_rng(seed).spawn(n)
    return sum(bool(called(headline(world.panel(rng)))) for rng in generators) / n


def share_details_called(world: World, n: int, seed: int = 0) -> float:
    """Share of experiments that call any variant different in a quantity other than the headline."""
    generators = np.random.default_rng(seed).spawn(n)
    return sum(bool(called(details(world.panel(rng)))) for rng in generators) / n


def share_found(world: World, n: int, seed: int = 0) -> tuple[float, float]:
    """Share of experiments that call the last of the judges different in its true direction: now, and by plain Holm."""
    last = len(world.judges) - 2
    truth = true_difference(world, last + 1)
    wanted = Outcome.BETTER if truth > 0 else Outcome.WORSE
    n_found = n_by_holm = 0
    for rng in np.random.default_rng(seed).spawn(n):
        found = headline(world.panel(rng))
        n_found += found[last].outcome is wanted
        held = adjusted_p_values([one.p for one in found if one.p is not None], PValueAdjustment.HOLM)
        n_by_holm += held[last] <= 1.0 - LEVEL + 1e-12 and (found[last].value or 0.0) * truth > 0.0
    return n_found / n, n_by_holm / n


def true_difference(world: World, judge: int) -> float:
    """The true difference in balanced accuracy between a judge and the baseline; an idle variant has none."""
    return 0.0 if judge >= len(world.judges) else (sum(world.judges[judge]) - sum(world.judges[0])) / 2.0


def share_covered(world: World, n: int, seed: int = 0) -> tuple[float, int]:
    """Share of experiments whose intervals all hold the true difference, and the number of contradictory verdicts.

    A verdict contradicts its interval where 0 is outside beside "no difference shown", or inside beside one shown.
    """
    n_covered = n_contradictory = 0
    for rng in np.random.default_rng(seed).spawn(n):
        held = []
        for place, one in enumerate(headline(world.panel(rng), has_intervals=True)):
            if one.low is None or one.high is None:
                continue
            held.append(one.low <= true_difference(world, place + 1) <= one.high)
            is_shown = bool(called([one]))
            n_contradictory += one.low < 0.0 < one.high if is_shown else not one.low <= 0.0 <= one.high
        n_covered += all(held)
    return n_covered / n, n_contradictory


def stated_difference(world: World, n: int, seed: int = 0) -> float:
    """The mean difference that such experiments say they would have seen 4 times out of 5."""
    found = [headline(world.panel(rng))[-1].detectable for rng in np.random.default_rng(seed).spawn(n)]
    return float(np.mean([one for one in found if one is not None]))


def better_by(world: World, difference: float) -> World:
    """The same with a last variant whose TPR and TNR are both that much higher."""
    tpr, tnr = world.judges[0]
    return replace(world, judges=(*world.judges[:-1], (tpr + difference, tnr + difference)))


def main(
    experiments: Annotated[int, typer.Option(help="Simulated in each setting without a difference.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    processes: Annotated[int, typer.Option(help="At once.")] = 2,
) -> None:
    """Measure errors and power by simulation."""
    console = Console()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        false = pool.map(share_called, NULLS, [experiments] * len(NULLS), [seed] * len(NULLS))
        of_details = pool.map(share_details_called, DETAILS, [experiments] * len(DETAILS), [seed] * len(DETAILS))
        powers = pool.map(share_found, POWERS, [experiments // 4] * len(POWERS), [seed] * len(POWERS))
        small = pool.map(share_found, SMALL_POWERS, [experiments] * len(SMALL_POWERS), [seed] * len(SMALL_POWERS))
        covered = pool.map(share_covered, COVERED, [experiments] * len(COVERED), [seed] * len(COVERED))
        stated = stated_difference(STATED, 50, seed)
        tried = pool.submit(share_found, better_by(STATED, stated), experiments // 4, seed + 1)
        rows = [
            *_false_rows("no difference, called one", NULLS, list(false)),
            *_false_rows("no difference, a detail called one", DETAILS, list(of_details)),
            *_power_rows(POWERS, list(powers), LEAST_POWER),
            *_power_rows(SMALL_POWERS, list(small), None),
            *_covered_rows(list(covered)),
            *_stated_rows(stated, tried.result()[0]),
        ]
    console.print(table(f"Headline verdicts of {experiments:,} experiments in each setting", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _false_rows(what: str, worlds: Sequence[World], shares: Sequence[float]) -> Iterator[Row]:
    for world, share in zip(worlds, shares, strict=True):
        yield compared(what, world.name, share, "at most", MOST_FALSE, "{:.3f}")


def _power_rows(worlds: Sequence[World], shares: Sequence[tuple[float, float]], least: float | None) -> Iterator[Row]:
    group = "a difference, found"
    for world, (share, _) in zip(worlds, shares, strict=True):
        if least is None:
            yield Row(group, world.name, "", f"{share:.3f}", None)
        else:
            yield compared(group, world.name, share, "at least", least, "{:.3f}")
    for world, (_, by_holm) in zip(worlds, shares, strict=True):
        yield Row("the same, counting all tests", world.name, "", f"{by_holm:.3f}", None)


def _covered_rows(found: Sequence[tuple[float, int]]) -> Iterator[Row]:
    for world, (share, _) in zip(COVERED, found, strict=True):
        least = LEAST_COVERED - SAMPLING
        yield compared("all intervals hold the truth", world.name, share, "at least", least, "{:.3f}")
    for world, (_, n_contradictory) in zip(COVERED, found, strict=True):
        yield compared("verdicts against their intervals", world.name, n_contradictory, "at most", 0, "{:.0f}")


def _stated_rows(stated: float, found: float) -> Iterator[Row]:
    """The stated power is 0.8 or more; approximate, as experiments say."""
    name = f"{STATED.name}: the stated difference, {stated:.3f}"
    yield compared("said to be seen 4 times of 5", name, found, "at least", 0.75, "{:.3f}")
    yield compared("said to be seen 4 times of 5", name, found, "at most", 0.98, "{:.3f}")


if __name__ == "__main__":
    typer.run(main)
