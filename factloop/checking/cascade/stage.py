"""The first stage of a cascade, in which a cheap verifier judges claims against the user's documents.

A claim goes on to the model, with any evidence found, if its score lies between the thresholds, if there is no evidence
or if the verifier fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from langgraph.runtime import Runtime

from factloop.agents.nodes import Update
from factloop.agents.safe.claim import LOOK, ClaimNode, closed, fresh_evidence
from factloop.agents.safe.stages import CheckContext, tell
from factloop.agents.safe.state import FactState, updated
from factloop.checking.cascade.records import CascadeFile
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.files.rows import read_record
from factloop.core.records import CascadeFingerprint, CascadeSavings, Claim, Evidence, Judgement, Usage, Verdict
from factloop.reports.figures import plural
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.build import BASELINE, build_judge, parse_spec
from factloop.tools.judges.pairs import BETWEEN, Judge, VerifierPair, score_pairs
from factloop.tools.search.base import SearchTool

Explain = Callable[[str, Sequence[str]], SupportReading]


@dataclass(frozen=True)
class CheapStage:
    """Accepts claims that score at least `upper` and rejects claims that score at most `lower`, unless it is None."""

    reader: Judge
    upper: float | None
    lower: float | None
    explain: Explain | None = None

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


@dataclass(frozen=True)
class CheapVerifier:
    """A verifier on this machine, with its weights loaded."""

    reader: Judge
    explain: Explain | None
    """None if the verifier gives only scores."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.reader.identity, sort_keys=True, default=str).encode()).hexdigest()


def cheap_verifier(name: str, *, allow_download: bool = False) -> CheapVerifier:
    """Loads a verifier with its weights, and keeps the last four for later checks in this process. Raises ConfigError
    if the name is unknown, the verifier calls a server, or the weights cannot be loaded."""
    spec = parse_spec(name)
    if spec.calls is not None:
        raise ConfigError(f"{name} calls a server for every claim; use a verifier that runs on this machine")
    return _kept(name.strip(), allow_download)


@lru_cache(maxsize=4)
def _kept(name: str, allow_download: bool) -> CheapVerifier:
    spec = parse_spec(name)
    reader = build_judge(spec, allow_download=allow_download)
    _ = reader.identity  # reads the weights
    if spec.kind != BASELINE:
        return CheapVerifier(reader, None)
    from factloop.tools.judges.baseline import Baseline

    return CheapVerifier(reader, Baseline().verify)


ASSESSING = ("assessments", "assessment")
SECOND_STAGES = (*ASSESSING, "search_query", "rating", "grounded_claims")
"""The stages, in any plan, that call the model about a claim that the cascade did not settle."""


@dataclass(frozen=True)
class Cascade:
    stage: CheapStage
    fingerprint: CascadeFingerprint
    file: CascadeFile

    def warnings(self, claims: Sequence[Claim], tools: Sequence[SearchTool]) -> list[str]:
        warnings = []
        if self.file.tuned is None:
            warnings.append("The cascade's thresholds were set by hand, so its error is unknown.")
        elsewhere = ", ".join(tool.name for tool in tools if not tool.own_documents)
        judgements = (claim.judgement for claim in claims if claim.judgement.stage == "cheap")
        rejected = sum(judgement.verdict is Verdict.NOT_SUPPORTED for judgement in judgements)
        if rejected and elsewhere:
            warnings.append(
                f"The cascade rejected {plural(rejected, 'claim')} based on the documents, without using {elsewhere}."
            )
        return warnings


def load_cascade(settings: CheckSettings, *, has_model: bool) -> Cascade | None:
    """Reads the cascade file in the settings, if any, and loads the verifier's weights.

    Raises ConfigError if there is no model, if the file cannot be read, or if the cascade was tuned for a different
    verifier. Raises DataError if the file is not a cascade.
    """
    if settings.cascade is None or (settings.judge is not None and not has_model):
        return None  # a judge without a model uses the thresholds itself
    if not has_model:
        raise ConfigError("a cascade (--cascade) leaves unclear claims to a model; set one with --model")
    path = settings.cascade
    file = read_cascade(path)
    verifier = cheap_verifier(file.verifier, allow_download=settings.allow_download)
    refuse_other_verifier(path, file, verifier)
    return Cascade(
        stage=CheapStage(verifier.reader, file.upper, file.lower, verifier.explain),
        fingerprint=CascadeFingerprint(
            verifier=verifier.reader.name, identity=verifier.digest, upper=file.upper, lower=file.lower
        ),
        file=file,
    )


