"""Matches labelled claims with the claims and prompts of a run.

Intervals would be too narrow if labelled claims that belong to the run were treated as an independent sample. Labels
may name a prompt by its text, by a hash of its text, or by an id that only one of the files contains, so prompts are
matched by id, by text, or by the text of any response to them. A claim matches if its text and response text match, or
if its text, system and response id match. Only 16-byte digests are kept.
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


@dataclass(frozen=True)
class ClaimOrigin:
    prompts: tuple[Digest, ...] = ()
    """Any of these digests may identify the prompt in the run."""
    claims: tuple[Digest, ...] = ()
    """Any of these digests may identify the claim in the run."""


def origin_of(
    *,
    system: str | None = None,
    group: str | None = None,
    response_id: str | None = None,
    prompt: str | None = None,
    response: str | None = None,
    claim: str | None = None,
) -> ClaimOrigin:
    """`group` is the id or the text of the prompt."""
    ways = [*_prompt_ways(group, prompt or group), *_response_ways(system, response_id, response)]
    if claim is None:
        return ClaimOrigin(tuple(ways))
    return ClaimOrigin(tuple(ways), tuple(_claim_ways(system, response_id, response, claim)))


@dataclass
class RunClaims:
    prompt_of: dict[Digest, str] = field(default_factory=dict)
    """Maps digests of prompts and responses to the run's prompt ids."""
    claims: Counter[Digest] = field(default_factory=Counter)
    """How often each claim occurs in the run, since a response may repeat a claim."""
    verdicts: dict[Digest, set[int | None]] = field(default_factory=dict)
    """The verdicts of each claim: 1 for supported, 0 for not supported, None otherwise."""
    score_sums: dict[tuple[str, str], float] = field(default_factory=dict)
    """By system and response id, the sum of the scores of scored claims, or of their verdicts if there are no
    scores."""
    has_scores: bool = False

    def seen(self, responses: Iterable[JudgedResponse]) -> Iterator[JudgedResponse]:
        """Records each response and yields it unchanged."""
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
        return next((self.prompt_of[way] for way in origin.prompts if way in self.prompt_of), None)

    def own(self, origins: Iterable[ClaimOrigin]) -> tuple[bool, ...]:
        """Returns, for each labelled claim, whether it belongs to the run and counts in its figures.

        If a response has more labels than claims with the same text, the excess labels do not count. Otherwise the run
        might appear completely labelled.
        """
        taken: Counter[Digest] = Counter()
        found = []
        for origin in origins:
            known = [way for way in origin.claims if self.claims[way]]
            found.append(bool(known) and all(taken[way] < self.claims[way] for way in known))
            taken.update(known)
        return tuple(found)

    def n_judged_otherwise(self, origins: Iterable[ClaimOrigin], verdicts: Iterable[int | None]) -> int:
        """Counts the labelled claims whose verdict differs in the run, for instance because another judge gave it."""
        pairs = zip(origins, verdicts, strict=True)
        return sum(
            any(verdict not in self.verdicts.get(way, {verdict}) for way in origin.claims) for origin, verdict in pairs
        )


def text_of(claim: Claim) -> str:
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
