"""The meaning of a chat model's answers, through the real gateway."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from factloop.agents.safe.model_stages import ModelFusedStages, ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.stage_prompts import ANSWER_CHARACTERS, passages
from factloop.agents.safe.stages import Case, FoundFact, NextQueries, SentenceTask, WindowTask
from factloop.agents.shown import CUT_WITHIN, PASSAGE_CHARACTERS
from factloop.core.errors import ModelOutputError
from factloop.core.records import Evidence, Judgement, UnscoredReason, Verdict
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.linguistics.outline import read_outline
from factloop.tools.models.chat import wrap_chat_model
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.transport import Transport
from tests.agents.safe.scripted import ONE_ATTEMPT, ScriptedSearch, context_of

Fields = Mapping[str, Any]


class ScriptedChat(BaseChatModel):
    """Says what it was told to, as plain text, and remembers what it was asked."""

    replies: list[str]
    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[str]:
        return self._asked

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class has it
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base class has it
        **kwargs: Any,  # noqa: ARG002 - the base class has it
    ) -> ChatResult:
        self._asked.append(str(messages[-1].text))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.replies.pop(0)))])


Parts = tuple[ModelGateway, PromptRegistry]


@pytest.fixture
def parts() -> Callable[..., tuple[ScriptedChat, Parts]]:
    def make(*replies: Fields) -> tuple[ScriptedChat, Parts]:
        chat, prompts, budget = ScriptedChat(replies=[json.dumps(reply) for reply in replies]), _PROMPTS, Budget()
        named = wrap_chat_model(chat)
        transport = Transport(
            named,
            json_reply=prompts["gateway/json_reply"],
            limiter=Limiter(),
            budget=budget,
            retry=ONE_ATTEMPT,
            timeout_s=5.0,
            rng=random.Random(0),
        )
        gateway = ModelGateway(named, transport, repair=prompts["gateway/repair"], answers=RunAnswers(CallCache(None)))
        return chat, (gateway, prompts)

    return make


_PROMPTS = PromptRegistry.load()

Make = Callable[..., tuple[ScriptedChat, Parts]]


def evidence(number: int, **fields: Any) -> Evidence:
    return Evidence.model_validate(
        {
            "id": f"e{number}",
            "source": "s",
            "passage": f"Passage {number}.",
            "query": "q",
            "rank": number,
            "retrieved_at": datetime(2024, 1, 1, tzinfo=UTC),
            **fields,
        }
    )


TASK = SentenceTask("Who was Ada?", "She was born in London.", "She was born in London.", 0, 23)
CONTEXT = context_of(ScriptedSearch())


def case(*items: Evidence, left: int = 3) -> Case:
    return Case("Ada Lovelace was born in London.", TASK, ("q",), items, left)


def assessment(verdict: str, cited: list[int], **more: Any) -> Fields:
    wish = {"missing": "", "queries": []}
    return {"rationale": "Because.", "cited": cited, "wrong": "", "verdict": verdict, **wish, **more}


def rating(word: str, cited: list[int], wrong: str = "") -> Fields:
    return {"reasoning": "Because.", "cited": cited, "wrong": wrong, "rating": word}


@pytest.mark.parametrize(
    ("verdict", "expected", "contradicted"),
    [
        ("supported", Verdict.SUPPORTED, None),
        ("contradicted", Verdict.NOT_SUPPORTED, True),
        ("insufficient", Verdict.NOT_SUPPORTED, False),
    ],
)
async def test_an_assessment_becomes_a_judgement(
    parts: Make, verdict: str, expected: Verdict, contradicted: bool | None
) -> None:
    _, made = parts(assessment(verdict, [2]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.contradicted) == (expected, contradicted)
    assert (judgement.cited, judgement.rationale, judgement.judged_by) == (("e2",), "Because.", "ScriptedChat")


async def test_a_contradicted_claim_has_its_wrong_words_and_no_other(parts: Make) -> None:
    _, made = parts(assessment("contradicted", [1], wrong=" London "), assessment("supported", [1], wrong="London"))
    contradicted = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    supported = await ModelFusedStages(*made).assess(case(evidence(2)), CONTEXT)
    assert isinstance(contradicted, Judgement)
    assert isinstance(supported, Judgement)
    assert (contradicted.wrong, supported.wrong) == ("London", "")


async def test_a_judge_sees_where_a_claim_stands_and_what_was_asked_in_vain(parts: Make) -> None:
    chat, made = parts(assessment("supported", [1]))
    row = replace(TASK, sentence="Ada | London", above="Poets\nName | Town")
    asked = replace(case(evidence(1)), task=row, queries=("a", "b"), fruitless=("b",))
    await ModelFusedStages(*made).assess(asked, CONTEXT)
    assert "<sentence>Poets\nName | Town\nAda | London</sentence>" in chat.asked[0]
    assert "<question>Who was Ada?</question>" in chat.asked[0]
    assert '<asked id="2">b</asked>\n<fruitless id="1">b</fruitless>\n<left>3</left>' in chat.asked[0]


async def test_numbers_without_a_passage_are_not_cited(parts: Make) -> None:
    _, made = parts(assessment("supported", [0, 2, 3, -1, 2, 99]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.cited == ("e2",)


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
async def test_a_verdict_without_evidence_is_refused(parts: Make, verdict: str) -> None:
    _, made = parts(*[assessment(verdict, [])] * 3)
    with pytest.raises(ModelOutputError, match="no evidence at all"):
        await ModelFusedStages(*made).assess(case(), CONTEXT)
    _, made = parts(rating(verdict, []), rating("not_supported", []))  # told so, it mends its answer
    assert (await ModelPaperStages(*made).rate(case(left=0), CONTEXT)).contradicted is False


async def test_an_insufficient_assessment_with_a_query_is_the_wish_to_search(parts: Make) -> None:
    _, made = parts(assessment("insufficient", [], missing=" the town ", queries=[" Ada birthplace ", "", "Ada town"]))
    wish = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert wish == NextQueries(("Ada birthplace", "Ada town"), "the town", "scripted")


async def test_the_last_assessment_is_told_that_it_is_the_last_and_offered_no_search(parts: Make) -> None:
    chat, made = parts(assessment("insufficient", [], queries=["once more"]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), left=0), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.contradicted is False
    assert "<left>0</left>" in chat.asked[0]


async def test_an_ambiguous_assessment_is_unscored(parts: Make) -> None:
    _, made = parts(assessment("ambiguous", [1]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.unscored_reason is UnscoredReason.AMBIGUOUS
    assert judgement.cited == ()


async def test_an_unreadable_reply_is_repaired_twice(parts: Make) -> None:
    chat, made = parts({"nothing": "of it"}, {"nothing": "again"}, assessment("supported", [1]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.verdict is Verdict.SUPPORTED
    assert len(chat.asked) == 3
    _, made = parts({"nothing": "of it"}, {"nothing": "again"}, {"nothing": "still"})
    with pytest.raises(ModelOutputError, match="Assessment"):
        await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)


async def test_facts_are_trimmed_and_empty_ones_left_out(parts: Make) -> None:
    said = [
        {"fact": " Ada was born in London. ", "status": "check", "query": " Ada birthplace "},
        {"fact": "  ", "status": "check", "query": "nothing"},
    ]
    _, made = parts({"facts": said})
    (facts,) = await ModelFusedStages(*made).sentence_facts([TASK], CONTEXT)
    assert facts == [FoundFact("Ada was born in London.", "Ada was born in London.", "check", "Ada birthplace")]


def read(*facts: str) -> dict[str, Any]:
    return {"facts": [{"fact": fact, "status": "check", "query": "q"} for fact in facts]}


async def test_given_facts_keep_their_words_and_one_that_comes_back_empty_stands(parts: Make) -> None:
    chat, made = parts(read(" Ada was born. ", "  "))
    facts = await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)
    assert facts == [
        FoundFact("She was born.", "Ada was born.", "check", "q"),
        FoundFact("She sang.", "She sang.", "check", "q"),
    ]
    assert '<fact id="2">She sang.</fact>' in chat.asked[0]


async def test_given_facts_that_come_back_merged_are_asked_for_once_more(parts: Make) -> None:
    chat, made = parts(read("Ada was born and sang."), read("Ada was born.", "Ada sang."))
    facts = await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)
    assert [item.self_contained for item in facts] == ["Ada was born.", "Ada sang."]
    assert "2 facts are given, and 1 came back" in chat.asked[1]


async def test_given_facts_that_stay_merged_are_nobodys(parts: Make) -> None:
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
async def test_a_rating_becomes_a_judgement(
    parts: Make, word: str, expected: Verdict, contradicted: bool | None
) -> None:
    _, made = parts(rating(word, [1, 7]))
    judgement = await ModelPaperStages(*made).rate(case(evidence(1)), CONTEXT)
    assert (judgement.verdict, judgement.contradicted, judgement.cited) == (expected, contradicted, ("e1",))


async def test_a_rating_that_contradicts_has_the_wrong_words(parts: Make) -> None:
    _, made = parts(rating("contradicted", [1], wrong=" London "), rating("supported", [1], wrong="London"))
    stages = ModelPaperStages(*made)
    found = [await stages.rate(case(evidence(number)), CONTEXT) for number in (1, 2)]
    assert [judgement.wrong for judgement in found] == ["London", ""]


async def test_an_empty_revision_leaves_the_fact_and_an_empty_query_asks_for_the_claim(parts: Make) -> None:
    _, made = parts({"fact": "  "}, {"query": " "})
    stages = ModelPaperStages(*made)
    assert await stages.revise("She was born in London.", TASK, CONTEXT) == "She was born in London."
    assert await stages.next_query(case(), CONTEXT) == NextQueries(("Ada Lovelace was born in London.",))


@pytest.mark.parametrize("prompt", [None, ""])
async def test_without_a_question_nothing_is_beside_it_and_nothing_is_asked(parts: Make, prompt: str | None) -> None:
    chat, made = parts()
    assert await ModelPaperStages(*made).relevance("x", SentenceTask(prompt, "x", "x", 0, 1), CONTEXT) is True
    assert chat.asked == []


async def test_relevance_is_the_models_word(parts: Make) -> None:
    _, made = parts({"reason": "r", "relevant": False})
    assert await ModelPaperStages(*made).relevance("x", TASK, CONTEXT) is False


@pytest.mark.parametrize(("most", "is_whole"), [(ANSWER_CHARACTERS, False), (None, True)])
async def test_a_strict_plan_shows_long_answers_whole(parts: Make, most: int | None, is_whole: bool) -> None:
    chat, made = parts({"reason": "r", "relevant": True})
    long = " ".join(f"Sentence {number} of a long answer stands here." for number in range(400))
    task = SentenceTask("Why?", long, "x", 0, 1)
    assert await ModelPaperStages(*made, answer_characters=most).relevance("x", task, CONTEXT)
    assert (long in str(chat.asked)) is is_whole


def test_a_passage_is_shown_with_its_title_and_date_and_cut_to_its_bound() -> None:
    plain, dated, long = passages(
        [evidence(1), evidence(2, title="T", published="2020"), evidence(3, passage="x" * 10_000)]
    )
    assert plain == "Passage 1."
    assert dated == "T (2020)\nPassage 2."
    assert long == "x" * PASSAGE_CHARACTERS + f"\n{CUT_WITHIN}"


async def test_sentences_of_a_window_stand_as_the_answer_goes_on_without_ends_of_rows(
    parts: Callable[..., tuple[ScriptedChat, Parts]],
) -> None:
    response = "Made in 1790.\n\n| Name | Born |\n| --- | --- |\n| Ada | 1815 |\n| Bo | 1816 |\n\n- It ended."
    spans = [(part.start, part.end) for part in read_outline(response) if part.kind != "head"]
    tasks = tuple(SentenceTask(None, response, response[start:end], start, end) for start, end in spans)
    chat, made = parts({"facts": [], "without_fact": [1, 2, 3, 4], "off_topic": []})
    await ModelGroundedStages(*made).read(WindowTask(tasks, (evidence(1),)), CONTEXT)
    shown = re.findall(r'<sentence id="\d">(.*?)</sentence>', chat.asked[0], re.DOTALL)
    assert [text.split("\n")[0] for text in shown] == ["Made in 1790.", "| Name | Born |", "| Bo | 1816", "- It ended."]


async def test_a_first_verdict_has_a_reason_without_having_been_asked_for_one(parts: Make) -> None:
    said = [("supported", [1]), ("contradicted", [1]), ("insufficient", []), ("supported", [])]
    facts = [{"sentence": 1, "fact": f"{verdict}.", "verdict": verdict, "passages": cited} for verdict, cited in said]
    _, made = parts({"facts": facts, "without_fact": [], "off_topic": []})
    reading = await ModelGroundedStages(*made).read(WindowTask((TASK,), (evidence(1),)), CONTEXT)
    assert [fact.judgement.rationale for fact in reading.facts] == [
        "",
        "The cited passages say otherwise.",
        "The passages shown do not say so.",
        "No passage was named that it rests on.",
    ]


def two_cases(left: int = 3) -> list[Case]:
    """Two claims of one sentence, each with a passage of its own."""
    return [
        Case(claim, TASK, (f"q{number}",), (evidence(number),), left)
        for number, claim in enumerate(("Ada was born.", "Ada sang."), 1)
    ]


def assessments(*entries: Fields) -> Fields:
    return {"claims": [{"claim": number, **entry} for number, entry in enumerate(entries, 1)]}


async def test_claims_judged_together_are_numbered_and_share_their_sentence_and_passages(parts: Make) -> None:
    chat, made = parts(assessments(assessment("supported", [2]), assessment("contradicted", [1], wrong="sang")))
    cases = two_cases()
    pool = [item for one in cases for item in one.evidence]
    first, second = await ModelFusedStages(*made).assess_together(cases, pool, CONTEXT)
    asked = chat.asked[0]
    assert '<claim id="1">Ada was born.</claim>\n<claim id="2">Ada sang.</claim>' in asked
    assert (asked.count("<sentence"), asked.count("<evidence"), asked.count("<asked")) == (1, 2, 2)
    assert isinstance(first, Judgement)
    assert (first.verdict, first.cited) == (Verdict.SUPPORTED, (pool[1].id,))
    assert isinstance(second, Judgement)
    assert (second.contradicted, second.cited, second.wrong) == (True, (pool[0].id,), "sang")


@pytest.mark.parametrize(("left", "is_wish"), [(3, True), (0, False)])
async def test_a_claim_of_several_is_searched_for_again_where_a_search_is_left(
    parts: Make, left: int, is_wish: bool
) -> None:
    open_one = {**assessment("insufficient", []), "queries": [" her songs ", ""]}
    _, made = parts(assessments(assessment("supported", [1]), open_one))
    cases = two_cases(left)
    pool = [item for one in cases for item in one.evidence]
    _, step = await ModelFusedStages(*made).assess_together(cases, pool, CONTEXT)
    assert isinstance(step, NextQueries if is_wish else Judgement)
    assert not isinstance(step, NextQueries) or step.queries == ("her songs",)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (assessments(assessment("supported", [1])), "2 claims are given, and judged were [1]"),
        ({"claims": [{"claim": 2, **assessment("supported", [1])}] * 2}, "judged were [2, 2]"),
    ],
)
async def test_a_reply_that_is_not_one_entry_for_each_claim_is_refused(
    parts: Make, reply: Fields, complaint: str
) -> None:
    chat, made = parts(reply, assessments(assessment("supported", [1]), assessment("supported", [1])))
    cases = two_cases()
    await ModelFusedStages(*made).assess_together(cases, [evidence(1)], CONTEXT)
    assert complaint in chat.asked[1]


async def test_no_claim_of_several_is_judged_from_memory(parts: Make) -> None:
    settled = assessments(assessment("supported", []), assessment("insufficient", []))
    _, made = parts(settled, settled, settled)
    with pytest.raises(ModelOutputError, match="cannot rest on no evidence"):
        await ModelFusedStages(*made).assess_together([replace(one, evidence=()) for one in two_cases()], [], CONTEXT)


async def test_a_claim_for_which_nothing_was_found_rests_on_what_it_cites_of_the_others(parts: Make) -> None:
    cited, from_memory = assessment("supported", [1]), assessment("supported", [])
    chat, made = parts(assessments(cited, from_memory), assessments(cited, cited))
    with_evidence, without = two_cases()
    cases = [with_evidence, replace(without, evidence=())]
    _, second = await ModelFusedStages(*made).assess_together(cases, with_evidence.evidence, CONTEXT)
    assert "supported cannot rest on no evidence at all" in chat.asked[1]
    assert isinstance(second, Judgement)
    assert second.cited == (with_evidence.evidence[0].id,)


async def test_all_sentences_read_together_are_shown_in_an_excerpt_of_a_long_answer(parts: Make) -> None:
    """The excerpt around the first is full of what shares its name, and of the long sentences before it."""
    tied = " ".join(f"The hall that Ada saw was number {number} of them all." for number in range(30))
    long = f"It was {'very ' * 380}old."
    response = f"{tied} {long} {long} By then Ada sang. They danced. {tied}"
    tasks = [
        SentenceTask(None, response, said, response.index(said), response.index(said) + len(said))
        for said in ("By then Ada sang.", "They danced.")
    ]
    chat, made = parts({"facts": [{"sentence": 1, "fact": "Ada sang.", "status": "check", "query": "q"}]})
    await ModelFusedStages(*made).sentence_facts(tasks, CONTEXT)
    answer = re.search(r"<answer>(.*?)</answer>", chat.asked[0], re.DOTALL)
    assert answer is not None
    assert "By then Ada sang. They danced." in answer[1]


async def test_facts_of_several_sentences_stand_under_their_own(parts: Make) -> None:
    said = [
        {"sentence": 2, "fact": "Ada sang.", "status": "check", "query": "q"},
        {"sentence": 1, "fact": "Ada was born.", "status": "check", "query": "q"},
    ]
    chat, made = parts({"facts": said})
    found = await ModelFusedStages(*made).sentence_facts([TASK, replace(TASK, sentence="She sang.")], CONTEXT)
    assert [[fact.text for fact in facts] for facts in found] == [["Ada was born."], ["Ada sang."]]
    assert '<sentence id="2">She sang.</sentence>' in chat.asked[0]


async def test_facts_of_a_sentence_that_was_not_shown_are_refused(parts: Make) -> None:
    strange = {"sentence": 3, "fact": "Ada sang.", "status": "check", "query": "q"}
    chat, made = parts({"facts": [strange]}, {"facts": [{**strange, "sentence": 1}]})
    (fact,), nothing = await ModelFusedStages(*made).sentence_facts([TASK, TASK], CONTEXT)
    assert (fact.text, nothing) == ("Ada sang.", [])
    assert "facts of sentence 3, but the sentences are numbered 1 to 2" in chat.asked[1]


async def test_a_number_given_to_the_only_sentence_is_passed_over(parts: Make) -> None:
    _, made = parts({"facts": [{"sentence": 2, "fact": "Ada sang.", "status": "check", "query": "q"}]})
    ((fact,),) = await ModelFusedStages(*made).sentence_facts([TASK], CONTEXT)
    assert fact.text == "Ada sang."
