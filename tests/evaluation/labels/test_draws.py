from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.labels.draws import drawn_parts
from factloop.evaluation.labels.people import DisagreementPolicy
from factloop.evaluation.labels.sampling import Pilot, probabilities, probability_after, share_of_draw, systematic_draw
from factloop.evaluation.labels.sheets import KnownLabels, read_known
from factloop.reports.labels import Draw
from tests.evaluation.labels.labelled_runs import claim, corrected, drawn_from, exported, filled_in, labelled_run


def test_the_answered_part_of_a_draw_by_hand() -> None:
    """Of ten drawn five were given back, three with an answer: 3/10. Of an unknown draw two of four were: 1/2."""
    ten = Draw(name="d", n=10, n_claims=20)
    given = [(claim(claim_id=f"c{n}", draw=ten), "s.csv", n < 3) for n in range(5)]
    given += [(claim(claim_id=f"c{n}", draw=None), "l", n < 7) for n in range(5, 9)]
    found = drawn_parts(given)
    assert (found["d"].n_open, found["d"].share) == (7, 0.3)
    assert (found[None].n_open, found[None].share) == (2, 0.5)


def test_the_share_of_a_draw_by_hand() -> None:
    """N = 300 with 100 labels: even draws of 100 have variances 300 * 200 / 100 = 600 and, of the other 200,
    200 * 100 / 100 = 200, so that the draw has 600/800. Of all 200, and after no labels, it has everything.
    """
    assert share_of_draw(300, 100, 100) == pytest.approx(0.75)
    assert share_of_draw(300, 100, 200) == share_of_draw(300, 0, 100) == 1.0


def test_no_claim_of_a_draw_counts_for_less_than_itself() -> None:
    """By hand at most 3/4, two draws: 1/2 + 1/2 + 1 with the last cut to 3/4, and the rest shared, 5/8 each."""
    assert probabilities(np.array([1.0, 1.0, 100.0]), 2, 0.75) == pytest.approx([0.625, 0.625, 0.75])


def test_labels_of_two_draws_by_hand(tmp_path: Path) -> None:
    """40 claims, 10 drawn (p = 1/4), then 15 of the other 30 (1/2): the second has 40 * 15 / (40 * 15 + 10 * 15) = 0.8.
    Labels of the second count by 1/2 / 0.8 = 0.625, those of the first by 1 / (0.2 * 4 + 0.8) = 0.625, too: even draws
    make an even one, of 25 of 40."""
    run = labelled_run(np.random.default_rng(0), 8, 5)
    first = filled_in(tmp_path / "s1.csv", drawn_from(run, 10, 0), run)
    exported(tmp_path / "l1.jsonl", first)
    known = read_known(tmp_path / "l1.jsonl")
    drawn = drawn_from(run, 15, 1, known=KnownLabels(Pilot(*[np.array([])] * 3), known.claims))
    second = filled_in(tmp_path / "s2.csv", drawn, run)
    for before in (first, tmp_path / "l1.jsonl"):
        found = exported(tmp_path / "l2.jsonl", before, second)
        assert [row["probability"] for row in found.rows] == pytest.approx([0.625] * 25)
        assert len({row["id"] for row in found.rows}) == 25, "no claim is labelled twice"
    table = load_predictions(tmp_path / "l2.jsonl")
    assert len(table.label) == 25
    third = drawn_from(run, 100, 2, known=read_known(tmp_path / "l2.jsonl"))
    rest = filled_in(tmp_path / "s3.csv", third, run)
    census = exported(tmp_path / "l3.jsonl", first, second, rest)
    assert [row["probability"] for row in census.rows] == [1.0] * 40
    own = corrected(tmp_path / "l3.jsonl", run).own_claims
    assert own is not None
    assert own.value == own.low == own.high == pytest.approx(run.precision)
    with pytest.raises(ConfigError, match=r"every claim that could be drawn already has a label \(40 in all\)"):
        drawn_from(run, 5, 3, known=read_known(tmp_path / "l3.jsonl"))


def test_the_mean_over_two_uneven_draws_is_the_truth() -> None:
    """300 claims, of 200 drawn rarely 190 are supported, of 100 drawn often 45: 235/300 = 0.7833. 100 labels, then 100.
    Over 400 pairs of draws the mean has a standard error of 0.0007; 0.003 is four. With the probability of the first
    draw that has a claim it is 0.802."""
    labels = np.r_[np.ones(190), np.zeros(10), np.ones(45), np.zeros(55)]
    spread = np.r_[np.full(200, 0.22), np.full(100, 0.5)]
    share, found = share_of_draw(300, 100, 100), []
    for rng in np.random.default_rng(0).spawn(400):
        chance = probabilities(spread, 100)
        first = systematic_draw(chance, rng)
        rest = np.setdiff1d(np.arange(300), first)
        of_rest = probabilities(spread[rest], 100, share)
        second = systematic_draw(of_rest, rng)
        by = [probability_after(one, share) for one in chance[first].tolist()] + (of_rest[second] / share).tolist()
        assert max(by) <= 1.0 + 1e-12
        found.append(np.average(labels[[*first, *rest[second]]], weights=1.0 / np.array(by)))
    assert np.mean(found) == pytest.approx(235 / 300, abs=0.003)


def test_labels_from_elsewhere_are_learnt_from_and_nothing_is_left_out(tmp_path: Path) -> None:
    run = labelled_run(np.random.default_rng(0), 4, 5)
    row = {"label": 1, "verdict": 1, "response_id": 7, "claim_id": 3, "system": "one", "claim": "A.", "judge": None}
    one = run.responses[0]
    own = {"response_id": one.id, "claim_id": "c0", "claim": "Fact 0.", "judge": one.report.fingerprint.evaluator}
    (tmp_path / "l.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row | own)}\n")
    known = read_known(tmp_path / "l.jsonl")
    assert (known.pilot.n, known.claims) == (2, frozenset())
    assert drawn_from(run, 5, 0, known=known).n_before == 0
    (tmp_path / "l.jsonl").write_text(json.dumps(row | own | {"probability": 0.5}))
    assert drawn_from(run, 5, 0, known=read_known(tmp_path / "l.jsonl")).n_before == 1


def test_draws_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    run = labelled_run(np.random.default_rng(0), 8, 5)
    first = filled_in(tmp_path / "s1.csv", drawn_from(run, 10, 0), run)
    half = filled_in(tmp_path / "half.csv", drawn_from(run, 10, 0), run, 5)
    stranger = filled_in(tmp_path / "other.csv", drawn_from(run, 10, 1), run)
    exported(tmp_path / "l1.jsonl", first)
    second = filled_in(tmp_path / "s2.csv", drawn_from(run, 10, 1, known=read_known(tmp_path / "l1.jsonl")), run)
    out = tmp_path / "out.jsonl"
    for differing in (None, DisagreementPolicy.LEFT_OUT):
        with pytest.raises(DataError, match=r"s1.csv come from independent draws"):
            exported(out, first, stranger, differing=differing)
    with pytest.raises(DataError, match=r"d-\w{8} left out 10 claims that already had labels, but the other"):
        exported(out, second)
    with pytest.raises(DataError, match="but the other files contain 5;"):
        exported(out, half, second)
    with pytest.raises(DataError, match="come from independent draws"):
        exported(out, first, tmp_path / "l1.jsonl", second)
