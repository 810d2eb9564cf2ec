"""First searches that do not wait until all sentences are read."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from factloop.agents.safe.fused import BunchedPlan, FusedPlan
from factloop.agents.safe.stages import Case, CheckContext, FoundFact
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.errors import ToolError
from factloop.core.records import Judgement, UnscoredReason, Verdict
from factloop.tools.search.base import SearchHit
from tests.agents.safe.scripted import FusedScript, Latency, ScriptedSearch, fact, run, supported

SHORT = "Rome is old."
LONG = "Paris, which lies on the Seine and has two million people, " + "as its mayor likes to say, " * 8 + "is large."
TEXT = f"{SHORT} {LONG}"


@dataclass
class HeldUp(FusedScript):
    """Reads the long sentence only when the first query of the short one was asked, as `release` tells."""

    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        if tasks[0].sentence == LONG:
            await asyncio.wait_for(self.release.wait(), 5)
        return await super().sentence_facts(tasks, context)


class Releasing(ScriptedSearch):
    """Tells when it is asked."""

    release: asyncio.Event

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self.release.set()
        return await super().asearch(query, limit)


def script(**how: object) -> dict[str, object]:
    facts = {SHORT: [fact("Rome is old.", query="Rome age")], LONG: [fact("Paris is large.", query="Paris size")]}
    verdicts = {"Rome is old.": [supported("c1.1-e1")], "Paris is large.": [supported("c2.1-e1")]}
    return {"facts": facts, "assessments": verdicts, **how}


async def test_a_fact_is_searched_for_while_a_longer_sentence_is_still_read() -> None:
    release = asyncio.Event()
    search = Releasing(release=release)
    result = await run(FusedPlan(HeldUp(**script(release=release))), TEXT, [search])  # type: ignore[arg-type]
    assert search.asked == ["Rome age", "Paris size"]
    assert [claim.queries for claim in result.claims] == [("Rome age",), ("Paris size",)]
    assert [claim.evidence[0].id for claim in result.claims] == ["c1.1-e1", "c2.1-e1"]


@dataclass
class Freeing(FusedScript):
    """Tells when a claim on Paris is judged."""

    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        if "Paris" in case.claim:
            self.release.set()
        return await super().assess(case, context)


class Waiting(ScriptedSearch):
    """Answers on Rome only when it is released."""

    release: asyncio.Event

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if "Rome" in query:
            await asyncio.wait_for(self.release.wait(), 4)
        return await super().asearch(query, limit)


def two_each(release: asyncio.Event) -> Freeing:
    """Two claims of each sentence, which are judged together."""
    texts = {SHORT: ("Rome is old.", "Rome is in Italy."), LONG: ("Paris is large.", "Paris lies on the Seine.")}
    facts = {sentence: [fact(text, query=text) for text in of_one] for sentence, of_one in texts.items()}
    verdicts = {text: [supported()] for of_one in texts.values() for text in of_one}
    return Freeing(facts=facts, assessments=verdicts, release=release)  # type: ignore[arg-type]


async def test_a_slow_search_ahead_holds_up_no_other_claim() -> None:
    release = asyncio.Event()
    result = await run(FusedPlan(two_each(release)), TEXT, [Waiting(release=release)])
    assert [claim.judgement.verdict for claim in result.claims] == [Verdict.SUPPORTED] * 4


async def test_a_search_for_a_claim_that_repeats_another_ends_with_the_check() -> None:
    """Nothing waits for it, and no task is left."""
    stages = FusedScript({SHORT: [fact("Paris is large.", query="Paris"), fact("Paris is large!", query="Rome")]})
    stages.assessments["Paris is large."] = [supported()]
    result = await run(FusedPlan(stages), SHORT, [Waiting(release=asyncio.Event())])
    assert [claim.duplicate_of for claim in result.claims] == [None, "c1.1"]
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_claim_alone_is_judged_by_what_was_found_ahead_and_asks_nothing_again() -> None:
    stages = FusedScript({SHORT: [fact("Rome is old.", query="Rome age")]}, {"Rome is old.": [supported("c1.1-e1")]})
    search = ScriptedSearch()
    result = await run(FusedPlan(stages), SHORT, [search])
    assert search.asked == ["Rome age"]
    assert [event["type"] for event in result.events[1:]] == ["claim_found", "claim_searched", "claim_judged"]


async def test_a_search_that_fails_ahead_is_not_made_again_and_leaves_the_claim_unscored() -> None:
    search = ScriptedSearch(answers={"Rome age": ToolError("scripted: down", tool="scripted")})
    result = await run(FusedPlan(FusedScript(**script())), TEXT, [search])  # type: ignore[arg-type]
    assert search.asked.count("Rome age") == 1
    assert [claim.judgement.unscored_reason for claim in result.claims] == [UnscoredReason.TOOL_FAILURE, None]


async def test_rules_that_read_at_once_search_claim_by_claim() -> None:
    """Nothing is searched for before all facts are known, so that a repeat costs no search."""
    facts = {SHORT: [fact("Rome is old.", query="Rome age"), fact("Rome is old!", query="age of Rome")]}
    asked: dict[type[FusedPlan], list[str]] = {}
    for plan in (FusedPlan, BunchedPlan):
        search = ScriptedSearch()
        stages = FusedScript(facts, {"Rome is old.": [supported("c1.1-e1")]}, Latency(random.Random(0)))
        result = await run(plan(stages), SHORT, [search])
        asked[plan] = search.asked
        told = {event["claim_id"] for event in result.events if event["type"] == "claim_searched"}
        assert told == {"c1.1", *(["c1.2"] if plan is FusedPlan else [])}
        assert [claim.queries for claim in result.claims] == [("Rome age",), ()]
    assert asked == {FusedPlan: ["Rome age", "age of Rome"], BunchedPlan: ["Rome age"]}
