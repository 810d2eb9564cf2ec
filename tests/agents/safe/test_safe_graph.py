from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from factloop import FactChecker
from factloop.agents.safe.answer import Answer
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import JudgedFact, WindowReading
from factloop.agents.safe.state import (
    CHECKPOINT_TYPES,
    Fact,
    NextQueries,
    SentenceTask,
    distinct,
    gather,
    in_order,
    settle,
)
from factloop.core.factuality import sameness
from factloop.core.records import Claim, GivenFacts, Judgement, Plan, UnscoredReason, Verdict
from tests.agents.safe.scripted import (
    FusedScript,
    GroundedScript,
    Latency,
    PaperScript,
    ScriptedSearch,
    context_of,
    contradicted,
    fact,
    nothing_found,
    run,
    supported,
)

SENTENCES = ("Rome is old.", "Paris is large.", "Rome is in Italy.", "Oslo is cold.")
RESPONSE = " ".join(SENTENCES)
TASKS = [SentenceTask("x", 0, 1)] * 11
ONE_SENTENCE = "Rome is old, Paris large and Oslo cold."


def found(sentence: int, number: int, text: str = "x", status: Any = "open") -> Fact:
    return Fact(sentence, number, text, text, status)


@pytest.mark.parametrize("seed", range(5))
async def test_repeats_point_to_the_first_whatever_order_branches_end_in(seed: int) -> None:
    rome = ["Rome is old.", "rome is  old", "ROME is old!"]
    script = FusedScript(
        {
            SENTENCES[0]: [fact(rome[0])],
            SENTENCES[1]: [fact("Paris is large.")],
            SENTENCES[2]: [fact(rome[1]), fact("Rome is in Italy.")],
            SENTENCES[3]: [fact(rome[2])],
        },
        {rome[0]: [supported("c1.1-e1")], "Paris is large.": [nothing_found()], "Rome is in Italy.": [supported()]},
        Latency(random.Random(seed), longest_s=0.01),
    )
    result = await run(FusedPlan(script), RESPONSE, [ScriptedSearch()])
    assert [(claim.id, claim.duplicate_of) for claim in result.claims] == [
        ("c1.1", None),
        ("c2.1", None),
        ("c3.1", "c1.1"),
        ("c3.2", None),
        ("c4.1", "c1.1"),
    ]
    repeats = [claim for claim in result.claims if claim.duplicate_of]
    assert {claim.judgement.verdict for claim in repeats} == {Verdict.SUPPORTED}
    assert all(not claim.evidence and not claim.judgement.cited for claim in repeats)
    assert all(claim.relevant is True for claim in repeats)
    assert len(script.cases) == 3


async def test_claims_that_ask_the_same_share_one_search() -> None:
    claims = ["Rome is old.", "Paris is large.", "Oslo is cold."]
    script = FusedScript(
        {ONE_SENTENCE: [fact(claim, query="the  same query") for claim in claims]},
        {claim: [supported(f"c1.{number}-e1")] for number, claim in enumerate(claims, 1)},
    )
    search = ScriptedSearch(latency_s=0.01)
    result = await run(FusedPlan(script), ONE_SENTENCE, [search])
    assert search.asked == ["the same query"]
    assert [claim.evidence[0].id for claim in result.claims] == ["c1.1-e1", "c1.2-e1", "c1.3-e1"]


async def test_a_claim_is_found_then_searched_then_judged_and_judged_once() -> None:
    script = FusedScript(
        {sentence: [fact(sentence), fact("Rome is old.")] for sentence in SENTENCES},
        {sentence: [supported()] for sentence in SENTENCES},
        Latency(random.Random(1), longest_s=0.005),
    )
    result = await run(FusedPlan(script), RESPONSE, [ScriptedSearch()])
    assert result.events[0] == {"type": "response_split", "n_sentences": 4}
    steps: dict[str, list[str]] = {}
    for event in result.events[1:]:
        name = event["claim"].id if event["type"] == "claim_judged" else event["claim_id"]
        steps.setdefault(name, []).append(event["type"])
    for claim in result.claims:
        searched = [] if claim.duplicate_of else ["claim_searched"]
        assert steps.pop(claim.id) == ["claim_found", *searched, "claim_judged"]
    assert steps == {}


async def test_without_a_source_every_claim_is_found_and_none_judged() -> None:
    script = FusedScript({SENTENCES[0]: [fact("a"), fact("b", "irrelevant"), fact("A.")]})
    result = await run(FusedPlan(script), SENTENCES[0], prompt="Who was a?")
    assert [claim.judgement.unscored_reason for claim in result.claims] == [
        UnscoredReason.NO_SOURCE,
        None,
        UnscoredReason.NO_SOURCE,
    ]
    assert result.claims[1].judgement.verdict is Verdict.IRRELEVANT
    assert result.claims[2].duplicate_of == "c1.1"


