from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from factloop.agents.safe.judgements import NO_GROUNDS
from factloop.agents.safe.model_stages import ModelFusedStages, ModelGroundedStages, ModelPaperStages, passages
from factloop.agents.safe.stages import Case, FoundFact, WindowTask
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.agents.shown import CUT_WITHIN, PASSAGE_CHARACTERS
from factloop.core.errors import ModelOutputError
from factloop.core.records import Judgement, UnscoredReason, Verdict
from factloop.tools.text.outline import read_outline
from tests.agents.safe.model_parts import CONTEXT, TASK, Fields, asked_of, assessment, case, evidence, parts, rating
from tests.agents.safe.scripted import context_of


@pytest.mark.parametrize(
    ("word", "expected", "contradicted", "wrong"),
    [
        ("supported", Verdict.SUPPORTED, None, ""),
        ("contradicted", Verdict.NOT_SUPPORTED, True, "London"),
        ("insufficient", Verdict.NOT_SUPPORTED, False, ""),
    ],
)
async def test_what_a_model_says_becomes_a_judgement_with_wrong_words_for_a_contradicted_claim_alone(
    word: str, expected: Verdict, contradicted: bool | None, wrong: str
) -> None:
    shown = case(evidence(1), evidence(2))
    _, made = parts(assessment(word, [0, 2, 3, -1, 2, 99], wrong=" London "))  # numbers without a passage
    judgement = await ModelFusedStages(*made).assess(shown, CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.rationale, judgement.judged_by) == ("Because.", "ScriptedChat")
    _, made = parts(rating(word.replace("insufficient", "not_supported"), [2, 7], wrong=" London "))
    rated = await ModelPaperStages(*made).rate(shown, CONTEXT)
    for one in (judgement, rated):
        assert (one.verdict, one.contradicted, one.wrong) == (expected, contradicted, wrong)
        assert one.cited == ("e2",)


async def test_a_judge_sees_where_a_claim_stands_and_what_was_asked_in_vain() -> None:
    chat, made = parts(assessment("supported", [1]))
    row = replace(TASK, sentence="Ada | London", above="Poets\nName | Town")
    asked = replace(case(evidence(1)), task=row, queries=("a", "b"), fruitless=("b",))
    await ModelFusedStages(*made).assess(asked, CONTEXT)
    assert "<sentence>Poets\nName | Town\nAda | London</sentence>" in asked_of(chat)[0]
    assert "<question>Who was Ada Lovelace?</question>" in asked_of(chat)[0]
    assert '<asked id="2">b</asked>\n<fruitless id="1">b</fruitless>\n<left>3</left>' in asked_of(chat)[0]


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
async def test_a_verdict_without_evidence_is_refused(verdict: str) -> None:
    _, made = parts(*[assessment(verdict, [])] * 3)
    with pytest.raises(ModelOutputError, match="no evidence at all"):
        await ModelFusedStages(*made).assess(case(), CONTEXT)
    _, made = parts(rating(verdict, []), rating("not_supported", []))  # told so, it mends its answer
    assert (await ModelPaperStages(*made).rate(case(left=0), CONTEXT)).contradicted is False


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
@pytest.mark.parametrize("cited", [[], [3], [0]])
async def test_a_verdict_that_names_no_passage_is_asked_for_again(verdict: str, cited: list[int]) -> None:
    shown = case(evidence(1), evidence(2), left=0)
    said = f"{verdict}, but by no passage shown: give the numbers (1 to 2) of those that decide"
    chat, made = parts(assessment(verdict, cited), assessment(verdict, [1]))
    judgement = await ModelFusedStages(*made).assess(shown, CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.cited == ("e1",)
    assert said in asked_of(chat)[1]
    chat, made = parts(rating(verdict, cited), rating(verdict, [1]))
    assert (await ModelPaperStages(*made).rate(shown, CONTEXT)).cited == ("e1",)
    assert said in asked_of(chat)[1]
    right = assessments(assessment("insufficient", []), assessment(verdict, [2]))
    chat, made = parts(assessments(assessment("insufficient", []), assessment(verdict, cited)), right)
    cases = two_cases(left=0)
    _, second = await ModelFusedStages(*made).assess_together(cases, [*cases[0].evidence, *cases[1].evidence], CONTEXT)
    assert isinstance(second, Judgement)
    assert second.cited == ("e2",)
    assert f"claim 2: {said}" in asked_of(chat)[1]
    entry = {"claim": 1, "verdict": verdict, "passages": cited, "wrong": "", "reason": ""}
    chat, made = parts({"claims": [entry]}, {"claims": [{**entry, "passages": [1]}]})
    (judged,) = await ModelGroundedStages(*made).look_again(
        ["Ada sang."], WindowTask((SHORT,), shown.evidence), CONTEXT
    )
    assert judged.cited == ("e1",)
    assert f"claim 1: {said}" in asked_of(chat)[1]


@pytest.mark.parametrize(("verdict", "reason"), [("insufficient", None), ("ambiguous", UnscoredReason.AMBIGUOUS)])
async def test_what_is_neither_for_nor_against_a_claim_needs_no_passage_nor_the_last_call_a_search(
    verdict: str, reason: UnscoredReason | None
) -> None:
    chat, made = parts(assessment(verdict, [], queries=["once more"]), rating("not_supported", []))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), left=0), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.unscored_reason, judgement.contradicted) == (reason, None if reason else False)
    assert "<left>0</left>" in asked_of(chat)[0]
    assert (await ModelPaperStages(*made).rate(case(evidence(1), left=0), CONTEXT)).cited == ()
    assert len(chat.asked) == 2


