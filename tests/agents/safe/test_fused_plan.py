from __future__ import annotations

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.judgements import supported as judged_supported
from factloop.agents.safe.stages import FoundFact
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError, ModelOutputError, ModelRefusal, ToolError
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
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: list(assessments)})
    search = ScriptedSearch(answers=answers)
    return await run(FusedPlan(script), CLAIM, [search], max_searches=max_searches), script, search


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


@pytest.mark.parametrize(("query", "missing", "max_searches"), [("second", "the town", 1), ("  FIRST ", "", 5)])
async def test_a_judge_that_wants_what_no_search_may_ask_for_has_found_nothing(
    query: str, missing: str, max_searches: int
) -> None:
    result, _, search = await run_one(NextQueries((query,), missing=missing), max_searches=max_searches)
    judgement = result.only_claim().judgement
    assert (judgement.verdict, judgement.contradicted) == (Verdict.NOT_SUPPORTED, False)
    assert judgement.rationale.strip() == f"No evidence was found on: {missing or query}".strip()
    assert judgement.judged_by == JUDGE
    assert search.asked == ["first"]


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


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelRefusal("I would rather not", schema="Assessment", reply=""), UnscoredReason.REFUSAL),
        (ModelOutputError("not JSON", schema="Assessment", reply="{"), UnscoredReason.PARSE_FAILURE),
        (BudgetExceeded("3 calls"), UnscoredReason.BUDGET),
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


async def test_a_sentence_that_cannot_be_split_stands_as_one_unscored_claim() -> None:
    response = f"Rome is old and large.\n\n## Another window\n\n{CLAIM}"
    script = FusedScript(
        {"Rome is old and large.": BudgetExceeded("3 calls"), CLAIM: [fact(CLAIM)]}, {CLAIM: [supported()]}
    )
    result = await run(FusedPlan(script), response, [ScriptedSearch()])
    whole, other = result.claims
    assert whole.text == whole.sentence == "Rome is old and large."
    assert result.sentences[0].claims == (whole.id,)
    assert response[slice(*whole.span)] == whole.sentence
    assert whole.judgement.unscored_reason is UnscoredReason.BUDGET
    assert other.judgement.verdict is Verdict.SUPPORTED


async def test_a_wrong_set_up_stops_the_run() -> None:
    with pytest.raises(ConfigError, match="no such key"):
        await run_one(ConfigError("no such key"))
    with pytest.raises(ConfigError, match="no such key"):
        await run_one(first=ConfigError("no such key"))


async def test_queries_of_an_unfinished_assessment_are_asked_at_once_and_numbered_in_their_order() -> None:
    """A passage that two queries find is listed once."""
    result, script, search = await run_one(
        NextQueries(("second", "third"), missing="the town"),
        contradicted("c1.1-e3"),
        first=[hit("a")],
        second=[hit("a"), hit("b")],
        third=[hit("b"), hit("c")],
    )
    claim = result.only_claim()
    assert (claim.queries, claim.missing) == (("first", "second", "third"), ("the town",))
    assert claim.judgement.contradicted is True
    assert [(item.id, item.passage, item.query, item.rank) for item in claim.evidence] == [
        ("c1.1-e1", "a", "first", 1), ("c1.1-e2", "b", "second", 2), ("c1.1-e3", "c", "third", 2),
    ]  # fmt: skip
    assert sorted(search.asked) == ["first", "second", "third"]
    assert [(case.searches_left, case.may_search) for case in script.cases] == [(4, True), (2, True)]


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


async def test_code_that_a_judge_cannot_read_is_said_to_be_unread() -> None:
    code = "```sh\nrun it\n```"
    result = await run(FusedPlan(FusedScript({}, reads_code=False)), code, [ScriptedSearch()])
    assert [one.no_claim for one in result.sentences] == [NoClaim.CODE]


OLD, LARGE, COLD = "Rome is old.", "Rome is large.", "Rome is cold."
SENTENCE = "Rome is old, large and cold."


def script_of(**answers: list[Answer]) -> FusedScript:
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


REFUSED = [ToolError(f"openai:x: HTTP {status}", tool="openai:x", status=status) for status in (400, 413, 422)]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        *((error, None) for error in REFUSED),
        (FAILED, UnscoredReason.TOOL_FAILURE),
        (BudgetExceeded("3 calls"), UnscoredReason.BUDGET),
    ],
)
async def test_a_request_that_is_refused_leaves_each_claim_to_a_shorter_one(
    error: FactloopError, reason: UnscoredReason | None
) -> None:
    """A small context may be too short for the passages of two claims; a failing server is not asked again."""
    result = await judged(script_of(old=[error, supported()], large=[supported()]))
    assert [claim.judgement.unscored_reason for claim in result.claims] == [reason] * 2
    judged_at = [event["claim"].id for event in result.events if event["type"] == "claim_judged"]
    assert judged_at == ["c1.1", "c1.2"]


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


@pytest.mark.parametrize(
    ("second", "passed_over"), [([fact(LARGE)], SHORT[1:]), ([], ())], ids=["passed over", "said to state nothing"]
)
async def test_of_two_sentences_read_together_only_one_that_was_passed_over_is_read_again(
    second: list[FoundFact], passed_over: tuple[str, ...]
) -> None:
    facts = {SHORT[0]: [fact(OLD)], SHORT[1]: second}
    script = FusedScript(facts, {OLD: [supported()], LARGE: [supported()]}, passed_over=passed_over)
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT, *([passed_over] if passed_over else [])]
    assert [len(sentence.claims) for sentence in result.sentences] == [1, len(second)]
    assert (result.sentences[1].no_claim is None) is bool(second)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelOutputError("not JSON", schema="SentenceFacts", reply="{"), UnscoredReason.PARSE_FAILURE),
        (ToolError("openai:x: HTTP 400", tool="openai:x", status=400), UnscoredReason.TOOL_FAILURE),
    ],
)
async def test_sentences_that_cannot_be_read_together_are_read_one_by_one(
    error: FactloopError, reason: UnscoredReason
) -> None:
    script = FusedScript({SHORT[0]: [fact(OLD)], SHORT[1]: error}, {OLD: [supported()]})
    result = await run(FusedPlan(script), " ".join(SHORT), [ScriptedSearch()])
    assert script.read_together == [SHORT, SHORT[:1], SHORT[1:]]
    assert [claim.judgement.unscored_reason for claim in result.claims] == [None, reason]
