"""A comparison on the terminal, whatever its width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from factloop.evaluation.comparing.records import Comparison, Setting
from factloop.evaluation.comparing.views.sheets import VERDICT_WORDS
from factloop.evaluation.comparing.views.terminal import SETTINGS_SHOWN, print_comparison
from factloop.evaluation.comparing.words import point_interval, points
from tests.evaluation.runs.views.run_samples import hostile_comparison, nothing_to_compare, two_evaluators, two_systems


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
        assert one.difference is not None
        assert one.low is not None
        assert one.high is not None
        for part in (points(one.difference), point_interval(one.low, one.high), f"{one.p:.3f}", f"{one.first:.3f}"):
            assert part in shown
    assert comparison.claims is not None
    for row in comparison.claims.table:
        stacked = " ".join(f"{words}: {n}" for words, n in zip(VERDICT_WORDS, row, strict=True))
        assert (stacked if width < 60 else " ".join(map(str, row))) in shown
    for said in comparison.conclusions:
        assert said in shown
    assert "Only in A 3 responses: longfact-011" in shown


def test_systems_and_nothing() -> None:
    assert "Two systems on 12 prompts" in printed(two_systems(), 120)
    nothing = printed(nothing_to_compare(), 120)
    assert "F1@2 – – undefined – – – 0 0 0 1" in nothing
    assert "F1@2: nothing can be said, as no pair has a value on both sides." in nothing


def test_many_settings_that_differ_are_counted() -> None:
    many = tuple(Setting(name=f"versions.{n}", first="1", second="2") for n in range(SETTINGS_SHOWN + 3))
    shown = printed(two_systems().model_copy(update={"settings": many}), 120)
    assert shown.count("Differs") == SETTINGS_SHOWN
    assert "and 3 more settings" in shown


def test_hostile_names_stay_text() -> None:
    shown = printed(hostile_comparison(), 60)
    assert not set(shown) & set("\x1b\u202e")
    assert "[red]" in shown
