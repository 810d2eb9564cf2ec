"""New wordings by rules, and what is refused of those that a model gives."""

from __future__ import annotations

import pytest

from factloop.core.errors import ToolError
from factloop.core.records import FactualityReport
from factloop.correction.drafts import NOT_CONFIRMED, Draft
from factloop.correction.faults import MOST_PASSAGES, Fault, fault_of
from factloop.correction.offline import IN_ITS_WORDS, LEFT_OUT, NOTHING_BETTER, OfflineRewriter
from factloop.correction.records import Unproven
from factloop.correction.rewriters import _complaint
from factloop.correction.sentences import sentences_of
from factloop.tools.verifiers.lexical import LexicalVerifier
from tests.correction.reports import passage, report_of

LIT = "The Eddystone tower was first lit in 1698."
REWRITER = OfflineRewriter(LexicalVerifier())


def fault(report: FactualityReport, number: int = 0, unproven: Unproven = "remove") -> Fault:
    by_id = {claim.id: claim for claim in report.claims}
    sentences, _ = sentences_of(report, unproven)
    return fault_of(report, sentences[number], by_id, Draft(report.response, sentences, {}))


@pytest.mark.parametrize(
    ("sentence", "stated", "mended"),
    [
        (LIT.replace("1698", "1699"), LIT, LIT),
        (
            "**The tower** is 48 metres tall [1].",
            "The tower is 49 metres tall.",
            "**The tower** is 49 metres tall [1].",
        ),
        ("It sold 1,200 copies.", "It sold 1,500 copies.", "It sold 1,500 copies."),
        # no number, no year for a year, two candidates, the same number twice: none is offered
        ("The tower is made of wood.", "The tower is made of stone.", None),
        ("The tower was lit in 1698.", "The tower was lit by 24 candles.", None),
        ("The tower was lit in 1697.", "The tower was lit in 1698 and 1699.", None),
        ("In 1697 it was lit, in 1697.", "It was lit in 1698.", None),
    ],
)
async def test_one_number_is_replaced_where_the_evidence_offers_one(
    sentence: str, stated: str, mended: str | None
) -> None:
    found = fault(report_of((sentence, "c"), evidence=[passage(stated)]))
    wording = await REWRITER.reword(found)
    assert wording.text == (mended or "")
    assert wording.evidence == (("e1",) if mended else ())


async def test_a_number_is_not_taken_from_a_passage_that_the_verdict_does_not_rest_on() -> None:
    found = fault(report_of((LIT.replace("1698", "1699"), "n"), evidence=[passage(LIT)]))
    assert (await REWRITER.reword(found)).text == ""


async def test_what_is_to_be_kept_is_said_again() -> None:
    report = report_of(("ann ran and fell", "snu"))
    assert (await REWRITER.reword(fault(report))).text == "Ann ran and fell (1). Ann ran and fell (3)."
    chinese = report_of(("安娜跑了，摔倒了。", "sn"))
    assert (await REWRITER.reword(fault(chinese))).text == "安娜跑了，摔倒了。 (1)。"


def facts(sentence: str, *claims: str, letters: str, wrong: str = "", instead: str = "", quote: str = "") -> Fault:
    """The fault of a sentence with these claims, of which the contradicted ones are decided by the quote."""
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


async def test_words_that_another_fact_needs_are_exchanged_in_one_alone() -> None:
    """Rita Sand painted the chapel, but did not design the bridge."""
    shown = facts(
        "Rita Sand designed the bridge and painted the chapel.",
        "Rita Sand designed the bridge.",
        "Rita Sand painted the chapel.",
        letters="cs",
        wrong="Rita Sand",
        instead="Rolf Berg",
        quote="Rolf Berg designed the bridge.",
    )
    assert (await REWRITER.reword(shown)).text == "Rolf Berg designed the bridge. Rita Sand painted the chapel."


async def test_the_source_is_quoted_beside_what_is_to_be_kept() -> None:
    shown = facts(
        "Codes never expire and work once.",
        "Codes never expire.",
        "Codes work once.",
        letters="cs",
        wrong="never",
        quote="Codes expire after a year; we tell you.",
    )
    wording = await REWRITER.reword(shown)
    assert (wording.text, wording.detail) == ("Codes expire after a year. Codes work once.", IN_ITS_WORDS)


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ("Ida Roth died.", None),
        ("Ida Roth died in 1979.", "Ida Roth died in 1979."),
        ("Ida Roth was a painter.", "Ida Roth was a painter."),
    ],
)
async def test_no_sentence_is_cut_to_a_stump(kept: str, text: str | None) -> None:
    shown = facts("Ida Roth died in Oslo.", DIED, kept, letters="cs")
    if text is None:
        with pytest.raises(ToolError, match="would be left of what it says"):
            await REWRITER.reword(shown)
        return
    wording = await REWRITER.reword(shown)
    assert (wording.text, wording.detail) == (text, LEFT_OUT)


async def test_other_words_of_the_evidence_are_no_mere_reversal_and_the_same_are() -> None:
    quote = "His uncle Sten resembles Nils."  # cannot stand alone
    told = "Nils resembles his uncle Sten."
    with pytest.raises(ToolError, match="same words in another order"):
        await REWRITER.reword(facts(told, told, letters="c", wrong="Nils Sten", instead="Sten Nils", quote=quote))
    wording = await REWRITER.reword(facts(told, told, letters="c", wrong="Nils", instead="Otto", quote=quote))
    assert (wording.text, wording.detail) == ("", NOTHING_BETTER)


async def test_a_sentence_that_the_text_has_already_is_not_put_in_twice() -> None:
    quote = "Codes expire after a year."
    report = report_of((quote, "s"), ("Codes never expire.", "c"), evidence=[passage(quote)])
    judged = report.claims[1].judgement.model_copy(update={"wrong": "never", "quote": quote})
    claims = (report.claims[0], report.claims[1].model_copy(update={"judgement": judged}))
    wording = await REWRITER.reword(fault(report.model_copy(update={"claims": claims}), 1))
    assert (wording.text, wording.detail) == ("", NOTHING_BETTER)


async def test_no_rule_words_a_row_of_a_table_anew() -> None:
    with pytest.raises(ToolError, match="row of a table"):
        await REWRITER.reword(fault(report_of(("Ann | ran | fell", "sn"))))


def test_a_fault_has_the_evidence_of_the_claim_that_its_own_repeats() -> None:
    report = report_of((LIT, "c"), evidence=[passage("It was 1699."), passage("It was 1699.")])
    claim = report.claims[0].model_copy(
        update={"id": "c2.1", "duplicate_of": "c1.1", "evidence": (), "span": (0, 5), "sentence": LIT[:5]}
    )
    by_id = {one.id: one for one in report.claims}
    sentence = sentences_of(report_of((LIT, "c")))[0][0]
    repeated = fault_of(report, type(sentence)(0, 5, (claim,)), by_id, Draft(report.response, [sentence], {}))
    assert [item.passage for item in repeated.evidence] == ["It was 1699."]
    many = report_of((LIT, "c"), evidence=[passage(f"It was {number}.", number) for number in range(1, 20)])
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
        ("The tower was lit. " * 30, "characters in the place of 30"),
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


def test_what_the_sentence_has_itself_may_stay() -> None:
    linked = report_of(("The [tower](https://a.example) was lit in 1699.", "sc"))
    assert _complaint(fault(linked), "The [tower](https://a.example) was lit.") is None
    assert _complaint(fault(linked), "The [tower](https://b.example) was lit.") is not None


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
