from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from factloop.agents.safe.faithful import Wording, complaint
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.model_stages import ModelFusedStages, ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import CheckContext, FoundFact, SplitSentence, WindowTask
from factloop.agents.safe.state import SentenceTask
from factloop.core.errors import ToolError
from factloop.core.findings import finding_of_silence
from factloop.core.records import NoClaim, Sentence
from factloop.core.report_warnings import abstention_warnings, whole_warning
from tests.agents.safe.model_parts import CONTEXT, asked_of, evidence, parts
from tests.agents.safe.scripted import FusedScript, GroundedScript, PaperScript, ScriptedSearch, context_of, hit, run

SENTENCE = "The documents do not mention the number of weeks."
PLANS = [FusedPlan(FusedScript({})), PaperPlan(PaperScript({})), GroundedPlan(GroundedScript({}), results=5)]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("told", ["Parental leave lasts 16 weeks.", None])
async def test_an_abstention_is_no_claim_and_judged_by_what_is_found(plan: SafePlan, told: str | None) -> None:
    found = [hit(told)] if told else []
    result = await run(plan, SENTENCE, [ScriptedSearch(rest=found)], prompt="How many weeks is the leave?")
    (sentence,) = result.sentences
    assert (result.claims, sentence.no_claim) == ((), NoClaim.ABSTENTION)
    assert finding_of_silence(sentence.no_claim) is None  # no guard stops an honest answer
    assert sentence.abstention is not None
    assert sentence.abstention.is_right is (told is None)
    assert [item.passage for item in sentence.abstention.evidence] == ([told] if told else [])


async def test_a_report_warns_of_an_answer_that_was_missed() -> None:
    told = [hit("Parental leave lasts 16 weeks.", "leave.md")]
    result = await run(FusedPlan(FusedScript({})), SENTENCE, [ScriptedSearch(rest=told)])
    (said,) = abstention_warnings(result.sentences, SENTENCE)
    assert said.startswith(f"“{SENTENCE}” The sources have an answer:")
    assert said.endswith("(leave.md)")


@pytest.mark.parametrize("tools", [[], [ScriptedSearch(rest=ToolError("down", tool="s"))]])
async def test_where_nothing_could_be_asked_it_is_neither_right_nor_wrong(tools: list[Any]) -> None:
    result = await run(FusedPlan(FusedScript({})), SENTENCE, tools)
    (sentence,) = result.sentences
    assert sentence.no_claim == NoClaim.ABSTENTION
    assert sentence.abstention is None or sentence.abstention.is_right is None
    assert (sentence.abstention is None) == (not tools)


@pytest.mark.parametrize(("cited", "is_right", "kept"), [([2], False, ["e2"]), ([], True, []), ([9], True, [])])
async def test_a_model_names_the_passages_with_the_answer(cited: list[int], is_right: bool, kept: list[str]) -> None:
    chat, made = parts({"missing": "How many weeks?", "passages": cited, "answer": "16 weeks"})
    task = SentenceTask(SENTENCE, 0, len(SENTENCE))
    found = await ModelFusedStages(*made).abstention(task, [evidence(1), evidence(2)], CONTEXT)
    assert (found.is_right, [item.id for item in found.evidence]) == (is_right, kept)
    assert found.why == ("" if is_right else "16 weeks")
    assert SENTENCE in asked_of(chat)[0]


QUESTION = "What is Eddystone?"
BEFORE = "Smeaton's Tower stood from 1759 to 1877. The US built none."


