"""Prints how the offline rater reads both halves of the minimal pairs, by kind.

python -m benchmarks.minimal_pairs                    # both halves
python -m benchmarks.minimal_pairs development        # one of them
python -m benchmarks.minimal_pairs development -v     # with each pair that is read wrongly, and why
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.minimal_pairs.pairs import HALVES, Half, PairReading, read_half, read_pairs_by, score
from factloop.tools.verifiers.lexical import LexicalVerifier


def main(arguments: Sequence[str]) -> int:
    console = Console()
    verifier = LexicalVerifier()
    for half in [one for one in HALVES if one in arguments] or HALVES:
        readings = read_pairs_by(verifier, read_half(half))
        console.print(_table(half, readings))
        if "-v" in arguments:
            for line in _mistakes(verifier, readings):
                console.print(line, markup=False, highlight=False)
    return 0


def _table(half: Half, readings: Sequence[PairReading]) -> Table:
    grid = Table(title=f"Minimal pairs, {half} half", title_justify="left")
    grid.add_column("kind")
    for heading in ("pairs", "balanced", "TPR", "TNR", "both right", "contradicted", "of these true"):
        grid.add_column(heading, justify="right")
    for kind in sorted({one.pair.kind for one in readings}):
        _add(grid, kind, [one for one in readings if one.pair.kind == kind])
    grid.add_section()
    _add(grid, "all", readings)
    return grid


def _add(grid: Table, name: str, readings: Sequence[PairReading]) -> None:
    found = score(readings)
    rates = (f"{value:.2f}" for value in (found.balanced_accuracy, found.tpr, found.tnr))
    counts = (found.both, found.contradicted_false + found.contradicted_true, found.contradicted_true)
    grid.add_row(name, str(found.n), *rates, *map(str, counts))


def _mistakes(verifier: LexicalVerifier, readings: Sequence[PairReading]) -> list[str]:
    wrong = [(one.pair, one.pair.true) for one in readings if one.true != "supported"]
    wrong += [(one.pair, one.pair.false) for one in readings if one.false == "supported"]
    found = [(pair, claim, verifier.verify(claim, [pair.evidence])) for pair, claim in wrong]
    return [f"{pair.id} {said.label} {said.score:.2f}: {claim}\n  {said.rationale}" for pair, claim, said in found]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
