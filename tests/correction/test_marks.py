"""Marks after what is in doubt: where they stand, and that nothing else changes."""

from __future__ import annotations

import pytest

from factloop.core.findings import Finding
from factloop.core.records import FactualityReport
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.records import Correction, Rejection, Unscored, Unsupported
from tests.correction.reports import report_of

ANN, BAD, CID, DAN = "Ann ran.", "Bad fell.", "Cid sat.", "Dan hid."
ALL = report_of((ANN, "s"), (BAD, "nc"), (CID, "sn"), (DAN, "u"), ("Eve slept.", "i"), ("Fay wept.", "-"), ("So?", ""))


def text_of(report: FactualityReport, unproven: Unsupported = "mark", unchecked: Unscored = "mark") -> str:
    text, doubts = marked(report, MarkPolicy(unproven, unchecked))
    for doubt in doubts:
        if doubt.mark is not None:
            assert doubt.mark[0] == doubt.span[1]
    return text


@pytest.mark.parametrize(
    ("unproven", "unchecked", "text"),
    [
        (
            "mark",
            "mark",
            "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. [unchecked] Eve slept. [unchecked] "
            "Fay wept. [unchecked] So?",
        ),
        ("mark", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. Eve slept. Fay wept. So?"),
        ("keep", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. Dan hid. Eve slept. Fay wept. So?"),
        # what was to be removed, and stands there all the same, is not passed on as if it had been checked
        ("remove", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. Eve slept. Fay wept. So?"),
    ],
)
def test_each_doubt_is_marked_by_the_policy(unproven: Unsupported, unchecked: Unscored, text: str) -> None:
    assert text_of(ALL, unproven, unchecked) == text


def test_every_doubt_is_told_whether_it_is_marked_or_not() -> None:
    text, doubts = marked(ALL, MarkPolicy("keep", "keep"))
    assert [(text[slice(*doubt.span)], doubt.findings, doubt.claims, doubt.mark is None) for doubt in doubts] == [
        (BAD, (Finding.CONTRADICTED, Finding.UNSUPPORTED), ("c2.1", "c2.2"), False),
        (CID, (Finding.UNSUPPORTED,), ("c3.2",), True),
        (DAN, (Finding.UNSCORED,), ("c4.1",), True),
        ("Eve slept.", (Finding.IRRELEVANT,), ("c5.1",), True),
        ("Fay wept.", (Finding.CLAIM_FREE,), (), True),
    ]


@pytest.mark.parametrize(
    ("response", "sentence", "text"),
    [
        ("- Ann ran.\n- Bad fell.\n", "Ann ran.", "- Ann ran. [unverified]\n- Bad fell.\n"),
        ("**Ann ran.** So.", "Ann ran.", "**Ann ran. [unverified]** So."),
        ("| Ann | ran |\n", "Ann | ran", "| Ann | ran [unverified] |\n"),
        ("安跑了。(巴)", "安跑了。", "安跑了。 [unverified] (巴)"),
        ("```python\n# Ann ran.\n```\n", "# Ann ran.", "```python\n# Ann ran.\n```\n"),
    ],
)
def test_a_mark_does_not_break_what_it_stands_in(response: str, sentence: str, text: str) -> None:
    start = response.index(sentence)
    base = report_of((sentence, "n"))
    span = (start, start + len(sentence))
    report = base.model_copy(
        update={
            "response": response,
            "claims": tuple(claim.model_copy(update={"span": span}) for claim in base.claims),
            "sentences": (),
        }
    )
    found, (doubt,) = marked(report, MarkPolicy())
    assert found == text
    assert (doubt.mark is None) == (found == response)


def table_report(*claims: str, row: str = "Tarn 4 | 4 | 8 GB | 3 years") -> FactualityReport:
    """A report on a row with these claims, all without evidence."""
    response = f"| Model | Bays | RAM | Warranty |\n|---|---|---|---|\n| {row} |\n"
    base = report_of((row, "n" * len(claims)))
    span = (response.index(row), response.index(row) + len(row))
    changed = [
        one.model_copy(update={"span": span, "text": text}) for one, text in zip(base.claims, claims, strict=True)
    ]
    return base.model_copy(update={"response": response, "claims": tuple(changed), "sentences": ()})


@pytest.mark.parametrize(
    ("claims", "row"),
    [
        (["Model: Tarn 4; RAM: 8 GB."], "| Tarn 4 | 4 | 8 GB [unverified] | 3 years |"),
        (["The Tarn 4 has 8 GB of RAM.", "The Tarn 4 has four bays."], "| Tarn 4 | 4 | 8 GB | 3 years [unverified] |"),
        (
            ["Model: Tarn 4; Bays: 4.", "Model: Tarn 4; Warranty: 3 years."],
            "| Tarn 4 | 4 [unverified] | 8 GB | 3 years [unverified] |",
        ),
    ],
)
def test_in_a_row_the_cell_in_doubt_is_marked(claims: list[str], row: str) -> None:
    text, doubts = marked(table_report(*claims), MarkPolicy())
    assert text.splitlines()[2] == row
    assert sorted(name for doubt in doubts for name in doubt.claims) == [f"c1.{n}" for n in range(1, len(claims) + 1)]


def test_overlapping_sentences_are_both_told_and_one_is_marked() -> None:
    base = report_of((ANN, "n"), (BAD, "n"))
    first, second = base.claims
    report = base.model_copy(update={"claims": (first, second.model_copy(update={"span": (4, 17)})), "sentences": ()})
    text, doubts = marked(report, MarkPolicy())
    assert text == "Ann ran. [unverified] Bad fell."
    assert [doubt.claims for doubt in doubts] == [("c1.1",), ("c2.1",)]


def test_the_report_on_a_marked_text_has_its_places() -> None:
    """Between sentences of some scripts there is no blank: a mark ends where the next begins."""
    before = report_of(("安跑了。", "n"), ("巴跌了。", "s"), ("好吗？", ""), ("丹藏了。", "u"), between="")
    text, doubts = marked(before, MarkPolicy())
    correction = Correction(
        text=text,
        accepted=False,
        rejected=Rejection.NOTHING_TO_CORRECT,
        why="nothing",
        before=before,
        doubts=doubts,
        rounds=0,
        rewriter="nobody",
        usage=before.usage,
    )
    report = correction.report
    assert report.response == text == "安跑了。 [unverified]巴跌了。好吗？丹藏了。 [unchecked]"
    assert [text[slice(*claim.span)] for claim in report.claims] == ["安跑了。", "巴跌了。", "丹藏了。"]
    assert [report.text_of(one) for one in report.sentences] == ["安跑了。", "巴跌了。", "好吗？", "丹藏了。"]
