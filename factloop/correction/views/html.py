"""Renders a correction as a self-contained HTML page that shows all changes with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.core.report_warnings import OFFLINE
from factloop.correction.records import Correction, MarkStyle
from factloop.correction.views import words
from factloop.correction.views.differences import parts
from factloop.reports.figures import held_against, name_of
from factloop.reports.page import render_page
from factloop.reports.prose import PageStretch, lay_out
from factloop.reports.visible import visible

_SAID = {"removed": "removed", "inserted": "inserted", "mark": "mark"}


def render_correction_html(correction: Correction, file: str = "", marks: MarkStyle = "brackets") -> str:
    """Renders the HTML page. The output is deterministic. `file` is the name of the corrected file."""
    before, standing = correction.before, correction.report
    notes = words.note_numbers(correction) if marks == "footnotes" else ()
    return render_page(
        "correction.html.j2",
        room="factloop.correction.views",
        styles=("list.css", "prose.css", "correction.css"),
        correction=correction,
        name=name_of(before, file),
        file=file,
        against=held_against(before),
        warnings=[one for one in standing.warnings if one != OFFLINE],  # the line about the judge says the same
        prose=lay_out(list(_stretches(correction, notes))),
        notes=notes,
        changes=[
            (one, words.claims_of(before, one.claims), words.evidence_of(correction, one)) for one in correction.changes
        ],
        left=[(one, words.claims_of(before, one.claims)) for one in correction.left],
        doubts=[(one, words.claims_of(standing, one.claims)) for one in correction.doubts],
        told=words,
    )


def _stretches(correction: Correction, notes: Sequence[int]) -> Iterator[PageStretch]:
    """The last piece of a change links to the reason for the change, and each mark to the entry for its passage."""
    n_marks = 0
    for part in parts(correction):
        last = max((at for at, one in enumerate(part.pieces) if one.kind in ("removed", "inserted")), default=None)
        for at, piece in enumerate(part.pieces):
            n_marks += piece.kind == "mark"
            leads_to = n_marks if piece.kind == "mark" else (part.number or 0) if at == last else 0
            text = visible(piece.text)
            before, body, after = text.partition(text.strip()) if piece.kind == "mark" else ("", text, "")
            tone = "" if piece.kind == "same" else piece.kind
            if piece.kind == "mark" and notes:
                before, body = "", f"[{notes[n_marks - 1]}]"
            yield PageStretch(before)
            yield PageStretch(body, tone=tone, said=_SAID.get(piece.kind, ""), leads_to=leads_to)
            yield PageStretch(after)