async def test_an_insufficient_assessment_with_a_query_is_the_wish_to_search() -> None:
    _, made = parts(assessment("insufficient", [], missing=" the town ", queries=[" Ada birthplace ", "", "Ada town"]))
    wish = await ModelFusedStages(*made).assess(case(evidence(1)), CONTEXT)
    assert wish == NextQueries(("Ada birthplace", "Ada town"), "the town", "scripted")


async def test_where_the_sources_disagree_both_sides_are_cited_and_nothing_is_scored() -> None:
    _, made = parts(assessment("disputed", [1, 2]))
    judgement = await ModelFusedStages(*made).assess(case(evidence(1), evidence(2)), CONTEXT)
    assert isinstance(judgement, Judgement)
    assert (judgement.verdict, judgement.unscored_reason, len(judgement.cited)) == (None, UnscoredReason.DISPUTED, 2)
    _, made = parts(rating("disputed", [1, 2]))
    rated = await ModelPaperStages(*made).rate(case(evidence(1), evidence(2)), CONTEXT)
    assert rated.unscored_reason is UnscoredReason.DISPUTED
    with pytest.raises(ModelOutputError, match="by one passage alone"):
        await ModelFusedStages(*parts(*[assessment("disputed", [1])] * 3)[1]).assess(case(evidence(1)), CONTEXT)


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
    _, made = parts(read("Ada."), read("Bo."), read("A.", "B.", "C."))
    with pytest.raises(ModelOutputError, match="3 came back"):
        await ModelFusedStages(*made).given_facts(TASK, ["She was born.", "She sang."], CONTEXT)


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


def test_passages_are_cut_to_their_bound() -> None:
    assert passages([evidence(1, passage="x" * 10_000)]) == ["x" * PASSAGE_CHARACTERS + f"\n{CUT_WITHIN}"]


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


SHORT = SentenceTask("She sang.", 0, 9)


def two_cases(left: int = 3) -> list[Case]:
    return [
        Case(claim, SHORT, (f"q{number}",), (evidence(number),), left)
        for number, claim in enumerate(("Ada was born.", "Ada sang."), 1)
    ]


def assessments(*entries: Fields) -> Fields:
    return {"claims": [{"claim": number, **entry} for number, entry in enumerate(entries, 1)]}


async def test_claims_judged_together_are_numbered_and_share_their_sentence_and_passages() -> None:
    chat, made = parts(assessments(assessment("supported", [2]), assessment("contradicted", [1], wrong="sang")))
    cases = two_cases()
    pool = [item for one in cases for item in one.evidence]
    first, second = await ModelFusedStages(*made).assess_together(cases, pool, CONTEXT)
    asked = asked_of(chat)[0]
    assert '<claim id="1">Ada was born.</claim>\n<claim id="2">Ada sang.</claim>' in asked
    assert (asked.count("<sentence"), asked.count("<evidence"), asked.count("<asked")) == (1, 2, 2)
    assert isinstance(first, Judgement)
    assert (first.verdict, first.cited) == (Verdict.SUPPORTED, (pool[1].id,))
    assert isinstance(second, Judgement)
    assert (second.contradicted, second.cited, second.wrong) == (True, (pool[0].id,), "sang")


