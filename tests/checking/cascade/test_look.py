"""A cascade in the graph: what a cheap verifier settles costs no call, and whatever it cannot do goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from factloop.agents.safe.context import told_in
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stages import JudgedFact, NextQueries, WindowReading
from factloop.checking.cascade.look import BETWEEN, CheapStage, build_look_node
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ToolError
from factloop.core.records import Claim, UnscoredReason, Verdict
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.base import SearchTool
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.pairs import PairScore, VerifierPair
from tests.agents.safe.scripted import (
    FusedScript,
    GroundedScript,
    PaperScript,
    ScriptedSearch,
    context_of,
    contradicted,
    fact,
    hit,
    nothing_found,
    supported,
)

CLAIM = "Ada Lovelace was born in London."
FAILED = ToolError("search: HTTP 500", tool="documents", status=500)


@dataclass
class ScriptedReader:
    """Gives each document its score; what has none could not be read. An exception is raised."""

    scores: dict[str, float | FactloopError | Exception]
    asked: list[VerifierPair] = field(default_factory=list)
    name: str = "scripted-verifier"
    identity: dict[str, object] = field(default_factory=dict)

    def parts(self, claim: str) -> Sequence[str]:
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:  # noqa: ARG002 - as readers have it
        return [document]

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        self.asked += pairs
        return [self._scored(self.scores[pair.document]) for pair in pairs]

    @staticmethod
    def _scored(score: float | Exception) -> PairScore:
        if isinstance(score, FactloopError):
            return PairScore(None, score)
        if isinstance(score, Exception):
            raise score
        return PairScore(score)


class Documents(ScriptedSearch):
    name: str = "documents"

    @property
    def identity(self) -> str:
        return "documents"

    @property
    def cacheable(self) -> bool:
        return False

    @property
    def own_documents(self) -> bool:
        return True


@dataclass(frozen=True)
class CascadeResult:
    claims: list[Claim]
    meter: UsageMeter
    events: list[dict[str, Any]]

    @property
    def only(self) -> Claim:
        (claim,) = self.claims
        return claim


async def cascaded(
    plan: SafePlan, cheap: CheapStage, tools: Sequence[SearchTool], response: str = CLAIM
) -> CascadeResult:
    context = context_of(*tools, prompt="Who was Ada Lovelace?", response=response)
    graph: Any = build_safe_graph(plan, max_searches=2, look=build_look_node(cheap))
    final: Any = {}
    events = []
    async for namespace, mode, chunk in graph.astream(
        {"facts": None}, context=context, stream_mode=["custom", "values"], subgraphs=True
    ):
        if mode == "custom" and (event := told_in(chunk)) is not None:
            events.append(event)
        elif not namespace:
            final = chunk
    return CascadeResult([Claim.model_validate(claim) for claim in final["claims"]], context.meter, events)


def stage(score: float | Exception, upper: float | None = 0.8, lower: float | None = 0.2) -> CheapStage:
    return CheapStage(ScriptedReader({"a": score}), upper, lower)


def fused(*assessments: Any) -> tuple[FusedPlan, FusedScript]:
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: list(assessments)})
    return FusedPlan(script), script


def paper(*ratings: Any, n_queries: int = 2) -> tuple[PaperPlan, PaperScript]:
    queries: list[NextQueries | Exception] = [NextQueries((f"query {number}",)) for number in range(n_queries)]
    script = PaperScript({CLAIM: [CLAIM]}, queries={CLAIM: queries}, ratings={CLAIM: list(ratings)})
    return PaperPlan(script), script


@pytest.mark.parametrize(("score", "verdict"), [(0.8, Verdict.SUPPORTED), (0.2, Verdict.NOT_SUPPORTED)])
async def test_a_clear_claim_costs_no_model_call_and_no_other_search(score: float, verdict: Verdict) -> None:
    """The scripts hold no assessment: to ask for one would fail. Thresholds belong to their side."""
    documents, web = Documents(answers={"first": [hit("a")]}), ScriptedSearch()
    plan, script = fused()
    result = await cascaded(plan, stage(score), [web, documents])
    judgement = result.only.judgement
    assert judgement.verdict is verdict
    assert judgement.stage == "cheap"
    assert judgement.judged_by == "scripted-verifier"
    assert judgement.score == score
    assert judgement.cited == (("c1.1-e1",) if verdict is Verdict.SUPPORTED else ())
    assert judgement.contradicted is (None if verdict is Verdict.SUPPORTED else False)
    assert result.only.queries == ("first",)
    assert script.cases == []
    assert web.asked == []
    assert [event["type"] for event in result.events] == [
        "response_split", "claim_found", "claim_searched", "claim_judged",
    ]  # fmt: skip


async def test_in_the_grounded_plan_the_verifier_goes_before_what_the_model_said_in_passing() -> None:
    """What it leaves keeps the model's verdict, or has the second look that it would have had."""
    found = [("Clear.", nothing_found()), ("Open.", supported("p1")), ("Doubted.", contradicted("p1"))]
    reading = WindowReading(tuple(JudgedFact(0, text, judgement) for text, judgement in found), frozenset())
    looks: dict[str, Any] = {"Doubted.": [[contradicted("p1")]]}
    script = GroundedScript({}, readings={CLAIM: [reading]}, looks=looks)
    documents = Documents(answers={"Clear.": [hit("a")], "Open.": [hit("b")], CLAIM: [hit("c")]})
    reader = ScriptedReader({"a": 0.9, "b": 0.5})
    result = await cascaded(GroundedPlan(script, results=2), CheapStage(reader, 0.8, 0.2), [documents])
    assert [(claim.text, claim.judgement.verdict, claim.judgement.stage) for claim in result.claims] == [
        ("Clear.", Verdict.SUPPORTED, "cheap"),
        ("Open.", Verdict.SUPPORTED, "model"),
        ("Doubted.", Verdict.NOT_SUPPORTED, "model"),
    ]
    asked = sorted(pair.claim for pair in reader.asked)
    assert asked == ["Clear.", "Clear.", "Doubted.", "Open."]  # one of the first two is for its citation
    assert script.looked_at == [("Doubted.",)]
    assert [event["type"] for event in result.events].count("claim_judged") == 3


