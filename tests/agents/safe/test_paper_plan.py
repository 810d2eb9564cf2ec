from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import CheckContext
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.errors import BudgetExceeded, ConfigError, ModelOutputError, ModelRefusal, ToolError, ToolTimeout
from factloop.core.records import Judgement, UnscoredReason, Verdict
from tests.agents.safe.scripted import PaperScript, ScriptedSearch, contradicted, nothing_found, run, supported

CLAIM = "Ada Lovelace was born in London."
REPLY = ModelOutputError("not JSON", schema="Any", reply="{")
FAILED = ToolError("search: HTTP 500", tool="scripted", status=500)


def queries(count: int) -> list[NextQueries | Exception]:
    return [NextQueries((f"q{number}",)) for number in range(1, count + 1)]


def script_of(rating: Judgement | Exception, n_queries: int = 5) -> PaperScript:
    return PaperScript({CLAIM: [CLAIM]}, queries={CLAIM: queries(n_queries)}, ratings={CLAIM: [rating]})


async def test_a_claim_goes_through_all_five_stages_without_an_early_stop() -> None:
    script, search = script_of(supported("c1.1-e5")), ScriptedSearch()
    result = await run(PaperPlan(script), CLAIM, [search])
    claim = result.only_claim()
    assert script.calls == {"split": 1, "revise": 1, "relevance": 1, "next_query": 5, "rate": 1}
    assert claim.queries == tuple(search.asked) == ("q1", "q2", "q3", "q4", "q5")
    assert claim.judgement == supported("c1.1-e5")
    assert claim.relevant is True
    (rated,) = script.rated
    assert rated.may_search is False
    assert [item.query for item in rated.evidence] == ["q1", "q2", "q3", "q4", "q5"]


@pytest.mark.parametrize("max_searches", [1, 2])
async def test_the_rounds_end_at_the_users_number_or_where_the_model_has_no_further_query(max_searches: int) -> None:
    script, search = script_of(nothing_found(), max_searches), ScriptedSearch()
    await run(PaperPlan(script), CLAIM, [search], max_searches=max_searches)
    assert len(search.asked) == max_searches
    script, search = script_of(supported(), 1), ScriptedSearch()
    script.queries[CLAIM].append(NextQueries(()))
    result = await run(PaperPlan(script), CLAIM, [search])
    assert (search.asked, result.only_claim().judgement.verdict) == (["q1"], Verdict.SUPPORTED)


async def test_a_query_repeated_word_for_word_is_paid_for_once() -> None:
    script = PaperScript(
        {CLAIM: [CLAIM]}, queries={CLAIM: [NextQueries(("q",))] * 5}, ratings={CLAIM: [nothing_found()]}
    )
    search = ScriptedSearch()
    result = await run(PaperPlan(script), CLAIM, [search])
    assert search.asked == ["q"]
    assert result.only_claim().queries == ("q",) * 5
    assert len(result.only_claim().evidence) == 1


@pytest.mark.parametrize("relevant", [True, False])
async def test_a_repeat_is_as_relevant_as_the_claim_it_repeats(relevant: bool) -> None:
    script = PaperScript(
        {CLAIM: [CLAIM, CLAIM.upper()]},
        relevances={CLAIM: relevant},
        queries={CLAIM: queries(1)},
        ratings={CLAIM: [supported()]},
    )
    result = await run(PaperPlan(script), CLAIM, [ScriptedSearch()], max_searches=1)
    first, repeat = result.claims
    assert repeat.duplicate_of == first.id
    assert repeat.relevant == first.relevant == relevant
    assert repeat.judgement == first.judgement
    assert script.calls["relevance"] == 1