def refuse_other_verifier(path: Path, file: CascadeFile, verifier: CheapVerifier) -> None:
    """Raises ConfigError if the thresholds were tuned for a different verifier."""
    here = json.loads(json.dumps(verifier.reader.identity, default=str))
    if different := sorted(name for name in {*file.identity, *here} if file.identity.get(name) != here.get(name)):
        raise ConfigError(
            f"{path} was tuned for another version of {file.verifier} ({', '.join(different)} differ); tune it again"
        )


def read_cascade(path: Path) -> CascadeFile:
    """Reads a file written by `factloop research cascade tune`. Raises DataError."""
    return read_record(path, CascadeFile, "a cascade file made by `factloop research cascade tune`")


def refuse_without_documents(settings: CheckSettings, tools: Sequence[SearchTool]) -> None:
    """Raises ConfigError if a cascade has no documents to search."""
    if settings.cascade is not None and settings.model is not None and tools:
        documents_among(tools)


def savings(cascade: Cascade, claims: Sequence[Claim], usage: Usage, tools: Sequence[SearchTool]) -> CascadeSavings:
    """Estimates what the cascade saved, from the average cost of the claims that went on to the model."""
    own = [claim for claim in claims if claim.duplicate_of is None]
    cheap = [claim.judgement.verdict for claim in own if claim.judgement.stage == "cheap"]
    sent_on = [claim for claim in own if claim.judgement.stage != "cheap" and (claim.queries or claim.evidence)]
    stages = [usage.stages[name] for name in SECOND_STAGES if name in usage.stages]
    asked = sum(stage.calls + stage.cache_hits for stage in stages)
    # If the verifier searches the documents first, the model repeats this search, which is then not counted twice.
    again = bool(tools) and tools[0].own_documents and any(name in usage.stages for name in ASSESSING)
    searched = sum(len(claim.queries) - again for claim in sent_on)
    tuned = cascade.file.tuned
    looks = usage.stages.get("look")
    seen = CascadeSavings(
        n_supported=cheap.count(Verdict.SUPPORTED),
        n_not_supported=cheap.count(Verdict.NOT_SUPPORTED),
        n_sent_on=len(sent_on),
        n_failed=0 if looks is None else looks.failed_calls,
        max_error=None if tuned is None else tuned.max_error,
        confidence=None if tuned is None else tuned.confidence,
        calls_taken=asked,
        searches_taken=max(0, searched),
    )
    return with_estimates(seen)


def with_estimates(seen: CascadeSavings) -> CascadeSavings:
    """Adds the estimated savings: the mean number of calls and of searches per claim sent to the model, times the
    number of settled claims. Both are None if no claims were sent to the model."""
    settled, sent = seen.n_settled, seen.n_sent_on
    return seen.model_copy(
        update={
            "calls_avoided": settled * seen.calls_taken / sent if sent else None,
            "searches_avoided": settled * seen.searches_taken / sent if sent else None,
        }
    )


def sum_savings(all_savings: Iterable[CascadeSavings | None]) -> CascadeSavings | None:
    """Adds up the savings of several checks, or returns None if no check used a cascade. The maximum error is kept only
    if it is the same in all checks."""
    found = [one for one in all_savings if one is not None]
    if not found:
        return None
    promises = {(one.max_error, one.confidence) for one in found}
    max_error, confidence = promises.pop() if len(promises) == 1 else (None, None)
    counts = ("n_supported", "n_not_supported", "n_sent_on", "n_failed", "calls_taken", "searches_taken")
    summed = {name: sum(getattr(one, name) for one in found) for name in counts}
    return with_estimates(CascadeSavings(**summed, max_error=max_error, confidence=confidence))
