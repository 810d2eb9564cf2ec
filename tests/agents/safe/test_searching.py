from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.passages import SHOWN_CHARACTERS, fresh_part, part_of, passages_for, without_repeats
from factloop.agents.safe.sentences import sentences_of
from factloop.agents.safe.stages import JudgedFact, WindowReading
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import BudgetExceeded, ToolError
from factloop.core.records import Evidence, GivenFacts, Judgement, UnscoredReason, Verdict
from factloop.tools.search.documents.search import DocumentSearch
from tests.agents.safe.scripted import (
    Answer,
    FusedScript,
    GroundedScript,
    PaperScript,
    Run,
    ScriptedSearch,
    context_of,
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


def dead(error: Exception = DOWN) -> ScriptedSearch:
    return ScriptedSearch(name="web", rest=error)


@pytest.mark.parametrize("tools", [[dead(), ScriptedSearch()], [ScriptedSearch(), dead()]], ids=["first", "last"])
@pytest.mark.parametrize("verdict", [supported("p1"), contradicted("p1")])
async def test_a_window_is_judged_by_what_other_tools_found(verdict: Judgement, tools: list[ScriptedSearch]) -> None:
    result, script = await grounded(verdict, [contradicted("p1")], tools=tools)
    claim = result.only_claim()
    assert (claim.judgement.verdict, claim.judgement.cited) == (verdict.verdict, ("c1.1-e1",))
    assert all(window.passages for window in script.windows)


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        ([supported("p1")], None),
        ([nothing_found()], UnscoredReason.TOOL_FAILURE),
        (BudgetExceeded("1 dollar"), UnscoredReason.TOOL_FAILURE),
    ],
    ids=["found", "not found", "failed"],
)
async def test_beside_a_dead_tool_what_the_second_look_finds_stands_and_not_found_is_no_verdict(
    look: list[Judgement] | Exception, reason: UnscoredReason | None
) -> None:
    result, script = await grounded(nothing_found(), look, tools=[dead(), ScriptedSearch()])
    judgement = result.only_claim().judgement
    assert judgement.unscored_reason is reason
    assert reason is None or judgement.rationale == str(DOWN)
    assert script.looked_at == [(CLAIM,)]


async def test_given_facts_that_were_not_found_beside_a_dead_tool_have_no_verdict() -> None:
    script = GroundedScript({}, looks={"A.": [[supported("p1"), nothing_found()], [nothing_found()]]})
    script.looks["B."] = [[nothing_found()]]
    given = [GivenFacts(sentence=CLAIM, facts=("A.", "B."))]
    result = await run(GroundedPlan(script, results=2), CLAIM, [dead(), ScriptedSearch()], facts=given)
    told = [(claim.judgement.verdict, claim.judgement.unscored_reason) for claim in result.claims]
    assert told == [(Verdict.SUPPORTED, None), (None, UnscoredReason.TOOL_FAILURE)]


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([dead(), dead(GONE)], UnscoredReason.TOOL_FAILURE),
        ([dead(BudgetExceeded("1 dollar")), ScriptedSearch()], UnscoredReason.BUDGET),
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


CHUNKS = [f"Chunk {letter} tells of matters that no other chunk tells of, {letter * 9}." for letter in "ABCDEFGH"]


def passage(numbers: str, *, source: str = "a.md", section: str | None = None) -> Evidence:
    text = "\n".join(CHUNKS["ABCDEFGH".index(letter)] for letter in numbers)
    when = datetime(2024, 1, 1, tzinfo=UTC)
    return Evidence(id="", source=source, section=section, passage=text, query=numbers, rank=1, retrieved_at=when)


def letters(items: list[Evidence]) -> list[str]:
    return ["".join(c for c, text in zip("ABCDEFGH", CHUNKS, strict=True) if text in item.passage) for item in items]


def merged(*numbers: str, most: int = 2_000) -> list[str]:
    return letters(without_repeats([passage(one) for one in numbers], most=most))


def test_passages_that_share_text_become_one() -> None:
    assert merged("ABC", "BCD") == ["ABCD"]
    assert merged("BCD", "ABC") == ["ABCD"]
    assert merged("ABC", "B", "ABCD") == ["ABCD"]
    assert merged("ABC", "FGH", "CDEF") == ["ABCDEFGH"]
    assert merged("ABC", "EF", "H") == ["ABC", "EF", "H"]
    (one,) = without_repeats([passage("ABC"), passage("BCD")], most=2_000)
    assert one.passage == "\n".join(CHUNKS[:4])


