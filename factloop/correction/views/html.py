"""A correction as one self-contained HTML page: the text with insertions and deletions, and the reason of each."""

from __future__ import annotations

from factloop.correction.records import Correction
from factloop.correction.views import words
from factloop.correction.views.differences import parts
from factloop.reports.page import render_page


def render_correction_html(correction: Correction) -> str:
    """The page. Equal corrections give equal pages."""
    before, standing = correction.before, correction.report
    return render_page(
        "correction.html.j2",
        room="factloop.correction.views",
        styles=("list.css", "correction.css"),
        correction=correction,
        parts_of=parts(correction),
        changes=[
            (one, words.claims_of(before, one.claims), words.evidence_of(correction, one)) for one in correction.changes
        ],
        left=[(one, words.claims_of(before, one.claims)) for one in correction.left],
        doubts=[(one, words.claims_of(standing, one.claims)) for one in correction.doubts],
        told=words,
    )
