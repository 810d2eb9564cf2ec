"""Draws of one system's claims, alone and after draws of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.labels.sampling import Pilot
from factloop.evaluation.labels.sheets import KnownLabels, read_known
from tests.evaluation.labels.labelled_runs import LabelledRun, drawn_from, exported, filled_in
from tests.evaluation.runs.finished_runs import judged

NO_PILOT = Pilot(*[np.array([])] * 3)


def two_systems() -> LabelledRun:
    """Twenty claims of either system, each labelled by a coin."""
    responses = [judged(f"p{n}", "ssnsn", system=system) for n in range(4) for system in ("a", "b")]
    coin = np.random.default_rng(0)
    truth = {(one.id, claim.id): int(coin.integers(2)) for one in responses for claim in one.report.claims}
    return LabelledRun(responses, truth)


def learnt_nothing(labels: Path) -> KnownLabels:
    known = read_known(labels)
    return KnownLabels(NO_PILOT, known.claims, known.of_systems)


def test_a_draw_of_one_system_has_its_claims_alone() -> None:
    """Eight of its twenty: 8/20, as of a run without the other system."""
    drawn = drawn_from(two_systems(), 8, 0, system="b", half_width=0.3)
    assert {one.to_label.system for one in drawn.drawn} == {"b"}
    assert {one.to_label.probability for one in drawn.drawn} == {0.4}
    assert (drawn.n_claims, [one.system for one in drawn.needed]) == (20, ["b"])
    assert drawn.n_to_draw == drawn.needed[0].n, "not as many more as the other system would take"


def test_a_draw_of_one_system_after_one_of_all_by_hand(tmp_path: Path) -> None:
    """Of all 40 claims 20 are drawn, p = 1/2, ten of a among them. Then 5 of the other ten of a, p = 1/2.

    Of a the second draw has 20 * 5 / (20 * 5 + 10 * (20 - 10 - 5)) = 2/3. Its labels count by 1/2 / (2/3) = 3/4, those
    of the first by 1 / (1/3 * 2 + 2/3) = 3/4, too: 15 of 20. Those of b stay at 1/2.
    """
    run = two_systems()
    first = filled_in(tmp_path / "s1.csv", drawn_from(run, 20, 6), run)
    of_all = exported(tmp_path / "l1.jsonl", first)
    assert [row["system"] for row in of_all.rows].count("a") == 10
    drawn = drawn_from(run, 5, 1, known=learnt_nothing(tmp_path / "l1.jsonl"), system="a")
    assert (drawn.n_claims, drawn.n_before) == (20, 10)
    second = filled_in(tmp_path / "s2.csv", drawn, run)
    for before in (first, tmp_path / "l1.jsonl"):
        found = exported(tmp_path / "l2.jsonl", before, second)
        by_system = {name: [row["probability"] for row in found.rows if row["system"] == name] for name in ("a", "b")}
        assert by_system["a"] == pytest.approx([0.75] * 15)
        assert by_system["b"] == [0.5] * 10


def test_a_draw_of_all_cannot_follow_one_of_one_system(tmp_path: Path) -> None:
    """In the first the claims of b had no chance, which nothing after it makes up for."""
    run = two_systems()
    exported(tmp_path / "l1.jsonl", filled_in(tmp_path / "s1.csv", drawn_from(run, 8, 0, system="a"), run))
    known = learnt_nothing(tmp_path / "l1.jsonl")
    with pytest.raises(ConfigError, match=r"come from draws of one system alone \(a\): draw from one system here, too"):
        drawn_from(run, 8, 1, known=known)
    other = drawn_from(run, 8, 1, known=known, system="b")
    assert (other.n_before, {one.to_label.probability for one in other.drawn}) == (0, {0.4})


def test_labels_exported_twice_still_tell_the_system_that_they_were_drawn_of(tmp_path: Path) -> None:
    run = two_systems()
    first = exported(tmp_path / "l1.jsonl", filled_in(tmp_path / "s1.csv", drawn_from(run, 8, 0, system="a"), run))
    again = exported(tmp_path / "l2.jsonl", tmp_path / "l1.jsonl")
    assert {row["of_system"] for row in first.rows} == {"a"}
    assert again.rows == first.rows
    assert read_known(tmp_path / "l2.jsonl").of_systems == {"a"}


def test_a_draw_of_one_system_that_knows_nothing_of_one_of_all_is_refused(tmp_path: Path) -> None:
    run = two_systems()
    of_all = filled_in(tmp_path / "all.csv", drawn_from(run, 20, 2), run)
    of_a = filled_in(tmp_path / "a.csv", drawn_from(run, 8, 5, system="a"), run)
    with pytest.raises(DataError, match="know nothing of each other"):
        exported(tmp_path / "l.jsonl", of_all, of_a)
