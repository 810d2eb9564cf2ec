from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from factloop.core.errors import FactloopError, ToolTimeout
from factloop.core.factuality import count_verdicts
from factloop.core.records import FactualityReport, GivenFacts, NoClaim
from factloop.correction.corrector import SAME, _Course
from factloop.correction.drafts import Draft, Wording
from factloop.correction.faults import Fault
from factloop.correction.marks import MarkPolicy
from factloop.correction.recheck import Rechecks
from factloop.correction.records import ChangeKind, LeftReason, Rejection, Unsupported
from factloop.correction.sentences import sentences_of
from factloop.tools.calls.meter import UsageMeter
from tests.correction.reports import passage, report_of

REMOVING = MarkPolicy(contradicted="remove")

ANN, BAD, CID, NEW = "Ann ran.", "Bad fell.", "Cid sat.", "Bad rose."
BEFORE = report_of((ANN, "s"), (BAD, "c"), (CID, "s"), prompt="Who?")


@dataclass
class ByHand:
    wordings: Sequence[str | FactloopError]
    asked: list[Fault] = field(default_factory=list)
    name: str = "by hand"
    hashes: Mapping[str, str] = field(default_factory=dict)

    async def reword(self, fault: Fault) -> Wording:
        self.asked.append(fault)
        answer = self.wordings[len(self.asked) - 1]
        if isinstance(answer, FactloopError):
            raise answer
        return Wording(answer, by=self.name) if answer else Wording("")


