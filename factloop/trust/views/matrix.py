"""A table of counts by evidence and belief, each cell of which filters a page's list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from factloop.agents.trustscore.records import ClaimStanding, LongFormTrustReport, TrustReport
from factloop.reports.page import Filter
from factloop.trust.views.words import STANDING_SIGNS, STANDING_WORDS, Belief, Documents, belief_of, documents_of


@dataclass(frozen=True)
class Matrix:
    """Heads of the columns, then rows of a head and its cells."""

    columns: tuple[Filter, ...]
    rows: tuple[tuple[Filter, tuple[Filter, ...]], ...]


def answer_keys(report: TrustReport) -> tuple[str, str, str]:
    """The filters that show an answer: its belief, its documents, and both."""
    belief, documents = belief_of(report.trust_bc), documents_of(report.trust_fc)
    return f"belief-{belief}", f"documents-{documents}", f"{belief}-{documents}"


def answer_matrix(reports: Iterable[TrustReport]) -> Matrix:
    """Belief by documents, as in the paper's table of TrustOV; "unscored" only where it occurs."""
    counts = Counter(key for report in reports for key in answer_keys(report))
    beliefs = [one for one in Belief if one is not Belief.UNSCORED or counts["belief-unscored"]]
    documents = [one for one in Documents if one is not Documents.UNSCORED or counts["documents-unscored"]]
    columns = tuple(_head("documents", one, counts) for one in documents)
    rows = tuple(
        (_head("belief", belief, counts), tuple(_both(belief, one, counts) for one in documents)) for belief in beliefs
    )
    return Matrix(columns, rows)


def _head(axis: str, one: Belief | Documents, counts: Counter[str]) -> Filter:
    key = f"{axis}-{one}"
    return Filter(key, one.words, one.sign, one.value, counts[key])


def _both(belief: Belief, documents: Documents, counts: Counter[str]) -> Filter:
    key, sign = f"{belief}-{documents}", f"{documents.sign}{belief.sign}"
    return Filter(key, f"{belief.words} and {documents.words}", sign, documents.value, counts[key])


def claim_keys(standing: ClaimStanding) -> tuple[str, ...]:
    """The filters that show a claim of this standing: `supported_wavering`, `supported`, `wavering`."""
    return (standing.value, *([] if standing is ClaimStanding.UNPLACED else standing.value.split("_")))


def claim_matrix(report: LongFormTrustReport) -> Matrix:
    """Evidence by belief: the four groups. Claims in none of them are not in the table."""
    counts: Counter[str] = Counter()
    for standing in ClaimStanding:
        counts.update(dict.fromkeys(claim_keys(standing), report.counts.get(standing, 0)))
    columns = (
        Filter("insisted", "insisted upon", "=", "consistent", counts["insisted"]),
        Filter("wavering", "wavering", "≠", "inconsistent", counts["wavering"]),
    )
    supported = Filter("supported", "supported", "✓", "support", counts["supported"])
    unsupported = Filter("unsupported", "unsupported", "✗", "contradict", counts["unsupported"])
    groups = {standing: standing_filter(report, standing) for standing in ClaimStanding}
    return Matrix(
        columns,
        (
            (supported, (groups[ClaimStanding.SUPPORTED_INSISTED], groups[ClaimStanding.SUPPORTED_WAVERING])),
            (unsupported, (groups[ClaimStanding.UNSUPPORTED_INSISTED], groups[ClaimStanding.UNSUPPORTED_WAVERING])),
        ),
    )


def standing_filter(report: LongFormTrustReport, standing: ClaimStanding) -> Filter:
    count = report.counts.get(standing, 0)
    return Filter(standing.value, STANDING_WORDS[standing], STANDING_SIGNS[standing], standing.value, count)
