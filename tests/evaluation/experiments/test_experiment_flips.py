from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from factloop.core.records import Verdict
from factloop.evaluation.comparing.records import Direction
from factloop.evaluation.comparing.table import MISSING, SPLIT, majority
from factloop.evaluation.comparing.views.paired import causes
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.records import ExperimentReport, JudgedClaim
from factloop.evaluation.experiments.variants import ReadyVariant, describe_variants
from factloop.setup.settings import CheckSettings
from tests.evaluation.experiments.sample import claim, evidence, fingerprint, results_of

S, N, R, U = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT, None
Verdicts = tuple[Verdict | None, ...]


def report_of(*claims: tuple[str, bool | None, Verdicts, Verdicts]) -> ExperimentReport:
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


def test_one_verdict_for_all_claims_is_odd() -> None:
    many = [(f"c{place}", place % 2 == 0, (S if place % 2 else N,), (N,)) for place in range(10)]
    said = "strict: all 10 claims are judged not supported"
    assert [said in " ".join(report_of(*claims).warnings) for claims in (many, many[1:])] == [True, False]


def test_a_failure_is_no_flip() -> None:
    report = report_of(
        ("same", True, (S, S), (S, S)),
        ("lost", True, (S, S), (U, U)),
        ("split", True, (S, N), (S, S)),
        ("turned", True, (S, U), (N, N)),
    )
    (count,) = report.flip_counts
    assert [flip.first_side.claim_id for flip in report.flips] == ["turned"]
    assert (count.n_claims, count.n_split, count.n_unscored, count.n_worse) == (2, 1, 1, 1)


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


def test_flips_of_one_cause_stand_together() -> None:
    """One cause means the same deciding passage, the same kinds of verdicts and the same disputed words."""

    def flips(name: str, passage: str, wrong: str, contradicted: bool) -> list[JudgedClaim]:
        before, after = (claim(variant, name, verdict) for variant, verdict in (("packaged", S), ("strict", N)))
        judged = after.judgement.model_copy(update={"wrong": wrong, "contradicted": contradicted})
        cited = (evidence(passage),)
        sides = (before, after.model_copy(update={"judgement": judged}))
        return [one.model_copy(update={"evidence": cited}) for one in sides]

    rows = [
        ("a", "The sea wall.", "1953", True),
        ("b", "The calf.", "ten", True),
        ("c", "The sea wall.", "1953", False),
        ("d", "The sea wall.", "raised", True),
        ("e", "The calf.", "Ten", True),
        ("f", "The sea wall, too.", "1953", True),
    ]
    report = assess(results_of([one for row in rows for one in flips(*row)]), resamples=0)
    assert [flip.claim[6] for flip in report.flips] == ["b", "e", "a", "c", "d", "f"]
    (line,) = causes(report.flips).lines
    assert [cell.text for cell in line.cells] == ["2 for the worse", "b, e", "ten", "“The calf.”"]
    turned = [one.model_copy(update={"direction": Direction.BETTER}) for one in report.flips[:1]]
    assert not causes([*turned, report.flips[1]]).lines, "once for the better and once for the worse is no cause"


def test_items_against_variants_by_hand() -> None:
    """Three repeats. c0, supported by people: S S N is S, 2/3 right. c1, not: R R S, none right. c2: never scored."""
    verdicts: dict[str, dict[str, tuple[Verdict | None, ...]]] = {
        "packaged": {"c0": (S, S, N), "c1": (R, R, S), "c2": (U, U, U)},
        "strict": {"c0": (S, N, U)},
    }
    gold = {"c0": True, "c1": False, "c2": None}
    claims = [
        claim(variant, name, verdict, gold=gold[name], repeat=repeat)
        for variant, found in verdicts.items()
        for name, said in found.items()
        for repeat, verdict in enumerate(said, 1)
    ]
    first, second, third = assess(results_of(claims, repeats=3)).items
    assert (first.item_id, first.gold, [one.verdict for one in first.cells]) == ("c0", S, [S, None])
    assert [one.value for one in first.cells] == [pytest.approx(2 / 3), 0.5]
    assert [(one.n_scored, one.n_repeats) for one in first.cells] == [(3, 3), (2, 3)]
    assert [one.verdict for one in second.cells] == [R, None]
    assert [one.value for one in second.cells] == [0.0, None]
    assert [one.n_repeats for one in second.cells] == [3, 0]
    assert third.cells[0].unscored_reason is not None
    assert third.cells[0].value is None


def test_evidence_is_shared_where_passages_are_equal_whatever_was_asked() -> None:
    def seen(variant: str, name: str, *passages: str, text: str = "A.", repeat: int = 1) -> JudgedClaim:
        found = tuple(evidence(passage) for passage in passages)
        update = {"claim": text, "evidence": found}
        return claim(variant, name, S, group="g", repeat=repeat).model_copy(update=update)

    def shared(*claims: JudgedClaim, by_text: bool = False) -> tuple[int, int]:
        ready = [ReadyVariant(name, {}, CheckSettings(), (), fingerprint(name), {}) for name in ("a", "b")]
        other = describe_variants(ready, claims, "a", by_text=by_text)[1]
        assert other.shares_evidence == (other.n_same_evidence == other.n_compared > 0)
        return other.n_same_evidence, other.n_compared

    one = seen("a", "1", "x", "y")
    assert shared(one, seen("b", "1", "x", "y")) == (1, 1)
    assert shared(one, seen("b", "1", "y", "x")) == shared(one, seen("b", "1", "x")) == (0, 1)
    assert shared(one, seen("b", "2", "x", "y")) == shared(one, seen("b", "1", "x", "y", repeat=2)) == (0, 0)
    assert shared(one, seen("b", "9", "x", "y", text=" a. "), by_text=True) == (1, 1)
