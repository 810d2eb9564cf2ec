"""Shows a correction in the terminal: the text with its changes, the reasons for them, and the decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.text import Text

from factloop.core.records import Usage
from factloop.correction.records import Correction
from factloop.correction.views.differences import Mark, parts
from factloop.correction.views.words import (
    KIND_WORDS,
    LEFT_WORDS,
    change_reason,
    changes_words,
    claims_of,
    decision,
    doubted,
    doubts_words,
    evidence_of,
    response_title,
    treatment,
)
from factloop.reports import figures
from factloop.reports.claims import ClaimView
from factloop.reports.differences import Piece
from factloop.reports.terminal_parts import (
    Row,
    notice_rows,
    one_line,
    print_question,
    print_section,
    rows_table,
    usage_rows,
)
from factloop.reports.visible import visible

_MARKS = {
    "same": ("", "", ""),
    "removed": ("[-", "-]", "red strike"),
    "inserted": ("{+", "+}", "green"),
    "mark": ("", "", "yellow"),
}
"""Uses the marks of `wdiff`, because not every terminal shows colours."""


def print_correction(correction: Correction, console: Console) -> None:
    """Prints the correction at the width of the console. Markup and escape sequences in the text have no effect."""
    if correction.before.prompt:
        print_question(console, correction.before.prompt)
    if correction.changes:
        print_section(console, response_title(correction), _marked(correction))
        print_section(console, "Changes", rows_table(_change_lines(correction)))
    if correction.left:
        print_section(console, "Left unchanged", rows_table(_left_lines(correction)))
    if correction.doubts:
        print_section(console, "Still in doubt", rows_table(_doubt_lines(correction)))
    print_section(console, "Result", rows_table(_rows(correction)))


def _marked(correction: Correction) -> Text:
    text = Text()
    for part in parts(correction):
        for piece in part.pieces:
            _append(text, piece)
        if part.number is None:
            continue
        end = text.plain[len(text.plain.rstrip()) :]  # the number directly follows the word
        if end:
            text.right_crop(len(end))
        text.append(f"#{part.number}", style="dim")
        text.append(end)
    text.rstrip()
    return text


def _append(text: Text, piece: Piece | Mark) -> None:
    opening, closing, style = _MARKS[piece.kind]
    body = piece.text.strip()
    if not body:
        text.append(visible(piece.text))
        return
    before, _, after = piece.text.partition(body)
    text.append(visible(before))
    text.append(f"{opening}{visible(body)}{closing}", style=style)
    text.append(visible(after))


def _change_lines(correction: Correction) -> Iterator[tuple[str, Group]]:
    for number, change in enumerate(correction.changes, 1):
        by = f" by {visible(change.by)}" if change.by else ""
        sources = dict.fromkeys(item.title or item.source for item in evidence_of(correction, change))
        shown = [Text(f"evidence: {one_line('; '.join(sources))}", style="dim")] if sources else []
        why = f": {one_line(change_reason(change))}" if change_reason(change) else ""
        head = Text(f"{KIND_WORDS[change.kind]}{by}{why}", style="bold")
        wrong = claims_of(correction.before, change.claims)
        quotes = dict.fromkeys(one.marked.text for one in wrong if one.marked is not None)
        said = [Text(f"“{one_line(quote)}”", style="dim") for quote in quotes]
        yield (f"#{number}", Group(head, *_statuses(wrong), *said, *shown))


def _left_lines(correction: Correction) -> Iterator[tuple[str, Group]]:
    for left in correction.left:
        detail = f" ({one_line(left.detail)})" if left.detail else ""
        wrong = claims_of(correction.before, left.claims)
        yield ("–", Group(Text(f"{LEFT_WORDS[left.reason]}{detail}", style="yellow"), *_statuses(wrong)))


def _doubt_lines(correction: Correction) -> Iterator[tuple[str, Group]]:
    standing = correction.report
    for doubt in correction.doubts:
        head = Text(one_line(doubted(correction, doubt)))
        found = _statuses(claims_of(standing, doubt.claims))
        yield ("?", Group(head, Text(treatment(correction, doubt), style="yellow"), *found))


def _statuses(found: Sequence[ClaimView]) -> list[Text]:
    return [Text(f"{one.status.symbol} {one.words}: {one_line(one.text)}") for one in found]


def _rows(correction: Correction) -> list[Row]:
    rows: list[Row] = [
        ("Decision", Text(visible(decision(correction)), style="bold")),
        ("Changes", Text(changes_words(correction))),
        ("Before", Text(figures.in_a_line(correction.before))),
    ]
    if correction.after is not None:
        rows.append(("After", Text(figures.in_a_line(correction.after))))
    doubts = doubts_words(correction)
    rows += [("In doubt", Text(doubts, style="magenta"))] if doubts else []
    rows.append(("Rewriter", Text(f"{visible(correction.rewriter)}, {figures.plural(correction.rounds, 'round')}")))
    rows.append(("Judge", Text(visible(correction.before.fingerprint.judge))))
    rows += [("First check", _spent(correction.before.usage)), ("Correction", _spent(correction.usage))]
    return rows + notice_rows("Warning", correction.report.warnings)


def _spent(usage: Usage) -> Text:
    spent = usage_rows(usage)
    return Text("; ".join(value.plain if name == "Calls" else f"{name.lower()} {value}" for name, value in spent))
