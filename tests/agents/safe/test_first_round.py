"""The first round of the fused plan: two claims in one call, each with its own outcome."""

from __future__ import annotations

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.judgements import supported as judged_supported
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import BudgetExceeded, ModelOutputError, ToolError
from factloop.core.records import UnscoredReason, Verdict
from tests.agents.safe.scripted import (
    Answer,
    FusedScript,
    Run,
    ScriptedSearch,
    contradicted,
    fact,
    hit,
    nothing_found,
    run,
    supported,
)

OLD, LARGE, COLD = "Rome is old.", "Rome is large.", "Rome is cold."
SENTENCE = "Rome is old, large and cold."
FAILED = ToolError("search: HTTP 500", tool="scripted", status=500)


def script_of(**answers: list[Answer]) -> FusedScript:
    """A sentence of claims whose first queries are `old`, `large` and `cold`; a claim without answers is left out."""
    claims = {"old": OLD, "large": LARGE, "cold": COLD}
    found = [fact(claim, query=name) for name, claim in claims.items() if name in answers]
    return FusedScript({SENTENCE: found}, {claims[name]: said for name, said in answers.items()})


async def judged(script: FusedScript, *tools: ScriptedSearch, max_searches: int = 5) -> Run:
    return await run(FusedPlan(script), SENTENCE, tools or [ScriptedSearch()], max_searches=max_searches)


async def test_two_claims_are_judged_in_one_call_and_the_last_of_three_alone() -> None:
    script = script_of(old=[supported()], large=[contradicted()], cold=[supported()])
    result = await judged(script)
    assert script.together == [(OLD, LARGE)]
    assert [claim.judgement.contradicted for claim in result.claims] == [None, True, None]
    assert [claim.queries for claim in result.claims] == [("old",), ("large",), ("cold",)]


