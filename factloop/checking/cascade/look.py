"""The first stage of a cascade, in which a cheap verifier judges claims against the user's documents.

A claim goes on to the model, with any evidence found, if its score lies between the thresholds, if there is no evidence
or if the verifier fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langgraph.runtime import Runtime

from factloop.agents.nodes import Update
from factloop.agents.safe.claim import LOOK, ClaimNode, closed, fresh_evidence
from factloop.agents.safe.stages import CheckContext, tell
from factloop.agents.safe.state import FactState, updated
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Evidence, Judgement, Verdict
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.pairs import BETWEEN, Judge, VerifierPair, score_pairs
from factloop.tools.search.base import SearchTool


@dataclass(frozen=True)
class CheapStage:
    """Accepts claims that score at least `upper` and rejects claims that score at most `lower`, unless it is None."""

    reader: Judge
    upper: float | None
    lower: float | None
    explain: Callable[[str, Sequence[str]], SupportReading] | None = None

    async def judge(self, claim: str, evidence: Sequence[Evidence], *, meter: UsageMeter) -> Judgement | None:
        """Returns None if the claim should go on to the model. Raises anything that the verifier raises."""
        passages = [item.passage for item in evidence if item.passage.strip()]
        if not passages:
            return None
        score = await self._score(claim, BETWEEN.join(passages), meter)
        if self.upper is not None and score >= self.upper:
            cited = await self._best(claim, evidence, meter)
            return self._judgement(claim, evidence, score, Verdict.SUPPORTED, cited)
        if self.lower is not None and score <= self.lower:
            return self._judgement(claim, evidence, score, Verdict.NOT_SUPPORTED, None)
        return None

    async def _score(self, claim: str, document: str, meter: UsageMeter) -> float:
        ((scored,),) = await score_pairs(self.reader, [VerifierPair(claim, document)], meter=meter)
        if scored.error is not None:
            raise scored.error
        assert scored.score is not None
        return scored.score

    async def _best(self, claim: str, evidence: Sequence[Evidence], meter: UsageMeter) -> str:
        (scored,) = await score_pairs(
            self.reader, [VerifierPair(claim, item.passage) for item in evidence], meter=meter
        )
        place = max(range(len(evidence)), key=lambda one: (scored[one].score or 0.0, -one))
        return evidence[place].id

    def _judgement(
        self, claim: str, evidence: Sequence[Evidence], score: float, verdict: Verdict, best: str | None
    ) -> Judgement:
        told = None if self.explain is None else self.explain(claim, [item.passage for item in evidence])
        cited = () if told is None else tuple(dict.fromkeys(evidence[place].id for place in told.cited))
        supported = verdict is Verdict.SUPPORTED
        bound = f"accepted at {self.upper:g} or more" if supported else f"rejected at {self.lower:g} or less"
        said = f"{self.reader.name} scores this claim {score:.2f}; claims are {bound}."
        return Judgement(
            verdict=verdict,
            contradicted=None if supported else told is not None and told.label == "contradicted",
            rationale=said if told is None else f"{said} {told.rationale[:1].upper()}{told.rationale[1:]}",
            cited=cited or (() if best is None else (best,)),
            score=score,
            judged_by=self.reader.name,
            stage="cheap",
        )


def documents_among(tools: Sequence[SearchTool]) -> SearchTool:
    """Returns the first tool that searches the user's documents. Raises ConfigError if there is none."""
    found = next((tool for tool in tools if tool.own_documents), None)
    if found is None:
        raise ConfigError("a cascade (--cascade) needs documents: set them with --docs")
    return found


def build_look_node(cheap: CheapStage) -> ClaimNode:
    """Builds the node in which the verifier judges a claim by what its first query finds in the documents."""

    async def look(state: FactState, runtime: Runtime[CheckContext]) -> Update:
        assert state["pending"] is not None
        query = state["pending"].queries[0]
        meter, searching = runtime.context.meter, runtime.context.searching
        documents = documents_among(searching.tools)
        try:
            found = await searching.search(documents, query, stage=LOOK, meter=meter)
        except ConfigError:
            raise
        except FactloopError:  # counted by the gateway
            return {}
        fresh = fresh_evidence(state, found)
        if not fresh:
            return {}
        try:
            judgement = await cheap.judge(state["fact"].self_contained, fresh, meter=meter)
        except Exception:  # noqa: BLE001 - encoders can raise anything; the failure is counted
            meter.failed(LOOK, 0.0)
            judgement = None
        tell(runtime, "claim_searched", claim_id=state["fact"].id, query=query, evidence=fresh)
        gathered: Update = {"evidence": [*state["evidence"], *fresh]}
        if judgement is None:
            return gathered
        gathered = {**gathered, "queries": [query], "tools": [documents.name]}
        return {**gathered, **closed(updated(state, gathered), judgement, runtime)}

    return look
