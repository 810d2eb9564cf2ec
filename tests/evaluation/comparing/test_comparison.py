"""Two runs compared as wholes: what differs is found out, and what does not belong together is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import Evidence
from factloop.evaluation.comparing.compare import ComparedRun, compare
from factloop.evaluation.comparing.records import Comparison, ComparisonKind
from factloop.evaluation.comparing.views.html import render_comparison_html
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.records import JudgedResponse
from tests.evaluation.runs.finished_runs import WHEN, claim, compared, fingerprint, judged, summary_of
from tests.reports.html_page import text_of

OTHER = fingerprint(model="other:judge", search_tools=("serper",), versions={"numpy": "2"})


def same(a: Comparison, b: Comparison) -> bool:
    return a.model_dump(exclude={"created_at"}) == b.model_dump(exclude={"created_at"})


def test_two_systems_on_shared_prompts() -> None:
    """F1@2 of ss, sn, nn is 1, .5, 0. A: p1 1, p2 .5, p3 0; B: p2 1, p3 1, p4 1: B - A is .5 and 1 on p2 and p3."""
    a = [judged("p1", "ss"), judged("p2", "sn"), judged("p3", "nn")]
    b = [judged("p2", "ss", system="two"), judged("p3", "ss", system="two"), judged("p4", "ss", system="two")]
    found = compare(compared(a), compared(b, "runs/b"))
    assert found.kind is ComparisonKind.SYSTEMS
    assert (found.first.systems, found.second.systems) == (("one",), ("two",))
    assert [pair.first.prompt_id for pair in found.pairs] == ["p2", "p3"]
    assert [line.prompt_id for line in found.only_first] == ["p1"]
    assert [line.prompt_id for line in found.only_second] == ["p4"]
    _, f1 = found.differences
    assert (f1.k, f1.n_prompts, f1.difference) == (2, 2, 0.75)
    assert (found.claims, found.labels) == (None, None)
    assert found.flips == ()
    assert found.warnings == ("2 responses without a counterpart in the other run; nothing here rests on that.",)
    assert "no difference can be shown at n = 2 prompts: p is 0.5 at least, and 6 prompts could" in found.conclusions[1]
    assert "+75.0 points (B minus A), no interval (2 prompts, 7 needed)" in found.conclusions[1]


def test_five_prompts_cannot_show_a_difference_and_the_report_says_so() -> None:
    """All five point one way, as 2 of 2^5 ways to turn signs do: p .0625. Six have .03125, and .0625 of two tests."""

    def conclusion(n_prompts: int) -> str:
        a, b = ([judged(f"p{n}", letters, system=system) for n in range(n_prompts)] for letters, system in SIDES)
        return compare(compared(a), compared(b, "runs/b"), ks=[2]).conclusions[0]

    assert "Precision: no difference can be shown at n = 5 prompts: p is 0.0625 at least, and 6 prompts" in conclusion(
        5
    )
    assert "no interval (5 prompts, " in conclusion(5)
    assert conclusion(6).startswith("Precision: no difference shown at n = 6 prompts once p is adjusted for 2 tests: ")
    assert conclusion(7).startswith("Precision: B is higher at n = 7 prompts")


SIDES = (("nn", "one"), ("ss", "two"))


def test_rationales_of_flips_name_the_passages_which_are_not_shown() -> None:
    def citing(letter: str) -> list[JudgedResponse]:
        one = judged("p0", letter)
        item = Evidence(id="e", source="a.md", title="Almanac", passage="p", query="q", rank=1, retrieved_at=WHEN)
        cites = claim(0, letter, rationale="[1] says so.").model_copy(update={"evidence": (item,)})
        return [one.model_copy(update={"report": one.report.model_copy(update={"claims": (cites,)})})]

    found = compare(compared(citing("s")), compared(citing("n"), "runs/b", made_by=OTHER))
    assert [flip.first_rationale for flip in found.flips] == ["“Almanac” says so."]
    page = text_of(render_comparison_html(found))
    assert page.count("“Almanac” says so.") == 2
    assert "[1]" not in page


def test_two_evaluators_of_the_same_responses() -> None:
    a = [judged(f"p{n}", "ssni", labels="SNNI") for n in range(9)]
    b = [judged(f"p{n}", "snn?", labels="SNNI", made_by=OTHER) for n in range(8)]
    b.append(judged("p8", "s", response="Something else.", made_by=OTHER))
    found = compare(compared(a), compared(b, "runs/b", made_by=OTHER))
    assert found.kind is ComparisonKind.EVALUATORS
    assert (len(found.pairs), [line.id for line in found.other_text]) == (8, ["one/p8"])
    assert found.claims is not None
    assert found.labels is not None
    assert found.claims.table == ((8, 8, 0, 0), (0, 8, 0, 0), (0, 0, 0, 8), (0, 0, 0, 0))
    assert (found.labels.both_right, found.labels.second_right) == (16, 8)
    assert found.labels.p_by_prompt == pytest.approx(2 / 2**8)
    assert len(found.flips) == 8
    flip = found.flips[0]
    assert (flip.first, flip.second, flip.label) == ("supported", "not_supported", "NS")
    assert (flip.first_rationale, flip.second_rationale, flip.claim) == ("said s", "said n", "Fact 1.")
    assert [(one.name, one.first, one.second) for one in found.settings] == [
        ("model", "sim:judge", "other:judge"),
        ("search_tools", None, "serper"),
        ("versions.numpy", None, "2"),
    ]
    assert any(said.startswith("B is nearer to people’s labels: of 24 labelled claims") for said in found.conclusions)


@pytest.mark.parametrize(("repeats", "table"), [("once", ((1, 0), (0, 1))), ("each", ((3, 0), (0, 1)))])
def test_claims_that_repeat_another_count_as_in_the_runs(repeats: str, table: tuple[tuple[int, int], ...]) -> None:
    texts = ["Ada sang.", "Ada sang.", "ada sang", "Ada swam."]
    made_by = fingerprint(repeats=repeats)
    a, b = ([judged("p1", "sssn", texts=texts, labels="SSSN", made_by=made_by)] for _ in range(2))
    found = compare(compared(a, made_by=made_by), compared(b, "runs/b", made_by=made_by))
    assert found.claims is not None
    assert found.labels is not None
    assert tuple(row[:2] for row in found.claims.table[:2]) == table
    assert found.claims.n_matched == found.labels.both_right == found.pairs[0].first.counts.scored


def test_two_systems_that_decline_in_the_same_words_are_still_two_systems() -> None:
    """Texts decide by their majority: one of three alike makes no pair of evaluators, two of three do."""
    a = [judged("p1", "", response="I cannot say."), judged("p2", "ss"), judged("p3", "ss")]
    b = [
        judged("p1", "", response="I cannot say.", system="two"),
        *(judged(p, "sn", system="two") for p in ("p2", "p3")),
    ]
    found = compare(compared(a), compared(b))
    assert (found.kind, len(found.pairs), found.claims) == (ComparisonKind.SYSTEMS, 3, None)
    mostly = [*b[:2], judged("p3", "nn", system="two", response="one on p3")]
    found = compare(compared(a), compared(mostly))
    assert (found.kind, len(found.pairs), len(found.other_text)) == (ComparisonKind.EVALUATORS, 2, 1)


def test_claims_split_otherwise_match_by_their_text() -> None:
    a = [judged("p", "sn", texts=["Rome is old.", "Rome is big."])]
    b = [judged("p", "ssn", texts=["rome  is big.", "Rome is in Italy.", "Rome fell."], made_by=OTHER)]
    found = compare(compared(a), compared(b, made_by=OTHER))
    assert found.claims is not None
    assert (found.claims.n_matched, found.claims.n_only_first, found.claims.n_only_second) == (1, 1, 2)
    assert found.claims.table[1] == (1, 0, 0, 0)
    assert found.conclusions[2].startswith("1 claim matched on both sides; 1 made by A alone and 2 by B alone")


def test_a_run_against_its_copy_differs_by_nothing() -> None:
    a = [judged(f"p{n}", "ssnn", labels="SNSN") for n in range(5)]
    found = compare(compared(a), compared(list(a), "runs/copy"), ks=[1, 2, 64])
    assert [one.k for one in found.differences] == [None, 1, 2, 64]
    for one in found.differences:
        assert (one.difference, one.low, one.high, one.p) == (0.0, None, None, 1.0)
    assert found.flips == ()
    assert found.labels is not None
    assert (found.labels.p_mcnemar, found.labels.p_by_prompt, found.labels.agreement[2].value) == (1.0, 1.0, 0.0)
    assert "judged by the same settings" in found.warnings[0]


def test_the_order_of_the_reports_changes_nothing() -> None:
    rng = random.Random(0)
    a = [judged(f"p{n}", "".join(rng.choices("sni?", k=5)), labels="SNSNI") for n in range(12)]
    b = [judged(f"p{n}", "".join(rng.choices("sni?", k=5)), labels="SNSNI") for n in range(12)]
    found = compare(compared(a), compared(b, made_by=OTHER))
    assert same(found, compare(compared(a[::-1]), compared([*b[5:], *b[:5]], made_by=OTHER)))


def test_reports_are_read_one_at_a_time() -> None:
    """No report of the second run lives on when the next is read."""
    import weakref

    alive: list[weakref.ref[Any]] = []

    class Responses:
        def __iter__(self) -> Iterator[JudgedResponse]:
            for n in range(50):
                assert sum(ref() is not None for ref in alive) <= 2
                one = judged(f"p{n}", "sn")
                alive.append(weakref.ref(one))
                yield one

    summary = summary_of([judged(f"p{n}", "sn") for n in range(50)])
    second = summary.model_copy(update={"fingerprint": OTHER})
    found = compare(ComparedRun("a", summary, Responses()), ComparedRun("b", second, Responses()))
    assert len(found.pairs) == 50


def test_two_systems_of_one_run() -> None:
    run = [judged(f"p{n}", "ss" if s == "x" else "sn", system=s) for n in range(6) for s in "xyz"]
    summary = summary_of(run)
    found = compare(ComparedRun("a", summary, run, "x"), ComparedRun("a", summary, run, "y"))
    assert found.kind is ComparisonKind.SYSTEMS
    assert (found.differences[1].difference, found.differences[1].p) == (-0.5, 2 / 64)
    assert found.warnings == ()
    assert found.differences[1].p_corrected == 4 / 64
    assert "once p is adjusted for 2 tests" in found.conclusions[1]


def test_several_systems_are_paired_by_name() -> None:
    a = [judged(f"p{n}", "ss", system=s) for n in range(4) for s in "xy"]
    b = [judged(f"p{n}", "sn", system=s, made_by=OTHER) for n in range(4) for s in "yz"]
    found = compare(compared(a), compared(b, made_by=OTHER))
    assert {pair.first.system for pair in found.pairs} == {"y"}
    assert (len(found.only_first), len(found.only_second)) == (4, 4)


def test_systems_judged_differently_come_with_a_caution() -> None:
    a, b = [judged("p", "s")], [judged("p", "n", system="two", made_by=OTHER)]
    found = compare(compared(a), compared(b, made_by=OTHER))
    assert found.warnings[0].startswith("The two runs were judged differently (model, search_tools)")


def test_policies_that_differ_must_be_decided() -> None:
    a, b = [judged("p", "")], [judged("p", "ss", system="two")]
    first, second = compared(a), compared(b, "runs/b", abstention=AbstentionPolicy.EXCLUDE)
    with pytest.raises(ConfigError, match=r"runs/a: zero, runs/b: exclude.*--abstention"):
        compare(first, second)
    zero = compare(first, second, abstention=AbstentionPolicy.ZERO)
    assert (zero.differences[1].difference, zero.differences[0].difference) == (1.0, None)
    assert "nothing can be said" in zero.conclusions[0]
    assert compare(first, second, abstention=AbstentionPolicy.EXCLUDE).differences[1].n_left_out == 1


def test_ks_are_those_of_both_runs_unless_named() -> None:
    a, b = [judged("p", "sssn")], [judged("p", "s", system="two")]
    first, second = compared(a, ks=(2, 64)), compared(b, ks=(64, 3))
    assert [one.k for one in compare(first, second).differences] == [None, 64]
    assert [one.k for one in compare(first, second, ks=["maximum", 1, "median"]).differences] == [None, 1, 2, 3]
    assert [one.k for one in compare(first, compared(b, ks=(5,))).differences] == [None, 2, 5, 64]


def test_a_rule_for_k_is_over_the_responses_that_the_policy_counts() -> None:
    """Supported: 4, 4, 0 and 0 or, without the two that claim nothing, 4 and 4; as the scores of a run have it."""
    a = [judged("p", "ssss"), judged("q", "")]
    b = [judged("p", "ssss", system="two"), judged("q", "", system="two")]
    for policy, median in ((AbstentionPolicy.ZERO, 2), (AbstentionPolicy.EXCLUDE, 4)):
        first, second = (compared(one, ks=("median",), abstention=policy) for one in (a, b))
        assert first.summary.scores.ks[0].k == median
        assert [one.k for one in compare(first, second, ks=["median"]).differences] == [None, median]


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ([("p", "one")], [("q", "one")], "share no prompt"),
        ([("p", "x"), ("p", "y")], [("p", "z")], "none in common; name one of each with --system: x, y of A, z of B"),
        ([], [("p", "x")], "holds no response"),
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
    with pytest.raises(ConfigError, match="no response of w; it has those of x, y, z"):
        compare(compared(a, system="w"), compared(a, system="x"))
    summary = summary_of(a)
    with pytest.raises(ConfigError, match="name two of its systems with --system: x, y, z"):
        compare(ComparedRun("a", summary, a), ComparedRun("a", summary, a))
    with pytest.raises(ConfigError, match="not compared with itself"):
        compare(ComparedRun("a", summary, a, "x"), ComparedRun("a", summary, a, "x"))
