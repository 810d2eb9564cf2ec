"""A fact-check as one self-contained HTML page: the response with its sentences marked, and each claim's grounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from factloop.checking.views.segments import Segment, segments
from factloop.core.records import FactualityReport
from factloop.reports import labels as labelling
from factloop.reports.claims import (
    NO_CLAIM_WORDS,
    READING_ORDER,
    ClaimView,
    Status,
    problems_first,
    shared_passages,
    status_of,
    tally,
    views_of,
    worst,
)
from factloop.reports.faults import faults
from factloop.reports.figures import savings_words
from factloop.reports.labels import claims_to_label
from factloop.reports.page import Filter, render_page
from factloop.reports.prose import PageStretch, homes, lay_out
from factloop.reports.visible import visible


def render_html(report: FactualityReport) -> str:
    """The page. Equal reports give equal pages. Takes time linear in the report."""
    views = views_of(report.claims)
    numbers = {one.claim.id: one.number for one in views}
    stretches = [_stretch(part, numbers) for part in segments(report)]
    views = problems_first(views)
    return render_page(
        "fact_check.html.j2",
        room="factloop.checking.views",
        styles=("list.css", "prose.css", *labelling.STYLES),
        scripts=("list.js", *labelling.SCRIPTS),
        report=report,
        prose=lay_out(stretches),
        homes=homes(stretches),
        labelling=labelling.labelling_of(claims_to_label(report)),
        claims=[(one, _filter_keys(one)) for one in views],
        shared=shared_passages(views),
        problems=sum(one.is_problem for one in views),
        verdicts=_verdicts(report, READING_ORDER),
        filters=_verdicts(report, Status),
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


def _filter_keys(one: ClaimView) -> str:
    """The filters that show this claim, separated by spaces."""
    return f"{one.status} problem" if one.is_problem else one.status.value


def _verdicts(report: FactualityReport, order: Iterable[Status]) -> list[Filter]:
    counts = tally(report.claims)
    return [Filter(one.value, one.words, one.symbol, one.value, counts[one]) for one in order]
