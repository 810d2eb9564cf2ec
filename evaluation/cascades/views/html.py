"""A tuned cascade as one self-contained HTML page."""

from __future__ import annotations

from factloop.checking.cascade.records import CascadeFile
from factloop.evaluation.cascades.views import words
from factloop.evaluation.cascades.views.curve import draw_cascade_curve
from factloop.reports.page import render_page


def render_cascade_html(cascade: CascadeFile) -> str:
    """The page. Equal cascades give equal pages."""
    tuned = cascade.tuned
    return render_page(
        "cascade.html.j2",
        room="factloop.evaluation.cascades.views",
        styles=("pictures.css", "run.css"),
        cascade=cascade,
        tuned=tuned,
        rows=list(words.rows(cascade)),
        curve=words.curve(tuned.curve if tuned is not None else ()),
        picture=draw_cascade_curve(tuned.curve, stated=tuned.max_error) if tuned is not None else None,
        said=words,
    )
