from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from factloop.agents.safe.fused import GIVEN_AT_ONCE, FusedPlan
from factloop.agents.safe.graph import build_safe_graph
from factloop.agents.safe.offline import OfflineFusedStages, VerifierRater
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.sentences import find_sentences
from factloop.agents.safe.stages import CheckContext, FoundFact
from factloop.agents.safe.state import NextQueries, SafeInput, SentenceTask
from factloop.core.errors import ModelOutputError, ModelRefusal
from factloop.core.records import GivenFacts, UnscoredReason, Verdict
from factloop.tools.judges.baseline import Baseline
from factloop.tools.text.pipeline import load_pipeline
from tests.agents.safe.scripted import (
    FusedScript,
    PaperScript,
    ScriptedSearch,
    context_of,
    fact,
    nothing_found,
    run,
    supported,
)

RESPONSE = "Ada was a poet[1][2]. She lived in Ulm.[3] Bye."
PROMPT = "Who was Ada?"
FIRST, SECOND = "Ada was a poet.", "She lived in Ulm."


def facts_of(sentence: str, *facts: str) -> GivenFacts:
    return GivenFacts(sentence=sentence, facts=facts)


@pytest.mark.parametrize(
    ("response", "sentences", "found"),
    [
        (RESPONSE, [FIRST, SECOND], ["Ada was a poet[1][2].", "She lived in Ulm.[3]"]),
        (RESPONSE, ["Ada was a poet[1][2].", "She lived  in\nUlm."], ["Ada was a poet[1][2].", "She lived in Ulm.[3]"]),
        ("He ran. He ran. She sat.", ["He ran.", "He ran."], ["He ran.", "He ran."]),
        ("He ran. She sat.", ["She sat.", "He ran."], ["She sat.", ""]),
        ("He ran. She sat.", ["It is.", "She sat."], ["", "She sat."]),
        ("He ran. She sat.", ["", " ", "[1]", "He ran."], ["", "", "", "He ran."]),
        ("He ran.[1", ["He ran."], ["He ran."]),
        ("", ["He ran."], [""]),
    ],
)
def test_sentences_are_found_whatever_citations_they_lost(
    response: str, sentences: Sequence[str], found: Sequence[str]
) -> None:
    spans = find_sentences(response, sentences)
    assert [response[start:end] for start, end in spans] == found


def test_the_same_sentence_again_is_the_next_one() -> None:
    assert find_sentences("He ran. He ran.", ["He ran.", "He ran.", "He ran."]) == [(0, 7), (8, 15), (15, 15)]


@given(st.text(alphabet="ab. [1]\n", max_size=40), st.lists(st.text(alphabet="ab. [1]", max_size=6), max_size=5))
def test_spans_lie_in_the_response_and_in_order(response: str, sentences: list[str]) -> None:
    spans = find_sentences(response, sentences)
    assert len(spans) == len(sentences)
    ends = [0, *(place for span in spans for place in span), len(response)]
    assert ends == sorted(ends)


async def test_each_given_fact_is_a_claim_in_its_place() -> None:
    script = FusedScript(
        {
            "Ada was a poet[1][2].": [FoundFact("x", "Ada Poe was a poet.", "check", "Ada")],
            "She lived in Ulm.[3]": [fact("Ada lived in Ulm."), fact("Ulm is nice.", "irrelevant")],
        },
        {"Ada Poe was a poet.": [supported("c1.1-e1")], "Ada lived in Ulm.": [nothing_found()]},
    )
    given = [facts_of(FIRST, "Ada was one."), facts_of("No facts here."), facts_of(SECOND, "She lived.", "It is nice.")]
    result = await run(FusedPlan(script), RESPONSE, [ScriptedSearch()], prompt=PROMPT, facts=given)
    assert [claim.id for claim in result.claims] == ["c1.1", "c3.1", "c3.2"]
    assert [claim.text for claim in result.claims] == ["Ada was one.", "She lived.", "It is nice."]
    assert [claim.self_contained for claim in result.claims] == [
        "Ada Poe was a poet.", "Ada lived in Ulm.", "Ulm is nice.",
    ]  # fmt: skip
    assert [RESPONSE[slice(*claim.span)] == claim.sentence for claim in result.claims] == [True] * 3
    assert [claim.judgement.verdict for claim in result.claims] == [
        Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT,
    ]  # fmt: skip
    assert script.given == [("Ada was one.",), ("She lived.", "It is nice.")]