async def test_tools_take_turns_unless_one_is_asked_for() -> None:
    first, second = ScriptedSearch(), ScriptedSearch(name="other")
    asked: list[Any] = [
        NextQueries(("q2", "q2 again")),
        NextQueries(("q3",), tool="other"),
        NextQueries(("q4",), tool="unknown"),
        supported(),
    ]
    script = FusedScript({SENTENCES[0]: [fact("a", query="q1")]}, {"a": asked})
    await run(FusedPlan(script), SENTENCES[0], [first, second])
    assert first.asked == ["q1"]
    assert second.asked == ["q2", "q2 again", "q3", "q4"]  # turns go by rounds: the fourth is the second tool's


@pytest.mark.parametrize("response", ["", "   \n\t ", "***\n---\n"])
async def test_a_response_without_sentences_has_no_claims(response: str) -> None:
    assert await run(FusedPlan(FusedScript({})), response, [ScriptedSearch()]) == await run(
        FusedPlan(FusedScript({})), "", [ScriptedSearch()]
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), unique=True, max_size=5))
def test_gathering_does_not_depend_on_the_order_once_sorted(places: list[tuple[int, int]]) -> None:
    parts = [[found(*place)] for place in places]
    results = []
    for arrangement in permutations(parts):
        gathered: list[Fact] = []
        for part in arrangement:
            gathered = gather(gathered, part)
        results.append(sorted(gathered, key=lambda one: one.place))
    assert all(result == results[0] for result in results)


def test_gathering_leaves_its_arguments_alone() -> None:
    left, right = [1], [2]
    assert gather(left, right) == [1, 2]
    assert (left, right) == ([1], [2])


@given(st.lists(st.sampled_from(["a", "A.", "b", " b ", "c"]), max_size=12), st.randoms(use_true_random=False))
def test_of_equal_facts_the_first_is_kept_and_none_is_lost(texts: list[str], rng: random.Random) -> None:
    facts = [found(number // 3, number % 3, text) for number, text in enumerate(texts)]
    shuffled = rng.sample(facts, len(facts))
    kept, repeats = distinct(shuffled)
    assert (kept, repeats) == distinct(facts)
    assert sorted([*(item.id for item in kept), *repeats]) == sorted(item.id for item in facts)
    assert len({sameness(item.self_contained) for item in kept}) == len(kept)
    assert set(repeats.values()) <= {item.id for item in kept}


def test_a_claim_that_was_never_settled_is_an_error_not_a_gap() -> None:
    facts = [found(0, 0), found(0, 1)]
    settled = [settle(facts[0], TASKS[0], Judgement(verdict=Verdict.SUPPORTED))]
    with pytest.raises(ValueError, match=r"c1\.2 was found but never settled"):
        in_order(facts, TASKS, settled, {})


def test_claims_come_in_the_order_of_the_response() -> None:
    facts = [found(10, 0), found(2, 1), found(2, 0)]
    settled = [settle(item, TASKS[0], Judgement(verdict=Verdict.SUPPORTED)) for item in facts]
    assert [claim.id for claim in in_order(facts, TASKS, settled, {})] == ["c3.1", "c3.2", "c11.1"]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Rome  is old.", "rome is old", True),
        ("“Rome is old”", "Rome is old!", True),
        ("Rome is old.", "Rome is not old.", False),
        ("Straße", "STRASSE", True),
        ("It is written in C++.", "It is written in C.", False),
        ("It rose by 5%.", "It rose by 5.", False),
        ("3.5", "35", False),
    ],
)
def test_what_counts_as_the_same(left: str, right: str, same: bool) -> None:
    assert (sameness(left) == sameness(right)) is same


FIRST, SECOND = "Ada was a poet.", "She lived in Ulm."
LIFE = f"## Life\n\n{FIRST} {SECOND}"
GIVEN = [GivenFacts(sentence=FIRST, facts=(FIRST,)), GivenFacts(sentence=SECOND, facts=(SECOND,))]
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


def fused() -> SafePlan:
    facts = {FIRST: [fact(FIRST)], SECOND: [fact(SECOND), fact(FIRST)]}
    answers: dict[str, Any] = {FIRST: [supported()], SECOND: [NextQueries(("Ulm",), "the town"), contradicted()]}
    return FusedPlan(FusedScript(facts, answers))


def paper() -> SafePlan:
    queries: Any = {one: [NextQueries(("q",)), NextQueries(("r",))] for one in (FIRST, SECOND)}
    ratings: Any = {FIRST: [supported()], SECOND: [nothing_found()]}
    return PaperPlan(PaperScript({FIRST: [FIRST], SECOND: [SECOND]}, queries=queries, ratings=ratings))


