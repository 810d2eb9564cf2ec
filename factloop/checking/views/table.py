"""The claims of a check as CSV, one a row, for spreadsheets."""

from __future__ import annotations

from factloop.core.citations import reason
from factloop.core.records import Claim, FactualityReport
from factloop.reports.downloads import Cell, csv_text
from factloop.reports.status import REASON_WORDS, status_of

COLUMNS = ("number", "claim", "verdict", "unscored_reason", "score", "sentence", "rationale", "sources", "duplicate_of")


def render_csv(report: FactualityReport) -> str:
    """The claims in the order of the report. `sources` are those that the verdict rests on."""
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    return csv_text(COLUMNS, (_row(claim, numbers) for claim in report.claims))


def _row(claim: Claim, numbers: dict[str, int]) -> tuple[Cell, ...]:
    judgement = claim.judgement
    cited = (item.source for item in claim.evidence if item.id in judgement.cited)
    return (
        numbers[claim.id],
        claim.self_contained,
        status_of(claim).words,
        None if judgement.unscored_reason is None else REASON_WORDS[judgement.unscored_reason],
        judgement.score,
        claim.sentence,
        reason(claim),
        "; ".join(dict.fromkeys(cited)),
        None if claim.duplicate_of is None else numbers.get(claim.duplicate_of),
    )
