"""Scripted stages and searches, and a way to run one response through the real graph.

A script that runs out raises, so a test also fails if the code asks for more than expected.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import PrivateAttr

from factloop.agents.safe import judgements
from factloop.agents.safe.answer import Answer as AnswerUnderCheck
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.stages import (
    Case,
    CheckContext,
    FoundFact,
    JudgedFact,
    SplitSentence,
    WindowReading,
    WindowTask,
    told_in,
)
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.errors import ModelOutputError
from factloop.core.records import Abstention, Claim, Evidence, GivenFacts, Judgement, Sentence
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.cache import MemoryAnswers
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchGateway

JUDGE = "script"
ONE_ATTEMPT = RetryPolicy(attempts=1, timeout_attempts=1, base_s=0.001)

Answer = Judgement | NextQueries | Exception


def supported(*cited: str) -> Judgement:
    return judgements.supported("It says so.", cited, JUDGE)


def contradicted(*cited: str) -> Judgement:
    return judgements.not_supported("It says otherwise.", cited, JUDGE, contradicted=True)


def nothing_found() -> Judgement:
    return judgements.not_supported("Nothing speaks of it.", (), JUDGE, contradicted=False)


def fact(text: str, status: Any = "check", query: str = "") -> FoundFact:
    return FoundFact(text, text, status, query)


def _next_of(script: dict[str, list[Any]], key: str) -> Any:
    answers = script.get(key)
    if not answers:
        raise AssertionError(f"nothing more is scripted for {key!r}")
    answer = answers.pop(0)
    if isinstance(answer, Exception):
        raise answer
    return answer


@dataclass
class Latency:
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    longest_s: float = 0.0

    async def wait(self) -> None:
        await asyncio.sleep(self.rng.uniform(0.0, self.longest_s))


class _Abstaining:
    """An abstention is right only if no passage was found."""

    async def abstention(self, task: SentenceTask, passages: Sequence[Evidence], _context: CheckContext) -> Abstention:
        return Abstention(is_right=not passages, missing=task.sentence, evidence=tuple(passages))


@dataclass
class FusedScript(_Abstaining):
    """`FusedStages` by script: facts by sentence, assessments by claim, in turn."""

    facts: Mapping[str, Sequence[FoundFact] | Exception]
    assessments: dict[str, list[Answer]] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    cases: list[Case] = field(default_factory=list)
    given: list[tuple[str, ...]] = field(default_factory=list)
    read_together: list[tuple[str, ...]] = field(default_factory=list)
    """The sentences of each call on sentences."""
    together: list[tuple[str, ...]] = field(default_factory=list)
    """The claims of each call on several."""
    passed_over: Collection[str] = ()
    """Sentences that replies on several leave out."""
    name: str = JUDGE
    reads_code: bool = True

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], _context: CheckContext
    ) -> Sequence[Sequence[FoundFact] | None]:
        """A call on several sentences fails if it fails for any of them."""
        self.read_together.append(tuple(task.sentence for task in tasks))
        await self.latency.wait()
        left_out = set(self.passed_over) if len(tasks) > 1 else set()
        return [None if task.sentence in left_out else self._scripted(task) for task in tasks]

    async def given_facts(
        self, task: SentenceTask, facts: Sequence[str], _context: CheckContext
    ) -> Sequence[FoundFact]:
        self.given.append(tuple(facts))
        await self.latency.wait()
        return self._scripted(task)

    def _scripted(self, task: SentenceTask) -> Sequence[FoundFact]:
        found = self.facts[task.sentence]
        if isinstance(found, Exception):
            raise found
        return found

    async def assess(self, case: Case, _context: CheckContext) -> Judgement | NextQueries:
        self.cases.append(case)
        await self.latency.wait()
        answer: Judgement | NextQueries = _next_of(self.assessments, case.claim)
        return answer

    async def assess_together(
        self, cases: Sequence[Case], _evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        """A call on several claims fails if any of them fails; an unreadable reply is kept for the claim's own call."""
        if any(isinstance(answer, ModelOutputError) for case in cases for answer in self.assessments[case.claim][:1]):
            raise ModelOutputError("not JSON", schema="x", reply="{")
        self.together.append(tuple(case.claim for case in cases))
        return [await self.assess(case, context) for case in cases]


@dataclass
class GroundedScript(FusedScript):
    """Readings are keyed by the first sentence of a window, second looks by the first claim."""

    readings: dict[str, list[WindowReading | Exception]] = field(default_factory=dict)
    looks: dict[str, list[Sequence[Judgement] | Exception]] = field(default_factory=dict)
    windows: list[WindowTask] = field(default_factory=list)
    looked_at: list[tuple[str, ...]] = field(default_factory=list)

    async def read(self, window: WindowTask, _context: CheckContext) -> WindowReading:
        self.windows.append(window)
        reading: WindowReading = _next_of(self.readings, window.sentences[0].sentence)
        return reading

    async def judge_given(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[JudgedFact]:
        judged = await self.look_again(claims, window, context)
        return [JudgedFact(0, claim, one) for claim, one in zip(claims, judged, strict=True)]

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, _context: CheckContext
    ) -> Sequence[Judgement]:
        self.looked_at.append(tuple(claims))
        self.windows.append(window)
        judged: Sequence[Judgement] = _next_of(self.looks, claims[0])
        return judged