async def test_a_sentence_that_the_response_does_not_hold_has_an_empty_span() -> None:
    script = FusedScript({"Eve sang.": [fact("Eve sang.")]}, {"Eve sang.": [supported()]})
    result = await run(
        FusedPlan(script), RESPONSE, [ScriptedSearch()], facts=[facts_of(FIRST), facts_of("Eve sang.", "Eve sang.")]
    )
    claim = result.only_claim()
    assert (claim.sentence, claim.span) == ("Eve sang.", (21, 21))


async def test_a_fact_that_says_the_same_again_is_judged_once_and_stands_twice() -> None:
    script = FusedScript(
        {
            "Ada was a poet[1][2].": [fact("Ada was."), fact("Ada is.", "irrelevant")],
            "She lived in Ulm.[3]": [fact("Ada was."), fact("Ada is.", "irrelevant")],
        },
        {"Ada was.": [supported("c1.1-e1")]},
    )
    given = [facts_of(sentence, "She was.", "She is.") for sentence in (FIRST, SECOND)]
    result = await run(FusedPlan(script), RESPONSE, [ScriptedSearch()], prompt=PROMPT, facts=given)
    assert [claim.duplicate_of for claim in result.claims] == [None, None, "c1.1", None]
    verdicts = [claim.judgement.verdict for claim in result.claims]
    assert verdicts == [Verdict.SUPPORTED, Verdict.IRRELEVANT] * 2
    judged = [event["claim"].id for event in result.events if event["type"] == "claim_judged"]
    assert sorted(judged) == ["c1.1", "c1.2", "c2.1", "c2.2"]


async def test_equal_words_about_two_people_are_judged_apart() -> None:
    script = FusedScript(
        {FIRST: [fact("Ada was."), fact("Eve was.")]},
        {"Ada was.": [supported("c1.1-e1")], "Eve was.": [nothing_found()]},
    )
    given = [facts_of(FIRST, "She was.", "She was.")]
    result = await run(FusedPlan(script), FIRST, [ScriptedSearch()], facts=given)
    assert [claim.duplicate_of for claim in result.claims] == [None, None]
    assert [claim.judgement.verdict for claim in result.claims] == [Verdict.SUPPORTED, Verdict.NOT_SUPPORTED]


async def test_a_fact_that_could_not_be_read_leaves_its_words_elsewhere_to_be_judged() -> None:
    script = FusedScript(
        {
            "Ada was a poet[1][2].": ModelRefusal("no", schema="SentenceFacts", reply=""),
            "She lived in Ulm.[3]": [fact("Eve was.")],
        },
        {"Eve was.": [supported("c2.1-e1")]},
    )
    given = [facts_of(sentence, "She was.") for sentence in (FIRST, SECOND)]
    result = await run(FusedPlan(script), RESPONSE, [ScriptedSearch()], facts=given)
    assert [claim.duplicate_of for claim in result.claims] == [None, None]
    assert [claim.judgement.verdict for claim in result.claims] == [None, Verdict.SUPPORTED]


async def test_facts_that_cannot_be_read_are_all_there_without_a_verdict() -> None:
    script = FusedScript({FIRST: ModelRefusal("no", schema="SentenceFacts", reply="")})
    result = await run(FusedPlan(script), FIRST, [ScriptedSearch()], facts=[facts_of(FIRST, "Ada was.", "Ada wrote.")])
    assert [claim.text for claim in result.claims] == ["Ada was.", "Ada wrote."]
    assert [claim.judgement.unscored_reason for claim in result.claims] == [UnscoredReason.REFUSAL] * 2


class Echo(FusedScript):
    async def given_facts(
        self,
        task: SentenceTask,  # noqa: ARG002 - as stages have it
        facts: Sequence[str],
        context: CheckContext,  # noqa: ARG002 - as stages have it
    ) -> Sequence[FoundFact]:
        self.given.append(tuple(facts))
        if "fact 0." not in facts:
            raise ModelOutputError("cut off", schema="SentenceFacts", reply="")
        return [FoundFact(one, one, "irrelevant", "") for one in facts]