async def test_a_claim_left_open_goes_on_alone_with_the_queries_that_the_reply_asks_for() -> None:
    script = script_of(old=[supported()], large=[NextQueries(("how large", "its size")), supported("c1.2-e2")])
    search = ScriptedSearch()
    result = await judged(script, search)
    assert script.together == [(OLD, LARGE)]
    assert search.asked == ["old", "large", "how large", "its size"]
    assert [claim.judgement.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 2
    assert result.claims[1].queries == ("large", "how large", "its size")
    assert script.cases[-1].searches_left == 2


async def test_no_more_queries_are_asked_than_allowed() -> None:
    script = script_of(old=[supported()], large=[NextQueries(("a", "b", "c")), nothing_found()])
    search = ScriptedSearch()
    result = await judged(script, search, max_searches=2)
    assert search.asked == ["old", "large", "a"]
    assert result.claims[1].judgement.verdict is Verdict.NOT_SUPPORTED


async def test_a_wish_for_what_was_asked_settles_the_claim() -> None:
    script = script_of(old=[supported()], large=[NextQueries(("Large",))])
    result = await judged(script)
    assert result.claims[1].judgement.rationale == "No evidence was found on: Large"


async def test_a_claim_keeps_what_its_judgement_cites_of_the_others_passages() -> None:
    """The pool is [1] On old., [2] On large.: the second claim's own passage is its [1], the cited one becomes [2]."""
    said = judged_supported("[1] says so, and [2] nothing.", ("c1.1-e1",), "script")
    script = script_of(old=[supported("c1.1-e1")], large=[said])
    first, second = (await judged(script)).claims
    assert [item.passage for item in first.evidence] == ["On old."]
    assert [(item.id, item.passage) for item in second.evidence] == [("c1.2-e1", "On large."), ("c1.2-e2", "On old.")]
    assert second.judgement.cited == ("c1.2-e2",)
    assert second.judgement.rationale == "[2] says so, and [1] nothing."


async def test_what_is_missing_is_said_by_the_numbers_of_the_claims_own_passages() -> None:
    """The pool is [1] On old., [2] On large.: of the second claim's passages, [2] is the first."""
    script = script_of(old=[supported()], large=[NextQueries(("large",), "[2] gives no size, and [1] none.")])
    claim = (await judged(script)).claims[1]
    assert [item.passage for item in claim.evidence] == ["On large."]
    assert claim.judgement.rationale == "[1] gives no size, and another passage none. No search found more."


async def test_a_passage_that_both_found_is_shown_once_and_cited_as_the_claims_own() -> None:
    same = [hit("Rome is old and large.")]
    script = script_of(old=[supported("c1.1-e1")], large=[supported("c1.1-e1")])
    result = await judged(script, ScriptedSearch(answers={"old": same, "large": same}))
    assert [[item.id for item in claim.evidence] for claim in result.claims] == [["c1.1-e1"], ["c1.2-e1"]]
    assert result.claims[1].judgement.cited == ("c1.2-e1",)


async def test_a_reply_that_cannot_be_read_leaves_each_claim_to_a_call_of_its_own() -> None:
    unreadable = ModelOutputError("not JSON", schema="Assessments", reply="{")
    script = script_of(old=[supported()], large=[unreadable])
    search = ScriptedSearch()
    result = await judged(script, search)
    assert search.asked == ["old", "large"], "what was found is not searched for again"
    assert [claim.judgement.unscored_reason for claim in result.claims] == [None, UnscoredReason.PARSE_FAILURE]


@pytest.mark.parametrize(("status", "n_unscored"), [(400, 0), (413, 0), (422, 0), (500, 2)])
async def test_a_request_that_the_server_refuses_leaves_each_claim_to_a_shorter_one(
    status: int, n_unscored: int
) -> None:
    """The passages of two claims may be more than a small context holds; a server in trouble is not asked again."""
    refused = ToolError(f"openai:x: HTTP {status}", tool="openai:x", status=status)
    result = await judged(script_of(old=[refused, supported()], large=[supported()]))
    assert [claim.judgement.verdict for claim in result.claims].count(None) == n_unscored
    judged_at = [event["claim"].id for event in result.events if event["type"] == "claim_judged"]
    assert judged_at == ["c1.1", "c1.2"]


async def test_a_call_that_fails_leaves_both_claims_unscored() -> None:
    result = await judged(script_of(old=[BudgetExceeded("3 calls")], large=[supported()]))
    assert [claim.judgement.unscored_reason for claim in result.claims] == [UnscoredReason.BUDGET] * 2


async def test_a_claim_whose_search_failed_does_not_hold_up_the_other() -> None:
    script = script_of(old=[supported()], large=[])
    result = await judged(script, ScriptedSearch(answers={"large": FAILED}))
    assert script.together == []
    assert [claim.judgement.unscored_reason for claim in result.claims] == [None, UnscoredReason.TOOL_FAILURE]


@pytest.mark.parametrize("n_tools", [1, 2])
async def test_with_several_tools_each_claim_is_judged_alone_so_that_the_model_can_choose(n_tools: int) -> None:
    script = script_of(old=[supported()], large=[supported()])
    tools = [ScriptedSearch(name=f"tool{number}") for number in range(n_tools)]
    result = await judged(script, *tools)
    assert len(script.together) == (1 if n_tools == 1 else 0)
    assert [claim.judgement.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 2


SHORT = ("Rome is old.", "Rome is large.")


async def test_short_sentences_are_read_in_one_call_and_each_fact_stands_under_its_own() -> None:
    script = FusedScript(
        {sentence: [fact(sentence)] for sentence in SHORT}, {sentence: [supported()] for sentence in SHORT}
    )
    response = " ".join(SHORT)
    result = await run(FusedPlan(script), response, [ScriptedSearch()])
    assert script.read_together == [SHORT]
    assert [(claim.id, response[slice(*claim.span)]) for claim in result.claims] == [("c1.1", OLD), ("c2.1", LARGE)]


async def test_a_sentence_passed_over_in_a_reply_on_two_is_read_again_alone() -> None:
    facts = {SHORT[0]: [fact(OLD)], SHORT[1]: [fact(LARGE)]}
    script = FusedScript(facts, {OLD: [supported()], LARGE: [supported()]}, passed_over=SHORT[1:])
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT, SHORT[1:]]
    assert [len(sentence.claims) for sentence in result.sentences] == [1, 1]


async def test_a_sentence_said_to_state_nothing_is_not_read_again() -> None:
    script = FusedScript({SHORT[0]: [fact(OLD)], SHORT[1]: []}, {OLD: [supported()]})
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT]
    assert [len(sentence.claims) for sentence in result.sentences] == [1, 0]
    assert result.sentences[1].no_claim is not None


async def test_sentences_whose_reply_cannot_be_read_are_read_one_by_one() -> None:
    unreadable = ModelOutputError("not JSON", schema="SentenceFacts", reply="{")
    script = FusedScript({SHORT[0]: [fact(OLD)], SHORT[1]: unreadable}, {OLD: [supported()]})
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT, SHORT[:1], SHORT[1:]]
    assert [claim.judgement.unscored_reason for claim in result.claims] == [None, UnscoredReason.PARSE_FAILURE]


async def test_sentences_that_the_server_refuses_together_are_read_one_by_one() -> None:
    refused = ToolError("openai:x: HTTP 400", tool="openai:x", status=400)
    script = FusedScript({SHORT[0]: [fact(OLD)], SHORT[1]: refused}, {OLD: [supported()]})
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT, SHORT[:1], SHORT[1:]]
    assert [claim.judgement.unscored_reason for claim in result.claims] == [None, UnscoredReason.TOOL_FAILURE]
