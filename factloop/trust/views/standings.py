"""The claims of a long response by where evidence and belief put them, in the text and in groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from factloop.agents.trustscore.records import ClaimStanding, ClaimTrust, LongFormTrustReport
from factloop.checking.views.segments import segments
from factloop.core.records import Verdict

WORST_FIRST = (
    ClaimStanding.UNSUPPORTED_INSISTED,
    ClaimStanding.UNSUPPORTED_WAVERING,
    ClaimStanding.SUPPORTED_WAVERING,
    ClaimStanding.UNPLACED,
    ClaimStanding.SUPPORTED_INSISTED,
)
"""The order of groups: what evidence speaks against and the subject insists upon is what a reader must know first."""


@dataclass(frozen=True)
class MarkedSentence:
    """A stretch of the response with the claims made in it and their numbers; none between sentences."""

    text: str
    claims: tuple[tuple[int, ClaimTrust], ...] = ()

    @property
    def standing(self) -> ClaimStanding:
        """The worst of its claims; irrelevant ones decide only where there are no others. ValueError without claims."""
        placed = [one.standing for _, one in self.claims if one.claim.judgement.verdict is not Verdict.IRRELEVANT]
        return worst(placed or [one.standing for _, one in self.claims])


def worst(standings: Iterable[ClaimStanding]) -> ClaimStanding:
    return min(standings, key=WORST_FIRST.index)


def sentences(report: LongFormTrustReport) -> list[MarkedSentence]:
    """The response in order: the texts joined are the response, character by character."""
    numbered = {one.claim.id: (number, one) for number, one in enumerate(report.claims, 1)}
    return [
        MarkedSentence(part.text, tuple(numbered[claim.id] for claim in part.claims))
        for part in segments(report.factuality)
    ]


def group(report: LongFormTrustReport, standing: ClaimStanding) -> list[tuple[int, ClaimTrust]]:
    """The claims of this standing with their numbers, in the order of the response."""
    return [(number, one) for number, one in enumerate(report.claims, 1) if one.standing is standing]
