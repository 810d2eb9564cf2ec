"""TrustScores as one self-contained HTML page: one answer with its checks, or a list of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from factloop.agents.trustscore.records import TrustFingerprint, TrustReport, TrustRun
from factloop.reports.page import environment, render_page
from factloop.trust.views import figures, words
from factloop.trust.views.matrix import answer_keys, answer_matrix

ROOM = "factloop.trust.views"
WORDING = {"trust": figures, "words": words}
"""The modules that pages of this room take their words from."""
LONGEST_DETAILS = 12_000_000
"""Characters of checks and passages on one page, about those of 500 short answers; a browser still opens it at once."""


def render_trust_html(report: TrustReport | TrustRun, *, longest_details: int = LONGEST_DETAILS) -> str:
    """The page of one answer with its checks and passages, or of a run with a list of answers that can be filtered.

    The details of a large run stop at `longest_details` characters: every answer is listed with its scores, and those
    without details say so. Equal reports give equal pages.
    """
    if isinstance(report, TrustReport):
        return render_page("trust_report.html.j2", room=ROOM, styles=("trust.css",), report=report, **WORDING)
    return render_page(
        "trust_run.html.j2",
        room=ROOM,
        styles=("list.css", "trust.css"),
        scripts=("list.js",),
        run=report,
        matrix=answer_matrix(report.reports),
        answers=[(one, " ".join(answer_keys(one))) for one in report.reports],
        bodies=list(_bodies(report.reports, longest_details)),
        fingerprints=_distinct(report.reports),
        **WORDING,
    )


def _bodies(reports: Sequence[TrustReport], longest: int) -> Iterator[Markup | None]:
    """The details of each answer until they are longer together than that, then None for each."""
    parts = environment(ROOM).get_template("trust_parts.html.j2").make_module(WORDING)
    answer = parts.answer  # type: ignore[attr-defined]
    left = longest
    for report in reports:
        body = answer(report) if left > 0 else None
        left -= len(body) if body is not None else 0
        yield body if left >= 0 else None


def _distinct(reports: Sequence[TrustReport]) -> list[TrustFingerprint]:
    """The distinct fingerprints. All answers of one run usually share theirs."""
    found: list[TrustFingerprint] = []
    for report in reports:
        if report.fingerprint not in found:
            found.append(report.fingerprint)
    return found
