from __future__ import annotations

import pytest

from factloop.correction.acceptance import ELSEWHERE, Ruling, rule
from factloop.correction.drafts import NOT_CONFIRMED, Draft, Wording
from factloop.correction.records import LeftReason, Rejection, Unsupported
from factloop.correction.sentences import sentences_of
from tests.correction.reports import report_of

ANN, BAD, CID = "Ann ran.", "Bad fell.", "Cid sat."
NEW = "Bad rose."
REMOVED, MENDED = {1: Wording("")}, {1: Wording(NEW)}

Sentences = tuple[tuple[str, str], ...]


def ruling(
    before: Sentences, wordings: dict[int, Wording], after: Sentences, unproven: Unsupported = "remove"
) -> Ruling:
    report = report_of(*before)
    draft = Draft(report.response, sentences_of(report, unproven)[0], wordings)
    checked = report_of(*after)
    assert checked.response == draft.text
    return rule(report, checked, draft.fates)


BEFORE: Sentences = ((ANN, "ss"), (BAD, "c"), (CID, "s"))
"""Precision 3 of 4."""


@pytest.mark.parametrize(
    ("before", "wordings", "after", "rejected", "failed"),
    [
        (BEFORE, REMOVED, ((ANN, "ss"), (CID, "s")), None, set()),  # 3 of 3
        (BEFORE, MENDED, ((ANN, "ss"), (NEW, "s"), (CID, "s")), None, set()),  # 4 of 4
        # what is irrelevant may come and go
        (BEFORE, REMOVED, ((ANN, "ssi"), (CID, "s")), None, set()),
        # nothing is left: no claim, or none that counts
        (((BAD, "n"),), {0: Wording("")}, (), Rejection.NOTHING_LEFT, set()),
        (((BAD, "n"), (CID, "i")), {0: Wording("")}, ((CID, "i"),), Rejection.NOTHING_LEFT, set()),
        (((BAD, "n"), (CID, "u")), {0: Wording("")}, ((CID, "u"),), Rejection.NOTHING_LEFT, set()),
        # the second check could not judge what the first could
        (BEFORE, REMOVED, ((ANN, "su"), (CID, "s")), Rejection.NOT_CHECKED, {0}),
        (BEFORE, REMOVED, ((ANN, "uu"), (CID, "u")), Rejection.NOT_CHECKED, {0, 2}),
        (BEFORE, MENDED, ((ANN, "ss"), (NEW, "r"), (CID, "s")), Rejection.NOT_CHECKED, {1}),
        # as many without a verdict as before are no objection
        (((ANN, "su"), (BAD, "n")), {1: Wording("")}, ((ANN, "su"),), None, set()),
        # more contradicted, though fewer are unsupported
        (
            ((ANN, "s"), (BAD, "nn"), (CID, "s")),
            MENDED,
            ((ANN, "s"), (NEW, "c"), (CID, "s")),
            Rejection.MORE_CONTRADICTED,
            {1},
        ),
        # a rewritten sentence that is itself not supported, though there is less of it than before
        (((ANN, "s"), (BAD, "cc")), MENDED, ((ANN, "s"), (NEW, "n")), Rejection.NEW_UNSUPPORTED, {1}),
        # a contradicted sentence that now says what nothing can judge, or what is beside the question
        (((ANN, "su"), (BAD, "c")), MENDED, ((ANN, "ss"), (NEW, "u")), Rejection.NEW_UNSUPPORTED, {1}),
        (((ANN, "s"), (BAD, "c")), MENDED, ((ANN, "s"), (NEW, "i")), Rejection.NEW_UNSUPPORTED, {1}),
        # an untouched sentence that lost what it referred to
        (BEFORE, REMOVED, ((ANN, "ss"), (CID, "n")), Rejection.NEW_UNSUPPORTED, {2}),
        # one that was not supported before, and was left, may be so again, and not more
        (((ANN, "sn"), (BAD, "n")), {1: Wording("")}, ((ANN, "sn"),), None, set()),
        (((ANN, "sn"), (BAD, "nn")), {1: Wording("")}, ((ANN, "snn"),), Rejection.NEW_UNSUPPORTED, {0}),
        # a supported claim less: of a sentence that stays, and of one that was reworded
        (BEFORE, REMOVED, ((ANN, "s"), (CID, "s")), Rejection.SUPPORTED_LOST, {0}),
        (((ANN, "s"), (BAD, "ssn")), MENDED, ((ANN, "s"), (NEW, "s")), Rejection.SUPPORTED_LOST, {1}),
        # a sentence worded so that it states nothing
        (BEFORE, MENDED, ((ANN, "ss"), (NEW, ""), (CID, "s")), Rejection.MEANING_LOST, {1}),
        (((ANN, "s"), (BAD, "r")), MENDED, ((ANN, "s"), (NEW, "s")), None, set()),
        (((ANN, "s"), (BAD, "i")), REMOVED, ((ANN, "s"),), None, set()),
        # precision must rise: 1 of 2 before and after
        (
            ((ANN, "s"), (BAD, "i"), (CID, "n")),
            MENDED,
            ((ANN, "s"), (NEW, "i"), (CID, "n")),
            Rejection.NOT_BETTER,
            set(),
        ),
        # precision as before (2 of 3, 2 of 3): the claims of a sentence were only found in another way
        (((ANN, "ss"), (BAD, "n"), (CID, "")), REMOVED, ((ANN, "ss"), (CID, "n")), Rejection.NEW_UNSUPPORTED, {-1}),
    ],
)
def test_the_first_condition_that_fails_is_the_reason(
    before: Sentences, wordings: dict[int, Wording], after: Sentences, rejected: Rejection | None, failed: set[int]
) -> None:
    found = ruling(before, wordings, after)
    assert found.rejected == rejected
    if ELSEWHERE not in failed:
        assert set(found.failed) - {ELSEWHERE} == failed
    else:
        assert failed <= set(found.failed)


