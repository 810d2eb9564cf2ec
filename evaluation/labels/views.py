"""Renders a self-contained page for labelling claims or settling disagreements, and prints adjudications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from factloop.evaluation.labels.adjudication import PAPER_N, Adjudication, WinRate
from factloop.evaluation.labels.disagreements import DrawnDisagreement
from factloop.evaluation.labels.sheets import DrawnClaim
from factloop.reports import labels as labelling
from factloop.reports.claims import ClaimView
from factloop.reports.figures import percent, plural
from factloop.reports.page import render_page
from factloop.reports.terminal_parts import Row, print_section, rows_table
from factloop.reports.visible import visible


def render_labels_html(drawn: Sequence[DrawnClaim], *, data: str) -> str:
    """Renders the page for labelling, which hides the verdicts at first. The output is deterministic."""
    told = labelling.labelling_of([one.to_label for one in drawn], begins=True)
    return _page(
        "labels.html.j2",
        drawn,
        told,
        data=data,
        n_prompts=len({one.to_label.group for one in drawn}),
        judges=sorted({one.to_label.judge for one in drawn}),
    )


def render_disagreements_html(drawn: Sequence[DrawnDisagreement], *, data: str) -> str:
    """Renders the page for the adjudicator, without revealing the judge's side. The output is deterministic."""
    told = labelling.labelling_of([one.to_settle for one in drawn], begins=True, kind="answers")
    return _page("disagreements.html.j2", drawn, told, data=data)


def _page(template: str, drawn: Sequence[Any], told: labelling.Labelling, **shown: Any) -> str:
    return render_page(
        template,
        room="factloop.evaluation.labels",
        styles=("list.css", *labelling.STYLES),
        scripts=("list.js", *labelling.SCRIPTS),
        labelling=told,
        claims=[(one, ClaimView(one.claim, number), told.rows[number - 1]) for number, one in enumerate(drawn, 1)],
        **shown,
    )


def print_adjudication(found: Adjudication, console: Console) -> None:
    """Names are printed literally."""
    print_section(console, "Where the judge and people differ", rows_table(_rows(found)))


def _rows(found: Adjudication) -> Iterator[Row]:
    yield "Judge right", Text(_share(found.judge, found.judge_right))
    yield "People right", Text(_share(found.people, found.people_right))
    yield "Neither", Text(_share(found.neither, found.neither_right))
    yield "Judge, if either was right", Text(_share(found.judge_of_decided, found.judge_right))
    yield "The paper’s SAFE", Text(f"{_share(found.paper, round(PAPER_N * (found.paper.value or 0)))}, Wei et al. 2024")
    basis = f"{found.n_answered:,} answered of {found.n_drawn:,} drawn from {found.n_differing:,} disagreements"
    yield "Basis", Text(f"{basis} among {plural(found.n_labelled, 'labelled claim')} of {visible(found.data)}")
    yield "Intervals", Text(f"{percent(found.level)}, exact (Clopper and Pearson), treating claims as independent")
    yield "Cost per response", Text(_cost(found))


def _share(one: WinRate, wins: int) -> str:
    if one.value is None or one.low is None or one.high is None:
        return f"undefined: {one.why}"
    return f"{one.value:.1%} [{one.low:.1%}, {one.high:.1%}], {wins:,} of {one.n:,}"


def _cost(found: Adjudication) -> str:
    people = f"people ${found.people_usd:,.2f} (assumed)"
    if found.judge_usd is None:
        return f"judge unknown, because the model’s price is unknown; {people}"
    cheaper = "" if found.times_cheaper is None else f": {found.times_cheaper:,.0f} times cheaper"
    return f"judge ${found.judge_usd:,.4f}, calls to models and searches only; {people}{cheaper}"
