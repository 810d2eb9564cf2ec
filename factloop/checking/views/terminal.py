"""A report on the terminal: the response with its sentences marked, the claims, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.checking.views.segments import Segment, segments
from factloop.core.citations import heading
from factloop.core.records import FactualityReport
from factloop.core.report_warnings import is_split
from factloop.reports import figures
from factloop.reports.claims import (
    NO_CLAIM_SYMBOL,
    READING_ORDER,
    ClaimView,
    Status,
    problems_first,
    tally,
    views_of,
    worst,
)
from factloop.reports.faults import faults
from factloop.reports.figures import savings_words
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table, usage_rows
from factloop.reports.visible import visible, web_address

_STYLES = {
    Status.SUPPORTED: "green",
    Status.CONTRADICTED: "bold red",
    Status.NO_EVIDENCE: "yellow",
    Status.UNSCORED: "magenta",
    Status.IRRELEVANT: "dim",
}

_DECIDING = "black on yellow"
"""Of the sentence that speaks against a claim."""
LONGEST_REPEAT = 45
"""Characters of a claim that repeats another, which has it whole."""
LONGEST_RATIONALE = 200
"""Characters of a reason on the terminal; the page has it whole."""


def print_report(report: FactualityReport, console: Console) -> None:
    """Prints the report at the console's width. Texts of the report are printed as text: no markup, no escapes."""
    if report.prompt:
        console.print(Text(visible(report.prompt), style="bold"))
        console.print()
    print_section(console, "Response", _response(report))
    views = problems_first(views_of(report.claims))
    reading = [one for one in views if one.needs_reading]
    problems = [one for one in views if one.is_problem and not one.needs_reading]
    others = [one for one in views if not one.is_problem]
    rest = "Other claims" if problems or reading else "Claims"
    for title, claims in (("Problems", problems), ("Needs reading", reading), (rest, others)):
        if claims:
            print_section(console, title, _list(claims))
    print_section(console, "Result", rows_table(_rows(report)))


def _response(report: FactualityReport) -> Text:
    text = Text()
    for segment in segments(report):
        text.append_text(_sentence(segment))
    text.rstrip()
    return text if text else Text("(empty)", style="dim")


def _sentence(segment: Segment) -> Text:
    if segment.no_claim is not None:
        return Text(f"{NO_CLAIM_SYMBOL} {visible(segment.text)}", style="dim")
    if not segment.claims:
        return Text(visible(segment.text))
    status, shown = worst(segment.claims), visible(segment.text)
    failing = faults(shown, segment.claims, segment.table_head)
    text = Text(shown, style="" if failing else _STYLES[status])
    for fault in failing:
        text.stylize(_STYLES[fault.status], fault.start, fault.end)
    return Text.assemble((f"{status.symbol} ", _STYLES[status]), text)


def _list(claims: Sequence[ClaimView]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for one in claims:
        table.add_row(str(one.number), Text(one.status.symbol, style=_STYLES[one.status]), Group(*_told(one)))
    return table


def _told(one: ClaimView) -> list[Text]:
    """The claim, its verdict and the grounds; in one line of a claim that repeats another, whose lines hold for it."""
    if one.claim.duplicate_of is not None:
        same = "another claim" if one.repeats is None else f"claim {one.repeats}"
        return [Text(f"{one_line(one.text, LONGEST_REPEAT)} ") + Text(f"(same as {same})", style="dim")]
    said = f"{one.words}: {visible(one.source_says)}" if one.source_says else one.words
    lines = [Text(visible(one.text)), Text(said, style=_STYLES[one.status])]
    lines += [Text(one_line(one.why, LONGEST_RATIONALE))] if _needs_reason(one) else []
    lines += _sources(one)
    if one.stage:
        lines.append(Text(f"{one.stage}: {visible(one.claim.judgement.judged_by)}", style="dim"))
    if is_split(one.claim):
        lines += [Text(one_line(said, LONGEST_RATIONALE), style="dim") for said in one.jury]
    return lines


def _needs_reason(one: ClaimView) -> bool:
    """Whether the rationale of a problem says more than the deciding sentence and the words that differ in it."""
    rationale = one.claim.judgement.rationale
    if not one.is_problem or not rationale:
        return False
    if one.deciding is None or one.deciding.text not in rationale:
        return True
    return not one.source_says and not one.needs_reading


def _sources(one: ClaimView) -> list[Text]:
    """The deciding sentence, where it is known, with its source; otherwise the first source that is cited."""
    if not one.cited:
        return []
    deciding = one.deciding
    source = one.cited[0] if deciding is None else deciding.evidence
    section = source.section if deciding is None else deciding.section
    style = _DECIDING if one.is_problem else "italic"
    lines = [] if deciding is None else [Text(f"“{one_line(deciding.text, LONGEST_RATIONALE)}”", style=style)]
    lines += [Text(visible(heading(source.title, section)), style="dim")] if source.title else []
    link = Style(dim=True, link=web_address(source.source))
    named = " · ".join(filter(None, (source.source, figures.place_of(source))))
    return [*lines, Text(visible(named), style=link, no_wrap=True, overflow="ellipsis")]


def _rows(report: FactualityReport) -> list[Row]:
    if report.claims:
        rows = [
            ("Claims", _counts(report)),
            *([("Matched", Text(figures.matched(report)))] if figures.is_partial(report) else []),
            ("Precision", Text(f"{figures.precision(report)}  ({figures.precision_basis(report)})")),
        ]
    else:
        rows = [("Claims", Text(f"none. {figures.precision_basis(report)}"))]
    rows += [("Unscored", Text(reason, style=_STYLES[Status.UNSCORED])) for reason in figures.unscored_reasons(report)]
    without = figures.sentences_without_claim(report)
    rows += [(f"{NO_CLAIM_SYMBOL} No claim", Text(f"sentences {without}"))] if without else []
    rows += [("Repeated", Text(visible(said))) for said in figures.repeated_errors(report)]
    rows += [("", Text(by_error))] if (by_error := figures.precision_by_error(report)) else []
    rows += [(f"F1@{at.k}", Text(f"{at.f1:.2f}  (recall {at.recall:.2f})")) for at in report.at_k]
    if report.citations is not None and report.citations.cited:
        rows.append(("Citations", Text(figures.citations(report.citations))))
    rows.append(("Judge", Text(visible(report.fingerprint.judge))))
    if report.cascade is not None:
        said = savings_words(report.cascade, report.fingerprint.cascade)
        rows += [("Cascade", Text(visible(sentence))) for sentence in said]
    return rows + usage_rows(report.usage) + notice_rows("Warning", report.warnings)


def _counts(report: FactualityReport) -> Text:
    counts = tally(report.claims)
    parts = [
        Text(f"{status.symbol} {counts[status]:,} {status.words}", style=_STYLES[status])
        for status in READING_ORDER
        if counts[status]
    ]
    return Text("  ").join(parts)
