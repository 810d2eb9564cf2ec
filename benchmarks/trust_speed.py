"""`python -m benchmarks.trust_speed`: TrustBC against the simulated subject: time, CPU, agreement, letter bias.

The simulator runs in a process of its own on the same machine, with 300 ms a call and 10 ms for each completion token.
Ends with 1 where a target is missed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.rows import Row, compared, table
from benchmarks.trust_runs import Answer, agreement, build_knowledge_base, draw_answers, score_all, without_times
from factloop.agents.trustscore.records import TrustReport
from tests.simulator import RunningSimulator, spawn

MAX_WALL_S = 30.0
MAX_CPU_MS = 40.0


def main(
    pairs: Annotated[int, typer.Option(help="Answers to score.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the answers drawn.")] = 0,
) -> None:
    """Measure TrustBC against the simulator and print targets beside measurements."""
    console = Console()
    with spawn() as simulator, tempfile.TemporaryDirectory() as folder:
        rows = list(_rows(simulator, pairs, seed, build_knowledge_base(simulator.world, Path(folder))))
    console.print(table(f"TrustBC of {pairs} answers against the simulated subject", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _rows(simulator: RunningSimulator, n: int, seed: int, kb: Path) -> Iterator[Row]:
    answers = draw_answers(simulator.world, n, seed)
    score_all(simulator, answers[:2], kb, window=10)  # tables are read and connections made once a process
    wide = score_all(simulator, answers, kb, window=10)
    yield compared("--window 10", "wall time, s", wide.wall_s, "at most", MAX_WALL_S, "{:.1f}")
    yield compared("--window 10", "own CPU a pair, ms", 1000 * wide.cpu_s / n, "at most", MAX_CPU_MS, "{:.1f}")
    yield Row("--window 10", "model calls", "", str(wide.stats.model.answered), None)
    yield _agreement_row(simulator, answers, wide.run.reports, "--window 10")
    narrow = score_all(simulator, answers, kb, window=1)
    yield Row("--window 1", "wall time, s", "", f"{narrow.wall_s:.1f}", None)
    yield Row("--window 1", "own CPU a pair, ms", "", f"{1000 * narrow.cpu_s / n:.1f}", None)
    yield Row("--window 1", "model calls", "", str(narrow.stats.model.answered), None)
    same = [a.trust_bc.value == b.trust_bc.value and a.trust_bc.graded == b.trust_bc.graded
            for a, b in zip(wide.run.reports, narrow.run.reports, strict=True)]  # fmt: skip
    yield compared("--window 1", "same results as --window 10", sum(same), "at least", n)
    again = score_all(simulator, answers, kb, window=10)
    is_same = without_times(again.run) == without_times(wide.run)
    yield Row("one seed", "two runs but for times", "identical", "identical" if is_same else "different", is_same)
    for letter in "ABCDE":
        simulator.set(letter_bias=letter)
        biased = score_all(simulator, answers, kb, window=10)
        yield _agreement_row(simulator, answers, biased.run.reports, f"bias towards {letter}")
    simulator.set(letter_bias=None)


def _agreement_row(
    simulator: RunningSimulator, answers: Sequence[Answer], reports: Sequence[TrustReport], group: str
) -> Row:
    right, scored, unscored = agreement(simulator, answers, reports)
    name = f"equal to what is known, of {scored} scored and certain ({unscored} unscored)"
    return compared(group, name, right, "at least", scored)


if __name__ == "__main__":
    typer.run(main)
