from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop import FactChecker
from factloop.checking.core_claims import entailments, largest_core, mark_core
from factloop.core.errors import ToolError
from factloop.core.factuality import score_claims
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.summary import summarise
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.baseline import Baseline
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from tests.correction.reports import report_of

WHO = "Who was Ada Lovelace?"
PLAIN = [
    ("Ada Lovelace was born in London on 10 December 1815.", "s"),
    ("Ada Lovelace translated an article by Menabrea.", "s"),
    ("Ada Lovelace studied in Paris.", "n"),
]
PADDING = [
    ("Ada Lovelace was born in London.", "s"),
    ("Ada Lovelace was born in London on 10 December 1815, and Ada Lovelace translated an article by Menabrea.", "s"),
    ("Ada Lovelace is a person.", "s"),
    ("Ada Lovelace was born.", "s"),
]


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(
    st.lists(st.floats(0.5, 9.0), min_size=n, max_size=n),
    st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda edge: edge[0] != edge[1])),
)))  # fmt: skip
def test_the_chosen_set_has_no_edge_and_no_other_weighs_more(case: tuple[list[float], set[tuple[int, int]]]) -> None:
    weights, edges = case
    places = range(len(weights))
    free = [
        set(some)
        for size in range(len(weights) + 1)
        for some in combinations(places, size)
        if not any(set(edge) <= set(some) for edge in edges)
    ]
    chosen = set(largest_core(weights, edges))
    assert chosen in free
    most = max(sum(weights[place] for place in some) for some in free)
    assert sum(weights[place] for place in chosen) == pytest.approx(most, abs=1e-5)


async def test_padding_raises_no_figure_and_every_claim_left_out_says_why() -> None:
    report = report_of(*PLAIN, *PADDING, prompt=WHO)
    claims, warnings = await mark_core(report.claims, WHO, Baseline(), UsageMeter())
    assert warnings == []
    why = {claim.text: claim.left_out and (claim.left_out.why, claim.left_out.claims) for claim in claims}
    names = [claim.id for claim in claims]
    assert [why[text] for text, _ in PLAIN] == [None] * 3
    assert [why[text] for text, _ in PADDING] == [
        ("follows", (names[0],)),
        ("combines", (names[0], names[1])),
        ("trivial", ()),
        ("trivial", ()),
    ]
    scores = score_claims(claims, (3,), "core")
    plain = score_claims(report_of(*PLAIN).claims, (3,), "each")
    every = scores.every_claim
    assert (scores.precision, scores.at_k[0].f1) == (plain.precision, plain.at_k[0].f1)
    assert every is not None
    assert (every.counts.supported, every.counts.not_supported, every.precision) == (6, 1, 6 / 7)
    assert (scores.counts.repeated, scores.counts.total) == (4, len(claims))
    assert score_claims(claims, (3,), "once").counts.repeated == 0  # a mark counts only where a core is asked for


class Away(Judge):
    name, identity = "away", {}

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002
        return [PairScore(None, ToolError("it is away", tool="away"))] * len(pairs)


class Broken:
    name, abstains = "broken", False

    def verify(self, *_: object) -> SupportReading:
        raise AssertionError("not asked")


async def test_verdicts_choose_nothing_and_one_claim_needs_no_judge() -> None:
    chosen = []
    for letter in "sn":
        report = report_of(*((text, letter) for text, _ in (*PLAIN, *PADDING)))
        marked, _ = await mark_core(report.claims, WHO, Baseline(), UsageMeter())
        chosen.append([claim.left_out for claim in marked])
    assert chosen[0] == chosen[1]
    assert await entailments(["One."], Broken(), UsageMeter()) == (set(), 0)


async def test_a_claim_without_a_verdict_takes_none_from_the_core_and_failures_are_told() -> None:
    report = report_of((PLAIN[0][0], "u"), PADDING[0])
    marked, _ = await mark_core(report.claims, WHO, Baseline(), UsageMeter())
    assert [claim.left_out for claim in marked] == [None, None]
    kept, warnings = await mark_core(report_of(*PLAIN).claims, WHO, Away(), UsageMeter())
    assert [claim.left_out for claim in kept] == [None] * 3
    assert "comparisons of claims failed" in warnings[0]


async def test_a_check_counts_a_core_and_its_report_and_run_have_both_figures(tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text("Ada Lovelace was born in London on 10 December 1815. Ada Lovelace is a person.")
    said = "Ada Lovelace was born in London on 10 December 1815. Ada Lovelace is a person."
    async with FactChecker(docs=str(tmp_path), repeats="core", k=(2,), cache=False) as checker:
        report = await checker.acheck(said, WHO)
        part = await checker.acheck(said, WHO, spans=[(0, len(said))])
    assert {claim.left_out.why for claim in report.claims if claim.left_out} >= {"trivial"}
    assert report.every_claim is not None
    assert report.every_claim.counts.supported > report.counts.supported > 0
    assert len(report.claims) == report.counts.total
    assert not any(claim.left_out for claim in part.claims)
    assert any("core" in warning for warning in part.warnings)
    judged = JudgedResponse(id="1", system="a", prompt_id="p", report=report)
    summary = summarise([judged], kind="responses", data="made")
    assert summary.every_claim is not None
    (core,), (every,) = summary.scores.systems, summary.every_claim.systems
    assert (core.counts, every.counts) == (report.counts, report.every_claim.counts)
