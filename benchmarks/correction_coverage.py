"""`python -m benchmarks.correction_coverage`: how often intervals of 95 % hold the truth, raw and corrected.

Claims and an evaluator with known error rates are drawn anew for each repetition; the truth is that of the distribution
they are drawn from. Beside ours stand `judgy` and `truescore` on the same claims, for the plain rate. Under a shift the
labelled claims come from another system, with more or fewer errors, and the evaluator errs alike on both: then the
estimate must cover that is preferred there, the adjusted count; what the others do stands beside it. Ends with 1 where
a corrected interval covers too rarely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from benchmarks.rows import Row, compared, table
from factloop.core.records import Counts
from factloop.evaluation.debiasing.f1 import debiased_f1
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import Estimate, Transfer
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims

LEAST = 0.92
"""Least coverage of 95 % intervals: two standard errors of 300 repetitions below."""
K = 64
JUDGY_RESAMPLES = 200
ALIKENESS = 8.0
"""Alikeness of a response's claims: the concentration of the beta distribution that its share supported is from."""

Ints = NDArray[np.int64]
Interval = tuple[float, float] | None
Found = Mapping[str, Interval]


@dataclass(frozen=True)
class World:
    """A world of claims and an evaluator."""

    truth: float
    """Share of claims that are supported."""
    tpr: float
    tnr: float

    def __str__(self) -> str:
        return f"truth {self.truth:g}, TPR {self.tpr:g}, TNR {self.tnr:g}"

    def claims(self, rng: np.random.Generator, n: int) -> tuple[Ints, Ints]:
        """Labels and verdicts of independent claims."""
        return self._judged(rng, rng.random(n) < self.truth)

    def responses(self, rng: np.random.Generator, n: int, size: int) -> tuple[Ints, Ints, Ints]:
        """Labels, verdicts and responses of claims, `size` a response on average."""
        shares = rng.beta(ALIKENESS * self.truth, ALIKENESS * (1 - self.truth), size=n)
        response = np.repeat(np.arange(n), 1 + rng.poisson(size - 1, size=n))
        return *self._judged(rng, rng.random(len(response)) < shares[response]), response

    def _judged(self, rng: np.random.Generator, labels: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        verdicts = np.where(labels, rng.random(len(labels)) < self.tpr, rng.random(len(labels)) >= self.tnr)
        return labels.astype(np.int64), verdicts.astype(np.int64)


WORLDS = (World(0.5, 0.95, 0.8), World(0.8, 0.85, 0.7), World(0.9, 0.9, 0.6), World(0.95, 0.95, 0.8))

SHIFTS = (
    (World(0.83, 0.9, 0.5), World(0.73, 0.9, 0.5)),
    (World(0.8, 0.85, 0.7), World(0.6, 0.85, 0.7)),
    (World(0.6, 0.95, 0.8), World(0.9, 0.95, 0.8)),
)
"""The labelled claims' world and the run's."""


@dataclass
class Tally:
    """How often an interval held the truth, how wide it was, and how often it was undefined."""

    held: int = 0
    given: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, interval: Interval, truth: float) -> None:
        if interval is not None:
            self.given += 1
            self.held += interval[0] <= truth <= interval[1]
            self.widths.append(interval[1] - interval[0])