async def test_revised_facts_are_checked_and_one_whose_revision_fails_is_there_unscored() -> None:
    script = PaperScript(
        {CLAIM: ["broken", "She was born in London."]},
        revisions={"broken": REPLY, "She was born in London.": CLAIM},
        queries={CLAIM: queries(1)},
        ratings={CLAIM: [supported()]},
    )
    result = await run(PaperPlan(script), CLAIM, [ScriptedSearch()], max_searches=1)
    broken, fine = result.claims
    assert broken.text == broken.self_contained == "broken"
    assert broken.judgement.unscored_reason is UnscoredReason.PARSE_FAILURE
    assert (fine.text, fine.self_contained) == ("She was born in London.", CLAIM)
    assert fine.judgement.verdict is Verdict.SUPPORTED


async def test_revisions_under_way_end_with_the_check() -> None:

    @dataclass
    class Slow(PaperScript):
        ended: list[str] = field(default_factory=list)

        async def revise(self, fact: str, _task: SentenceTask, _context: CheckContext) -> str:
            if fact == "broken":
                raise ConfigError("the key was refused")
            try:
                await asyncio.sleep(60)
            finally:
                self.ended.append(fact)
            raise AssertionError("it goes on after the check")

    script = Slow({CLAIM: ["A.", "broken", "B."]})
    with pytest.raises(ConfigError):
        await run(PaperPlan(script), CLAIM, [ScriptedSearch()])
    assert sorted(script.ended) == ["A.", "B."]


@pytest.mark.parametrize(
    ("relevance", "relevant", "reason"),
    [(False, False, None), (ModelRefusal("no", schema="Relevance", reply=""), None, UnscoredReason.REFUSAL)],
)
async def test_only_a_relevant_fact_is_searched_for(
    relevance: bool | Exception, relevant: bool | None, reason: UnscoredReason | None
) -> None:
    script, search = PaperScript({CLAIM: [CLAIM]}, relevances={CLAIM: relevance}), ScriptedSearch()
    claim = (await run(PaperPlan(script), CLAIM, [search])).only_claim()
    assert (claim.relevant, claim.judgement.unscored_reason) == (relevant, reason)
    assert claim.judgement.verdict is (None if reason else Verdict.IRRELEVANT)
    assert search.asked == []


async def test_a_failed_query_stage_ends_the_claim_with_what_it_had() -> None:
    script = PaperScript({CLAIM: [CLAIM]}, queries={CLAIM: [NextQueries(("q1",)), BudgetExceeded("7 calls")]})
    result = await run(PaperPlan(script), CLAIM, [ScriptedSearch()])
    claim = result.only_claim()
    assert claim.judgement.unscored_reason is UnscoredReason.BUDGET
    assert len(claim.evidence) == 1
    assert script.calls["rate"] == 0


async def test_a_failed_rating_is_no_verdict() -> None:
    result = await run(PaperPlan(script_of(REPLY)), CLAIM, [ScriptedSearch()])
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.PARSE_FAILURE


@pytest.mark.parametrize(
    ("error", "reason"),
    [(FAILED, UnscoredReason.TOOL_FAILURE), (ToolTimeout(tool="s", timeout_s=1), UnscoredReason.TIMEOUT)],
)
async def test_searches_that_all_fail_are_the_reason_and_nobody_rates(error: ToolError, reason: UnscoredReason) -> None:
    script = script_of(nothing_found(), 2)
    search = ScriptedSearch(answers={"q1": error, "q2": error})
    result = await run(PaperPlan(script), CLAIM, [search], max_searches=2)
    assert result.only_claim().judgement.unscored_reason is reason
    assert script.calls["rate"] == 0


@pytest.mark.parametrize(
    ("rating", "failed", "reason"),
    [(contradicted("c1.1-e1"), "q1", None), (nothing_found(), "q2", UnscoredReason.TOOL_FAILURE)],
)
async def test_a_failed_search_does_not_stop_the_next_and_not_found_is_no_verdict_beside_it(
    rating: Judgement, failed: str, reason: UnscoredReason | None
) -> None:
    script, search = script_of(rating, 2), ScriptedSearch(answers={failed: FAILED})
    judgement = (await run(PaperPlan(script), CLAIM, [search], max_searches=2)).only_claim().judgement
    assert search.asked == ["q1", "q2"]
    assert judgement.unscored_reason is reason
    assert reason is not None or judgement == rating