@dataclass
class PaperScript(_Abstaining):
    """Facts are their own revision unless the script says otherwise."""

    facts: Mapping[str, Sequence[str] | Exception]
    revisions: Mapping[str, str | Exception] = field(default_factory=dict)
    relevances: Mapping[str, bool | Exception] = field(default_factory=dict)
    queries: dict[str, list[NextQueries | Exception]] = field(default_factory=dict)
    ratings: dict[str, list[Judgement | Exception]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    rated: list[Case] = field(default_factory=list)
    name: str = JUDGE
    reads_code: bool = True

    async def split(self, task: SentenceTask, _context: CheckContext) -> SplitSentence:
        self.calls["split"] += 1
        found = self.facts[task.sentence]
        if isinstance(found, Exception):
            raise found
        return SplitSentence(found)

    async def revise(self, fact: str, task: SentenceTask, _context: CheckContext) -> str:  # noqa: ARG002 - a stage is given its task
        self.calls["revise"] += 1
        revised = self.revisions.get(fact, fact)
        if isinstance(revised, Exception):
            raise revised
        return revised

    async def relevance(self, claim: str, task: SentenceTask, _context: CheckContext) -> bool:  # noqa: ARG002 - a stage is given its task
        self.calls["relevance"] += 1
        relevant = self.relevances.get(claim, True)
        if isinstance(relevant, Exception):
            raise relevant
        return relevant

    async def next_query(self, case: Case, _context: CheckContext) -> NextQueries:
        self.calls["next_query"] += 1
        answer: NextQueries = _next_of(self.queries, case.claim)
        return answer

    async def rate(self, case: Case, _context: CheckContext) -> Judgement:
        self.calls["rate"] += 1
        self.rated.append(case)
        answer: Judgement = _next_of(self.ratings, case.claim)
        return answer


class ScriptedSearch(SearchTool):
    """Answers each query as scripted; any other by `rest`, or else with one passage that repeats it."""

    name: str = "scripted"
    description: str = "Searches a script."
    answers: dict[str, Any] = {}  # noqa: RUF012 - a pydantic field
    rest: Any = None
    latency_s: float = 0.0
    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def identity(self) -> str:
        return self.name

    @property
    def asked(self) -> list[str]:
        return self._asked

    def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - abstract, and never called
        raise AssertionError("the graph searches asynchronously")

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self._asked.append(query)
        await asyncio.sleep(self.latency_s)
        answer = self.answers.get(query, [hit(f"On {query}.")] if self.rest is None else self.rest)
        if isinstance(answer, Exception):
            raise answer
        hits: list[SearchHit] = answer[:limit]
        return hits


def hit(passage: str, source: str = "https://example.org/a") -> SearchHit:
    return SearchHit(source=source, title="A page", passage=passage)


def context_of(
    *tools: SearchTool, prompt: str | None = None, response: str = "", gates: bool = True, timeout_s: float = 5.0
) -> CheckContext:
    gateway = SearchGateway(
        tools,
        results=3,
        answers=RunAnswers(MemoryAnswers()),
        retry=ONE_ATTEMPT,
        timeout_s=timeout_s,
        rng=random.Random(0),
    )
    return CheckContext(AnswerUnderCheck(prompt, response), UsageMeter(), gateway, gates=gates)


@dataclass(frozen=True)
class Run:
    claims: tuple[Claim, ...]
    sentences: tuple[Sentence, ...]
    events: tuple[Mapping[str, Any], ...]

    def only_claim(self) -> Claim:
        (claim,) = self.claims
        return claim


async def run(
    plan: SafePlan,
    response: str,
    tools: Iterable[SearchTool] = (),
    *,
    prompt: str | None = None,
    facts: Sequence[GivenFacts] | None = None,
    spans: Sequence[tuple[int, int]] | None = None,
    max_searches: int = 5,
    timeout_s: float = 5.0,
    gates: bool = True,
) -> Run:
    graph: Any = build_safe_graph(plan, max_searches=max_searches)
    context = context_of(*tools, prompt=prompt, response=response, gates=gates, timeout_s=timeout_s)
    events: list[Mapping[str, Any]] = []
    final: Mapping[str, Any] = {}
    steps = graph.astream(
        {"facts": facts, "spans": spans}, context=context, stream_mode=["custom", "values"], subgraphs=True
    )
    async for namespace, mode, chunk in steps:
        if mode == "custom" and (event := told_in(chunk)) is not None:
            events.append(event)
        elif not namespace:
            final = chunk
    return Run(tuple(final["claims"]), tuple(final["sentences_read"]), tuple(events))
