"""The plan `safe`: its prompts see what SAFE's see, and nothing is cut short."""

from __future__ import annotations

from factloop.agents.safe.published import PUBLISHED_PROMPTS, PublishedPlan, PublishedStages
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Verdict
from factloop.prompts.registry import PromptRegistry
from tests.agents.safe.model_parts import case, evidence, parts
from tests.agents.safe.scripted import PaperScript, context_of, run, supported
from tests.agents.safe.test_paper_plan import Shelf, queries

SENTENCE = "Was she not the best of poets?"


async def test_each_prompt_sees_what_is_safes() -> None:
    long = " ".join(f"Sentence {number} of a long answer stands here." for number in range(400))
    context, task = context_of(prompt="Why?", response=long), SentenceTask("It fell.", 0, 8, above="Heading")
    chat, made = parts(
        {"facts": ["It fell."]}, {"fact": "Rome fell."}, {"query": " "}, {"reasoning": "So.", "rating": "supported"}
    )
    stages = PublishedStages(*made)
    assert (await stages.split(task, context)).facts == ["It fell."]
    assert await stages.revise("It fell.", task, context) == "Rome fell."
    assert await stages.next_query(case(evidence(1)), context) == NextQueries(("Ada Lovelace was born in London.",))
    judged = await stages.rate(case(evidence(1)), context)
    assert (judged.verdict, judged.cited, judged.rationale) == (Verdict.SUPPORTED, ("e1",), "So.")
    split, revised, query, rated = (str(request) for request in chat.asked)
    assert "Heading" not in split
    assert long in revised
    for asked in (query, rated):
        assert "Passage 1." in asked
        assert "Why?" not in asked


def test_each_of_its_prompts_takes_no_more_than_is_shown() -> None:
    prompts = PromptRegistry.load()
    taken = {name: set(prompts[name].variables) for name in PUBLISHED_PROMPTS}
    assert taken == {
        "safe/published/atomic_facts": {"sentence"},
        "safe/published/rating": {"fact", "evidence"},
        "safe/published/search_query": {"fact", "evidence"},
        "safe/published/self_contained_fact": {"response", "fact"},
        "safe/relevance": {"question", "response", "fact"},
    }


async def test_all_is_split_and_judged_in_all_rounds() -> None:
    """Twice five rounds, where the plan `paper` reads nothing: the sentence is a question and both facts are one."""
    facts = [SENTENCE, SENTENCE.upper()]
    script = PaperScript(
        {SENTENCE: facts},
        queries={fact: queries(5) for fact in facts},
        ratings={fact: [supported()] for fact in facts},
    )
    result = await run(PublishedPlan(script), SENTENCE, [Shelf()])
    assert (script.calls["next_query"], script.calls["rate"]) == (10, 2)
    assert [claim.duplicate_of for claim in result.claims] == [None, None]