def test_what_would_grow_too_long_keeps_what_is_new() -> None:
    most = 3 * len(CHUNKS[0]) + 5
    assert merged("ABC", "BCD", most=most) == ["ABC", "D"]
    assert merged("BCD", "ABC", most=most) == ["BCD", "A"]
    assert merged("ABC", "DEF", "BCD", most=most) == ["ABC", "DEF"]


def test_one_passage_is_named_after_where_it_begins() -> None:
    (one,) = without_repeats([passage("BC", section="Later"), passage("AB", section="First")], most=2_000)
    assert (one.section, one.query) == ("First", "BC")
    cut = without_repeats([passage("AB", section="First"), passage("BC", section="First")], most=10)
    assert [item.section for item in cut] == ["First", None]  # not known where the rest begins


def test_other_documents_and_short_likenesses_stay_apart() -> None:
    others = [passage("ABC"), passage("BCD", source="b.md"), passage("D", source="a.md#line=3")]
    assert letters(without_repeats(others, most=2_000)) == ["ABC", "BCD", "D"]
    pages = [passage("AB", source="a.pdf#page=1"), passage("BC", source="a.pdf#page=2")]
    (joined,) = without_repeats(pages, most=2_000)
    assert (joined.source, joined.pages) == ("a.pdf#page=1-2", ((0, 1), (len(CHUNKS[0]) + 1, 2)))
    later = part_of(joined, CHUNKS[2][2:])
    assert (later["pages"], part_of(joined, CHUNKS[0])["pages"]) == (((0, 2),), ((0, 1),))
    short = [
        evidence.model_copy(update={"passage": text, "source": "a.md"})
        for evidence, text in zip(others, ("a b", "b c"), strict=False)
    ]
    assert [item.passage for item in without_repeats(short, most=2_000)] == ["a b", "b c"]


def test_the_fresh_part_of_a_passage() -> None:
    abc, bcd = passage("ABC").passage, passage("BCD").passage
    assert fresh_part(bcd, [abc]) == CHUNKS[3]
    assert fresh_part(abc, [bcd]) == CHUNKS[0]
    assert fresh_part(passage("BCDE").passage, [abc, passage("EF").passage]) == CHUNKS[3]
    assert fresh_part(passage("B").passage, [abc]) == ""
    assert fresh_part(abc, [abc]) == ""
    assert fresh_part(abc, []) == abc


TOPICS = ("granite", "oak", "lamp", "keeper", "storm", "boat", "bell", "fog", "tide", "gale", "coal", "rope", "glass")


async def shown(folder: Path, answer: str, characters: int = SHOWN_CHARACTERS) -> list[str]:
    context = context_of(DocumentSearch([folder], in_memory=True), response=answer)
    tasks = sentences_of(context.answer)
    return [item.passage for item in (await passages_for(tasks, context, results=3, characters=characters)).items]


@pytest.mark.parametrize(("n_topics", "is_whole"), [(9, True), (12, True), (13, False)])
async def test_a_set_that_is_just_too_large_is_shown_nearly_as_much_of(
    tmp_path: Path, n_topics: int, is_whole: bool
) -> None:
    """Just above the limit for showing everything, a little more text must not mean far less shown."""
    for topic in TOPICS[:n_topics]:
        text = " ".join(f"The tower and its {topic} are told of in line {number} here." for number in range(14))
        (tmp_path / f"{topic}.txt").write_text(text)
    passages = await shown(tmp_path, "The tower has a lamp.")
    assert (sum(text.count("are told of") for text in passages) == 14 * n_topics) is is_whole
    assert sum(map(len, passages)) > 0.8 * SHOWN_CHARACTERS


@pytest.mark.parametrize(("characters", "n_shown"), [(500, 3), (20_000, len(TOPICS))])
async def test_how_much_is_shown_is_the_users(tmp_path: Path, characters: int, n_shown: int) -> None:
    for topic in TOPICS:
        (tmp_path / f"{topic}.txt").write_text(f"The tower and its {topic}. " * 16)
    assert len(await shown(tmp_path, "The tower has a lamp.", characters)) == n_shown


async def test_a_wording_is_shown_once_whichever_documents_have_it(tmp_path: Path) -> None:
    filler = "The tower stands far out at sea and many keepers have lived in it for years on end. " * 120
    said = {"a": "Parental leave: 16 weeks.", "b": "*Parental* leave 16 weeks", "c": "Parental leave: 12 weeks."}
    for name, text in {**said, "d": filler}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    found = [passage for passage in await shown(tmp_path, "Parental leave is 16 weeks.") if "arental" in passage]
    assert len(found) == 2
    assert {"12" in passage for passage in found} == {True, False}
