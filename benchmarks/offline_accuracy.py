"""Prints how often the lexical verifier agrees with people on whether evidence supports a claim.

    python -m benchmarks.offline_accuracy                   # words alone
    python -m benchmarks.offline_accuracy --embeddings      # also with MiniLM, some minutes

Balanced accuracy by five-fold grouped cross-validation, averaged over three shuffles, with a 95 % interval by bootstrap
of whole groups; tpr and tnr apart. Also trained on one data set and tested on another, and what the rule for
contradictions finds. Data as for `benchmarks.fit_lexical`.

Only the weights and the threshold are held out. The features, the rule for missing names and figures and the limits of
the rules for contradictions were chosen, among some thirty variants, while looking at these same files, so every figure
is somewhat flattering, "unseen" ones too: those data sets are unseen by the weights, not by the design.
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
    cross_validated,
    data_folder,
    measure,
    rates,
    read_pairs,
)
from factloop.tools.verifiers.lexical import LexicalVerifier

N_RESAMPLES = 1_000
TESTED = ("wice", "stance", "expertqa")
TRAINED = (("wice", "stance", "expertqa"), ("wice", "stance"), ("wice",), ("stance",))


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


def add_rows(grid: Grid, engine: str, table: Table) -> None:
    for train_on in TRAINED:
        held_out = cross_validated(table, train_on)
        for data_set in TESTED:
            rows = table.data_set == data_set
            values, supported = held_out[:, rows], table.supported[rows]
            accuracy, tpr, tnr = np.mean([rates(value, supported) for value in values], axis=0)
            low, high = interval(values, supported, table.group[rows])
            grid.add_row(
                engine,
                " + ".join(train_on),
                data_set if data_set in train_on else f"{data_set} (unseen)",
                f"{supported.size:,}",
                f"{accuracy:.3f}",
                f"{low:.3f}-{high:.3f}",
                f"{tpr:.2f}",
                f"{tnr:.2f}",
            )
        grid.add_section()


def contradictions(pairs: Sequence[Pair]) -> Counter[tuple[str, str]]:
    """How many pairs of each data set and human label the packaged verifier calls contradicted."""
    verifier = LexicalVerifier()
    return Counter(
        (pair.data_set, pair.label)
        for pair in pairs
        if verifier.verify(pair.claim, pair.passages).label == "contradicted"
    )


def main(arguments: Sequence[str] = ()) -> int:
    console = Console()
    folder = data_folder()
    absent = absent_files(folder)
    if absent:
        console.print(f"skipped: {folder} lacks {', '.join(absent)} (set FACTLOOP_DATA)")
        return 0
    pairs = read_pairs(folder)
    grid = Grid(title="Lexical verifier against human labels")
    for column in ("engine", "trained on", "tested on", "n", "balanced accuracy", "95 %", "tpr", "tnr"):
        grid.add_column(column, justify="left" if column in {"engine", "trained on", "tested on"} else "right")
    add_rows(grid, "words", measure(pairs))
    if "--embeddings" in arguments:
        from factloop.tools.embeddings.sentence import packaged_minilm

        add_rows(grid, "words + MiniLM", measure(pairs, packaged_minilm()))
    console.print(grid)
    console.print("Called contradicted, by human label:")
    for (data_set, label), count in sorted(contradictions(pairs).items()):
        console.print(f"  {data_set}: {label} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