@pytest.mark.parametrize(("left", "is_wish"), [(3, True), (0, False)])
async def test_a_claim_of_several_is_searched_for_again_where_a_search_is_left(left: int, is_wish: bool) -> None:
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
async def test_a_reply_that_is_not_one_entry_for_each_claim_is_refused(reply: Fields, complaint: str) -> None:
    chat, made = parts(reply, assessments(assessment("supported", [1]), assessment("supported", [1])))
    cases = two_cases()
    await ModelFusedStages(*made).assess_together(cases, [evidence(1)], CONTEXT)
    assert complaint in asked_of(chat)[1]


async def test_no_claim_of_several_is_judged_from_memory() -> None:
    settled = assessments(assessment("supported", []), assessment("insufficient", []))
    _, made = parts(settled, settled, settled)
    with pytest.raises(ModelOutputError, match="cannot rest on no evidence"):
        await ModelFusedStages(*made).assess_together([replace(one, evidence=()) for one in two_cases()], [], CONTEXT)


TWICE = "Ada sang well. She was elected in 1838. Bea wrote odes. She was elected in 1838."
OF_TWICE = context_of(prompt="Who was elected?", response=TWICE)


def nth(response: str, sentence: str, n: int) -> SentenceTask:
    start = [one.start() for one in re.finditer(re.escape(sentence), response)][n]
    return SentenceTask(sentence, start, start + len(sentence))


@pytest.mark.parametrize(("n", "before"), [(0, "Ada sang well."), (1, "Bea wrote odes.")])
async def test_a_sentence_that_the_answer_has_twice_stands_under_the_one_before_it(n: int, before: str) -> None:
    task = nth(TWICE, "She was elected in 1838.", n)
    chat, made = parts({"facts": []}, {"facts": []}, {"fact": "x"})
    await ModelFusedStages(*made).sentence_facts([task], OF_TWICE)
    await ModelFusedStages(*made).given_facts(task, [], OF_TWICE)
    await ModelPaperStages(*made).revise("She was elected.", task, OF_TWICE)
    alone, given, revised = asked_of(chat)
    assert f"<above>{before}</above>" in alone
    assert '<sentence id="1">She was elected in 1838.</sentence>' in alone
    assert f"<sentence>{before}\nShe was elected in 1838.</sentence>" in given
    assert f"<sentence>{before}\nShe was elected in 1838.</sentence>" in revised


async def test_one_that_it_has_once_stands_by_itself_and_one_below_headings_below_these() -> None:
    once = nth(TWICE, "Bea wrote odes.", 0)
    headed = replace(nth(TWICE, "She was elected in 1838.", 1), above="Honours")
    chat, made = parts({"facts": []}, {"fact": "x"}, {"facts": []})
    await ModelFusedStages(*made).sentence_facts([once], OF_TWICE)
    await ModelPaperStages(*made).revise("Bea wrote odes.", once, OF_TWICE)
    await ModelFusedStages(*made).sentence_facts([headed], OF_TWICE)
    alone, revised, below = asked_of(chat)
    assert "<above>" not in alone
    assert "<sentence>Bea wrote odes.</sentence>" in revised
    assert "<above>Honours\nBea wrote odes.</above>" in below


SANG = {"sentence": 1, "fact": "Ada sang.", "verdict": "supported", "passages": [1]}


async def test_facts_of_several_sentences_stand_under_their_own() -> None:
    said = [
        {"sentence": 2, "fact": "Ada sang.", "status": "check", "query": "q"},
        {"sentence": 1, "fact": "Ada was born.", "status": "check", "query": "q"},
    ]
    chat, made = parts({"facts": said})
    found = await ModelFusedStages(*made).sentence_facts([SHORT, replace(SHORT, sentence="She sang.")], CONTEXT)
    assert [[fact.text for fact in facts or ()] for facts in found] == [["Ada was born."], ["Ada sang."]]
    assert '<sentence id="2">She sang.</sentence>' in asked_of(chat)[0]


