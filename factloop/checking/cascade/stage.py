"""Loads the cascade for a check, and estimates how many model calls and searches it saves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from factloop.checking.cascade.look import CheapStage, documents_among
from factloop.checking.cascade.records import CascadeFile
from factloop.core.errors import ConfigError
from factloop.core.files.rows import read_record
from factloop.core.records import CascadeFingerprint, CascadeSavings, Claim, Usage, Verdict
from factloop.reports.figures import plural
from factloop.setup.settings import CheckSettings
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.build import BASELINE, build_judge, parse_spec
from factloop.tools.judges.pairs import Judge
from factloop.tools.search.base import SearchTool

Explain = Callable[[str, Sequence[str]], SupportReading]


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
