"""Finds what is wrong with each passage of a checked response. Guards, agents and tests share these rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from factloop.core.errors import ConfigError
from factloop.core.records import Claim, FactualityReport, NoClaim, Sentence, Verdict


class Finding(StrEnum):
    """What can be wrong with a passage, worst first. All except the first two mean that the passage was not checked."""

    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    """A search found no evidence for or against a claim."""
    UNSCORED = "unscored"
    IRRELEVANT = "irrelevant"
    """A claim was not checked, because it is irrelevant to the question."""
    UNREAD = "unread"
    """Code, or text that the supplied facts do not cover."""
    CLAIM_FREE = "claim_free"
    """No claim was found in the text, although it may state something."""


UNCHECKED = frozenset({Finding.UNSCORED, Finding.IRRELEVANT, Finding.UNREAD, Finding.CLAIM_FREE})


def findings_of_claims(claims: Iterable[Claim]) -> frozenset[Finding]:
    """Returns an empty set if all claims are supported."""
    found = (finding_of_claim(claim) for claim in claims)
    return frozenset(finding for finding in found if finding is not None)


def finding_of_silence(no_claim: NoClaim | None) -> Finding | None:
    """Returns the finding for a passage without claims, or None for headings, questions, opinions and the like."""
    if no_claim in (NoClaim.CODE, NoClaim.NOT_READ):
        return Finding.UNREAD
    return Finding.CLAIM_FREE if no_claim is NoClaim.NO_CLAIM else None


def findings(report: FactualityReport) -> frozenset[Finding]:
    """Returns an empty set if everything that the response states was checked and is supported."""
    silent = (finding_of_silence(one.no_claim) for one in report.claim_free)
    return findings_of_claims(report.claims) | {finding for finding in silent if finding is not None}


def unchecked(report: FactualityReport) -> tuple[tuple[Claim | Sentence, Finding], ...]:
    """The unchecked claims and passages, in order of appearance."""
    found: list[tuple[int, Claim | Sentence, Finding]] = []
    for claim in report.claims:
        finding = finding_of_claim(claim)
        if finding in UNCHECKED:
            found.append((claim.span[0], claim, finding))
    for sentence in report.claim_free:
        silence = finding_of_silence(sentence.no_claim)
        if silence is not None:
            found.append((sentence.span[0], sentence, silence))
    return tuple((one, finding) for _, one, finding in sorted(found, key=lambda item: item[0]))


def has_unproven(report: FactualityReport, passing: Collection[Finding | str] = ()) -> bool:
    """Whether there are findings other than those in `passing`. Raises ConfigError for an unknown finding."""
    return bool(findings(report) - as_findings(passing))


def as_findings(names: Collection[Finding | str]) -> frozenset[Finding]:
    """Raises ConfigError for an unknown name."""
    known = {finding.value: finding for finding in Finding}
    if isinstance(names, str):
        raise ConfigError(f"passing = {names!r}: must be a collection of findings, for example ({names!r},)")
    for name in names:
        if name not in known:
            raise ConfigError(f"passing: unknown finding {str(name)!r}; known findings are {', '.join(known)}")
    return frozenset(known[name] for name in names)


def by_gravity(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """The distinct findings, most serious first."""
    return tuple(sorted(frozenset(found), key=list(Finding).index))


def finding_of_claim(claim: Claim) -> Finding | None:
    """Returns None if the claim is supported."""
    judgement = claim.judgement
    if judgement.verdict is Verdict.NOT_SUPPORTED:
        return Finding.CONTRADICTED if judgement.contradicted else Finding.UNSUPPORTED
    if judgement.verdict is Verdict.IRRELEVANT:
        return Finding.IRRELEVANT
    return Finding.UNSCORED if judgement.verdict is None else None
