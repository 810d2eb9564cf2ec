"""`python -m benchmarks.correction_coverage`: how often intervals of 95 % hold the truth, raw and corrected.

A grid first, a cell a row: systems by precision and by how alike the claims of a response are (intraclass correlation),
labelled prompts and claims a response, for prediction-powered precision by a run of 100 responses and a judge with TPR
0.85 and FPR 0.3. Asked for is `HELD`, and no more than `BELOW` on the flattering side, where the truth lies below the
interval; or a caution in `CAUTIONED` of the runs. `--whole` has 384 cells. The reduced grid once more where the judge
gives scores; then few labels, which often show no error, of a judge that hardly errs and a run of 1,000 responses. Then
FActScore's human labels where they are found: whole responses drawn anew, with the same judge, for F1@K at the median
of their claims and below.

Then claims that are independent, with `judgy` and `truescore` on the same; and labelled claims of another system, with
more or fewer errors, on which the evaluator errs alike: then the estimate must cover that is preferred there, the
adjusted count; what the others do stands beside it. Ends with 1 where a target is missed by more than two standard
errors of its repetitions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.rows import data_folder
from factloop.core.factuality import f1_at_k
from factloop.core.records import Counts
from factloop.evaluation.debiasing.f1 import debiased_f1
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import Estimate, Transfer
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims

HELD, BELOW, CAUTIONED = 0.93, 0.04, 0.9
JUDGY_RESAMPLES = 200

Ints = NDArray[np.int64]
Interval = tuple[float, float] | None
Found = Mapping[str, Estimate | Interval]


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

    def responses(self, rng: np.random.Generator, n: int, size: int, alike: float = 0.11) -> tuple[Ints, Ints, Ints]:
        """Labels, verdicts and responses of claims, `size` a response on average, with that intraclass correlation."""
        shares = np.full(n, self.truth)
        if alike:
            shares = rng.beta(self.truth * (1 / alike - 1), (1 - self.truth) * (1 / alike - 1), size=n)
        response = np.repeat(np.arange(n), 1 + rng.poisson(size - 1, size=n))
        return *self._judged(rng, rng.random(len(response)) < shares[response]), response

    def drawn(self, rng: np.random.Generator, given: list[Ints], n: int) -> tuple[Ints, Ints, Ints]:
        """Labels, verdicts and responses of claims, of n of the responses whose labels are given."""
        chosen = [given[place] for place in rng.integers(0, len(given), n)]
        response = np.repeat(np.arange(n), [len(one) for one in chosen])
        return *self._judged(rng, np.concatenate(chosen) == 1), response

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

WHOLE = tuple(product((0.5, 0.7, 0.8, 0.9, 0.95, 0.97), (0.0, 0.1, 0.2, 0.3), (15, 30, 60, 150), (5, 10, 20, 40)))
"""Precision; intraclass correlation of the labels of a response; labelled prompts; claims a response, on average."""
REDUCED = tuple(product((0.5, 0.9, 0.95, 0.97), (0.0, 0.2, 0.3), (15, 30, 150), (5, 40)))
FEW = tuple(product((0.3, 0.5, 0.7, 0.9), (0.0, 0.3), (30,), (2, 3)))

ERRING, SURE = World(0.0, 0.85, 0.7), World(0.0, 1.0, 0.97)
DOUBTS = {ERRING: (0.3, 0.5), SURE: (0.1, 0.1)}
"""Judges of the grid; how far a score lies from its verdict at most where that is right, and where it is wrong."""
N_RUN = {ERRING: 100, SURE: 1000}
"""Responses of the run that each judges."""


@dataclass
class Tally:
    """What intervals did over repetitions."""

    n: int = 0
    given: int = 0
    held: int = 0
    below: int = 0
    """Truths below the interval: it flatters."""
    cautioned: int = 0
    width: float = 0.0
    off: float = 0.0
    """Sum of values less the truth, over those that are defined."""
    defined: int = 0

    def add(self, found: Estimate | Interval, truth: float) -> None:
        self.n += 1
        if isinstance(found, Estimate):
            self.cautioned += bool(found.cautions) or found.value is None
            self.off += 0.0 if found.value is None else found.value - truth
            self.defined += found.value is not None
            found = found.interval
        if found is not None:
            self.given += 1
            self.held += found[0] <= truth <= found[1]
            self.below += truth < found[0]
            self.width += found[1] - found[0]

    @property
    def is_met(self) -> bool:
        """Whether the goal is, with two standard errors of the repetitions allowed."""
        if self.cautioned >= CAUTIONED * self.n:
            return True
        errors = [2.0 * math.sqrt(share * (1.0 - share) / self.given) for share in (HELD, BELOW)]
        return self.held / self.given >= HELD - errors[0] and self.below / self.given <= BELOW + errors[1]

    def cells(self) -> tuple[str, ...]:
        given = max(self.given, 1)
        shares = self.held / given, self.below / given, self.cautioned / self.n, self.width / given
        return *(f"{one:.3f}" for one in shares), f"{self.off / self.defined:+.4f}" if self.defined else ""


Tallied = tuple[tuple[str, ...], Tally, bool]
"""The names of a row, what was found, and whether the goal is asked of it."""


def of_grid(
    cells: Iterable[tuple[float, float, int, int]],
    repetitions: int,
    seed: int,
    judge: World = ERRING,
    *,
    has_scores: bool = False,
) -> Iterator[Tallied]:
    """Prediction-powered precision in each cell."""
    for precision, alike, n_prompts, size in cells:
        world, found = replace(judge, truth=precision), Tally()
        for rng in np.random.default_rng(seed).spawn(repetitions):
            claims, of_run = (world.responses(rng, n, size, alike) for n in (n_prompts, N_RUN[judge]))
            labelled, run = _labelled(*claims), _counted(*of_run[1:])
            if has_scores:
                labelled = replace(labelled, scores=_scores(rng, *claims[:2], DOUBTS[judge]).tolist())
                sums = np.bincount(of_run[2], _scores(rng, *of_run[:2], DOUBTS[judge]))
                run = replace(run, score_sums=sums.tolist())
            found.add(debiased_precision(labelled, run).prediction_powered, precision)
        yield (f"{precision:g}", f"{alike:g}", str(n_prompts), str(size)), found, True


def _scores(rng: np.random.Generator, labels: Ints, verdicts: Ints, doubts: tuple[float, float]) -> NDArray[np.float64]:
    """(n_claims,), in [0, 1]."""
    return np.abs(verdicts - rng.random(len(labels)) * np.where(labels == verdicts, *doubts))


def biographies(system: str) -> list[Ints]:
    """People's labels of each response of FActScore's, 1 supported, without irrelevant and repeated facts."""
    found = []
    with (data_folder() / "factscore_bio.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            facts = {
                fact["text"]: int(fact["label"] == "S")
                for sentence in (row["sentences"] or ()) if row["system"] == system
                for fact in sentence["atomic_facts"] or () if fact["label"] != "IR"
            }  # fmt: skip
            if facts:
                found.append(np.array(list(facts.values()), np.int64))
    return found


def of_factscore(repetitions: int, seed: int) -> Iterator[Tallied]:
    """Precision and F1@K, the latter by K at the lower quartile and at the median, by system and numbers of responses.

    The truth is that of all its responses: both samples are draws of them, with replacement.
    """
    for system in ("InstructGPT", "ChatGPT", "PerplexityAI"):
        given = biographies(system)
        sizes, counts = [len(one) for one in given], [_counts(int(one.sum()), len(one)) for one in given]
        ks = [int(np.quantile(sizes, share)) for share in (0.25, 0.5)]
        truths = {"precision": sum(one.supported for one in counts) / sum(sizes)}
        truths |= {f"F1@{k}": float(np.mean([f1_at_k(one, k) for one in counts])) for k in ks}
        for n_labelled, n_run in ((30, 100), (150, 100), (150, 300)):
            found = {name: Tally() for name in truths}
            for rng in np.random.default_rng(seed).spawn(repetitions):
                labelled = _labelled(*ERRING.drawn(rng, given, n_labelled))
                run = _counted(*ERRING.drawn(rng, given, n_run)[1:])
                estimates = [debiased_precision(labelled, run).prediction_powered]
                estimates += [one.corrected for one in debiased_f1(labelled, run, ks)]
                for name, estimate in zip(found, estimates, strict=True):
                    found[name].add(estimate, truths[name])
            yield from (((system, str(n_labelled), str(n_run), name), one, True) for name, one in found.items())


def of_claims(repetitions: int, seed: int) -> Iterator[Tallied]:
    """Independent claims and claims of another system, corrected in several ways."""
    for name, truth, run in _settings():
        tallies: dict[str, Tally] = {}
        for generator in np.random.default_rng(seed).spawn(repetitions):
            for measure, found in run(generator).items():
                tallies.setdefault(measure, Tally()).add(found, truth)
        for measure, tally in tallies.items():
            yield (name, measure), tally, measure in {"prediction-powered", "adjusted count"}


def shown(title: str, headings: tuple[str, ...], found: Iterable[Tallied], console: Console) -> int:
    """Prints a row for each tally, the goal in the headings; returns how many miss it."""
    measured = f"held (>= {HELD})", f"truth below (<= {BELOW})", f"or cautioned (>= {CAUTIONED})", "width", "bias", ""
    rows, n_missed = Table(*headings, *measured, title=title, title_justify="left"), 0
    for names, tally, is_asked in found:
        is_missed = is_asked and not tally.is_met
        rows.add_row(*names, *tally.cells(), "" if not is_asked else "[red]miss[/]" if is_missed else "[green]pass[/]")
        n_missed += is_missed
    console.print(rows)
    return n_missed


def main(
    repetitions: Annotated[int, typer.Option(help="Of each setting.")] = 300,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    whole: Annotated[bool, typer.Option(help="All 384 cells of the grid.")] = False,
) -> None:
    """Measure coverage by simulation."""
    console, headings = Console(), ("precision", "correlation", "prompts", "claims each")
    console.print(f"Intervals of 95 %, {repetitions} repetitions each")
    grid = of_grid(WHOLE if whole else REDUCED, repetitions, seed)
    n_missed = shown("Prediction-powered precision", headings, grid, console)
    for title, cells, judge in (("by scores", REDUCED, ERRING), ("by scores of a judge that hardly errs", FEW, SURE)):
        grid = of_grid(cells, repetitions, seed, judge, has_scores=True)
        n_missed += shown(f"Prediction-powered precision, {title}", headings, grid, console)
    if (data_folder() / "factscore_bio.jsonl").is_file():
        headings, found = ("system", "labelled", "run", "figure"), of_factscore(repetitions, seed)
        n_missed += shown("FActScore's labels, responses drawn anew", headings, found, console)
    else:
        console.print(f"FActScore's labels are not in {data_folder()}: set FACTLOOP_DATA")
    n_missed += shown(
        "Beside other packages, and under a shift", ("claims", "by"), of_claims(repetitions, seed), console
    )
    console.print(f"{n_missed} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _settings() -> Iterator[tuple[str, float, Callable[[np.random.Generator], Found]]]:
    """Name, truth, and what draws once and gives the intervals."""
    for world in WORLDS:
        for n in (100, 400):
            yield f"{world}\n{n} labels, 2,000 claims", world.truth, _claim_coverage(world, n)
    for labelled, of_run in SHIFTS:
        name = f"{labelled}, run: truth {of_run.truth:g}\n40 x 10 labels of another system, 100 responses"
        yield name, of_run.truth, _shift_coverage(labelled, of_run)


def _claim_coverage(world: World, n: int) -> Callable[[np.random.Generator], Found]:
    def run(rng: np.random.Generator) -> Found:
        labels, verdicts = world.claims(rng, n)
        _, judged = world.claims(rng, 2000)
        found = debiased_precision(
            LabelledClaims(labels.tolist(), verdicts.tolist()), JudgedResponses.of_claims(judged.tolist())
        )
        return {
            "raw": found.raw,
            "prediction-powered": found.prediction_powered,
            "adjusted count": found.adjusted_count,
            "truescore, prediction-powered": _by_truescore(labels, verdicts, judged),
            "judgy": _by_judgy(labels, verdicts, judged, rng),
        }

    return run


def _shift_coverage(of_labels: World, of_run: World) -> Callable[[np.random.Generator], Found]:
    def draw(rng: np.random.Generator) -> Found:
        labelled = _labelled(*of_labels.responses(rng, 40, 10))
        run = _counted(*of_run.responses(rng, 100, 40)[1:])
        found = debiased_precision(labelled, run, transfer=Transfer.ERROR_RATES, is_sampled=False)
        assert found.prediction_powered.value is None
        said_alike = debiased_precision(labelled, run)
        return {
            "raw": found.raw,
            "prediction-powered, withheld": said_alike.prediction_powered,
            "adjusted count": found.adjusted_count,
        }

    return draw


def _labelled(labels: Ints, verdicts: Ints, response: Ints) -> LabelledClaims:
    return LabelledClaims(labels.tolist(), verdicts.tolist(), response.tolist())


def _counted(verdicts: Ints, place: Ints) -> JudgedResponses:
    supported, n = np.bincount(place, verdicts).astype(int), np.bincount(place)
    return JudgedResponses([_counts(*pair) for pair in zip(supported.tolist(), n.tolist(), strict=True)])


def _counts(supported: int, n: int) -> Counts:
    return Counts(supported=supported, not_supported=n - supported)


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


if __name__ == "__main__":
    typer.run(main)
