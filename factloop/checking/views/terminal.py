"""A report on the terminal: the response with its sentences marked, the claims, and what they add up to."""

from __future__ import annotations

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.checking.views.segments import Segment, segments
from factloop.core.citations import reason
from factloop.core.headings import heading
from factloop.core.records import Claim, FactualityReport
from factloop.reports import figures
from factloop.reports.savings import savings_words
from factloop.reports.status import NO_CLAIM_SYMBOL, READING_ORDER, Status, status_of, status_words, tally, worst
from factloop.reports.terminal_parts import WIDE, Row, notice_rows, print_section, rows_table, usage_rows
from factloop.reports.visible import visible, web_address

_STYLES = {
    Status.SUPPORTED: "green",
    Status.CONTRADICTED: "bold red",
    Status.NO_EVIDENCE: "yellow",
    Status.UNSCORED: "magenta",
    Status.IRRELEVANT: "dim",
}

_EXPLAINED = frozenset({Status.CONTRADICTED, Status.NO_EVIDENCE, Status.UNSCORED})
"""What a reader wants a reason for at once."""
STAGE_WORDS = {"cheap": "the cheap stage", "model": "the model"}
LONGEST_RATIONALE = 200
"""Characters of a reason on the terminal; the page has it whole."""


def print_report(report: FactualityReport, console: Console) -> None:
    """Prints the report at the console's width. Texts of the report are printed as text: no markup, no escapes."""
    if report.prompt:
        console.print(Text(visible(report.prompt), style="bold"))
        console.print()
    print_section(console, "Response", _response(report))
    if report.claims:
        numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
        layout = _wide_table if console.width >= WIDE else _narrow_table
        print_section(console, "Claims", layout(report.claims, numbers))
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
    status = worst(segment.claims)
    return Text(f"{status.symbol} {visible(segment.text)}", style=_STYLES[status])


def _wide_table(claims: tuple[Claim, ...], numbers: dict[str, int]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    table.add_column("#", justify="right", no_wrap=True, style="dim")
    table.add_column("Verdict", ratio=5)
    table.add_column("Claim", ratio=10)
    table.add_column("Evidence", ratio=8)
    for number, claim in enumerate(claims, 1):
        status = status_of(claim)
        verdict = Text(f"{status.symbol} {status_words(claim)}", style=_STYLES[status])
        table.add_row(str(number), verdict, Text(visible(claim.self_contained)), Group(*_grounds(claim, numbers)))
    return table


def _narrow_table(claims: tuple[Claim, ...], numbers: dict[str, int]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for number, claim in enumerate(claims, 1):
        status = status_of(claim)
        lines = [Text(visible(claim.self_contained)), Text(status_words(claim), style=_STYLES[status])]
        mark = Text(status.symbol, style=_STYLES[status])
        table.add_row(str(number), mark, Group(*lines, *_grounds(claim, numbers)))
    return table


def _grounds(claim: Claim, numbers: dict[str, int]) -> list[Text]:
    """The first evidence that the verdict cites, why a claim is not supported, and in a cascade which stage judged it;
    or the claim judged in its place.
    """
    if claim.duplicate_of is not None:
        number = numbers.get(claim.duplicate_of)
        return [Text("same as another claim" if number is None else f"same as claim {number}", style="dim")]
    cited = next((item for item in claim.evidence if item.id in claim.judgement.cited), None)
    lines: list[Text] = []
    if status_of(claim) in _EXPLAINED and claim.judgement.rationale:
        lines.append(Text(_shortened(reason(claim))))
    if cited is not None:
        link = Style(dim=True, link=web_address(cited.source))
        lines += [Text(visible(heading(cited.title, cited.section)), style="dim")] if cited.title else []
        lines.append(Text(visible(cited.source), style=link, no_wrap=True, overflow="ellipsis"))
    if claim.judgement.stage is not None:
        lines.append(Text(f"{STAGE_WORDS[claim.judgement.stage]}: {visible(claim.judgement.judged_by)}", style="dim"))
    return lines


def _shortened(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= LONGEST_RATIONALE else f"{shown[:LONGEST_RATIONALE]}…"


def _rows(report: FactualityReport) -> list[Row]:
    if report.claims:
        rows = [
            ("Claims", _counts(report)),
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
