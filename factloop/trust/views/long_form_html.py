"""A long response as one self-contained HTML page, its sentences marked by what evidence and belief say of them."""

from __future__ import annotations

from factloop.agents.trustscore.records import LongFormTrustReport
from factloop.reports.claims import shared_passages, views_of
from factloop.reports.page import render_page
from factloop.reports.prose import PageStretch, homes, lay_out
from factloop.reports.visible import visible
from factloop.trust.views.html import ROOM, WORDING
from factloop.trust.views.matrix import claim_keys, claim_matrix, standing_filter
from factloop.trust.views.standings import WORST_FIRST, MarkedSentence, sentences
from factloop.trust.views.words import STANDING_SIGNS, STANDING_WORDS


def render_long_form_html(report: LongFormTrustReport) -> str:
    """The page: a table of the four groups that filters the claims, the response, and each claim with its grounds.

    Equal reports give equal pages. Takes time linear in the report.
    """
    stretches, matrix = [_stretch(part) for part in sentences(report)], claim_matrix(report)
    views = views_of([one.claim for one in report.claims])
    insisted, wavering = (head.count for head in matrix.columns)
    return render_page(
        "long_form.html.j2",
        room=ROOM,
        styles=("list.css", "prose.css", "trust.css"),
        scripts=("list.js",),
        report=report,
        matrix=matrix,
        insisted=insisted,
        wavering=wavering,
        groups=[standing_filter(report, standing) for standing in WORST_FIRST],
        prose=lay_out(stretches),
        homes=homes(stretches),
        claims=[
            (one, view, " ".join(claim_keys(one.standing))) for one, view in zip(report.claims, views, strict=True)
        ],
        shared=shared_passages(views),
        **WORDING,
    )


def _stretch(part: MarkedSentence) -> PageStretch:
    text = visible(part.text)
    if not part.claims:
        return PageStretch(text)
    standings = [(number, one.standing) for number, one in part.claims]
    return PageStretch(
        text,
        tuple(number for number, _ in standings),
        part.standing.value,
        tuple((STANDING_SIGNS[standing], standing.value) for _, standing in standings),
        "; ".join(f"claim {number}: {STANDING_WORDS[standing]}" for number, standing in standings),
    )
