from __future__ import annotations

import pytest

from factloop.core.errors import ToolError
from factloop.core.records import FactualityReport
from factloop.correction.drafts import NOT_CONFIRMED, Draft
from factloop.correction.faults import MOST_PASSAGES, Fault, fault_of
from factloop.correction.records import Unsupported
from factloop.correction.rewriters import NO_VALUE, OfflineRewriter, _complaint
from factloop.correction.sentences import sentences_of
from tests.correction.reports import passage, report_of

TEXT = "The tower was lit in 1698."
REWRITER = OfflineRewriter()


def fault(report: FactualityReport, number: int = 0, unproven: Unsupported = "remove") -> Fault:
    by_id = {claim.id: claim for claim in report.claims}
    sentences, _ = sentences_of(report, unproven)
    return fault_of(report, sentences[number], by_id, Draft(report.response, sentences, {}))


def facts(sentence: str, *claims: str, letters: str, wrong: str = "", instead: str = "", quote: str = "") -> Fault:
    report = report_of((sentence, letters), evidence=[passage(quote)])
    judged = tuple(
        one.model_copy(
            update={
                "text": text,
                "self_contained": text,
                "judgement": one.judgement.model_copy(
                    update={"wrong": wrong, "instead": instead, "quote": quote} if one.judgement.contradicted else {}
                ),
            }
        )
        for one, text in zip(report.claims, claims, strict=True)
    )
    return fault(report.model_copy(update={"claims": judged}), unproven="mark")


DIED, BURIED = "Ida Roth died in Oslo.", "Ida Roth was buried in Bergen."


@pytest.mark.parametrize(
    ("sentence", "wrong", "instead", "mended"),
    [
        ("**The tower** is 48 metres tall [1].", "48 metres", "49 metres", "**The tower** is 49 metres tall [1]."),
        ("A man lit it.", "man", "engineer", "An engineer lit it."),
        ("Otto Berg built it.", "Otto Berg", "the Wick brothers", "The Wick brothers built it."),
        ("In 1697 it was lit, in 1697.", "1697", "1698", None),  # which of the two?
        ("It was lit in 1697.", "1697", "", None),
        ("It sold 1,248 copies.", "48", "49", None),
    ],
)
async def test_the_value_that_the_judge_names_is_put_in_where_it_stands_once(
    sentence: str, wrong: str, instead: str, mended: str | None
) -> None:
    shown = facts(sentence, sentence, letters="c", wrong=wrong, instead=instead, quote=instead or "It was lit.")
    wording = await REWRITER.reword(shown)
    assert (wording.text, wording.detail) == (mended or "", "" if mended else NO_VALUE)
    assert wording.evidence == (("e1",) if mended else ())


async def test_a_value_is_exchanged_and_what_else_the_sentence_says_is_tried_after_it() -> None:
    shown = facts(
        "Ida Roth died in *Oslo* and was buried in Bergen.",
        DIED,
        BURIED,
        letters="cs",
        wrong="Oslo",
        instead="Rome",
        quote="Ida Roth died in Rome.",
    )
    wording = await REWRITER.reword(shown)
    assert wording.text == "Ida Roth died in *Rome* and was buried in Bergen."
    assert wording.otherwise is not None
    assert (wording.otherwise.text, wording.otherwise.detail) == (BURIED, NOT_CONFIRMED)


async def test_words_that_another_fact_needs_are_not_exchanged() -> None:
    shown = facts(
        "Rita Sand designed the bridge and painted the chapel.",
        "Rita Sand designed the bridge.",
        "Rita Sand painted the chapel.",
        letters="cs",
        wrong="Rita Sand",
        instead="Rolf Berg",
        quote="Rolf Berg designed the bridge.",
    )
    wording = await REWRITER.reword(shown)
    assert (wording.text, wording.takes_out) == ("Rita Sand painted the chapel.", True)


async def test_no_sentence_is_cut_to_a_stump() -> None:
    with pytest.raises(ToolError, match="would remain of the sentence"):
        await REWRITER.reword(facts("Ida Roth died in Oslo.", DIED, "Ida Roth died.", letters="cs"))


def test_a_fault_has_the_evidence_of_the_claim_that_its_own_repeats() -> None:
    report = report_of((TEXT, "c"), evidence=[passage("It was 1699."), passage("It was 1699.")])
    claim = report.claims[0].model_copy(
        update={"id": "c2.1", "duplicate_of": "c1.1", "evidence": (), "span": (0, 5), "sentence": TEXT[:5]}
    )
    by_id = {one.id: one for one in report.claims}
    sentence = sentences_of(report_of((TEXT, "c")))[0][0]
    repeated = fault_of(report, type(sentence)(0, 5, (claim,)), by_id, Draft(report.response, [sentence], {}))
    assert [item.passage for item in repeated.evidence] == ["It was 1699."]
    many = report_of((TEXT, "c"), evidence=[passage(f"It was {number}.", number) for number in range(1, 20)])
    assert len(fault(many).evidence) == MOST_PASSAGES


MODELS = report_of(("The tower was lit in 1699 [1].", "sc"), prompt="When?", evidence=[passage("It was lit in 1698.")])


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("The tower was lit in 1698 [1].", None),
        ("The tower was lit.", None),
        ("", "claims are to be kept"),
        ("...", "no words are in it"),
        ("The tower was lit in 1699 [1].", "the sentence is as it was"),
        ("The tower was lit in 1700.", "it says 1700, which neither"),
        ("The tower was lit. " * 30, "characters instead of 30"),
        ("The tower was lit ([see](https://evil.example)).", "it brings '](https://evil.example'"),
        ("The tower was lit, see http://evil.example", "it brings 'http://evil.example'"),
        ("The tower was lit ![](x).", "it brings '!['"),
        ("The <b>tower</b> was lit.", "it brings '<b'"),
        ("The tower\x1b[2J was lit.", "it brings '\\x1b'"),
        ("The tower \u202ewas lit.", "it brings '\\u202e'"),
        ("The tower | was lit.", "the columns"),
        ("```The tower was lit.", "it brings '```'"),
    ],
)
def test_a_reply_that_is_no_correction_is_refused(reply: str, complaint: str | None) -> None:
    found = _complaint(fault(MODELS), reply)
    assert found is None if complaint is None else (found is not None and complaint in found)


def test_overlapping_and_missing_sentences_have_no_place() -> None:
    report = report_of(("Ann ran.", "n"), ("Bad fell.", "n"))
    first, second = report.claims
    overlapping = second.model_copy(update={"span": (3, 12)})
    missing = second.model_copy(update={"id": "c3.1", "span": (8, 8)})
    beyond = second.model_copy(update={"id": "c4.1", "span": (10, 99)})
    changed = report.model_construct(**{**dict(report), "claims": (first, overlapping, missing, beyond)})
    placed, placeless = sentences_of(changed)
    assert [(one.start, one.end) for one in placed] == [(0, 8)]
    assert [(one.start, one.end) for one in placeless] == [(3, 12), (8, 8), (10, 99)]
