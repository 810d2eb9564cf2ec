"""The meaning of a chat model's answers about several sentences or claims at once, through the real gateway."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from factloop.agents.safe.model_stages import ModelFusedStages, ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.stages import Case, WindowTask
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.errors import ModelOutputError
from factloop.core.records import Judgement, Verdict
from tests.agents.safe.model_parts import CONTEXT, Fields, asked_of, assessment, evidence, parts
from tests.agents.safe.scripted import context_of

TASK = SentenceTask("She sang.", 0, 9)


def two_cases(left: int = 3) -> list[Case]:
    """Two claims of one sentence, each with a passage of its own."""
    return [
        Case(claim, TASK, (f"q{number}",), (evidence(number),), left)
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
    """The n-th place, from 0, at which the response has the sentence."""
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


async def test_a_sentence_that_the_answer_has_once_stands_by_itself() -> None:
    task = nth(TWICE, "Bea wrote odes.", 0)
    chat, made = parts({"facts": []}, {"fact": "x"})
    await ModelFusedStages(*made).sentence_facts([task], OF_TWICE)
    await ModelPaperStages(*made).revise("Bea wrote odes.", task, OF_TWICE)
    assert "<above>" not in asked_of(chat)[0]
    assert "<sentence>Bea wrote odes.</sentence>" in asked_of(chat)[1]


async def test_what_tells_a_sentence_apart_stands_below_its_headings() -> None:
    task = replace(nth(TWICE, "She was elected in 1838.", 1), above="Honours")
    chat, made = parts({"facts": []})
    await ModelFusedStages(*made).sentence_facts([task], OF_TWICE)
    assert "<above>Honours\nBea wrote odes.</above>" in asked_of(chat)[0]


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
@pytest.mark.parametrize("cited", [[], [3], [0]])
async def test_a_verdict_on_one_of_several_claims_that_names_no_passage_is_asked_for_again(
    verdict: str, cited: list[int]
) -> None:
    right = assessments(assessment("insufficient", []), assessment(verdict, [2]))
    chat, made = parts(assessments(assessment("insufficient", []), assessment(verdict, cited)), right)
    cases = two_cases(left=0)
    _, second = await ModelFusedStages(*made).assess_together(cases, [*cases[0].evidence, *cases[1].evidence], CONTEXT)
    assert isinstance(second, Judgement)
    assert second.cited == ("e2",)
    assert f"claim 2: {verdict}, but by no passage shown: give the numbers (1 to 2)" in asked_of(chat)[1]


SANG = {"sentence": 1, "fact": "Ada sang.", "verdict": "supported", "passages": [1]}


async def test_a_verdict_that_rests_on_a_wrong_sum_is_asked_for_again_with_the_right_one() -> None:
    wrong, right = ({"rationale": f"6 / 2 = {result} songs."} for result in (4, 3))
    chat, made = parts(assessment("supported", [1], **wrong), assessment("contradicted", [1], **right))
    judgement = await ModelFusedStages(*made).assess(two_cases(left=0)[0], CONTEXT)
    assert isinstance(judgement, Judgement)
    assert judgement.contradicted
    assert "6 / 2 is 3, not 4 songs: judge by the right result" in asked_of(chat)[1]


@pytest.mark.parametrize("verdict", ["supported", "contradicted"])
async def test_so_is_one_of_a_second_look_by_the_same_rule(verdict: str) -> None:
    entry = {"claim": 1, "fact": "", "verdict": verdict, "passages": [7], "wrong": "", "reason": ""}
    chat, made = parts({"claims": [entry]}, {"claims": [{**entry, "passages": [1]}]})
    window = WindowTask((TASK,), (evidence(1),))
    (judged,) = await ModelGroundedStages(*made).look_again(["Ada sang."], window, CONTEXT)
    assert judged.judgement.cited == ("e1",)
    assert f"claim 1: {verdict}, but by no passage shown: give the numbers (1 to 1)" in asked_of(chat)[1]


async def test_a_second_look_that_names_no_passage_to_the_last_is_no_verdict() -> None:
    entry = {"claim": 1, "fact": "", "verdict": "supported", "passages": [], "wrong": "", "reason": ""}
    _, made = parts(*[{"claims": [entry]}] * 3)
    with pytest.raises(ModelOutputError, match="by no passage shown"):
        await ModelGroundedStages(*made).look_again(["Ada sang."], WindowTask((TASK,), (evidence(1),)), CONTEXT)


async def test_facts_of_several_sentences_stand_under_their_own() -> None:
    said = [
        {"sentence": 2, "fact": "Ada sang.", "status": "check", "query": "q"},
        {"sentence": 1, "fact": "Ada was born.", "status": "check", "query": "q"},
    ]
    chat, made = parts({"facts": said})
    found = await ModelFusedStages(*made).sentence_facts([TASK, replace(TASK, sentence="She sang.")], CONTEXT)
    assert [[fact.text for fact in facts or ()] for facts in found] == [["Ada was born."], ["Ada sang."]]
    assert '<sentence id="2">She sang.</sentence>' in asked_of(chat)[0]


def in_window(*sentences: int, without: list[int]) -> Fields:
    """A reply with a fact for each of these sentences, and the numbers of those that state none."""
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
    nothing, facts = await ModelFusedStages(*made).sentence_facts([TASK, TASK], CONTEXT)
    assert nothing == []
    assert [fact.text for fact in facts or ()] == ["Ada sang."]
    assert complaint in asked_of(chat)[1]


@pytest.mark.parametrize(("reply", "second"), [(in_window(1, without=[2]), []), (in_window(1, without=[]), None)])
async def test_a_sentence_passed_over_is_told_from_one_that_states_nothing(reply: Fields, second: object) -> None:
    _, made = parts(reply)
    found = await ModelFusedStages(*made).sentence_facts([TASK, TASK], CONTEXT)
    assert [fact.text for fact in found[0] or ()] == ["Ada sang."]
    assert found[1] == second


async def test_a_reply_that_names_no_sentence_without_a_fact_can_be_read() -> None:
    """Servers without structured output may leave the list out."""
    _, made = parts({"facts": in_window(1, without=[])["facts"]})
    first, second = await ModelFusedStages(*made).sentence_facts([TASK, TASK], CONTEXT)
    assert [fact.text for fact in first or ()] == ["Ada sang."]
    assert second is None


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"off_topic": [0]}, "there is no sentence 0"),
        ({"without_fact": [0, 2]}, "there is no sentence 0"),
        ({"without_fact": [3]}, "there is no sentence 3"),
        ({"without_fact": [1, 2]}, "sentence 1 has a fact"),
        ({"facts": [{**SANG, "reason": "[1]: 5 + 5 = 11 songs."}]}, "5 + 5 is 10, not 11 songs"),
    ],
)
async def test_a_window_judged_with_a_wrong_number_or_sum_is_asked_for_again(wrong: Fields, complaint: str) -> None:
    right = {"facts": [SANG], "without_fact": [2], "off_topic": []}
    chat, made = parts({**right, **wrong}, right)
    reading = await ModelGroundedStages(*made).read(WindowTask((TASK, TASK), (evidence(1),)), CONTEXT)
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
    """The excerpt around the first is full of what shares its name, and of the long sentences before it."""
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
