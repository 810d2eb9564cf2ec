"""The fused plan with scripted stages: which way each claim goes, and what stands at its end."""

from __future__ import annotations

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.judgements import ambiguous
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    FactloopError,
    ModelOutputError,
    ModelRefusal,
    ToolError,
    ToolTimeout,
)
from factloop.core.records import GivenFacts, Judgement, NoClaim, UnscoredReason, Verdict
from factloop.tools.search.base import SearchHit
from tests.agents.safe.scripted import (
    JUDGE,
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

CLAIM = "Ada Lovelace was born in London."
FAILED = ToolError("search: HTTP 500", tool="scripted", status=500)


async def run_one(
    *assessments: Answer, max_searches: int = 5, **answers: list[SearchHit] | Exception
) -> tuple[Run, FusedScript, ScriptedSearch]:
    """One sentence with one claim, whose first query is `first`."""
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: list(assessments)})
    search = ScriptedSearch(answers=answers)
    return await run(FusedPlan(script), CLAIM, [search], max_searches=max_searches), script, search


async def test_a_claim_settled_by_its_first_search_costs_one_search_and_one_assessment() -> None:
    result, script, search = await run_one(supported("c1.1-e1"))
    claim = result.only_claim()
    assert claim.judgement == supported("c1.1-e1")
    assert claim.relevant is True
    assert claim.queries == ("first",)
    assert [item.id for item in claim.evidence] == ["c1.1-e1"]
    assert search.asked == ["first"]
    assert len(script.cases) == 1


async def test_an_unfinished_assessment_names_what_is_missing_and_asks_for_it() -> None:
    result, script, search = await run_one(
        NextQueries(("second",), missing="the town"),
        contradicted("c1.1-e3"),
        first=[hit("a"), hit("b")],
        second=[hit("c")],
    )
    claim = result.only_claim()
    assert claim.judgement.contradicted is True
    assert claim.queries == tuple(search.asked) == ("first", "second")
    assert claim.missing == ("the town",)
    assert [(item.id, item.query, item.rank) for item in claim.evidence] == [
        ("c1.1-e1", "first", 1),
        ("c1.1-e2", "first", 2),
        ("c1.1-e3", "second", 1),
    ]
    assert [case.may_search for case in script.cases] == [True, True]


async def test_a_passage_found_twice_is_evidence_once() -> None:
    result, *_ = await run_one(NextQueries(("second",)), nothing_found(), first=[hit("a")], second=[hit("a"), hit("b")])
    assert [item.passage for item in result.only_claim().evidence] == ["a", "b"]


async def test_the_last_round_may_not_search_and_its_word_stands() -> None:
    result, script, search = await run_one(
        NextQueries(("second",), missing="m1"), NextQueries(("third",), missing="m2"), nothing_found(), max_searches=3
    )
    claim = result.only_claim()
    assert claim.judgement.verdict is Verdict.NOT_SUPPORTED
    assert claim.judgement.contradicted is False
    assert claim.missing == ("m1", "m2")
    assert search.asked == ["first", "second", "third"]
    assert [case.may_search for case in script.cases] == [True, True, False]


async def test_a_judge_that_wants_to_search_beyond_the_limit_has_found_nothing() -> None:
    result, _, search = await run_one(NextQueries(("second",), missing="the town"), max_searches=1)
    judgement = result.only_claim().judgement
    assert judgement.verdict is Verdict.NOT_SUPPORTED
    assert judgement.contradicted is False
    assert "the town" in judgement.rationale
    assert judgement.judged_by == JUDGE
    assert search.asked == ["first"]


async def test_a_query_asked_before_ends_the_loop() -> None:
    result, _, search = await run_one(NextQueries(("  FIRST? ",), missing="the town"))
    judgement = result.only_claim().judgement
    assert judgement.verdict is Verdict.NOT_SUPPORTED
    assert judgement.contradicted is False
    assert "the town" in judgement.rationale
    assert search.asked == ["first"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(FAILED, UnscoredReason.TOOL_FAILURE), (ToolTimeout(tool="s", timeout_s=1), UnscoredReason.TIMEOUT)],
)
async def test_a_failed_search_without_evidence_is_the_reason_and_nobody_judges(
    error: ToolError, reason: UnscoredReason
) -> None:
    result, script, _ = await run_one(first=error)
    claim = result.only_claim()
    assert claim.judgement == Judgement(unscored_reason=reason, rationale=str(error))
    assert claim.queries == ("first",)
    assert script.cases == []


