"""A long response as one self-contained HTML page, its sentences marked by what evidence and belief say of them."""

from __future__ import annotations

from factloop.evaluation.reports.matrix import claim_keys, claim_matrix, standing_cell
from factloop.evaluation.reports.page import render_page
from factloop.evaluation.reports.standings import WORST_FIRST, sentences
from factloop.trust_records import LongFormTrustReport


def render_long_form_html(report: LongFormTrustReport) -> str:
    """The page: a table of the four groups that filters the claims, the response, and each claim with its grounds.

    Equal reports give equal pages. Takes time linear in the report.
    """
    parts = sentences(report)
    return render_page(
        "long_form.html.j2",
        report=report,
        matrix=claim_matrix(report),
        groups=[standing_cell(report, standing) for standing in WORST_FIRST],
        sentences=parts,
        claims=[(one, " ".join(claim_keys(one.standing))) for one in report.claims],
        homes={number: part.claims[0][0] for part in parts for number, _ in part.claims},
        numbers={one.claim.id: number for number, one in enumerate(report.claims, 1)},
    )