@dataclass
class ScriptedChecks:
    reports: Sequence[FactualityReport]
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Each text with the stretches that were to be read."""

    async def __call__(
        self,
        response: str,
        prompt: str | None = None,
        facts: Sequence[GivenFacts] | None = None,
        *,
        spans: Sequence[tuple[int, int]] | None = None,
    ) -> FactualityReport:
        assert (prompt, facts) == ("Who?", None)
        assert spans
        self.asked.append((response, tuple(response[slice(*span)] for span in spans)))
        whole = next(report for report in self.reports if report.response == response)
        claims = tuple(claim for claim in whole.claims if claim.span in spans)
        sentences = tuple(sentence for sentence in whole.sentences if sentence.span in spans)
        changes = {"claims": claims, "sentences": sentences, "counts": count_verdicts(claims)}
        return FactualityReport(**{**dict(whole), **changes})


def course(
    rewriter: ByHand, *reports: FactualityReport, before: FactualityReport = BEFORE, unproven: Unsupported = "remove"
) -> _Course:
    return _Course(before, ScriptedChecks(reports), rewriter, UsageMeter(), replace(REMOVING, unsupported=unproven))


NOT_BETTER = report_of((ANN, "s"), (NEW, "n"), (CID, "s"))
WITHOUT = report_of((ANN, "s"), (CID, "s"))


async def test_a_wording_that_is_not_confirmed_becomes_a_removal() -> None:
    correction = await course(ByHand([NEW]), NOT_BETTER, WITHOUT).run(2)
    assert correction.text == WITHOUT.response
    assert (correction.accepted, correction.rounds) == (True, 2)
    assert [change.kind for change in correction.changes] == [ChangeKind.REMOVED]
    assert correction.left == ()


async def test_rounds_are_bounded_and_the_last_change_is_undone() -> None:
    correction = await course(ByHand([NEW]), NOT_BETTER).run(1)
    assert correction.rejected is Rejection.NEW_UNSUPPORTED
    assert correction.text == f"{ANN} {BAD} [contradicted] {CID}"
    assert (correction.rewritten, correction.changes, correction.after, correction.rounds) == (None, (), None, 1)
    assert [left.detail for left in correction.left] == ["the new wording is not supported"]


async def test_a_wording_whose_sentence_has_more_to_keep_is_undone_and_the_others_stay() -> None:
    before = report_of((ANN, "s"), (BAD, "sc"), (CID, "n"), prompt="Who?")
    first = report_of((ANN, "s"), (NEW, "n"))
    second = report_of((ANN, "s"), (BAD, "sc"))
    correction = await course(ByHand([NEW]), first, second, before=before).run(2)
    assert correction.accepted
    assert (correction.rewritten, correction.text) == (second.response, f"{ANN} {BAD} [contradicted]")
    assert [(left.reason, left.claims) for left in correction.left] == [(LeftReason.NOT_CONFIRMED, ("c2.2",))]
    assert [change.claims for change in correction.changes] == [("c3.1",)]


async def test_a_check_that_failed_is_not_tried_with_another_text() -> None:
    correction = await course(ByHand([NEW]), report_of((ANN, "u"), (NEW, "u"), (CID, "u"))).run(5)
    assert (correction.rejected, correction.rounds) == (Rejection.NOT_CHECKED, 1)


async def test_one_wording_that_fails_leaves_its_sentence_and_no_other() -> None:
    before = report_of((ANN, "c"), (BAD, "c"), (CID, "s"), prompt="Who?")
    rewriter = ByHand([ToolTimeout(tool="model", timeout_s=2.0), NEW])
    correction = await course(rewriter, report_of((ANN, "c"), (NEW, "s"), (CID, "s")), before=before).run(2)
    assert correction.accepted
    assert [(left.reason, left.detail) for left in correction.left] == [
        (LeftReason.REWRITE_FAILED, "timeout: model: no answer within 2 s")
    ]


async def test_a_wording_that_says_the_same_is_none() -> None:
    correction = await course(ByHand([BAD])).run(2)
    assert [left.detail for left in correction.left] == [SAME]
    assert correction.rejected is Rejection.NOTHING_CHANGED


DAN, EVE, HE = "Dan hid.", "Eve slept.", "He smiled."
MANY = report_of((ANN, "c"), (HE, "s"), (DAN, "c"), (EVE, "s"), prompt="Who?")


@pytest.mark.parametrize("max_rounds", [1, 2])
@pytest.mark.parametrize("letter", ["a", "n", "c", "u", ""])
async def test_a_change_that_a_later_sentence_needs_undone_takes_no_other_with_it(letter: str, max_rounds: int) -> None:
    checks = ScriptedChecks([report_of((HE, letter), (EVE, "s"))])
    correction = await _Course(MANY, checks, ByHand(["", ""]), UsageMeter(), REMOVING).run(max_rounds)
    assert correction.accepted
    assert correction.text == f"{ANN} [contradicted] {HE} {EVE}"
    assert [change.old.strip() for change in correction.changes] == [DAN]
    (left,) = correction.left
    assert (left.reason, left.claims) == (LeftReason.NOT_CONFIRMED, ("c1.1",))
    assert left.detail.startswith("a later sentence ")
    assert [asked for _, asked in checks.asked] == [(HE, EVE)]


@pytest.mark.parametrize("max_rounds", [1, 2, 5])
async def test_changes_are_undone_one_after_the_other_however_few_the_rounds(max_rounds: int) -> None:
    names = ("Ann ran.", "He sat.", "Bea ran.", "She sat.", "Cid ran.", "Dan sat.")
    before = report_of(*zip(names, "cscscs", strict=True), prompt="Who?")
    checks = ScriptedChecks([report_of(("He sat.", "a"), ("She sat.", "n"), ("Dan sat.", "s"))])
    correction = await _Course(before, checks, ByHand([""] * 3), UsageMeter(), REMOVING).run(max_rounds)
    assert [change.old.strip() for change in correction.changes] == ["Cid ran."]
    assert (correction.accepted, len(correction.left), len(checks.asked)) == (True, 2, 1)


async def test_after_a_call_that_failed_nothing_more_is_asked() -> None:
    before = report_of((ANN, "s"), (BAD, "c"), (CID, "s"), (DAN, "c"), prompt="Who?")
    checks = ScriptedChecks([report_of((ANN, "s"), (NEW, "u"), (CID, "s"), ("Dan sat.", "s"))])
    correction = await _Course(before, checks, ByHand([NEW, "Dan sat."]), UsageMeter(), REMOVING).run(5)
    assert correction.text == f"{ANN} {BAD} [contradicted] {CID} Dan sat."
    assert (correction.accepted, correction.rounds, len(checks.asked)) == (True, 1, 1)
    assert [left.detail for left in correction.left] == ["the new wording has no verdict"]


def draft_of(report: FactualityReport, wordings: dict[int, str]) -> Draft:
    sentences, _ = sentences_of(report, "remove")
    return Draft(report.response, sentences, {number: Wording(text) for number, text in wordings.items()})


def asked(checked: ScriptedChecks) -> Sequence[tuple[str, ...]]:
    return [stretches for _, stretches in checked.asked]


async def test_only_what_was_worded_anew_is_read_again() -> None:
    before = report_of((ANN, "sn"), ("# So", ""), (BAD, "c"), (CID, "u"), (DAN, "-"), prompt="Who?")
    checked = ScriptedChecks([report_of((ANN, "uu"), ("# So", ""), (NEW, "ss"), (CID, "uu"), (DAN, "s"))])
    after = await Rechecks(before, checked).report(draft_of(before, {1: NEW}))
    assert asked(checked) == [(NEW,)]
    assert after.response == f"{ANN} # So {NEW} {CID} {DAN}"
    assert [(claim.id, claim.sentence, claim.judgement.verdict) for claim in after.claims] == [
        ("c1.1", ANN, "supported"),
        ("c1.2", ANN, "not_supported"),
        ("c3.1", NEW, "supported"),
        ("c3.2", NEW, "supported"),
        ("c4.1", CID, None),
    ]
    assert all(after.response[slice(*claim.span)] == claim.sentence for claim in after.claims)
    assert [(after.text_of(one), one.no_claim) for one in after.claim_free] == [
        ("# So", NoClaim.REMARK),
        (DAN, NoClaim.NO_CLAIM),
    ]
    assert (after.counts.supported, after.counts.not_supported, after.counts.unscored) == (3, 1, 1)
    assert after.precision == 0.75  # 3 of 4


async def test_the_sentence_after_a_removed_one_is_read_again() -> None:
    before = report_of((ANN, "s"), (BAD, "n"), (CID, "s"), (DAN, "s"), ("Eve slept.", "n"), prompt="Who?")
    checked = ScriptedChecks([report_of((ANN, "s"), (CID, "n"), (DAN, "s"))])
    after = await Rechecks(before, checked).report(draft_of(before, {1: "", 4: ""}))
    assert asked(checked) == [(CID,)]
    assert [claim.judgement.verdict for claim in after.claims] == ["supported", "not_supported", "supported"]

    nobody = ScriptedChecks([])
    last = await Rechecks(before, nobody).report(draft_of(before, {4: ""}))
    assert (asked(nobody), len(last.claims), last.usage.calls) == ([], 4, 0)


async def test_what_a_second_round_leaves_as_the_first_had_it_is_not_read_again() -> None:
    before = report_of((ANN, "c"), (BAD, "sc"), (CID, "s"), prompt="Who?")
    first = report_of(("Ann sat.", "s"), (NEW, "n"), (CID, "s"))
    checked = ScriptedChecks([first])
    correction = await _Course(before, checked, ByHand(["Ann sat.", NEW]), UsageMeter(), MarkPolicy()).run(2)
    assert asked(checked) == [("Ann sat.", NEW)]
    assert (correction.accepted, correction.rounds) == (True, 2)
    assert correction.text == f"Ann sat. {BAD} [contradicted] {CID}"


async def test_a_claim_that_repeats_one_that_is_gone_keeps_verdict_and_evidence() -> None:
    before = report_of((BAD, "cn"), (CID, "n"), prompt="Who?", evidence=[passage("Nobody knows.")])
    first, second, third = before.claims
    repeat = third.model_copy(update={"duplicate_of": second.id, "evidence": ()})
    before = before.model_copy(update={"claims": (first, second, repeat)})
    checked = ScriptedChecks([report_of((NEW, "sn"), (CID, "n"))])
    after = await Rechecks(before, checked).report(draft_of(before, {0: NEW}))
    carried = after.claims[-1]
    assert (carried.id, carried.duplicate_of, carried.sentence) == ("c2.1", None, CID)
    assert [(item.id, item.passage) for item in carried.evidence] == [("c2.1-e1", "Nobody knows.")]
