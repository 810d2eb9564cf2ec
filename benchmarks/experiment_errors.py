"""`python -m benchmarks.experiment_errors`: how often an experiment calls variants different that are not.

Claims are judged by variants whose true TPR and TNR are known. Where no two differ in balanced accuracy, an experiment
errs if its headline calls any variant better or worse than the baseline; that may happen in 5 % of experiments at most.
Where one differs by 0.1 at n = 400, the headline shall say so. Ends with 1 where a target is missed.
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
from factloop.evaluation.experiments.differences import contrast
from factloop.evaluation.experiments.panel import NOT_SUPPORTED, SUPPORTED, UNSCORED, ClaimPanel
from factloop.evaluation.experiments.quantities import claim_quantities
from factloop.evaluation.experiments.report import FamilyAdjustment, Outcome, PairedDifference
from factloop.evaluation.experiments.verdicts import Verdicts

MOST_FALSE = 0.05
LEAST_POWER = 0.8
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
        return ClaimPanel(group, n_groups, gold.astype(np.float64), verdicts.astype(np.int8))


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
STATED = World("200 claims in 100 groups", 200, (SAME,) * 2, 2)
"""The world in which the difference that an experiment says it would have seen is tried."""


def headline(panel: ClaimPanel, *, seed: int = 0) -> tuple[PairedDifference, ...]:
    """The headline of every variant against the baseline, as `assess` finds it, without intervals."""
    values = next(claim_quantities(panel))
    n_variants, n_repeats, _ = panel.verdicts.shape
    contrasts = [contrast(values, 0, place, seed=seed, n_repeats=n_repeats) for place in range(1, n_variants)]
    names = [f"v{place}" for place in range(n_variants)]
    verdicts = Verdicts(names, values, FamilyAdjustment.HOLM, LEVEL, "claims")
    return verdicts.judge(contrasts, [None] * len(contrasts))


def called(found: Sequence[PairedDifference]) -> list[Outcome]:
    return [one.outcome for one in found if one.outcome in (Outcome.BETTER, Outcome.WORSE)]


def share_called(world: World, n: int, seed: int = 0) -> float:
    """Share of experiments that call any variant different."""
    generators = np.random.default_rng(seed).spawn(n)
    return sum(bool(called(headline(world.panel(rng), seed=1))) for rng in generators) / n


def share_found(world: World, n: int, seed: int = 0) -> float:
    """Share of experiments that call the last variant different in its true direction."""
    truth = sum(world.judges[-1]) - sum(world.judges[0])
    wanted = Outcome.BETTER if truth > 0 else Outcome.WORSE
    generators = np.random.default_rng(seed).spawn(n)
    return sum(headline(world.panel(rng), seed=1)[-1].outcome is wanted for rng in generators) / n


def stated_difference(world: World, n: int, seed: int = 0) -> float:
    """The mean difference that such experiments say they would have seen 4 times out of 5."""
    found = [headline(world.panel(rng), seed=1)[-1].detectable for rng in np.random.default_rng(seed).spawn(n)]
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
        powers = pool.map(share_found, POWERS, [experiments // 4] * len(POWERS), [seed] * len(POWERS))
        stated = stated_difference(STATED, 50, seed)
        tried = pool.submit(share_found, better_by(STATED, stated), experiments // 4, seed + 1)
        rows = [*_false_rows(list(false)), *_power_rows(list(powers)), *_stated_rows(stated, tried.result())]
    console.print(table(f"Headline verdicts of {experiments:,} experiments in each setting", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _false_rows(shares: Sequence[float]) -> Iterator[Row]:
    for world, share in zip(NULLS, shares, strict=True):
        yield compared("no difference, called one", world.name, share, "at most", MOST_FALSE, "{:.3f}")


def _power_rows(shares: Sequence[float]) -> Iterator[Row]:
    for world, share in zip(POWERS, shares, strict=True):
        yield compared("a difference, found", world.name, share, "at least", LEAST_POWER, "{:.3f}")


def _stated_rows(stated: float, found: float) -> Iterator[Row]:
    """The stated power is 0.8 or more; approximate, as experiments say."""
    name = f"{STATED.name}: the stated difference, {stated:.3f}"
    yield compared("said to be seen 4 times of 5", name, found, "at least", 0.75, "{:.3f}")
    yield compared("said to be seen 4 times of 5", name, found, "at most", 0.98, "{:.3f}")


if __name__ == "__main__":
    typer.run(main)
