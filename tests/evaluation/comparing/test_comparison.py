from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import Judgement, Verdict
from factloop.evaluation.comparing.compare import ComparedRun, compare
from factloop.evaluation.comparing.records import ComparisonKind, Direction, Outcome
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.reports.figures import plural
from tests.evaluation.runs.finished_runs import compared, fingerprint, judged, summary_of

OTHER = fingerprint(model="other:judge", search_tools=("serper",), versions={"numpy": "2"})


@pytest.mark.parametrize(("n", "outcome"), [(5, Outcome.UNKNOWN), (6, Outcome.UNKNOWN), (7, Outcome.HIGHER)])
def test_p_values_are_held_against_alpha_after_their_adjustment(n: int, outcome: Outcome) -> None:
    """All point one way, as 2 of 2^n ways to turn signs do: of six .03125, and .0625 of two tests."""
    a, b = ([judged(f"p{p}", said, system=name) for p in range(n)] for said, name in (("nn", "one"), ("ss", "two")))
    found = compare(compared(a), compared(b, "runs/b"), ks=[2])
    assert found.differences[1].outcome is outcome
    assert f"{plural(n, 'response')}" in found.conclusions[1]


def test_a_second_answer_to_a_prompt_is_refused_on_either_side() -> None:
    one, other = judged("p", "s"), judged("p", "s", system="two")
    twice = ComparedRun("runs/twice", summary_of([other]), [other, other])
    for sides in ((compared([one]), twice), (twice, compared([one]))):
        with pytest.raises(ConfigError, match="'two' answers the prompt 'p' twice"):
            compare(*sides)


def test_two_evaluators_of_the_same_responses() -> None:
    a = [judged(f"p{n}", "ssni", labels="SNNI") for n in range(9)]
    b = [judged(f"p{n}", "snn?", labels="SNNI", made_by=OTHER) for n in range(8)]
    b.append(judged("p8", "s", response="Something else.", made_by=OTHER))
    found = compare(compared(a), compared(b, "runs/b", made_by=OTHER))
    assert found.kind is ComparisonKind.EVALUATORS
    assert (len(found.pairs), [line.id for line in found.other_text]) == (8, ["one/p8"])
    assert found.claims is not None
    assert found.claims.table == ((8, 8, 0, 0), (0, 8, 0, 0), (0, 0, 0, 8), (0, 0, 0, 0))
    balanced, accuracy = found.differences[:2]
    assert (balanced.is_headline, accuracy.is_headline) == (True, False)
    assert (accuracy.n, accuracy.first_higher, accuracy.equal, accuracy.second_higher) == (24, 0, 16, 8)
    assert balanced.p == pytest.approx(2 / 2**8)
    assert accuracy.p == 1.0, "what B left open are as many claims as it won"
    assert [(one.n_claims, one.n_better, one.n_unscored) for one in found.flip_counts] == [(24, 8, 8)]
    flip = found.flips[0]
    assert (flip.first_side.verdict, flip.second_side.verdict, flip.gold) == ("supported", *("not_supported",) * 2)
    assert (flip.first_side.rationale, flip.second_side.rationale, flip.claim) == ("said s", "said n", "Fact 1.")
    assert flip.direction is Direction.BETTER
    assert [(one.name, one.first, one.second) for one in found.settings] == [
        ("model", "sim:judge", "other:judge"),
        ("search_tools", None, "serper"),
        ("versions.numpy", None, "2"),
    ]
    assert found.conclusions[0].startswith("B agrees better with the labels than A: +0.250 balanced accuracy")


@pytest.mark.parametrize(("repeats", "table"), [("once", ((1, 0), (0, 1))), ("each", ((3, 0), (0, 1)))])
def test_claims_that_repeat_another_count_as_in_the_runs(repeats: str, table: tuple[tuple[int, int], ...]) -> None:
    texts = ["Ada sang.", "Ada sang.", "ada sang", "Ada swam."]
    made_by = fingerprint(repeats=repeats)
    a, b = ([judged("p1", "sssn", texts=texts, labels="SSSN", made_by=made_by)] for _ in range(2))
    found = compare(compared(a, made_by=made_by), compared(b, "runs/b", made_by=made_by))
    assert found.claims is not None
    assert tuple(row[:2] for row in found.claims.table[:2]) == table
    assert found.claims.n_matched == found.differences[1].n == found.pairs[0].first.counts.scored