async def test_many_facts_are_read_in_parts_and_a_part_that_fails_takes_no_other_along() -> None:
    n = GIVEN_AT_ONCE + 3
    script = Echo({})
    facts = [f"fact {number}." for number in range(n)]
    result = await run(FusedPlan(script), FIRST, [ScriptedSearch()], prompt=PROMPT, facts=[facts_of(FIRST, *facts)])
    assert [claim.text for claim in result.claims] == facts
    assert [len(part) for part in script.given] == [GIVEN_AT_ONCE, 3]
    verdicts = [claim.judgement.verdict for claim in result.claims]
    assert verdicts == [Verdict.IRRELEVANT] * GIVEN_AT_ONCE + [None] * 3


async def test_the_paper_plan_revises_given_facts_and_never_splits() -> None:
    script = PaperScript(
        {},
        revisions={"She was.": "Ada was.", "She is.": ModelOutputError("x", schema="SelfContainedFact", reply="")},
        relevances={"Ada sang.": False},
        queries={"Ada was.": [NextQueries(("q",))]},
        ratings={"Ada was.": [supported()]},
    )
    result = await run(
        PaperPlan(script),
        FIRST,
        [ScriptedSearch()],
        facts=[facts_of(FIRST, "She was.", "Ada sang.", "She is.")],
        max_searches=1,
    )
    assert [claim.judgement.verdict for claim in result.claims] == [Verdict.SUPPORTED, Verdict.IRRELEVANT, None]
    assert [claim.self_contained for claim in result.claims] == ["Ada was.", "Ada sang.", "She is."]
    assert (script.calls["split"], script.calls["revise"]) == (0, 3)


async def test_pronouns_of_given_facts_are_resolved_without_a_model() -> None:
    nlp = load_pipeline()
    stages = OfflineFusedStages(VerifierRater(Baseline(), nlp), nlp)
    response = "Marie Curie was a physicist. She was born in Warsaw."
    task = SentenceTask("She was born in Warsaw.", 29, 52)
    (found,) = await stages.given_facts(
        task, ["She was born in Warsaw."], context_of(prompt="Who was Marie Curie?", response=response)
    )
    assert found.self_contained == "Marie Curie was born in Warsaw."
    assert found.status == "check"


@pytest.mark.parametrize(
    ("before", "after", "n_claims"),
    [({"facts": []}, {"facts": None}, [0, 2]), ({"spans": [(0, len(FIRST))]}, {"spans": None}, [1, 2])],
)
async def test_a_thread_that_runs_again_without_facts_or_spans_reads_it_all(
    before: SafeInput, after: SafeInput, n_claims: list[int]
) -> None:
    script = FusedScript({FIRST: [fact("Ada was.", "irrelevant")], SECOND: [fact("She wrote.", "irrelevant")]})
    context = context_of(ScriptedSearch(), prompt=PROMPT, response=f"{FIRST} {SECOND}")
    graph = build_safe_graph(FusedPlan(script), max_searches=1)
    graph.checkpointer = InMemorySaver()
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    runs = [await graph.ainvoke(given, thread, context=context) for given in (before, after)]
    assert [len(one["claims"]) for one in runs] == n_claims


async def test_checkpoints_hold_the_response_nowhere_since_each_claim_would_hold_it_again() -> None:
    script = FusedScript(
        {FIRST: [fact("Ada was.")], SECOND: [fact("She wrote.")]},
        {"Ada was.": [supported()], "She wrote.": [supported()]},
    )
    response = f"{FIRST} {SECOND}"
    context = context_of(ScriptedSearch(), prompt=PROMPT, response=response)
    graph = build_safe_graph(FusedPlan(script), max_searches=1)
    graph.checkpointer = saver = InMemorySaver()
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    done = await graph.ainvoke({"facts": None}, thread, context=context)
    assert len(done["claims"]) == 2
    kept = b"".join(repr(one).encode() for one in (saver.storage, saver.writes, saver.blobs))
    assert FIRST.encode() in kept
    assert response.encode() not in kept
