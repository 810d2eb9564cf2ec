"""Identifies which labelled claims belong to a run, and which come from its prompts.

Labels made for a run may refer to its prompts in different ways: by text, by a hash of the text, or by an id that only
one of the two files contains. If a claim of the run were treated as independent of the run, intervals would be too
narrow. Prompts are therefore matched by id, by text, or by the text of any response to them. A claim belongs to the run
if a claim of the run has the same text and the same response text, or the same text, system and response id. Only
digests of 16 bytes are kept.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from factloop.core.factuality import counted_claims
from factloop.core.records import Claim, Verdict
from factloop.evaluation.runs.records import JudgedResponse

Digest = bytes
VERDICTS: dict[Verdict | None, int | None] = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0, None: None}
"""Maps verdicts to the numbers used in labelled claims."""


@dataclass(frozen=True)
class ClaimOrigin:
    """The origin of a labelled claim, as far as it is known."""

    prompts: tuple[Digest, ...] = ()
    """All digests that may identify the claim's prompt in the run."""
    claims: tuple[Digest, ...] = ()
    """All digests that may identify the claim itself in the run."""


def origin_of(
    *,
    system: str | None = None,
    group: str | None = None,
    response_id: str | None = None,
    prompt: str | None = None,
    response: str | None = None,
    claim: str | None = None,
) -> ClaimOrigin:
    """Returns a claim's origin from its known properties. `group` is the id or the text of the prompt."""
    ways = [*_prompt_ways(group, prompt or group), *_response_ways(system, response_id, response)]
    if claim is None:
        return ClaimOrigin(tuple(ways))
    return ClaimOrigin(tuple(ways), tuple(_claim_ways(system, response_id, response, claim)))


@dataclass
class RunClaims:
    """The prompts and claims of a run, for comparison with labelled claims."""

    prompt_of: dict[Digest, str] = field(default_factory=dict)
    """Maps each digest of a prompt or response to the run's prompt id."""
    claims: Counter[Digest] = field(default_factory=Counter)
    """Maps each digest of a claim to the number of such claims in the run, because responses may repeat claims."""
    verdicts: dict[Digest, set[int | None]] = field(default_factory=dict)
    """Maps each digest of a claim to its verdicts: 1 for supported, 0 for not supported, None for others."""
    score_sums: dict[tuple[str, str], float] = field(default_factory=dict)
    """Maps the system and id of each response to its total score: the sum of its scored claims' scores, or of their
    verdicts if there are no scores."""
    has_scores: bool = False

    def seen(self, responses: Iterable[JudgedResponse]) -> Iterator[JudgedResponse]:
        """Yields the responses unchanged, recording each one."""
        for judged in responses:
            self.add(judged)
            yield judged

    def add(self, judged: JudgedResponse) -> None:
        report = judged.report
        of_response = _response_ways(judged.system, judged.id, report.response)
        for way in (*_prompt_ways(judged.prompt_id, report.prompt), *of_response):
            self.prompt_of.setdefault(way, judged.prompt_id)
        total = 0.0
        for claim in counted_claims(report):
            ways = tuple(_claim_ways(judged.system, judged.id, report.response, text_of(claim)))
            self.claims.update(ways)
            verdict, score = claim.judgement.verdict, claim.judgement.score
            for way in ways:
                self.verdicts.setdefault(way, set()).add(VERDICTS.get(verdict))
            if verdict in (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED):
                total += float(verdict is Verdict.SUPPORTED) if score is None else score
                self.has_scores |= score is not None
        self.score_sums[judged.system, judged.id] = total

    def prompt(self, origin: ClaimOrigin) -> str | None:
        """Returns the run's id for the claim's prompt, or None if the prompt is not in the run."""
        return next((self.prompt_of[way] for way in origin.prompts if way in self.prompt_of), None)

    def own(self, origins: Iterable[ClaimOrigin]) -> tuple[bool, ...]:
        """Returns whether each labelled claim belongs to the run and counts in the run's figures.

        If a response of the run has more labels than claims with the same text, the excess labels do not count, because
        the run might otherwise appear completely labelled.
        """
        taken: Counter[Digest] = Counter()
        found = []
        for origin in origins:
            known = [way for way in origin.claims if self.claims[way]]
            found.append(bool(known) and all(taken[way] < self.claims[way] for way in known))
            taken.update(known)
        return tuple(found)

    def n_judged_otherwise(self, origins: Iterable[ClaimOrigin], verdicts: Iterable[int | None]) -> int:
        """Counts the labelled claims that have a different verdict in the run.

        Such claims were judged against other documents, by another judge, or on another day.
        """
        pairs = zip(origins, verdicts, strict=True)
        return sum(
            any(verdict not in self.verdicts.get(way, {verdict}) for way in origin.claims) for origin, verdict in pairs
        )


def text_of(claim: Claim) -> str:
    """Returns the claim's text as written in label sheets and predictions."""
    return claim.self_contained


def _prompt_ways(id: str | None, text: str | None) -> Iterator[Digest]:
    if id:
        yield _digest("prompt", id)
    if text:
        yield _digest("prompt", text)
        yield _digest("prompt", hashlib.sha256(text.encode()).hexdigest()[:16])  # the default id


def _response_ways(system: str | None, id: str | None, text: str | None) -> Iterator[Digest]:
    if text:
        yield _digest("response", text)
    if system and id:
        yield _digest("place", system, id)


def _claim_ways(system: str | None, id: str | None, response: str | None, claim: str) -> Iterator[Digest]:
    if response:
        yield _digest("claim of text", system or "", response, claim)
    if system and id:
        yield _digest("claim of place", system, id, claim)


def _digest(*parts: str) -> Digest:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).digest()
