"""Renders TrustScores on a self-contained HTML page: one answer with its checks, many answers, or a long response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from factloop.agents.trustscore.records import (
    ClaimStanding,
    LongFormTrustReport,
    TrustFingerprint,
    TrustReport,
    TrustRun,
)
from factloop.reports.claims import shared_passages, views_of
from factloop.reports.page import Filter, environment, render_page
from factloop.reports.prose import PageStretch, homes, lay_out
from factloop.reports.visible import visible
from factloop.trust.views import figures, words
from factloop.trust.views.figures import WORST_FIRST, MarkedSentence, sentences
from factloop.trust.views.words import STANDING_SIGNS, STANDING_WORDS, Belief, Documents, belief_of, documents_of

ROOM = "factloop.trust.views"
WORDING = {"trust": figures, "words": words}  # the modules that define the wording of these pages
LONGEST_DETAILS = 12_000_000
"""Maximum number of characters of checks and passages on a page: about 500 short answers, which browsers open quickly.
"""


def render_trust_html(report: TrustReport | TrustRun, *, longest_details: int = LONGEST_DETAILS) -> str:
    """Renders a page for one answer with its checks and passages, or for a run with a filterable list of answers.

    In a large run, details are omitted after `longest_details` characters, and each answer without details says so. The
    output is deterministic.
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
    parts = environment(ROOM).get_template("trust_parts.html.j2").make_module(WORDING)
    answer = parts.answer  # type: ignore[attr-defined]
    left = longest
    for report in reports:
        body = answer(report) if left > 0 else None
        left -= len(body) if body is not None else 0
        yield body if left >= 0 else None


def _distinct(reports: Sequence[TrustReport]) -> list[TrustFingerprint]:
    found: list[TrustFingerprint] = []
    for report in reports:
        if report.fingerprint not in found:
            found.append(report.fingerprint)
    return found


def render_long_form_html(report: LongFormTrustReport) -> str:
    """Renders a page with the response, the evidence for each claim, and a table of four groups that filter the claims.
    The output is deterministic, and rendering takes time linear in the size of the report."""
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


@dataclass(frozen=True)
class Matrix:
    """A table's column headers, and its rows, each of which has a header and cells."""

    columns: tuple[Filter, ...]
    rows: tuple[tuple[Filter, tuple[Filter, ...]], ...]


def answer_keys(report: TrustReport) -> tuple[str, str, str]:
    """Returns the filters that show an answer: by belief, by documents, and by both."""
    belief, documents = belief_of(report.trust_bc), documents_of(report.trust_fc)
    return f"belief-{belief}", f"documents-{documents}", f"{belief}-{documents}"


def answer_matrix(reports: Iterable[TrustReport]) -> Matrix:
    """Cross-tabulates belief (rows) and documents, as the paper does for TrustOV. "Unscored" is shown only if used."""
    counts = Counter(key for report in reports for key in answer_keys(report))
    beliefs = [one for one in Belief if one is not Belief.UNSCORED or counts["belief-unscored"]]
    documents = [one for one in Documents if one is not Documents.UNSCORED or counts["documents-unscored"]]
    columns = tuple(_head("documents", one, counts) for one in documents)
    rows = tuple(
        (_head("belief", belief, counts), tuple(_both(belief, one, counts) for one in documents)) for belief in beliefs
    )
    return Matrix(columns, rows)


def _head(axis: str, one: Belief | Documents, counts: Counter[str]) -> Filter:
    key = f"{axis}-{one}"
    return Filter(key, one.words, one.sign, one.value, counts[key])


def _both(belief: Belief, documents: Documents, counts: Counter[str]) -> Filter:
    key, sign = f"{belief}-{documents}", f"{documents.sign}{belief.sign}"
    return Filter(key, f"{belief.words} and {documents.words}", sign, documents.value, counts[key])


def claim_keys(standing: ClaimStanding) -> tuple[str, ...]:
    """Returns the filters that show a claim with this standing: `supported_wavering`, `supported`, `wavering`."""
    return (standing.value, *([] if standing is ClaimStanding.UNPLACED else standing.value.split("_")))


def claim_matrix(report: LongFormTrustReport) -> Matrix:
    """Cross-tabulates evidence (rows) and belief. Claims that are in none of the four groups are omitted."""
    counts: Counter[str] = Counter()
    for standing in ClaimStanding:
        counts.update(dict.fromkeys(claim_keys(standing), report.counts.get(standing, 0)))
    columns = (
        Filter("insisted", "insisted upon", "=", "consistent", counts["insisted"]),
        Filter("wavering", "wavering", "≠", "inconsistent", counts["wavering"]),
    )
    supported = Filter("supported", "supported", "✓", "support", counts["supported"])
    unsupported = Filter("unsupported", "unsupported", "✗", "contradict", counts["unsupported"])
    groups = {standing: standing_filter(report, standing) for standing in ClaimStanding}
    return Matrix(
        columns,
        (
            (supported, (groups[ClaimStanding.SUPPORTED_INSISTED], groups[ClaimStanding.SUPPORTED_WAVERING])),
            (unsupported, (groups[ClaimStanding.UNSUPPORTED_INSISTED], groups[ClaimStanding.UNSUPPORTED_WAVERING])),
        ),
    )


def standing_filter(report: LongFormTrustReport, standing: ClaimStanding) -> Filter:
    count = report.counts.get(standing, 0)
    return Filter(standing.value, STANDING_WORDS[standing], STANDING_SIGNS[standing], standing.value, count)
