"""The meaning of a chat model's answers, through the real gateway."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from factloop.agents.safe.judgements import NO_GROUNDS
from factloop.agents.safe.model_stages import (
    ModelFusedStages,
    ModelGroundedStages,
    ModelPaperStages,
    passages,
)
from factloop.agents.safe.stages import FoundFact, WindowTask
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.agents.shown import CUT_WITHIN, PASSAGE_CHARACTERS
from factloop.core.errors import ModelOutputError
from factloop.core.records import Judgement, UnscoredReason, Verdict
from factloop.tools.text.outline import read_outline
from tests.agents.safe.model_parts import CONTEXT, TASK, asked_of, assessment, case, evidence, parts, rating
from tests.agents.safe.scripted import context_of


@pytest.mark.parametrize(
    ("verdict", "expected", "contradicted"),
    [
        ("supported", Verdict.SUPPORTED, None),
        ("contradicted", Verdict.NOT_SUPPORTED, True),
        ("insufficient", Verdict.NOT_SUPPORTED, False),
    ],
)
async def test_an_assessment_becomes_a_judgement(verdict: str, expected: Verdict, contradicted: bool | None) -> None:
    _, made = parts(assessment(verdict, [2]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.contradicted) == (expected, contradicted)
    assert (judgement.cited, judgement.rationale, judgement.judged_by) == (("e2",), "Because.", "ScriptedChat")


async def test_a_contradicted_claim_has_its_wrong_words_and_no_other() -> None:
    _, made = parts(assessment("contradicted", [1], wrong=" London "), assessment("supported", [1], wrong="London"))
    contradicted = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    supported = await ModelFusedStages(*made).assess(case(evidence(2)), CONTEXT)
    assert isinstance(contradicted, Judgement)
    assert isinstance(supported, Judgement)
    assert (contradicted.wrong, supported.wrong) == ("London", "")


async def test_a_judge_sees_where_a_claim_stands_and_what_was_asked_in_vain() -> None:
    chat, made = parts(assessment("supported", [1]))
    row = replace(TASK, sentence="Ada | London", above="Poets\nName | Town")
    asked = replace(case(evidence(1)), task=row, queries=("a", "b"), fruitless=("b",))
    await ModelFusedStages(*made).assess(asked, CONTEXT)
    assert "<sentence>Poets\nName | Town\nAda | London</sentence>" in asked_of(chat)[0]
    assert "<question>Who was Ada Lovelace?</question>" in asked_of(chat)[0]
    assert '<asked id="2">b</asked>\n<fruitless id="1">b</fruitless>\n<left>3</left>' in asked_of(chat)[0]


async def test_numbers_without_a_passage_are_not_cited() -> None:
    _, made = parts(assessment("supported", [0, 2, 3, -1, 2, 99]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.cited == ("e2",)


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
async def test_a_verdict_without_evidence_is_refused(verdict: str) -> None:
    _, made = parts(*[assessment(verdict, [])] * 3)
    with pytest.raises(ModelOutputError, match="no evidence at all"):
        await ModelFusedStages(*made).assess(case(), CONTEXT)
    _, made = parts(rating(verdict, []), rating("not_supported", []))  # told so, it mends its answer
    assert (await ModelPaperStages(*made).rate(case(left=0), CONTEXT)).contradicted is False


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
@pytest.mark.parametrize("cited", [[], [2], [0]])
async def test_a_verdict_that_names_no_passage_is_asked_for_again(verdict: str, cited: list[int]) -> None:
    chat, made = parts(assessment(verdict, cited), assessment(verdict, [1]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.cited == ("e1",)
    chat_of_paper, made = parts(rating(verdict, cited), rating(verdict, [1]))
    assert (await ModelPaperStages(*made).rate(case(evidence(1), left=0), CONTEXT)).cited == ("e1",)
    for asked in (chat, chat_of_paper):
        assert (
            f"{verdict}, but by no passage shown: give the numbers (1 to 1) of those that decide" in asked_of(asked)[1]
        )


async def test_a_verdict_that_names_no_passage_to_the_last_is_none() -> None:
    _, made = parts(*[assessment("supported", [])] * 3)
    with pytest.raises(ModelOutputError, match="by no passage shown"):
        await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)


@pytest.mark.parametrize(("verdict", "word"), [("insufficient", "not_supported"), ("ambiguous", "not_supported")])
async def test_what_is_neither_for_nor_against_a_claim_needs_no_passage(verdict: str, word: str) -> None:
    chat, made = parts(assessment(verdict, []), rating(word, []))
    assert isinstance(await ModelFusedStages(*made).assess(case(evidence(1), left=0), CONTEXT), Judgement)
    assert (await ModelPaperStages(*made).rate(case(evidence(1), left=0), CONTEXT)).cited == ()
    assert len(chat.asked) == 2


async def test_an_insufficient_assessment_with_a_query_is_the_wish_to_search() -> None:
    _, made = parts(assessment("insufficient", [], missing=" the town ", queries=[" Ada birthplace ", "", "Ada town"]))
    wish = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert wish == NextQueries(("Ada birthplace", "Ada town"), "the town", "scripted")


async def test_the_last_assessment_is_told_that_it_is_the_last_and_offered_no_search() -> None:
    chat, made = parts(assessment("insufficient", [], queries=["once more"]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), left=0), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.contradicted is False
    assert "<left>0</left>" in asked_of(chat)[0]


async def test_an_ambiguous_assessment_is_unscored() -> None:
    _, made = parts(assessment("ambiguous", [1]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.unscored_reason is UnscoredReason.AMBIGUOUS
    assert judgement.cited == ()


async def test_where_the_sources_disagree_both_sides_are_cited_and_nothing_is_scored() -> None:
    _, made = parts(assessment("disputed", [1, 2]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.unscored_reason, len(judgement.cited)) == (None, UnscoredReason.DISPUTED, 2)
    _, made = parts(rating("disputed", [1, 2]))
    rated = await ModelPaperStages(*made).rate(case(evidence(1), evidence(2)), CONTEXT)
    assert rated.unscored_reason is UnscoredReason.DISPUTED


async def test_an_unreadable_reply_is_repaired_twice() -> None:
    chat, made = parts({"nothing": "of it"}, {"nothing": "again"}, assessment("supported", [1]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.verdict is Verdict.SUPPORTED
    assert len(chat.asked) == 3
    _, made = parts({"nothing": "of it"}, {"nothing": "again"}, {"nothing": "still"})
    with pytest.raises(ModelOutputError, match="verdict: Field required"):
        await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)


async def test_facts_are_trimmed_and_empty_ones_left_out() -> None:
    said = [
        {"sentence": 1, "fact": " Ada was born in London. ", "status": "check", "query": " Ada birthplace "},
        {"sentence": 1, "fact": "  ", "status": "check", "query": "nothing"},
    ]
    _, made = parts({"facts": said})
    (facts,) = await ModelFusedStages(*made).sentence_facts([TASK], CONTEXT)
    assert facts == [FoundFact("Ada was born in London.", "Ada was born in London.", "check", "Ada birthplace")]


def read(*facts: str) -> dict[str, Any]:
    return {"facts": [{"fact": fact, "status": "check", "query": "q"} for fact in facts]}


async def test_given_facts_keep_their_words_and_one_that_comes_back_empty_stands() -> None:
    chat, made = parts(read(" Ada was born. ", "  "))
    facts = await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)
    assert facts == [
        FoundFact("She was born.", "Ada was born.", "check", "q"),
        FoundFact("She sang.", "She sang.", "check", "q"),
    ]
    assert '<fact id="2">She sang.</fact>' in asked_of(chat)[0]


async def test_given_facts_that_come_back_merged_are_asked_for_once_more() -> None:
    chat, made = parts(read("Ada was born and sang."), read("Ada was born.", "Ada sang."))
    facts = await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)
    assert [item.self_contained for item in facts] == ["Ada was born.", "Ada sang."]
    assert "2 facts are given, and 1 came back" in asked_of(chat)[1]


async def test_given_facts_that_stay_merged_are_refused() -> None:
    _, made = parts(read("Ada."), read("Bo."), read("A.", "B.", "C."))
    with pytest.raises(ModelOutputError, match="3 came back"):
        await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)


@pytest.mark.parametrize(
    ("word", "expected", "contradicted"),
    [
        ("supported", Verdict.SUPPORTED, None),
        ("contradicted", Verdict.NOT_SUPPORTED, True),
        ("not_supported", Verdict.NOT_SUPPORTED, False),
    ],
)
async def test_a_rating_becomes_a_judgement(word: str, expected: Verdict, contradicted: bool | None) -> None:
    _, made = parts(rating(word, [1, 7]))
    judgement = await ModelPaperStages(*made).rate(case(evidence(1)), CONTEXT)
    assert (judgement.verdict, judgement.contradicted, judgement.cited) == (expected, contradicted, ("e1",))


async def test_a_rating_that_contradicts_has_the_wrong_words() -> None:
    _, made = parts(rating("contradicted", [1], wrong=" London "), rating("supported", [1], wrong="London"))
    stages = ModelPaperStages(*made)
    found = [await stages.rate(case(evidence(number)), CONTEXT) for number in (1, 2)]
    assert [judgement.wrong for judgement in found] == ["London", ""]


async def test_an_empty_revision_leaves_the_fact() -> None:
    _, made = parts({"fact": "  "})
    stages = ModelPaperStages(*made)
    assert await stages.revise("She was born in London.", TASK, CONTEXT) == "She was born in London."


async def test_an_empty_query_ends_the_rounds_but_the_first() -> None:
    _, made = parts(*[{"query": " "}] * 2)
    stages = ModelPaperStages(*made)
    assert await stages.next_query(case(), CONTEXT) == NextQueries(("Ada Lovelace was born in London.",))
    assert await stages.next_query(case(evidence(1)), CONTEXT) == NextQueries(())


@pytest.mark.parametrize("prompt", [None, ""])
async def test_without_a_question_nothing_is_beside_it_and_nothing_is_asked(prompt: str | None) -> None:
    chat, made = parts()
    assert await ModelPaperStages(*made).relevance("x", TASK, context_of(prompt=prompt, response="x")) is True
    assert chat.asked == []


async def test_relevance_is_the_models_word() -> None:
    _, made = parts({"reason": "r", "relevant": False})
    assert await ModelPaperStages(*made).relevance("x", TASK, CONTEXT) is False


def test_a_passage_is_shown_with_its_title_and_date_and_cut_to_its_bound() -> None:
    plain, dated, long = passages(
        [evidence(1), evidence(2, title="T", published="2020"), evidence(3, passage="x" * 10_000)]
    )
    assert plain == "Passage 1."
    assert dated == "T (2020)\nPassage 2."
    assert long == "x" * PASSAGE_CHARACTERS + f"\n{CUT_WITHIN}"


async def test_sentences_of_a_window_stand_as_the_answer_goes_on_without_ends_of_rows() -> None:
    response = "Made in 1790.\n\n| Name | Born |\n| --- | --- |\n| Ada | 1815 |\n| Bo | 1816 |\n\n- It ended."
    spans = [(part.start, part.end) for part in read_outline(response) if part.kind != "head"]
    tasks = tuple(SentenceTask(response[start:end], start, end) for start, end in spans)
    chat, made = parts({"facts": [], "without_fact": [1, 2, 3, 4], "off_topic": []})
    await ModelGroundedStages(*made).read(WindowTask(tasks, (evidence(1),)), context_of(response=response))
    shown = re.findall(r'<sentence id="\d">(.*?)</sentence>', asked_of(chat)[0], re.DOTALL)
    assert [text.split("\n")[0] for text in shown] == ["Made in 1790.", "| Name | Born |", "| Bo | 1816", "- It ended."]


async def test_a_first_look_gives_reasons_and_wrong_words_and_no_verdict_without_a_passage() -> None:
    said = [("supported", [1], ""), ("contradicted", [1], "[1] gives Ulm, [7] Rome."), ("supported", [], "I know it.")]
    london = {"sentence": 1, "fact": "She was born in London.", "wrong": "London"}
    facts = [{**london, "verdict": verdict, "passages": cited, "reason": why} for verdict, cited, why in said]
    _, made = parts({"facts": facts, "without_fact": [], "off_topic": []})
    reading = await ModelGroundedStages(*made).read(WindowTask((TASK,), (evidence(1),)), CONTEXT)
    judgements = [fact.judgement for fact in reading.facts]
    assert [one.wrong for one in judgements] == ["", "London", ""]
    assert [one.rationale for one in judgements] == ["", "[1] gives Ulm, another passage Rome.", NO_GROUNDS]