def test_two_systems_that_decline_in_the_same_words_are_still_two_systems() -> None:
    """The majority of texts decides: one identical pair of three does not make a pair of evaluators, two do."""
    a = [judged("p1", "", response="I cannot say."), judged("p2", "ss"), judged("p3", "ss")]
    b = [
        judged("p1", "", response="I cannot say.", system="two"),
        *(judged(p, "sn", system="two") for p in ("p2", "p3")),
    ]
    found = compare(compared(a), compared(b))
    assert (found.kind, len(found.pairs), found.claims) == (ComparisonKind.SYSTEMS, 3, None)
    assert compare(compared(a[:2]), compared(b[:2])).kind is ComparisonKind.SYSTEMS, "one of two is no majority"
    mostly = [*b[:2], judged("p3", "nn", system="two", response="one on p3")]
    found = compare(compared(a), compared(mostly))
    assert (found.kind, len(found.pairs), len(found.other_text)) == (ComparisonKind.EVALUATORS, 2, 1)


def test_a_label_of_one_run_serves_both_and_two_labels_serve_nobody() -> None:
    a = [judged("p", "sss", labels="NN"), judged("q", "s", labels="I")]
    b = [judged("p", "nnn", labels="?S", made_by=OTHER), judged("q", "i", made_by=OTHER)]
    found = compare(compared(a), compared(b, made_by=OTHER))
    accuracy = found.differences[1]
    assert (accuracy.n, accuracy.second_higher) == (2, 2)
    assert [flip.gold for flip in found.flips] == ["not_supported", "irrelevant", None, None]
    assert "Treated 1 claim with two different labels as unlabelled." in found.warnings


def test_policies_that_differ_must_be_decided() -> None:
    a, b = [judged("p", "")], [judged("p", "ss", system="two")]
    first, second = compared(a), compared(b, "runs/b", abstention=AbstentionPolicy.EXCLUDE)
    with pytest.raises(ConfigError, match=r"runs/a: zero, runs/b: exclude.*--abstention"):
        compare(first, second)
    zero = compare(first, second, abstention=AbstentionPolicy.ZERO)
    assert [one.value for one in zero.differences] == [1.0, None]
    assert zero.conclusions[1] == "Cannot compare B with A in precision: nothing scored."
    assert compare(first, second, abstention=AbstentionPolicy.EXCLUDE).differences[0].n_left_out == 1


def test_ks_are_those_of_both_runs_unless_named() -> None:
    a, b = [judged("p", "sssn")], [judged("p", "s", system="two")]
    first, second = compared(a, ks=(2, 64)), compared(b, ks=(64, 3))
    assert [one.k for one in compare(first, second).differences] == [64, None, None]
    assert [one.k for one in compare(first, second, ks=["maximum", 1, "median"]).differences] == [1, 2, 3, None, None]
    assert [one.k for one in compare(first, compared(b, ks=(5,))).differences] == [2, 5, 64, None, None]
    fit = {"eligibility": Judgement(verdict=Verdict.SUPPORTED)}
    a, b = ([one.model_copy(update={"report": one.report.model_copy(update=fit)})] for one in (*a, *b))
    shares = compare(compared(a), compared(b)).differences[-2:]
    assert [(one.quantity, one.value) for one in shares] == [("fully_supported", 1.0), ("eligible_and_supported", 1.0)]


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ([("p", "one")], [("q", "one")], "have no prompts in common"),
        ([("p", "x"), ("p", "y")], [("p", "z")], r"select one system from A \(x, y\) and one from B \(z\)"),
        ([], [("p", "x")], "contains no responses"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(
    first: list[tuple[str, str]], second: list[tuple[str, str]], named: str
) -> None:
    a = [judged(prompt, "s", system=system) for prompt, system in first]
    b = [judged(prompt, "s", system=system) for prompt, system in second]
    with pytest.raises(ConfigError, match=named):
        compare(compared(a), compared(b))


def test_a_system_that_is_not_there_is_named() -> None:
    a = [judged("p", "s", system=s) for s in "xyz"]
    with pytest.raises(ConfigError, match="no responses by w; choose from x, y, z"):
        compare(compared(a, system="w"), compared(a, system="x"))
    summary = summary_of(a)
    with pytest.raises(ConfigError, match="use `--system` to select two of x, y, z"):
        compare(ComparedRun("a", summary, a), ComparedRun("a", summary, a))
    with pytest.raises(ConfigError, match="with itself"):
        compare(ComparedRun("a", summary, a, "x"), ComparedRun("a", summary, a, "x"))