@pytest.mark.parametrize("judgement", [contradicted("c1.1-e1"), supported("c1.1-e1")])
async def test_a_verdict_on_evidence_stands_although_a_later_search_failed(judgement: Judgement) -> None:
    result, script, _ = await run_one(NextQueries(("second",)), judgement, second=FAILED)
    assert result.only_claim().judgement == judgement
    assert [case.may_search for case in script.cases] == [True, False]


@pytest.mark.parametrize("last", [nothing_found(), NextQueries(("third",))])
async def test_not_found_is_no_verdict_where_a_search_failed(last: Answer) -> None:
    result, *_ = await run_one(NextQueries(("second",)), last, second=FAILED)
    claim = result.only_claim()
    assert claim.judgement.unscored_reason is UnscoredReason.TOOL_FAILURE
    assert len(claim.evidence) == 1


async def test_what_the_evidence_leaves_ambiguous_is_unscored() -> None:
    result, *_ = await run_one(ambiguous("Two people bear the name.", JUDGE))
    assert result.only_claim().judgement.unscored_reason is UnscoredReason.AMBIGUOUS


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelRefusal("I would rather not", schema="Assessment", reply=""), UnscoredReason.REFUSAL),
        (ModelOutputError("not JSON", schema="Assessment", reply="{"), UnscoredReason.PARSE_FAILURE),
        (BudgetExceeded("3 calls"), UnscoredReason.BUDGET),
        (ToolTimeout(tool="model", timeout_s=1), UnscoredReason.TIMEOUT),
        (FAILED, UnscoredReason.TOOL_FAILURE),
    ],
)
async def test_a_failed_assessment_leaves_the_claim_unscored_with_its_evidence(
    error: FactloopError, reason: UnscoredReason
) -> None:
    result, *_ = await run_one(error)
    claim = result.only_claim()
    assert claim.judgement.unscored_reason is reason
    assert str(error) in claim.judgement.rationale
    assert len(claim.evidence) == 1


async def test_a_fact_without_a_query_is_searched_for_by_its_own_words() -> None:
    script = FusedScript({CLAIM: [fact(CLAIM)]}, {CLAIM: [supported()]})
    search = ScriptedSearch()
    await run(FusedPlan(script), CLAIM, [search])
    assert search.asked == [CLAIM]


async def test_what_needs_no_search_is_settled_without_one() -> None:
    facts = [fact("It rained in Rome.", "irrelevant"), fact("He was tall.", "ambiguous")]
    search = ScriptedSearch()
    result = await run(FusedPlan(FusedScript({CLAIM: facts})), CLAIM, [search], prompt="Who was Ada?")
    irrelevant, unclear = result.claims
    assert irrelevant.judgement.verdict is Verdict.IRRELEVANT
    assert irrelevant.relevant is False
    assert unclear.judgement.unscored_reason is UnscoredReason.AMBIGUOUS
    assert unclear.relevant is None
    assert search.asked == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelOutputError("not JSON", schema="SentenceFacts", reply="{"), UnscoredReason.PARSE_FAILURE),
        (ModelRefusal("no", schema="SentenceFacts", reply=""), UnscoredReason.REFUSAL),
        (BudgetExceeded("3 calls"), UnscoredReason.BUDGET),
    ],
)
async def test_a_sentence_that_cannot_be_split_stands_as_one_unscored_claim(
    error: FactloopError, reason: UnscoredReason
) -> None:
    response = f"Rome is old and large.\n\n## Another window\n\n{CLAIM}"
    script = FusedScript({"Rome is old and large.": error, CLAIM: [fact(CLAIM)]}, {CLAIM: [supported()]})
    result = await run(FusedPlan(script), response, [ScriptedSearch()])
    whole, other = result.claims
    assert whole.text == whole.sentence == "Rome is old and large."
    assert response[slice(*whole.span)] == whole.sentence
    assert whole.judgement.unscored_reason is reason
    assert other.judgement.verdict is Verdict.SUPPORTED