def test_what_failed_is_removed_or_undone() -> None:
    report = report_of((ANN, "s"), (BAD, "c"), (CID, "sn"), ("Dan hid.", "s"), ("Eve slept.", "n"))
    wordings = {1: Wording(NEW), 2: Wording("Cid stood."), 4: Wording("")}
    draft = Draft(report.response, sentences_of(report, "remove")[0], wordings)
    after = draft.without({1: "", 2: "it would not be supported"})
    removed = Wording("", detail=NOT_CONFIRMED)
    assert after.wordings == {1: removed, 4: Wording("")}  # of the second, a supported claim is to be kept
    assert {number: left.reason for number, left in after.left.items()} == {2: LeftReason.NOT_CONFIRMED}
    assert after.left[2].detail == "it would not be supported"
    assert after.text == "Ann ran. Cid sat. Dan hid."
    assert set(draft.without({1: "", 2: ""}, removing=False).wordings) == {4}


def test_an_untouched_sentence_that_failed_undoes_the_last_change_before_it() -> None:
    report = report_of((ANN, "n"), (BAD, "n"), (CID, "s"), ("Dan hid.", "n"))
    draft = Draft(report.response, sentences_of(report)[0], {0: Wording(""), 1: Wording(""), 3: Wording("")})
    after = draft.without({2: "a later sentence"})
    assert set(after.wordings) == {0, 3}
    assert after.text == "Bad fell. Cid sat."
    assert draft.without({ELSEWHERE: ""}) == draft


KEEPING: Sentences = ((ANN, "s"), (BAD, "cn"))
"""Of the second sentence, the unproven claim is to stay."""


@pytest.mark.parametrize(
    ("after", "rejected"),
    [
        ("sn", None),
        ("n", None),  # what is contradicted is left out: none contradicted, 1 before
        ("ss", None),  # one more supported than the mended claim makes: the unproven one is found supported
        ("s", Rejection.UNPROVEN_LOST),
        ("snn", Rejection.NEW_UNSUPPORTED),
        ("sc", Rejection.NEW_UNSUPPORTED),  # as many contradicted as before, in a sentence reworded
    ],
)
def test_unproven_claims_that_stay_are_neither_lost_nor_more(after: str, rejected: Rejection | None) -> None:
    found = ruling(KEEPING, MENDED, ((ANN, "s"), (NEW, after)), "mark")
    assert found.rejected == rejected
    assert set(found.failed) == (set() if rejected is None else {1})


def test_fewer_contradictions_are_better_though_precision_is_the_same() -> None:
    """Before 0 of 2, after 0 of 1."""
    found = ruling(((ANN, "n"), (BAD, "c")), REMOVED, ((ANN, "n"),), "mark")
    assert (found.rejected, found.why) == (None, "1 contradicted before, none after; precision 0.00 (0 of 1)")
