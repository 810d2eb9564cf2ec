"""A comparison on the terminal, whatever its width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.views.terminal import print_comparison
from factloop.evaluation.comparing.words import amount, interval
from tests.evaluation.runs.views.run_samples import two_evaluators

VERDICTS = ("Supported", "Not supported", "Irrelevant", "Unscored")


def printed(comparison: Comparison, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, emoji=False, markup=False, highlight=False)
    print_comparison(comparison, console)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


@pytest.mark.parametrize("width", [44, 80, 109, 110, 200])
def test_no_number_is_cut(width: int) -> None:
    comparison = two_evaluators()
    shown = printed(comparison, width)
    assert "…" not in shown
    for one in comparison.differences:
        apart = amount(one.value, one.quantity, signed=True)
        for part in (apart, interval(one, one.quantity, signed=True), amount(one.first_value, one.quantity)):
            assert part in shown
    assert comparison.claims is not None
    for row in comparison.claims.table:
        stacked = " ".join(f"{words}: {n}" for words, n in zip(VERDICTS, row, strict=True))
        assert (stacked if width < 60 else " ".join(map(str, row))) in shown
    for said in comparison.conclusions:
        assert said in shown
    assert "Only in A 3 responses: longfact-011" in shown
