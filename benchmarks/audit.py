"""`python -m benchmarks.audit`: time and memory of the audit of evaluators, on made-up predictions.

The whole audit may take 30 s and 2 GB for a million rows, and 3 s for 30,000, on two cores. Measured here: reading
the file, counting with a thousand bootstrap resamples, and rates, agreement and quantification with their intervals,
each size in a process of its own. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console

from benchmarks.rows import Row, compared, table

Clusters = Literal["prompt", "response"]

N_SYSTEMS, N_DATASETS, CLAIMS_A_RESPONSE = 20, 10, 4
EVALUATORS = {"strict": 1.6, "lenient": 0.4, "even": 1.0, "weak": 1.0, "chunked": 1.3}
"""Name to the exponent of its scores: above 1 it calls more claims wrong."""
MAX_WALL_S = {1_000_000: 30.0, 30_000: 3.0}
MAX_GB = 2.0


@dataclass(frozen=True)
class Timing:
    """Seconds of each step, seconds of processor time in all, and the most memory of the process."""

    steps: dict[str, float]
    cpu_s: float
    peak_gb: float


def main(
    rows: Annotated[list[int] | None, typer.Option(help="Sizes to measure.")] = None,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the data and the draws.")] = 0,
) -> None:
    """Measure the audit and print targets beside measurements."""
    console = Console()
    found = [row for n in rows or sorted(MAX_WALL_S) for row in _rows(n, resamples, seed)]
    title = f"Audit of {len(EVALUATORS)} evaluators, {N_SYSTEMS} systems, {resamples:,} resamples"
    console.print(table(title, found))
    n_missed = sum(row.is_met is False for row in found)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in found)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _rows(n: int, resamples: int, seed: int) -> Iterator[Row]:
    for clusters in ("prompt", "response"):
        timing = _timed(n, clusters, resamples, seed)
        group = f"{n:,} rows, drawn by {clusters}"
        for step, seconds in timing.steps.items():
            yield Row(group, f"{step}, s", "", f"{seconds:.2f}", None)
        total = sum(timing.steps.values())
        if n in MAX_WALL_S:
            yield compared(group, "together, s", total, "at most", MAX_WALL_S[n], "{:.1f}")
        else:
            yield Row(group, "together, s", "", f"{total:.1f}", None)
        yield Row(group, "own CPU, s", "", f"{timing.cpu_s:.1f}", None)
        yield compared(group, "most memory, GB", timing.peak_gb, "at most", MAX_GB, "{:.2f}")


def _timed(n: int, clusters: Clusters, resamples: int, seed: int) -> Timing:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.jsonl"
        write_predictions(path, n, clusters, seed)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(_measure, path, resamples, seed).result()


def write_predictions(path: Path, n: int, clusters: Clusters, seed: int) -> None:
    """`n` claims; each system errs at a rate of its own, each evaluator sees the same noisy support of the claim."""
    rng = np.random.default_rng(seed)
    error_rates = np.linspace(0.05, 0.4, N_SYSTEMS)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, n, 100_000):
            claims = np.arange(start, min(n, start + 100_000))
            responses = claims // CLAIMS_A_RESPONSE
            systems, prompts = responses % N_SYSTEMS, responses // N_SYSTEMS
            labels = (rng.random(len(claims)) >= error_rates[systems]).astype(int)
            support = np.clip(0.25 + 0.5 * labels + rng.normal(0, 0.25, len(claims)), 0, 1)
            noise = rng.normal(0, 0.1, (len(EVALUATORS), len(claims)))
            for place, claim in enumerate(claims.tolist()):
                prompt = int(prompts[place])
                row = {
                    "dataset": f"data-{prompt % N_DATASETS}",
                    "task": f"task-{prompt % N_DATASETS % 3}",
                    "system": f"system-{int(systems[place]):02}",
                    "response_id": f"response-{prompt}",
                    "claim_id": claim % CLAIMS_A_RESPONSE,
                    "label": int(labels[place]),
                    "evaluators": {
                        name: round(float(np.clip(support[place] + noise[e, place], 0, 1)) ** exponent, 4)
                        for e, (name, exponent) in enumerate(EVALUATORS.items())
                    },
                }
                if clusters == "prompt":
                    row["prompt_id"] = f"prompt-{prompt}"
                file.write(json.dumps(row) + "\n")


def _measure(path: Path, resamples: int, seed: int) -> Timing:
    from factloop.evaluation.audit.agreement import agreement
    from factloop.evaluation.audit.quantification import quantification
    from factloop.evaluation.audit.rates import rates
    from factloop.evaluation.audit.resampling import count
    from factloop.evaluation.audit.rows import load_predictions

    times = [time.perf_counter()]
    predictions = load_predictions(path)
    times.append(time.perf_counter())
    counted = count(predictions, rng=np.random.default_rng(seed), resamples=resamples)
    times.append(time.perf_counter())
    for figures in (rates, agreement, quantification):
        figures(counted)
    times.append(time.perf_counter())
    steps = dict(zip(("reading", "counting and resampling", "figures"), np.diff(times).tolist(), strict=True))
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return Timing(steps, time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9)


if __name__ == "__main__":
    typer.run(main)
