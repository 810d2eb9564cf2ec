"""A fact-check as one self-contained HTML page: the response with its sentences marked, and each claim's grounds."""

from __future__ import annotations

from collections.abc import Mapping

from factloop.checking.views.segments import Segment, segments
from factloop.core.records import Claim, FactualityReport
from factloop.reports.page import render_page
from factloop.reports.page_parts import Filter, PageStretch, homes
from factloop.reports.savings import savings_words
from factloop.reports.status import NO_CLAIM_WORDS, READING_ORDER, REASON_WORDS, status_of, tally, tally_reasons, worst


def render_html(report: FactualityReport) -> str:
    """The page. Equal reports give equal pages. Takes time linear in the report."""
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    stretches = [_stretch(part, numbers) for part in segments(report)]
    return render_page(
        "fact_check.html.j2",
        room="factloop.checking.views",
        styles=("list.css",),
        scripts=("list.js",),
        report=report,
        stretches=stretches,
        homes=homes(stretches),
        numbers=numbers,
        claims=[(claim, _filter_keys(claim)) for claim in report.claims],
        verdicts=_verdicts(report),
        reasons=_reasons(report),
        saved=list(savings_words(report.cascade, report.fingerprint.cascade)) if report.cascade is not None else [],
    )


def _stretch(part: Segment, numbers: Mapping[str, int]) -> PageStretch:
    if part.no_claim is not None:
        return PageStretch(part.text, tone="silent", said=NO_CLAIM_WORDS[part.no_claim])
    if not part.claims:
        return PageStretch(part.text)
    status, named = worst(part.claims), tuple(numbers[claim.id] for claim in part.claims)
    said = f"{status.words}, {'claim' if len(named) == 1 else 'claims'} {', '.join(map(str, named))}"
    return PageStretch(part.text, named, status.value, ((status.symbol, status.value),), said)


def _filter_keys(claim: Claim) -> str:
    """The filters that show this claim, apart by spaces."""
    reason = claim.judgement.unscored_reason
    status = status_of(claim).value
    return status if reason is None else f"{status} {reason.value}"


def _verdicts(report: FactualityReport) -> list[Filter]:
    counts = tally(report.claims)
    return [Filter(one.value, one.words, one.symbol, one.value, counts[one]) for one in READING_ORDER]


def _reasons(report: FactualityReport) -> list[Filter]:
    """Why claims are unscored, most frequent reason first."""
    counts = tally_reasons(report.claims).most_common()
    return [Filter(reason.value, REASON_WORDS[reason], "", "unscored", count) for reason, count in counts]