async def test_a_wrong_set_up_stops_the_run() -> None:
    with pytest.raises(ConfigError, match="no such key"):
        await run_one(ConfigError("no such key"))
    with pytest.raises(ConfigError, match="no such key"):
        await run_one(first=ConfigError("no such key"))


async def test_several_queries_are_asked_at_once_and_numbered_in_their_order() -> None:
    result, script, search = await run_one(
        NextQueries(("second", "third"), missing="the town"),
        contradicted("c1.1-e3"),
        first=[hit("a")],
        second=[hit("b")],
        third=[hit("b"), hit("c")],
    )
    claim = result.only_claim()
    assert claim.queries == ("first", "second", "third")
    assert [(item.id, item.passage, item.query) for item in claim.evidence] == [
        ("c1.1-e1", "a", "first"), ("c1.1-e2", "b", "second"), ("c1.1-e3", "c", "third"),
    ]  # fmt: skip
    assert sorted(search.asked) == ["first", "second", "third"]
    assert [case.searches_left for case in script.cases] == [4, 2]


async def test_the_slowest_claim_takes_three_rounds_and_no_more_queries_than_allowed() -> None:
    result, script, search = await run_one(
        NextQueries(("b", "c", "d")), NextQueries(("e", "f")), nothing_found(), max_searches=5
    )
    assert search.asked == ["first", "b", "c", "e", "f"]
    assert [case.searches_left for case in script.cases] == [4, 2, 0]
    assert result.only_claim().judgement.contradicted is False


async def test_a_query_that_one_search_answered_may_be_put_to_another() -> None:
    wish = NextQueries(("first",), tool="other")
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: [wish, supported("c1.1-e1")]})
    first, other = ScriptedSearch(answers={"first": []}), ScriptedSearch(name="other")
    result = await run(FusedPlan(script), CLAIM, [first, other])
    assert (first.asked, other.asked) == (["first"], ["first"])
    assert result.only_claim().judgement.verdict is Verdict.SUPPORTED
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: [wish, wish]})
    result = await run(FusedPlan(script), CLAIM, [ScriptedSearch(answers={"first": []}), ScriptedSearch(name="other")])
    assert result.only_claim().judgement.contradicted is False  # twice to the same is once too often


async def test_of_queries_only_those_that_are_new_are_asked_and_no_more_than_are_left() -> None:
    _, _, search = await run_one(NextQueries(("FIRST", "b", "b", "c")), nothing_found(), max_searches=2)
    assert search.asked == ["first", "b"]


async def test_a_round_that_brings_nothing_new_is_the_last_without_another_call() -> None:
    result, script, search = await run_one(
        NextQueries(("second", "third"), missing="the town"), first=[hit("a")], second=[hit("a")], third=[]
    )
    judgement = result.only_claim().judgement
    assert (judgement.verdict, judgement.contradicted) == (Verdict.NOT_SUPPORTED, False)
    assert "the town" in judgement.rationale
    assert len(script.cases) == 1
    assert len(search.asked) == 3


async def test_a_first_search_without_hits_is_put_otherwise() -> None:
    """The judge is told that it brought nothing."""
    result, script, _ = await run_one(NextQueries(("second",)), supported("c1.1-e1"), first=[])
    assert result.only_claim().judgement.verdict is Verdict.SUPPORTED
    assert [case.fruitless for case in script.cases] == [("first",), ("first",)]


async def test_what_one_of_two_queries_brought_is_judged_although_the_other_failed() -> None:
    result, script, _ = await run_one(
        NextQueries(("second", "third")), supported("c1.1-e1"), first=[], second=FAILED, third=[hit("c")]
    )
    assert result.only_claim().judgement.verdict is Verdict.SUPPORTED
    assert [case.may_search for case in script.cases] == [True, False]


@pytest.mark.parametrize("gates", [True, False])
async def test_without_a_gate_what_is_irrelevant_is_judged_and_labelled(gates: bool) -> None:
    script = FusedScript({CLAIM: [fact(CLAIM, "irrelevant")]}, {CLAIM: [contradicted("c1.1-e1")]})
    result = await run(FusedPlan(script), CLAIM, [ScriptedSearch()], prompt="Who was Ada?", gates=gates)
    claim = result.only_claim()
    assert claim.relevant is False
    assert claim.judgement.verdict is (Verdict.IRRELEVANT if gates else Verdict.NOT_SUPPORTED)