async def test_a_clear_claim_of_the_papers_plan_is_only_asked_whether_it_is_relevant() -> None:
    documents, web = Documents(answers={CLAIM: [hit("a")]}), ScriptedSearch()
    plan, script = paper()
    result = await cascaded(plan, stage(0.9), [web, documents])
    assert result.only.judgement.stage == "cheap"
    assert result.only.queries == (CLAIM,)
    assert dict(script.calls) == {"split": 1, "revise": 1, "relevance": 1}
    assert web.asked == []


@pytest.mark.parametrize("score", [0.5, 0.21, 0.79])
async def test_an_unclear_claim_goes_to_the_model_with_the_evidence_found(score: float) -> None:
    documents, web = Documents(answers={"first": [hit("a")]}), ScriptedSearch(answers={"first": [hit("b")]})
    plan, script = fused(contradicted("c1.1-e2"))
    result = await cascaded(plan, stage(score), [web, documents])
    assert result.only.judgement.stage == "model"
    assert result.only.judgement.contradicted is True
    assert [item.passage for item in script.cases[0].evidence] == ["a", "b"]
    assert result.only.queries == ("first",)
    assert web.asked == ["first"]


async def test_a_query_that_the_look_put_is_not_said_to_have_found_nothing() -> None:
    plan, script = fused(contradicted("c1.1-e1"))
    await cascaded(plan, stage(0.5), [Documents(answers={"first": [hit("a")]})])
    assert [case.fruitless for case in script.cases] == [()]


async def test_evidence_of_the_look_stands_beside_that_of_the_plan_with_an_id_of_its_own() -> None:
    """A batch that cannot be read leaves its claims to the look, with the passages that the plan had shown."""
    reading = WindowReading((JudgedFact(0, "A.", contradicted("p1")),), frozenset())
    unreadable = ModelOutputError("not JSON", schema="Any", reply="{")
    looks: dict[str, Any] = {"A.": [unreadable]}
    script = GroundedScript({}, {"A.": [contradicted("c1.1-e1")]}, readings={CLAIM: [reading]}, looks=looks)
    documents = Documents(answers={CLAIM: [hit("c")], "A.": [hit("Of ships."), hit("Of maps.")]})
    result = await cascaded(GroundedPlan(script, results=2), stage(0.5), [documents])
    ids = [item.id for item in result.only.evidence]
    assert len(ids) > 1
    assert len(ids) == len(set(ids))


async def test_the_papers_plan_goes_on_with_all_its_rounds() -> None:
    documents = Documents(answers={CLAIM: [hit("a")]})
    plan, script = paper(supported("c1.1-e1"))
    result = await cascaded(plan, stage(0.5), [documents])
    assert result.only.judgement.stage == "model"
    assert result.only.queries == ("query 0", "query 1")
    assert (script.calls["next_query"], script.calls["rate"]) == (2, 1)


async def test_documents_that_are_all_there_is_are_asked_once() -> None:
    documents = Documents(answers={"first": [hit("a")]})
    plan, _ = fused(supported("c1.1-e1"))
    result = await cascaded(plan, stage(0.5), [documents])
    assert documents.asked == ["first"]
    assert [item.id for item in result.only.evidence] == ["c1.1-e1"]