def in_window(*sentences: int, without: list[int]) -> Fields:
    fact = {"fact": "Ada sang.", "status": "check", "query": "q"}
    return {"facts": [{"sentence": number, **fact} for number in sentences], "without_fact": without}


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (in_window(3, without=[2]), "there is no sentence 3: the sentences are numbered 1 to 2"),
        (in_window(0, without=[]), "there is no sentence 0"),
        (in_window(1, without=[0]), "there is no sentence 0"),
        (in_window(1, without=[2, 3]), "there is no sentence 3"),
        (in_window(1, 2, without=[1]), "sentence 1 has a fact, and yet it is listed in without_fact"),
    ],
)
async def test_a_reply_with_a_wrong_number_is_asked_for_again_as_a_whole(reply: Fields, complaint: str) -> None:
    chat, made = parts(reply, in_window(2, without=[1]))
    nothing, facts = await ModelFusedStages(*made).sentence_facts([SHORT, SHORT], CONTEXT)
    assert nothing == []
    assert [fact.text for fact in facts or ()] == ["Ada sang."]
    assert complaint in asked_of(chat)[1]


@pytest.mark.parametrize(
    ("reply", "second"),
    [
        (in_window(1, without=[2]), []),
        (in_window(1, without=[]), None),
        ({"facts": in_window(1, without=[])["facts"]}, None),  # of a server without structured output
    ],
)
async def test_a_sentence_passed_over_is_told_from_one_that_states_nothing(reply: Fields, second: object) -> None:
    _, made = parts(reply)
    found = await ModelFusedStages(*made).sentence_facts([SHORT, SHORT], CONTEXT)
    assert [fact.text for fact in found[0] or ()] == ["Ada sang."]
    assert found[1] == second


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"off_topic": [0]}, "there is no sentence 0"),
        ({"without_fact": [0, 2]}, "there is no sentence 0"),
        ({"without_fact": [3]}, "there is no sentence 3"),
        ({"without_fact": [1, 2]}, "sentence 1 has a fact"),
    ],
)
async def test_a_window_judged_with_a_wrong_number_is_asked_for_again(wrong: Fields, complaint: str) -> None:
    right = {"facts": [SANG], "without_fact": [2], "off_topic": []}
    chat, made = parts({**right, **wrong}, right)
    reading = await ModelGroundedStages(*made).read(WindowTask((SHORT, SHORT), (evidence(1),)), CONTEXT)
    assert ([fact.sentence for fact in reading.facts], sorted(reading.silent)) == ([0], [1])
    assert complaint in asked_of(chat)[1]


async def test_a_claim_for_which_nothing_was_found_rests_on_what_it_cites_of_the_others() -> None:
    cited, from_memory = assessment("supported", [1]), assessment("supported", [])
    chat, made = parts(assessments(cited, from_memory), assessments(cited, cited))
    with_evidence, without = two_cases()
    cases = [with_evidence, replace(without, evidence=())]
    _, second = await ModelFusedStages(*made).assess_together(cases, with_evidence.evidence, CONTEXT)
    assert "claim 2: supported, but by no passage shown" in asked_of(chat)[1]
    assert isinstance(second, Judgement)
    assert second.cited == (with_evidence.evidence[0].id,)


async def test_all_sentences_read_together_are_shown_in_an_excerpt_of_a_long_answer() -> None:
    """Text that shares the first sentence's name would fill the excerpt."""
    tied = " ".join(f"The hall that Ada saw was number {number} of them all." for number in range(30))
    long = f"It was {'very ' * 380}old."
    response = f"{tied} {long} {long} By then Ada sang. They danced. {tied}"
    tasks = [
        SentenceTask(said, response.index(said), response.index(said) + len(said))
        for said in ("By then Ada sang.", "They danced.")
    ]
    chat, made = parts({"facts": [{"sentence": 1, "fact": "Ada sang.", "status": "check", "query": "q"}]})
    await ModelFusedStages(*made).sentence_facts(tasks, context_of(response=response))
    answer = re.search(r"<answer>(.*?)</answer>", asked_of(chat)[0], re.DOTALL)
    assert answer is not None
    assert "By then Ada sang. They danced." in answer[1]