@pytest.mark.parametrize("prompt", [None, ""])
@pytest.mark.parametrize("facts", [None, [GivenFacts(sentence=CLAIM, facts=(CLAIM,))]], ids=["found", "given"])
async def test_without_a_question_nothing_is_irrelevant(prompt: str | None, facts: list[GivenFacts] | None) -> None:
    script = FusedScript({CLAIM: [fact(CLAIM, "irrelevant")]}, {CLAIM: [supported("c1.1-e1")]})
    claim = (await run(FusedPlan(script), CLAIM, [ScriptedSearch()], prompt=prompt, facts=facts)).only_claim()
    assert (claim.judgement.verdict, claim.relevant) == (Verdict.SUPPORTED, True)


async def test_every_sentence_is_told_with_its_claims_or_the_reason_why_it_has_none() -> None:
    text = f"Hello!\n\n## Life\n\n{CLAIM} Who else was?\n\n```sh\nrun it\n```\n\nIt was nice!"
    script = FusedScript(
        {CLAIM: [fact(CLAIM)], "```sh\nrun it\n```": [], "It was nice!": []}, {CLAIM: [supported("c3.1-e1")]}
    )
    result = await run(FusedPlan(script), text, [ScriptedSearch()])
    told = [(text[slice(*one.span)], one.claims or one.no_claim) for one in result.sentences]
    assert told == [
        ("Hello!", NoClaim.REMARK),
        ("Life", NoClaim.HEADING),
        (CLAIM, ("c3.1",)),
        ("Who else was?", NoClaim.QUESTION),
        ("```sh\nrun it\n```", NoClaim.NO_CLAIM),
        ("It was nice!", NoClaim.NO_STATEMENT),
    ]


@pytest.mark.parametrize(
    ("text", "no_claim"),
    [
        ("Ada | 1999", NoClaim.NO_CLAIM),
        ("Born 1999", NoClaim.NO_CLAIM),
        ("Take aspirin with warfarin.", NoClaim.NO_CLAIM),
        ("You should double the dose before surgery.", NoClaim.NO_CLAIM),
        ("Lethal in children.", NoClaim.NO_CLAIM),
        ("Safe in pregnancy!", NoClaim.NO_CLAIM),
        ("Ada was born in 1999, right?", NoClaim.NO_CLAIM),
        ("I find this remarkable.", NoClaim.NO_STATEMENT),
        ("What a life!", NoClaim.NO_STATEMENT),
    ],
)
async def test_what_was_read_without_a_claim_states_nothing_only_if_it_is_opinion(text: str, no_claim: NoClaim) -> None:
    result = await run(FusedPlan(FusedScript({text: []})), text, [ScriptedSearch()])
    assert [one.no_claim for one in result.sentences] == [no_claim]


async def test_code_that_a_judge_cannot_read_is_said_to_be_unread() -> None:
    code = "```sh\nrun it\n```"
    result = await run(FusedPlan(FusedScript({}, reads_code=False)), code, [ScriptedSearch()])
    assert [one.no_claim for one in result.sentences] == [NoClaim.CODE]


async def test_a_sentence_that_could_not_be_read_has_its_unscored_claim() -> None:
    script = FusedScript({CLAIM: ModelRefusal("no", schema="SentenceFacts", reply="")})
    result = await run(FusedPlan(script), CLAIM, [ScriptedSearch()])
    assert [one.claims for one in result.sentences] == [("c1.1",)]


async def test_tools_take_turns_by_round_however_many_queries_a_round_has() -> None:
    script = FusedScript(
        facts={CLAIM: [fact(CLAIM, query="first")]},
        assessments={CLAIM: [NextQueries(("a", "b")), NextQueries(("c", "d")), nothing_found()]},
    )
    one, other = ScriptedSearch(), ScriptedSearch(name="other")
    await run(FusedPlan(script), CLAIM, [one, other])
    assert (one.asked, other.asked) == (["first", "c", "d"], ["a", "b"])
