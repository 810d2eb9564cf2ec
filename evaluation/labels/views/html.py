"""Claims to label, or disagreements to settle, as one self-contained page that saves what a person says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from factloop.evaluation.labels.disagreements import DrawnDisagreement
from factloop.evaluation.labels.sheets import DrawnClaim
from factloop.reports import labels as labelling
from factloop.reports.claims import ClaimView
from factloop.reports.page import render_page


def render_labels_html(drawn: Sequence[DrawnClaim], *, data: str) -> str:
    """The page, open for labelling with its verdicts hidden. Equal draws give equal pages."""
    told = labelling.labelling_of([one.to_label for one in drawn], begins="blind")
    return _page(
        "labels.html.j2",
        drawn,
        told,
        data=data,
        n_prompts=len({one.to_label.group for one in drawn}),
        judges=sorted({one.to_label.judge for one in drawn}),
    )


def render_disagreements_html(drawn: Sequence[DrawnDisagreement], *, data: str) -> str:
    """The page, open for answers; nothing in it tells the judge's side. Equal draws give equal pages."""
    return _page("disagreements.html.j2", drawn, labelling.settling_of([one.to_settle for one in drawn]), data=data)


def _page(template: str, drawn: Sequence[Any], told: labelling.Labelling, **shown: Any) -> str:
    return render_page(
        template,
        room="factloop.evaluation.labels.views",
        styles=("list.css", *labelling.STYLES),
        scripts=("list.js", *labelling.SCRIPTS),
        labelling=told,
        claims=[(one, ClaimView(one.claim, number), told.rows[number - 1]) for number, one in enumerate(drawn, 1)],
        **shown,
    )
