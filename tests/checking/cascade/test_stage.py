from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan, build_safe_graph
from factloop.agents.safe.stages import told_in
from factloop.checking.cascade.stage import CheapStage, build_look_node
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ToolError
from factloop.core.records import Claim, Verdict
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.pairs import BETWEEN, Judge, PairScore, VerifierPair
from factloop.tools.search.base import SearchTool
from tests.agents.safe.scripted import FusedScript, ScriptedSearch, context_of, contradicted, fact, hit, supported

CLAIM = "Ada Lovelace was born in London."
FAILED = ToolError("search: HTTP 500", tool="documents", status=500)


class ScriptedReader(Judge):
    name = "scripted-verifier"
    identity: dict[str, object] = {}  # noqa: RUF012 - as the base has it

    def __init__(self, scores: dict[str, float | FactloopError | Exception]) -> None:
        self.scores = scores
        self.asked: list[VerifierPair] = []

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
    return CascadeResult(final["claims"], context.meter, events)


def stage(score: float | Exception, upper: float | None = 0.8, lower: float | None = 0.2) -> CheapStage:
    return CheapStage(ScriptedReader({"a": score}), upper, lower)


def fused(*assessments: Any) -> tuple[FusedPlan, FusedScript]:
    script = FusedScript({CLAIM: [fact(CLAIM, query="first")]}, {CLAIM: list(assessments)})
    return FusedPlan(script), script


@pytest.mark.parametrize(("score", "verdict"), [(0.8, Verdict.SUPPORTED), (0.2, Verdict.NOT_SUPPORTED)])
async def test_a_clear_claim_costs_no_model_call_and_no_other_search(score: float, verdict: Verdict) -> None:
    """The scripts hold no assessment, so asking for one would fail. Thresholds are inclusive."""
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
    plan, _ = fused(supported("c1.1-e1"))
    web = ScriptedSearch(answers={"first": [hit("b")]})
    result = await cascaded(plan, stage(0.9), [web, Documents(answers={"first": answer})])
    assert result.only.judgement.stage == "model"


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
