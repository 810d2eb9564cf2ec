"""Searches that fail beside others that answer, and searches that no server answers any more."""

from __future__ import annotations

from typing import Any

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import JudgedFact, WindowReading
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import BudgetExceeded, ToolError
from factloop.core.records import GivenFacts, Judgement, UnscoredReason, Verdict
from factloop.tools.search.base import SearchHit
from tests.agents.safe.scripted import (
    Answer,
    FusedScript,
    GroundedScript,
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


def paper_script() -> PaperScript:
    queries: list[NextQueries | Exception] = [NextQueries((f"q{number}",)) for number in range(1, 6)]
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


async def grounded(
    first: Judgement, *looks: list[Judgement] | Exception, tools: list[ScriptedSearch]
) -> tuple[Run, GroundedScript]:
    script = GroundedScript(
        {}, readings={CLAIM: [WindowReading((JudgedFact(0, CLAIM, first),), frozenset())]}, looks={CLAIM: list(looks)}
    )
    return await run(GroundedPlan(script, results=2), CLAIM, tools), script


class Dead(ScriptedSearch):
    """Fails at every question."""

    name: str = "web"
    error: Any = DOWN

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self.answers = {query: self.error}
        return await super().asearch(query, limit)


@pytest.mark.parametrize("tools", [[Dead(), ScriptedSearch()], [ScriptedSearch(), Dead()]], ids=["first", "last"])
@pytest.mark.parametrize("verdict", [supported("p1"), contradicted("p1")])
async def test_a_window_is_judged_by_what_the_other_tools_found(
    verdict: Judgement, tools: list[ScriptedSearch]
) -> None:
    result, script = await grounded(verdict, [contradicted("p1")], tools=tools)
    claim = result.only_claim()
    assert (claim.judgement.verdict, claim.judgement.cited) == (verdict.verdict, ("c1.1-e1",))
    assert all(window.passages for window in script.windows)


async def test_what_the_second_look_finds_stands_although_a_tool_is_dead() -> None:
    result, _ = await grounded(nothing_found(), [supported("p1")], tools=[Dead(), ScriptedSearch()])
    assert result.only_claim().judgement.verdict is Verdict.SUPPORTED


async def test_not_found_in_a_window_beside_a_dead_tool_is_no_verdict() -> None:
    result, script = await grounded(nothing_found(), [nothing_found()], tools=[Dead(), ScriptedSearch()])
    judgement = result.only_claim().judgement
    assert (judgement.unscored_reason, judgement.rationale) == (UnscoredReason.TOOL_FAILURE, str(DOWN))
    assert script.looked_at == [(CLAIM,)]


async def test_a_second_look_that_fails_makes_no_verdict_of_a_dead_tool() -> None:
    result, _ = await grounded(nothing_found(), BudgetExceeded("1 dollar"), tools=[Dead(), ScriptedSearch()])
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.TOOL_FAILURE


async def test_given_facts_that_were_not_found_beside_a_dead_tool_have_no_verdict() -> None:
    script = GroundedScript({}, looks={"A.": [[supported("p1"), nothing_found()], [nothing_found()]]})
    script.looks["B."] = [[nothing_found()]]
    given = [GivenFacts(sentence=CLAIM, facts=("A.", "B."))]
    result = await run(GroundedPlan(script, results=2), CLAIM, [Dead(), ScriptedSearch()], facts=given)
    told = [(claim.judgement.verdict, claim.judgement.unscored_reason) for claim in result.claims]
    assert told == [(Verdict.SUPPORTED, None), (None, UnscoredReason.TOOL_FAILURE)]


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([Dead(), Dead(error=GONE)], UnscoredReason.TOOL_FAILURE),
        ([Dead(error=BudgetExceeded("1 dollar")), ScriptedSearch()], UnscoredReason.BUDGET),
    ],
)
async def test_a_window_that_nobody_may_search_for_is_not_judged(
    tools: list[ScriptedSearch], reason: UnscoredReason
) -> None:
    result, script = await grounded(supported("p1"), tools=tools)
    assert result.only_claim().judgement.unscored_reason is reason
    assert script.windows == []


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
