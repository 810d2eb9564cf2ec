"""The plan `safe`: its prompts see what SAFE's prompts see."""

from __future__ import annotations

import pytest

from factloop.agents.safe.published import VERIFIABLE_PROMPTS, PublishedPlan, PublishedStages
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.checking.estimate import estimate
from factloop.core.errors import ConfigError
from factloop.core.records import Verdict
from factloop.setup.settings import CheckSettings
from factloop.tools.text.sentences import split_sentences
from tests.agents.safe.model_parts import case, evidence, parts
from tests.agents.safe.scripted import PaperScript, ScriptedSearch, context_of, run, supported
from tests.agents.safe.test_paper_plan import queries
from tests.checking.simulated import simulated_checker
from tests.simulator import MODEL, Simulator

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
    assert [long in asked for asked in (split, revised, query, rated)] == [False, True, False, False]
    assert not any("Heading" in asked or "Why?" in asked for asked in (split, revised, query, rated))
    assert ["Passage 1." in asked for asked in (query, rated)] == [True, True]


async def test_verifiable_claims_are_found_in_context_and_searched_for_once(sim: Simulator) -> None:
    """An opinion has no claim. The window holds three sentences before the one being read and one after it."""
    whole = sim.world.twenty_responses[0]
    sentences = [one.text for one in split_sentences(whole.text)][1:7]
    text = " ".join([sentences[0], "What a pity for all of us.", *sentences[1:]])
    async with simulated_checker(sim, plan="safe", verifiable=True) as checker:
        report = await checker.acheck(text, whole.prompt)
    true = {fact.self_contained for fact in whole.facts if fact.label != "not_supported"}
    assert [len(one.claims) for one in report.sentences][1] == 0
    accepted = {one.self_contained for one in report.claims if one.judgement.verdict is Verdict.SUPPORTED}
    assert len(accepted) > 5
    assert accepted <= true
    assert report.usage.calls == len(report.sentences) + len(report.claims)
    assert {len(one.queries) for one in report.claims} == {1}
    (read,) = [text for text in map(str, sim.bodies()) if f"<sentence>{sentences[3]}" in text]
    assert [one in read for one in sentences] == [False, True, True, True, True, False]
    assert set(report.fingerprint.prompts) >= set(VERIFIABLE_PROMPTS)
    settings = [CheckSettings(model=MODEL, plan="safe", verifiable=True, eligibility=more) for more in (False, True)]
    less, more = (estimate(one, text, whole.prompt) for one in settings)
    assert more.calls == less.calls + 1
    assert more.completion_tokens > less.completion_tokens
    assert less.calls == pytest.approx(report.usage.calls, rel=0.3)
    with pytest.raises(ConfigError, match="set `--plan safe`"):
        simulated_checker(sim, plan="fused", verifiable=True).check("Rome is old.")


async def test_all_is_split_and_judged_in_all_rounds() -> None:
    """Five rounds for each of two facts, where the plan `paper` reads nothing: the sentence is a question."""
    facts = [SENTENCE, SENTENCE.upper()]
    script = PaperScript(
        {SENTENCE: facts}, queries={fact: queries(5) for fact in facts}, ratings={fact: [supported()] for fact in facts}
    )
    result = await run(PublishedPlan(script), SENTENCE, [ScriptedSearch()])
    assert (script.calls["next_query"], script.calls["rate"]) == (10, 2)
    assert [claim.duplicate_of for claim in result.claims] == [None, None]
