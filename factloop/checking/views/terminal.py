"""A report on the terminal: the response with its sentences marked, the claims, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.checking.views.segments import Segment, segments
from factloop.core.citations import reason
from factloop.core.headings import heading
from factloop.core.records import Claim, FactualityReport
from factloop.reports import figures
from factloop.reports.deciding import DecidingSentence, cited_evidence, deciding_sentence
from factloop.reports.faults import faults, source_says
from factloop.reports.savings import savings_words
from factloop.reports.status import (
    NO_CLAIM_SYMBOL,
    PROBLEMS,
    READING_ORDER,
    Status,
    problems_first,
    status_of,
    status_words,
    tally,
    worst,
)
from factloop.reports.terminal_parts import WIDE, Row, notice_rows, one_line, print_section, rows_table, usage_rows
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
STAGE_WORDS = {"cheap": "the cheap stage", "model": "the model"}
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
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    layout = _wide_table if console.width >= WIDE else _narrow_table
    for title, claims in _sections(report.claims):
        print_section(console, title, layout(claims, numbers))
    print_section(console, "Result", rows_table(_rows(report)))


def _sections(claims: Sequence[Claim]) -> Iterator[tuple[str, list[Claim]]]:
    """The problems, then the other claims, each under its title."""
    problems = {status_of(claim) in PROBLEMS for claim in claims}
    for is_problem, group in groupby(problems_first(claims), lambda claim: status_of(claim) in PROBLEMS):
        yield ("Problems" if is_problem else "Other claims" if len(problems) > 1 else "Claims"), list(group)


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


def _wide_table(claims: Sequence[Claim], numbers: dict[str, int]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True, header_style="dim")
    table.add_column("#", justify="right", no_wrap=True, style="dim")
    table.add_column("Verdict", ratio=5)
    table.add_column("Claim", ratio=10)
    table.add_column("Evidence", ratio=8)
    for claim in claims:
        verdict = Text(f"{status_of(claim).symbol} ", style=_STYLES[status_of(claim)]) + _verdict(claim)
        repeats = claim.duplicate_of is not None
        statement = Text(one_line(claim.self_contained, LONGEST_REPEAT) if repeats else visible(claim.self_contained))
        table.add_row(str(numbers[claim.id]), verdict, statement, Group(*_grounds(claim, numbers)))
    return table


def _narrow_table(claims: Sequence[Claim], numbers: dict[str, int]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for claim in claims:
        mark = Text(status_of(claim).symbol, style=_STYLES[status_of(claim)])
        table.add_row(str(numbers[claim.id]), mark, Group(*_told(claim, numbers)))
    return table


def _told(claim: Claim, numbers: dict[str, int]) -> list[Text]:
    """The claim, its verdict and the grounds; in one line of a claim that repeats another, whose lines hold for it."""
    grounds = _grounds(claim, numbers)
    if claim.duplicate_of is None:
        return [Text(visible(claim.self_contained)), _verdict(claim), *grounds]
    return [Text(f"{one_line(claim.self_contained, LONGEST_REPEAT)} ") + grounds[0]]


def _verdict(claim: Claim) -> Text:
    """`contradicted: 1836 · the source says 1826`, as far as the judge says so."""
    said = source_says(claim)
    return Text(f"{status_words(claim)}{f': {visible(said)}' if said else ''}", style=_STYLES[status_of(claim)])


def _grounds(claim: Claim, numbers: dict[str, int]) -> list[Text]:
    """Why a claim is a problem, the sentence that decides it, the source; and in a cascade which stage judged it.

    Of a claim that repeats another, only which.
    """
    if claim.duplicate_of is not None:
        number = numbers.get(claim.duplicate_of)
        same = "another claim" if number is None else f"claim {number}"
        return [Text(f"(same as {same})", style="dim")]
    deciding = deciding_sentence(claim)
    lines = [Text(one_line(reason(claim), LONGEST_RATIONALE))] if _needs_reason(claim, deciding) else []
    lines += _sources(claim, deciding)
    if claim.judgement.stage is not None:
        lines.append(Text(f"{STAGE_WORDS[claim.judgement.stage]}: {visible(claim.judgement.judged_by)}", style="dim"))
    return lines


def _needs_reason(claim: Claim, deciding: DecidingSentence | None) -> bool:
    """Whether the rationale of a problem says more than the sentence that decides, and what stands in it otherwise."""
    if status_of(claim) not in PROBLEMS or not claim.judgement.rationale:
        return False
    return deciding is None or not source_says(claim) or deciding.text not in claim.judgement.rationale


def _sources(claim: Claim, deciding: DecidingSentence | None) -> list[Text]:
    """The sentence that decides, where it is known, and the source that it stands in, or the first that is cited."""
    cited = cited_evidence(claim)
    if not cited:
        return []
    source, section = (deciding.evidence, deciding.section) if deciding is not None else (cited[0], cited[0].section)
    style = _DECIDING if status_of(claim) in PROBLEMS else "italic"
    lines = [Text(f"“{one_line(deciding.text, LONGEST_RATIONALE)}”", style=style)] if deciding is not None else []
    lines += [Text(visible(heading(source.title, section)), style="dim")] if source.title else []
    link = Style(dim=True, link=web_address(source.source))
    return [*lines, Text(visible(source.source), style=link, no_wrap=True, overflow="ellipsis")]


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