def main(
    repetitions: Annotated[int, typer.Option(help="Of each setting.")] = 300,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
) -> None:
    """Measure coverage by simulation."""
    console = Console()
    rows: list[Row] = []
    for name, truth, run in track(list(_settings()), "simulating", console=Console(stderr=True)):
        rows.extend(_rows(name, truth, run, repetitions, seed))
    console.print(table(f"Intervals of 95 %: share that hold the truth, {repetitions} repetitions", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _settings() -> Iterator[tuple[str, float, Callable[[np.random.Generator], Found]]]:
    """Name, truth, and what draws once and gives the intervals."""
    for world in WORLDS:
        for n in (100, 400):
            yield f"{world}\n{n} labels, 2,000 claims", world.truth, _claim_coverage(world, n)
    for world in WORLDS:
        yield f"{world}\n20 x 15 labels, 100 responses", world.truth, _response_coverage(world)
    for labelled, of_run in SHIFTS:
        name = f"{labelled}, run: truth {of_run.truth:g}\n40 x 10 labels of another system, 100 responses"
        yield name, of_run.truth, _shift_coverage(labelled, of_run)
    for world in WORLDS:
        yield f"{world}\nF1@{K}, 20 x 15 labels, 100 responses", _true_f1(world), _f1_coverage(world)


def _claim_coverage(world: World, n: int) -> Callable[[np.random.Generator], Found]:
    def run(rng: np.random.Generator) -> Found:
        labels, verdicts = world.claims(rng, n)
        _, judged = world.claims(rng, 2000)
        found = debiased_precision(
            LabelledClaims(labels.tolist(), verdicts.tolist()), JudgedResponses.of_claims(judged.tolist())
        )
        return {
            "raw": _ends(found.raw),
            "prediction-powered": _ends(found.prediction_powered),
            "adjusted count": _ends(found.adjusted_count),
            "truescore, prediction-powered": _by_truescore(labels, verdicts, judged),
            "judgy": _by_judgy(labels, verdicts, judged, rng),
        }

    return run


def _response_coverage(world: World) -> Callable[[np.random.Generator], Found]:
    def run(rng: np.random.Generator) -> Found:
        labels, verdicts, response = world.responses(rng, 20, 15)
        _, judged, place = world.responses(rng, 100, 40)
        found = debiased_precision(
            LabelledClaims(labels.tolist(), verdicts.tolist(), response.tolist()), _counted(judged, place)
        )
        alone = debiased_precision(LabelledClaims(labels.tolist(), verdicts.tolist()), _counted(judged, place))
        return {
            "raw": _ends(found.raw),
            "prediction-powered": _ends(found.prediction_powered),
            "adjusted count": _ends(found.adjusted_count),
            "prediction-powered, responses unnamed": _ends(alone.prediction_powered),
        }

    return run


def _shift_coverage(of_labels: World, of_run: World) -> Callable[[np.random.Generator], Found]:
    def run(rng: np.random.Generator) -> Found:
        labels, verdicts, response = of_labels.responses(rng, 40, 10)
        _, judged, place = of_run.responses(rng, 100, 40)
        labelled = LabelledClaims(labels.tolist(), verdicts.tolist(), response.tolist())
        found = debiased_precision(labelled, _counted(judged, place), transfer=Transfer.ERROR_RATES, is_sampled=False)
        assert found.prediction_powered.value is None
        said_alike = debiased_precision(labelled, _counted(judged, place))
        return {
            "raw": _ends(found.raw),
            "prediction-powered, withheld": _ends(said_alike.prediction_powered),
            "adjusted count": _ends(found.adjusted_count),
        }

    return run


def _f1_coverage(world: World) -> Callable[[np.random.Generator], Found]:
    def run(rng: np.random.Generator) -> Found:
        labels, verdicts, response = world.responses(rng, 20, 15)
        _, judged, place = world.responses(rng, 100, 40)
        labelled = LabelledClaims(labels.tolist(), verdicts.tolist(), response.tolist())
        (same,) = debiased_f1(labelled, _counted(judged, place), [K], rng, resamples=400)
        (rates,) = debiased_f1(
            labelled, _counted(judged, place), [K], rng, resamples=400, transfer=Transfer.ERROR_RATES
        )
        return {"raw": _ends(same.raw), "corrected": _ends(same.corrected), "by error rates": _ends(rates.corrected)}

    return run


def _true_f1(world: World) -> float:
    """The true F1@K, from 50,000 responses."""
    labels, _, place = world.responses(np.random.default_rng(1), 50_000, 40)
    s, n = np.bincount(place, labels), np.bincount(place)
    return float(np.where(s <= K, 2 * s / (n + K), 2 * s / (n + s)).mean())


def _counted(verdicts: Ints, place: Ints) -> JudgedResponses:
    supported, n = np.bincount(place, verdicts).astype(int), np.bincount(place)
    pairs = zip(supported.tolist(), n.tolist(), strict=True)
    return JudgedResponses([Counts(supported=s, not_supported=whole - s) for s, whole in pairs])


def _ends(found: Estimate) -> Interval:
    return None if found.low is None or found.high is None else (found.low, found.high)


def _by_truescore(labels: Ints, verdicts: Ints, judged: Ints) -> Interval:
    import truescore

    found = truescore.ppi_estimate(np.concatenate([verdicts, judged]), labels, np.arange(len(labels)))
    return found.low, found.high


def _by_judgy(labels: Ints, verdicts: Ints, judged: Ints, rng: np.random.Generator) -> Interval:
    """The interval by `judgy`, which draws from numpy's global generator."""
    import judgy  # type: ignore[import-untyped]  # has no type hints

    np.random.seed(int(rng.integers(2**32)))
    try:
        _, low, high = judgy.estimate_success_rate(labels, verdicts, judged, bootstrap_iterations=JUDGY_RESAMPLES)
    except ValueError:  # TPR + TNR of 1 at most, or a class without a label
        return None
    return low, high


def _rows(
    name: str, truth: float, run: Callable[[np.random.Generator], Found], repetitions: int, seed: int
) -> Iterator[Row]:
    tallies: dict[str, Tally] = {}
    for generator in np.random.default_rng(seed).spawn(repetitions):
        for measure, interval in run(generator).items():
            tallies.setdefault(measure, Tally()).add(interval, truth)
    for measure, tally in tallies.items():
        label = f"{measure}, mean width {np.mean(tally.widths):.3f}" if tally.widths else measure
        label += f", {repetitions - tally.given} undefined" if tally.given < repetitions else ""
        share = tally.held / tally.given if tally.given else None
        is_ours = measure in {"prediction-powered", "adjusted count", "corrected", "by error rates"}
        yield (
            compared(name, label, share, "at least", LEAST, "{:.3f}")
            if is_ours
            else Row(name, label, "", "" if share is None else f"{share:.3f}", None)
        )


if __name__ == "__main__":
    typer.run(main)
