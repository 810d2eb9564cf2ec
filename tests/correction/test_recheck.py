"""Second checks: what of a rewritten text is read again, and what is carried over."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.records import FactualityReport, NoClaim
from factloop.correction.corrector import _Course
from factloop.correction.drafts import Draft, Wording
from factloop.correction.marks import MarkPolicy
from factloop.correction.recheck import Rechecks
from factloop.correction.sentences import sentences_of
from factloop.tools.calls.meter import UsageMeter
from tests.correction.reports import passage, report_of
from tests.correction.test_rounds import ByHand, ScriptedChecks

ANN, BAD, CID, DAN = "Ann ran.", "Bad fell.", "Cid sat.", "Dan hid."
NEW = "Bad rose."


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
    """It may have lost whom it is about. Where none follows, nothing is asked."""
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
