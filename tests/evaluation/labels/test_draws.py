"""Sheets that are filled in from the top on: a smaller draw, whose labels count by the probabilities it then has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factloop.evaluation.labels.draws import drawn_parts
from factloop.evaluation.labels.sheets import draw_next
from factloop.reports.labels import ClaimToLabel, Draw
from tests.evaluation.labels.labelled_runs import DATA, corrected, drawn_from, exported, filled_in, labelled_run
from tests.evaluation.runs.finished_runs import judged


def test_any_beginning_of_a_sheet_is_a_smaller_draw() -> None:
    """Of ten drawn of twenty claims the first three, 600 times: each claim 90 times, SD 8.7; five SD are 44.

    By response the first three would be of system a alone, and claims of b never among them.
    """
    run = [judged(f"p{n}", "snsns", system=system) for n in range(2) for system in ("a", "b")]
    times: dict[tuple[str, str], int] = {}
    for seed in range(600):
        for one in draw_next(run, 10, data=DATA, seed=seed).drawn[:3]:
            times[one.to_label.key] = times.get(one.to_label.key, 0) + 1
    assert len(times) == 20
    assert all(abs(n - 90) < 44 for n in times.values())


def claim(number: int, draw: Draw | None) -> ClaimToLabel:
    return ClaimToLabel(
        dataset=DATA, system="one", response_id="r", group="p", claim_id=f"c{number}", claim="A.", judge="j",
        verdict=None, probability=0.5, draw=draw,
    )  # fmt: skip


def test_the_answered_part_of_a_draw_by_hand() -> None:
    """Of ten drawn five were given back, three with an answer: 3/10. Of an unknown draw two of four were: 1/2."""
    ten = Draw(name="d", n=10)
    given = [(claim(n, ten), n < 3) for n in range(5)] + [(claim(n, None), n < 7) for n in range(5, 9)]
    found = drawn_parts(given)
    assert (found["d"].n_open, found["d"].share) == (7, 0.3)
    assert (found[None].n_open, found[None].share) == (2, 0.5)


def test_labels_of_a_part_of_a_sheet_count_as_a_smaller_draw(tmp_path: Path) -> None:
    """30 of 40 claims drawn, p = 3/4; 12 of those labelled, so 12/40."""
    run = labelled_run(np.random.default_rng(0), 8, 5)
    found = exported(tmp_path / "l", filled_in(tmp_path / "s.csv", drawn_from(run, 30, 0), run, 12))
    assert {row["probability"] for row in found.rows} == {0.3}
    assert [(part.n_open, part.n_drawn) for part in found.unfinished] == [(18, 30)]
    assert "draw" not in found.rows[0]
    whole = exported(tmp_path / "l", filled_in(tmp_path / "s.csv", drawn_from(run, 30, 0), run))
    assert {row["probability"] for row in whole.rows} == {0.75}
    assert whole.unfinished == []


@pytest.mark.statistical
def test_intervals_of_a_part_of_a_sheet_hold_the_precision_of_the_run(tmp_path: Path) -> None:
    """60 of 180 drawn of 200 claims: of 300 with a chance of 0.95 each, fewer than 273 come once in 500.

    Taken for a draw of 180 its labels would leave a tenth of the run open and not 7/10: the interval is 0.4 as wide.
    """
    held = 0
    for seed, rng in enumerate(np.random.default_rng(1).spawn(300)):
        run = labelled_run(rng, 40, 5)
        exported(tmp_path / "l.jsonl", filled_in(tmp_path / "s.csv", drawn_from(run, 180, seed), run, 60))
        own = corrected(tmp_path / "l.jsonl", run).own_claims
        assert own is not None
        assert own.low is not None
        assert own.high is not None
        held += own.low <= run.precision <= own.high
    assert held >= 273
