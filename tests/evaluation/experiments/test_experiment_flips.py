"""Claims that flipped: which they are, in what order, and what stands beside each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from factloop.core.records import Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.flips import SPLIT, majority
from factloop.evaluation.experiments.panel import MISSING
from factloop.evaluation.experiments.report import Direction, ExperimentReport
from tests.evaluation.experiments.sample import claim, make_results, results_of

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None
Verdicts = tuple[Verdict | None, ...]


def report_of(*claims: tuple[str, bool | None, Verdicts, Verdicts]) -> ExperimentReport:
    """Name, label, and the verdicts of all repeats of the baseline and of the variant."""
    made = [
        claim(variant, name, verdict, gold=gold, repeat=repeat)
        for name, gold, *sides in claims
        for variant, verdicts in zip(("packaged", "strict"), sides, strict=True)
        for repeat, verdict in enumerate(verdicts, 1)
    ]
    return assess(results_of(made, repeats=len(claims[0][2])), resamples=0)


@pytest.mark.parametrize(
    ("codes", "wanted"),
    [((0, 0, 1), 0), ((1, 3, 3), 1), ((0, 1, 3), SPLIT), ((0, 1, 2), SPLIT), ((3, 3, -1), MISSING), ((2, 2, 0), 2)],
)
def test_the_verdict_of_most_scored_repeats(codes: Sequence[int], wanted: int) -> None:
    assert majority(np.array(codes, np.int8)[:, None]).tolist() == [wanted]


@pytest.mark.parametrize(
    ("gold", "first", "second", "direction"),
    [
        (True, N, S, Direction.BETTER),
        (True, S, N, Direction.WORSE),
        (False, S, N, Direction.BETTER),
        (False, R, N, Direction.BETTER),
        (True, S, R, Direction.WORSE),
        (True, N, R, Direction.NEUTRAL),
        (None, S, N, Direction.NEUTRAL),
    ],
)
def test_direction(gold: bool | None, first: Verdict, second: Verdict, direction: Direction) -> None:
    (flip,) = report_of(("c", gold, (first,), (second,))).flips
    assert flip.direction is direction


def test_a_failure_is_no_flip() -> None:
    report = report_of(
        ("same", True, (S, S), (S, S)),
        ("lost", True, (S, S), (U, U)),
        ("split", True, (S, N), (S, S)),
        ("turned", True, (S, U), (N, N)),
    )
    (count,) = report.flip_counts
    assert [flip.claim_id for flip in report.flips] == ["turned"]
    assert (count.n_claims, count.n_split, count.n_unscored, count.n_worse) == (2, 1, 1, 1)


def test_no_claim_is_lost() -> None:
    results = make_results(50, repeats=2)
    counts = assess(results, resamples=0).flip_counts
    assert {count.n_claims + count.n_split + count.n_unscored for count in counts} == {50}


def test_worse_comes_first_then_better_then_neutral_each_by_group() -> None:
    report = report_of(
        ("d", None, (S,), (N,)), ("c", True, (S,), (N,)), ("b", False, (S,), (N,)), ("a", True, (S,), (N,))
    )
    assert [flip.claim_id for flip in report.flips] == ["a", "c", "b", "d"]


def test_grounds_are_those_of_the_shown_verdict() -> None:
    claims = [claim("packaged", "c", verdict, repeat=repeat) for repeat, verdict in enumerate((N, S, S), 1)]
    claims[1] = claims[1].model_copy(
        update={"judgement": claims[1].judgement.model_copy(update={"rationale": "the second says so"})}
    )
    claims += [claim("strict", "c", N, repeat=repeat) for repeat in (1, 2, 3)]
    (flip,) = assess(results_of(claims, repeats=3), resamples=0).flips
    side = flip.first_side
    assert (side.verdict, side.n_repeats, side.n_scored) == (S, 2, 3)
    assert side.rationale == "the second says so"
    assert [one.passage for one in side.cited] == ["What is known of c."]
