"""Searches that fail beside others that answer, and searches that nobody will answer any more."""

from __future__ import annotations

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import NextQueries
from factloop.errors import BudgetExceeded, ToolError
from factloop.records import UnscoredReason
from tests.agents.safe.scripted import (
    Answer,
    FusedScript,
    PaperScript,
    Run,
    ScriptedSearch,
    contradicted,
    fact,
    nothing_found,
    run,
    supported,
)

CLAIM = "Ada Lovelace was born in London."
DOWN = ToolError("web: status 500", tool="web", status=500)
GONE = ToolError("web: status 429", tool="web", status=429, retry_after_s=86_400.0, retryable=True)


def web(error: Exception, *queries: str) -> ScriptedSearch:
    return ScriptedSearch(name="web", answers=dict.fromkeys(queries or ("first", "second"), error))


async def fused(*assessments: Answer, tools: list[ScriptedSearch]) -> tuple[Run, FusedScript]:
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: list(assessments)})
    return await run(FusedPlan(script), CLAIM, tools), script


def paper_script(n_queries: int = 5) -> PaperScript:
    queries: list[NextQueries | Exception] = [NextQueries((f"q{number}",)) for number in range(1, n_queries + 1)]
    return PaperScript({CLAIM: [CLAIM]}, queries={CLAIM: queries}, ratings={CLAIM: [nothing_found()]})


@pytest.mark.parametrize("error", [DOWN, GONE])
@pytest.mark.parametrize("verdict", [supported("c1.1-e1"), contradicted("c1.1-e1")])
async def test_what_one_tool_cannot_find_another_is_asked(error: ToolError, verdict: Answer) -> None:
    shelf = ScriptedSearch(name="shelf")
    result, _ = await fused(verdict, tools=[web(error), shelf])
    claim = result.only_claim()
    assert claim.judgement == verdict
    assert shelf.asked == ["first"]
    assert claim.queries == ("first",)


async def test_a_dead_tool_does_not_end_the_rounds() -> None:
    shelf = ScriptedSearch(name="shelf")
    result, script = await fused(NextQueries(("second",)), supported("c1.1-e2"), tools=[web(DOWN), shelf])
    assert result.only_claim().judgement == supported("c1.1-e2")
    assert shelf.asked == ["first", "second"]
    assert [case.searches_left > 0 for case in script.cases] == [True, True]


async def test_not_found_by_the_others_is_no_verdict() -> None:
    result, _ = await fused(nothing_found(), tools=[web(DOWN), ScriptedSearch(name="shelf")])
    judgement = result.only_claim().judgement
    assert (judgement.unscored_reason, judgement.rationale) == (UnscoredReason.TOOL_FAILURE, str(DOWN))


async def test_where_all_fail_the_first_is_the_reason() -> None:
    shelf = ScriptedSearch(name="shelf", answers={"first": ToolError("shelf: burnt", tool="shelf")})
    result, script = await fused(tools=[web(DOWN), shelf])
    assert result.only_claim().judgement.rationale == str(DOWN)
    assert shelf.asked == ["first"]
    assert script.cases == []


async def test_what_the_budget_refuses_is_asked_of_nobody_else() -> None:
    shelf = ScriptedSearch(name="shelf")
    result, _ = await fused(tools=[web(BudgetExceeded("1 dollar")), shelf])
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.BUDGET
    assert shelf.asked == []


async def test_once_nobody_is_there_to_be_searched_no_more_queries_are_paid_for() -> None:
    script, search = paper_script(), web(GONE, "q1", "q2", "q3")
    result = await run(PaperPlan(script), CLAIM, [search])
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.TOOL_FAILURE
    assert (script.calls["next_query"], script.calls["rate"], search.asked) == (1, 0, ["q1"])


async def test_while_somebody_is_there_the_rounds_go_on() -> None:
    script, shelf = paper_script(), ScriptedSearch(name="shelf")
    result = await run(PaperPlan(script), CLAIM, [web(GONE, *(f"q{number}" for number in range(9))), shelf])
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.TOOL_FAILURE  # nothing was found
    assert shelf.asked == ["q1", "q2", "q3", "q4", "q5"]
    assert script.calls["rate"] == 1
