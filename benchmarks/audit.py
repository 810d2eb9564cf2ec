"""`python -m benchmarks.audit`: time and memory of the audit of evaluators, on made-up predictions.

Reading the file and the whole audit may take 30 s and 2 GB for a million rows, and 3 s for 30,000, on two cores. That
is measured at one threshold and without texts, by prompts and by responses, each in a process of its own; it takes one
core. What a second threshold and what texts cost stands beside it, without a target. Time on the clock depends on what
else the machine does, processor time less so. Ends with 1 where a target is missed.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console

from benchmarks.rows import Row, compared, table

Clusters = Literal["prompt", "response"]

N_SYSTEMS, N_DATASETS, CLAIMS_A_RESPONSE = 20, 10, 4
EVALUATORS = {"strict": 1.6, "lenient": 0.4, "even": 1.0, "weak": 1.0, "even@100": 1.3}
"""Name to the exponent of its scores: above 1 it calls more claims wrong."""
N_WORDS, N_SENTENCES, N_CLAIM_WORDS = 5000, 20, 16
"""Different words, sentences of a document, words of a claim; a sentence has 15 words."""
MAX_WALL_S = {1_000_000: 30.0, 30_000: 3.0}
MAX_GB = 2.0
MOST_WITH_TEXTS = 100_000
"""More rows are measured without texts alone."""


@dataclass(frozen=True)
class Timing:
    """Seconds of each step, seconds of processor time of them together, and the most memory of the process."""

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
        total = sum(timing.steps.values())
        if n in MAX_WALL_S:
            yield compared(group, "reading and audit, s", total, "at most", MAX_WALL_S[n], "{:.1f}")
        else:
            yield Row(group, "reading and audit, s", "", f"{total:.1f}", None)
        yield from _costs(group, timing)
        yield compared(group, "most memory, GB", timing.peak_gb, "at most", MAX_GB, "{:.2f}")
    yield from _costs(f"{n:,} rows, two thresholds", _timed(n, "prompt", resamples, seed, threshold=0.7))
    if n <= MOST_WITH_TEXTS:
        yield from _costs(f"{n:,} rows with texts", _timed(n, "prompt", resamples, seed, has_texts=True))


def _costs(group: str, timing: Timing) -> Iterator[Row]:
    for step, seconds in timing.steps.items():
        yield Row(group, f"{step}, s", "", f"{seconds:.2f}", None)
    yield Row(group, "processor time, s", "", f"{timing.cpu_s:.1f}", None)


def _timed(
    n: int, clusters: Clusters, resamples: int, seed: int, *, threshold: float | None = None, has_texts: bool = False
) -> Timing:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.jsonl"
        write_predictions(path, n, clusters, seed, has_texts=has_texts)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(_measure, path, resamples, seed, threshold).result()


def write_predictions(path: Path, n: int, clusters: Clusters, seed: int, *, has_texts: bool = False) -> None:
    """`n` claims; each system errs at a rate of its own, each evaluator sees the same noisy support of the claim.

    Texts are random words: a claim has a run of its document's, or words of its own.
    """
    rng, texts = np.random.default_rng(seed), _Texts(seed)
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
                if has_texts:
                    row["document"] = texts.document(prompt)
                    row["claim"] = texts.claim(prompt, is_copied=bool(labels[place]))
                if clusters == "prompt":
                    row["prompt_id"] = f"prompt-{prompt}"
                file.write(json.dumps(row) + "\n")


class _Texts:
    """The documents of the prompts, one at a time, and claims about them."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._prompt, self._document = -1, ""

    def document(self, prompt: int) -> str:
        if prompt != self._prompt:
            drawn = self._rng.integers(0, N_WORDS, (N_SENTENCES, 15))
            sentences = [" ".join(f"w{word}" for word in sentence) for sentence in drawn.tolist()]
            self._prompt, self._document = prompt, "".join(f"{sentence.capitalize()}. " for sentence in sentences)
        return self._document

    def claim(self, prompt: int, *, is_copied: bool) -> str:
        words = self.document(prompt).split()
        if is_copied:
            start = int(self._rng.integers(0, len(words) - N_CLAIM_WORDS))
            return " ".join(words[start : start + N_CLAIM_WORDS])
        return " ".join(self._rng.choice(words, N_CLAIM_WORDS).tolist())


def _measure(path: Path, resamples: int, seed: int, threshold: float | None) -> Timing:
    from factloop.evaluation.audit.rows import load_predictions
    from factloop.evaluation.audit.whole import audit

    times, cpu_s = [time.perf_counter()], time.process_time()
    predictions = load_predictions(path)
    times.append(time.perf_counter())
    now = datetime.now(UTC)
    audit(predictions, name=path.name, created_at=now, threshold=threshold, resamples=resamples, seed=seed)
    times.append(time.perf_counter())
    steps = dict(zip(("reading", "audit"), np.diff(times).tolist(), strict=True))
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
    return Timing(steps, time.process_time() - cpu_s, peak_gb)


if __name__ == "__main__":
    typer.run(main)