def grounded() -> SafePlan:
    reading = WindowReading(
        [JudgedFact(0, FIRST, supported("p1")), JudgedFact(1, SECOND, nothing_found())], frozenset()
    )
    looks: Any = {one: [[contradicted("p1")] * 2] for one in (FIRST, SECOND)} | {SECOND: [[contradicted("p1")]]}
    return GroundedPlan(GroundedScript({}, readings={FIRST: [reading]}, looks=looks), results=2)


def comparable(claims: list[Claim]) -> list[dict[str, Any]]:
    undated: Any = {"evidence": {"__all__": {"retrieved_at"}}}
    return [claim.model_dump(mode="json", exclude=undated) for claim in claims]


@pytest.mark.parametrize("stop", ["read", "distinguish", "judge", "collect"])
@pytest.mark.parametrize(("plan", "facts"), [(fused, None), (paper, None), (paper, GIVEN), (grounded, None)])
async def test_a_run_that_stopped_goes_on_from_its_checkpoint(
    plan: Callable[[], SafePlan], stop: str, facts: list[GivenFacts] | None
) -> None:
    """Types missing from the checkpoint's allow-list would come back as dictionaries."""
    stop = stop if stop != "judge" else "look_again" if plan is grounded else "claim"
    context = context_of(ScriptedSearch(), prompt="Who was Ada?", response=LIFE)
    given: Any = {"facts": facts}
    whole = await build_safe_graph(plan(), max_searches=2).ainvoke(given, context=context)
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES))
    graph = build_safe_graph(plan(), max_searches=2)
    graph.checkpointer = saver
    one = context_of(ScriptedSearch(), prompt="Who was Ada?", response=LIFE)
    await graph.ainvoke(given, THREAD, context=one, interrupt_before=[stop])
    resumed = await graph.ainvoke(None, THREAD, context=one)
    assert comparable(resumed["claims"]) == comparable(whole["claims"])
    assert resumed["sentences_read"] == whole["sentences_read"]


def before_each(response: str, sentence: str) -> list[str]:
    return [
        Answer(None, response).told_apart_by(SentenceTask(found[0], found.start(), found.end()))
        for found in re.finditer(sentence, response)
    ]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Ada sang. She left. Bea sang.", [""]),
        ("Ada sang. She left. Bea ran. She left.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. She left.\n\nBea\nran. She\nleft.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. She left.[3] Bea ran.[4] She **left**.", ["Ada sang.", "Bea ran.[4]"]),
        ("She left. Bea ran. She left.", ["", "Bea ran."]),
        ("Ada sang. All wept. She left. Bea ran. All wept. She left.", ["Ada sang. All wept.", "Bea ran. All wept."]),
        ("- Ada sang.\n- She left.\n- Bea ran.\n- She left.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. Then She left. Bea ran. She left.", ["", ""]),
        ("## Ada\n\nThis was hard. She left.\n\n## Bea\n\nThis was easy. She left.", ["", ""]),
        ("## Ada\n\nShe left.\n\nBea ran. She left.", ["", "Bea ran."]),
    ],
)
def test_a_sentence_is_told_from_its_equals_by_what_stands_before_it(response: str, expected: list[str]) -> None:
    assert before_each(response, r"She\s\**left\**\.") == expected


def test_no_more_than_four_sentences_before_it_are_shown() -> None:
    sung = "It rained. It blew. It froze. It thawed. It snowed. She left."
    assert before_each(f"Ada sang. {sung} Bea ran. {sung}", r"She left\.") == [sung.removesuffix(" She left.")[11:]] * 2


def test_rows_and_sentences_of_no_response_have_nothing_before_them() -> None:
    table = "| Name | Town |\n| --- | --- |\n| Ada | Ulm |\n| Bea | Bonn |\n| Ada | Ulm |\n"
    assert before_each(table, r"Ada \| Ulm") == ["", ""]
    assert Answer(None, "Ada sang.").told_apart_by(SentenceTask("Bea ran.", 0, 0)) == ""


N_CLAIMS = 6
TEXT = " ".join(f"Town {n} has {n} wells." for n in range(1, N_CLAIMS + 1))


class CountingThreads(ThreadPoolExecutor):
    n_calls = 0

    def submit(self, call: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.n_calls += 1
        return super().submit(call, *arguments, **named)


@pytest.mark.parametrize("plan", ["paper", "fused"])
def test_only_the_split_of_a_response_goes_to_a_thread(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "towns.txt").write_text(TEXT, encoding="utf-8")
    threads = CountingThreads(2)

    async def check() -> int:
        asyncio.get_running_loop().set_default_executor(threads)
        checker = FactChecker(docs=tmp_path, cache=False, plan=plan)
        await checker.acheck("Town 1 has 1 well.")  # opens the documents
        before = threads.n_calls
        report = await checker.acheck(TEXT)
        await checker.aclose()
        assert len(report.claims) == N_CLAIMS
        return threads.n_calls - before

    assert asyncio.run(check()) == 1
