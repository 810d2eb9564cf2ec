"""A fact-check as one self-contained HTML page: the response with its sentences marked, and each claim's grounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from factloop.checking.views.segments import Segment, segments
from factloop.core.records import Claim, FactualityReport
from factloop.reports import labelling
from factloop.reports.deciding import shared_passages
from factloop.reports.faults import faults
from factloop.reports.labels import claims_to_label
from factloop.reports.page import render_page
from factloop.reports.page_parts import Filter, PageStretch, homes
from factloop.reports.prose import lay_out
from factloop.reports.savings import savings_words
from factloop.reports.status import (
    NO_CLAIM_WORDS,
    PROBLEMS,
    READING_ORDER,
    REASON_WORDS,
    Status,
    problems_first,
    status_of,
    tally,
    tally_reasons,
    worst,
)
from factloop.reports.visible import visible


def render_html(report: FactualityReport) -> str:
    """The page. Equal reports give equal pages. Takes time linear in the report."""
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    stretches = [_stretch(part, numbers) for part in segments(report)]
    claims = [(numbers[claim.id], claim) for claim in problems_first(report.claims)]
    return render_page(
        "fact_check.html.j2",
        room="factloop.checking.views",
        styles=("list.css", "prose.css", *labelling.STYLES),
        scripts=("list.js", *labelling.SCRIPTS),
        report=report,
        prose=lay_out(stretches),
        homes=homes(stretches),
        numbers=numbers,
        labelling=labelling.labelling_of(claims_to_label(report)),
        claims=[(number, claim, _filter_keys(claim)) for number, claim in claims],
        shared=shared_passages(claims),
        problems=sum(status_of(claim) in PROBLEMS for claim in report.claims),
        verdicts=_verdicts(report, READING_ORDER),
        filters=_verdicts(report, Status),
        reasons=_reasons(report),
        saved=list(savings_words(report.cascade, report.fingerprint.cascade)) if report.cascade is not None else [],
    )


def _stretch(part: Segment, numbers: Mapping[str, int]) -> PageStretch:
    text = visible(part.text)
    if part.no_claim is not None:
        return PageStretch(text, tone="silent", said=NO_CLAIM_WORDS[part.no_claim])
    if not part.claims:
        return PageStretch(text)
    status, named = worst(part.claims), tuple(numbers[claim.id] for claim in part.claims)
    said = f"{status.words}, {'claim' if len(named) == 1 else 'claims'} {', '.join(map(str, named))}"
    leads_to = next(numbers[claim.id] for claim in part.claims if status_of(claim) is status)
    marks = ((status.symbol, status.value),)
    return PageStretch(text, named, status.value, marks, said, faults(text, part.claims, part.table_head), leads_to)


def _filter_keys(claim: Claim) -> str:
    """The filters that show this claim, apart by spaces."""
    status, reason = status_of(claim), claim.judgement.unscored_reason
    keys = [status.value, *(["problem"] if status in PROBLEMS else []), *([] if reason is None else [reason.value])]
    return " ".join(keys)


def _verdicts(report: FactualityReport, order: Iterable[Status]) -> list[Filter]:
    counts = tally(report.claims)
    return [Filter(one.value, one.words, one.symbol, one.value, counts[one]) for one in order]


def _reasons(report: FactualityReport) -> list[Filter]:
    """Why claims are unscored, most frequent reason first."""
    counts = tally_reasons(report.claims).most_common()
    return [Filter(reason.value, REASON_WORDS[reason], "", "unscored", count) for reason, count in counts]
