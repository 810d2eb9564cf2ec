"""Prints how often the lexical verifier agrees with people on whether evidence supports a claim.

    python -m benchmarks.offline_accuracy                   # words alone
    python -m benchmarks.offline_accuracy --embeddings      # also with MiniLM, some minutes

On the development part of each file by five-fold grouped cross-validation, averaged over three shuffles, and with each
data set left out of the fit; on the held-out quarter by the weights fitted on the development part. Balanced accuracy
with a 95 % interval by bootstrap of whole groups; tpr and tnr apart; the expected calibration error as the pairs stand,
and weighted to even odds, for which the score is made. Then what is called contradicted. Data as for
`benchmarks.fit_lexical`.

Checks and features were made while looking at the development part alone. An earlier rater was made while looking at
all of the files, and this one keeps its reading of words.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid

from benchmarks.fit_lexical import (
    Floats,
    Pair,
    Table,
    absent_files,
    calibration_error,
    cross_validated,
    data_folder,
    development_pairs,
    equal_weights,
    fit,
    held_out_pairs,
    measure,
    rates,
    scores,
)
from factloop.tools.embeddings.base import Embedder
from factloop.tools.verifiers.lexical import LexicalVerifier

N_RESAMPLES = 1_000
DATA_SETS = ("wice", "stance", "expertqa", "minimal pairs")
COLUMNS = ("engine", "fitted on", "tested on", "n", "balanced accuracy", "95 %", "tpr", "tnr", "ece", "at even odds")


def interval(held_out: Floats, supported: NDArray[np.bool_], group: NDArray[np.str_]) -> tuple[float, float]:
    """95 % interval of the mean balanced accuracy: groups are drawn with replacement, all shuffles scored alike."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(group == name) for name in np.unique(group)]
    means = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate([members[pick] for pick in rng.integers(len(members), size=len(members))])
        passed, wanted = held_out[:, rows] >= 0.5, supported[rows]
        tpr, tnr = passed[:, wanted].mean(), (~passed[:, ~wanted]).mean()
        means.append((tpr + tnr) / 2)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def add_rows(grid: Grid, engine: str, development: Table, held_out: Table) -> None:
    together = cross_validated(development, DATA_SETS)
    for data_set in DATA_SETS:
        _add(grid, (engine, "development, by cross-validation", data_set), development, together, data_set)
    _add(grid, (engine, "development, by cross-validation", "all"), development, together, None)
    grid.add_section()
    for data_set in DATA_SETS:
        others = [one for one in DATA_SETS if one != data_set]
        values = cross_validated(development, others)
        _add(grid, (engine, "the other sets of development", data_set), development, values, data_set)
    grid.add_section()
    values = scores(fit(development), held_out)[np.newaxis]
    for data_set in DATA_SETS[:3]:
        _add(grid, (engine, "all of development", f"{data_set}, held out"), held_out, values, data_set)
    _add(grid, (engine, "all of development", "all held out"), held_out, values, None)
    grid.add_section()


def _add(grid: Grid, names: tuple[str, str, str], table: Table, values: Floats, data_set: str | None) -> None:
    """A row of one data set, or of all; `values` has shape (repeats, n)."""
    rows = np.ones(len(table.supported), dtype=bool) if data_set is None else table.data_set == data_set
    supported, chosen = table.supported[rows], values[:, rows]
    accuracy, tpr, tnr = np.mean([rates(value, supported) for value in chosen], axis=0)
    low, high = interval(chosen, supported, table.group[rows])
    weights = equal_weights(table)[rows]
    errors = [
        np.mean([calibration_error(value, supported, one) for value in chosen])
        for one in (np.ones(supported.size), weights)
    ]
    shown = (
        f"{accuracy:.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{tpr:.2f}",
        f"{tnr:.2f}",
        *(f"{error:.3f}" for error in errors),
    )
    grid.add_row(*names, f"{supported.size:,}", *shown)


def contradictions(pairs: Sequence[Pair]) -> Counter[tuple[str, str]]:
    """How many pairs of each data set and human label the packaged verifier calls contradicted."""
    verifier = LexicalVerifier()
    return Counter(
        (pair.data_set, pair.label)
        for pair in pairs
        if verifier.verify(pair.claim, pair.found.passages, pair.found.documents).label == "contradicted"
    )


def main(arguments: Sequence[str] = ()) -> int:
    console = Console()
    folder = data_folder()
    absent = absent_files(folder)
    if absent:
        console.print(f"skipped: {folder} lacks {', '.join(absent)} (set FACTLOOP_DATA)")
        return 0
    development, held_out = development_pairs(folder), held_out_pairs(folder)
    grid = Grid(title="Lexical verifier against human labels")
    for column in COLUMNS:
        grid.add_column(column, justify="left" if column in COLUMNS[:3] else "right")
    engines: dict[str, Embedder | None] = {"words": None}
    if "--embeddings" in arguments:
        from factloop.tools.embeddings.sentence import packaged_minilm

        engines["words + MiniLM"] = packaged_minilm()
    for engine, embedder in engines.items():
        add_rows(grid, engine, measure(development, embedder), measure(held_out, embedder))
    console.print(grid)
    for part, pairs in (("development", development), ("held out", held_out)):
        console.print(f"Called contradicted, {part}, by human label:")
        for (data_set, label), count in sorted(contradictions(pairs).items()):
            console.print(f"  {data_set}: {label} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