@pytest.mark.parametrize(
    ("sentence", "facts", "part"),
    [
        ("It was first lit in 1795.", ["It was first lit in 1759."], "'1795' is in none"),
        ("It was first lit in 1795.", ["It was first lit in 1795.", "It was lit in 1801."], "says '1801'"),
        ("It was lit in 1795 by Jon Ek.", ["It was lit in 1795 by Nia Ros."], "'Nia' is not in the answer"),
        ("It was lit by Jon Ek.", ["It was lit by Smeaton."], "'Jon' is in none"),
        ("The lamp was not replaced.", ["The lamp was replaced."], "denial 'not'"),
        ("The lamp wasn't replaced.", ["The lamp was replaced."], "denial"),
        ("The lamp was replaced.", ["The lamp was never replaced."], "'never'"),
        ("It may have been replaced.", ["It was replaced."], "hedge 'may'"),
        ("It was reportedly replaced.", ["It was replaced."], "hedge 'reportedly'"),
        ("It was replaced.", ["Nia Ros was born in Ulm."], "'Ros' is not in the answer"),  # an example of a prompt
        ("- Author: Goethe", ["The play has an author."], "'Goethe' is in none"),
        # what fits
        ("It may also often be lit.", ["It may often be lit."], None),
        ("Seek advice: Share your work.", ["One should seek advice on one's work."], None),
        ("It was first lit in 1795.", ["Smeaton's Tower was first lit in 1795."], None),
        ("It cost £9,500 and took twelve men.", ["It cost 9500 pounds.", "It took 12 men."], None),
        ("Two years later it fell.", ["Smeaton's Tower fell in 1761."], None),
        ("It stood from 1893-95.", ["It stood from 1893.", "It stood until 1895."], None),
        ("It was lit on 5 May 1795.", ["It was lit on May 5, 1795."], None),
        ("It was not only tall but lit.", ["It was tall.", "It was lit."], None),
        ("It is not legal.", ["It is illegal."], None),
        ("It may have been replaced.", ["It was possibly replaced."], None),
        ("José Ek lit it.", ["Jose Ek lit it."], None),
        ("The Britons lit it [3].", ["British people lit it."], None),
        ("1. It burnt (Smith, 2010).", ["It burnt."], None),
        ("The US lit it.", ["The United States lit it."], None),
        ("It was replaced.", [], None),
    ],
)
def test_what_facts_add_or_lose(sentence: str, facts: Sequence[str], part: str | None) -> None:
    found = complaint(sentence, facts, Wording(f"{QUESTION}\n{BEFORE} {sentence}"))
    assert (found is None) if part is None else (found is not None and part in found)


RIGHT, WRONG = "Eddystone was first lit in 1795.", "Eddystone was first lit in 1759."
ANSWER = f"{BEFORE} It was first lit in 1795."
TASK = SentenceTask("It was first lit in 1795.", len(BEFORE) + 1, len(ANSWER))


def context() -> CheckContext:
    return context_of(ScriptedSearch(), prompt=QUESTION, response=ANSWER)


def grounded(fact: str) -> dict[str, Any]:
    one = {"sentence": 1, "fact": fact, "verdict": "supported", "passages": [1]}
    return {"facts": [one], "without_fact": [], "off_topic": []}


def fused(fact: str) -> dict[str, Any]:
    return {"facts": [{"sentence": 1, "fact": fact, "status": "check", "query": "Eddystone"}]}


async def test_the_grounded_plan_asks_again_then_leaves_the_sentence_whole() -> None:
    window = WindowTask([TASK], [evidence(1)])
    chat, made = parts(grounded(WRONG), grounded(RIGHT))
    reading = await ModelGroundedStages(*made).read(window, context())
    assert ([fact.text for fact in reading.facts], reading.unfit) == ([RIGHT], frozenset())
    assert "sentence 1: '1795' is in none of its facts" in asked_of(chat)[1]
    chat, made = parts(grounded(WRONG), grounded(WRONG))
    reading = await ModelGroundedStages(*made).read(window, context())
    assert (reading.facts, reading.unfit, len(chat.asked)) == ([], frozenset({0}), 2)


async def test_the_fused_plan_asks_again_then_takes_the_sentence_whole() -> None:
    _, made = parts(fused(WRONG), fused(RIGHT))
    assert await ModelFusedStages(*made).sentence_facts([TASK], context()) == [
        [FoundFact(RIGHT, RIGHT, "check", "Eddystone")]
    ]
    _, made = parts(fused(WRONG), fused(WRONG))
    assert await ModelFusedStages(*made).sentence_facts([TASK], context()) == [
        [FoundFact(TASK.sentence, TASK.sentence, "check", "", is_whole=True)]
    ]


async def test_the_papers_plan_does_so_too() -> None:
    _, made = parts({"facts": [WRONG]}, {"facts": [WRONG]})
    assert await ModelPaperStages(*made).split(TASK, context()) == SplitSentence([TASK.sentence], is_whole=True)


@pytest.mark.parametrize(("told", "kept"), [(RIGHT, RIGHT), (WRONG, TASK.sentence)])
async def test_a_fact_that_its_revision_changes_stays_as_it_was(told: str, kept: str) -> None:
    _, made = parts({"fact": told}, fused(told))
    assert await ModelPaperStages(*made).revise(TASK.sentence, TASK, context()) == kept
    (given,) = await ModelFusedStages(*made).given_facts(TASK, [TASK.sentence], context())
    assert given.self_contained == kept


def test_a_report_warns_of_sentences_that_are_judged_whole() -> None:
    read = [Sentence(span=(0, 9), claims=("c1.1",), is_whole=True), Sentence(span=(9, 12), claims=("c2.1",))]
    (said,) = whole_warning(read)
    assert said.startswith("1 of 2 sentences is judged as a whole")
    assert whole_warning(read[1:]) == ()