@pytest.mark.parametrize(
    ("score", "upper", "lower"), [(1.0, None, 0.2), (0.0, 0.8, None), (0.5, None, None)], ids=["upper", "lower", "both"]
)
async def test_a_side_without_a_threshold_settles_nothing(
    score: float, upper: float | None, lower: float | None
) -> None:
    plan, _ = fused(supported("c1.1-e1"))
    result = await cascaded(plan, stage(score, upper, lower), [Documents(answers={"first": [hit("a")]})])
    assert result.only.judgement.stage == "model"


@pytest.mark.parametrize(
    "failure",
    [ModelOutputError("no number", schema="s", reply=""), ConfigError("out of memory"), RuntimeError("torch")],
)
async def test_a_verifier_that_fails_sends_the_claim_on(failure: Exception) -> None:
    plan, _ = fused(supported("c1.1-e1"))
    result = await cascaded(plan, stage(failure), [Documents(answers={"first": [hit("a")]})])
    assert result.only.judgement == supported("c1.1-e1").model_copy(update={"stage": "model"})
    assert result.meter.snapshot(0.0).stages["look"].failed_calls == 1


@pytest.mark.parametrize("answer", [[], FAILED], ids=["nothing found", "search failed"])
async def test_documents_without_a_word_send_the_claim_on(answer: Any) -> None:
    reader = ScriptedReader({})
    plan, _ = fused(supported("c1.1-e1"))
    web = ScriptedSearch(answers={"first": [hit("b")]})
    result = await cascaded(plan, CheapStage(reader, 0.8, 0.2), [web, Documents(answers={"first": answer})])
    assert result.only.judgement.stage == "model"
    assert reader.asked == []


async def test_nobody_judged_what_failed_in_both_stages() -> None:
    plan, _ = fused()
    result = await cascaded(plan, stage(0.9), [Documents(answers={"first": FAILED})])
    assert result.only.judgement.unscored_reason is UnscoredReason.TOOL_FAILURE
    assert result.only.judgement.stage is None


async def test_without_documents_there_is_nothing_to_look_at() -> None:
    plan, _ = fused()
    with pytest.raises(ConfigError, match="--docs"):
        await cascaded(plan, stage(0.9), [ScriptedSearch()])


async def test_passages_are_read_together_and_the_best_is_cited() -> None:
    found = [hit("a"), hit("b"), hit("c")]
    reader = ScriptedReader({BETWEEN.join("abc"): 0.9, "a": 0.1, "b": 0.7, "c": 0.7})
    plan, _ = fused()
    result = await cascaded(plan, CheapStage(reader, 0.8, 0.2), [Documents(answers={"first": found})])
    assert result.only.judgement.cited == ("c1.1-e2",)
    assert [pair.document for pair in reader.asked] == ["a\n\nb\n\nc", "a", "b", "c"]


async def test_the_verifiers_own_label_says_whether_evidence_speaks_against() -> None:
    def explain(claim: str, passages: Sequence[str]) -> SupportReading:
        return SupportReading("contradicted", 0.1, (0,), f"{len(passages)} passages against {claim}")

    plan, _ = fused()
    cheap = CheapStage(ScriptedReader({"a": 0.1}), 0.8, 0.2, explain)
    judgement = (await cascaded(plan, cheap, [Documents(answers={"first": [hit("a")]})])).only.judgement
    assert judgement.contradicted is True
    assert judgement.cited == ("c1.1-e1",)
    assert "1 passages against" in judgement.rationale


async def test_a_repeated_claim_carries_the_stage_of_the_first_and_what_is_irrelevant_the_models() -> None:
    response = f"{CLAIM} Once more. And a joke."
    script = FusedScript(
        {CLAIM: [fact(CLAIM, query="first")], "Once more.": [fact(CLAIM)], "And a joke.": [fact("joke", "irrelevant")]}
    )
    documents = Documents(answers={"first": [hit("a")]})
    result = await cascaded(FusedPlan(script), stage(0.9), [documents], response)
    assert [claim.judgement.stage for claim in result.claims] == ["cheap", "cheap", "model"]
    assert result.claims[1].duplicate_of == "c1.1"


async def test_many_claims_each_go_their_own_way() -> None:
    sentences = [f"Fact number {number} holds." for number in range(40)]
    script = FusedScript(
        {text: [fact(text, query=str(number))] for number, text in enumerate(sentences)},
        {text: [supported(f"c{number + 1}.1-e1")] for number, text in enumerate(sentences) if number % 2},
    )
    documents = Documents(answers={str(number): [hit(str(number))] for number in range(40)}, latency_s=0.001)
    reader = ScriptedReader({str(number): 0.5 if number % 2 else 0.9 for number in range(40)})
    result = await asyncio.wait_for(
        cascaded(FusedPlan(script), CheapStage(reader, 0.8, 0.2), [documents], " ".join(sentences)), 30
    )
    assert [claim.judgement.stage for claim in result.claims] == ["cheap", "model"] * 20
    assert len(script.cases) == 20
