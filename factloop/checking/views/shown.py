"""Shows a report as a self-contained HTML page or in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.checking.views.segments import Segment, segments
from factloop.core.citations import heading
from factloop.core.records import FactualityReport
from factloop.core.report_warnings import NOTHING_TO_CHECK_AGAINST, OFFLINE, is_split
from factloop.reports import figures
from factloop.reports import labels as labelling
from factloop.reports.claims import (
    NO_CLAIM_SYMBOL,
    NO_CLAIM_WORDS,
    READING_ORDER,
    ClaimView,
    Status,
    problems_first,
    shared_passages,
    status_of,
    tally,
    views_of,
    worst,
)
from factloop.reports.faults import faults
from factloop.reports.figures import held_against, name_of, savings_words
from factloop.reports.labels import claims_to_label
from factloop.reports.page import Filter, render_page
from factloop.reports.prose import PageStretch, homes, lay_out
from factloop.reports.terminal_parts import (
    Row,
    notice_rows,
    one_line,
    print_question,
    print_section,
    rows_table,
    usage_rows,
    whole_text,
)
from factloop.reports.visible import visible, web_address


def render_html(report: FactualityReport, file: str = "") -> str:
    """Renders the report as an HTML page, in time linear in its size. The output is deterministic. Without a question,
    the title is `file`, the name of the checked file."""
    views = views_of(report.claims)
    numbers = {one.claim.id: one.number for one in views}
    stretches = [_stretch(part, numbers) for part in segments(report)]
    views, counts = problems_first(views), tally(report.claims)
    return render_page(
        "fact_check.html.j2",
        room="factloop.checking.views",
        styles=("list.css", "prose.css", *labelling.STYLES),
        scripts=("list.js", *labelling.SCRIPTS),
        report=report,
        name=name_of(report, file),
        file=file,
        against=held_against(report),
        worst=views[0].status if views and views[0].is_problem else "",
        warnings=[one for one in report.warnings if one not in (OFFLINE, NOTHING_TO_CHECK_AGAINST)],  # in the header
        numbers=numbers,
        prose=lay_out(stretches),
        homes=homes(stretches),
        labelling=labelling.labelling_of(claims_to_label(report)),
        claims=[(one, f"{one.status} problem" if one.is_problem else one.status.value) for one in views],
        shared=shared_passages(views),
        problems=sum(one.is_problem for one in views),
        filters=[Filter(one.value, one.words, one.symbol, one.value, counts[one]) for one in Status],
        saved=list(savings_words(report.cascade, report.fingerprint.cascade)) if report.cascade is not None else [],
    )


def _stretch(part: Segment, numbers: Mapping[str, int]) -> PageStretch:
    text = visible(part.text)
    if part.no_claim is not None:
        return PageStretch(text, tone="silent", said=NO_CLAIM_WORDS[part.no_claim])
    if not part.claims:
        return PageStretch(text)
    status, named = worst(part.claims), tuple(numbers[claim.id] for claim in part.claims)
    said = f"{status.words}, {'claim' if len(named) == 1 else 'claims'} {', '.join(map(str, named))}"
    leads_to = next(numbers[claim.id] for claim in part.claims if status_of(claim) is status)
    found = faults(text, part.claims, part.table_head)
    in_cells = part.table_head is not None and bool(found)
    marks = () if in_cells else ((status.symbol, status.value),)
    return PageStretch(text, named, status.value, marks, said, found, leads_to, in_cells)


_STYLES = {
    Status.SUPPORTED: "green",
    Status.CONTRADICTED: "bold red",
    Status.NO_EVIDENCE: "yellow",
    Status.UNSCORED: "magenta",
    Status.IRRELEVANT: "dim",
}

_DECIDING = "black on yellow"  # style of the sentence that contradicts a claim
LONGEST_REPEAT = 45  # maximum length of a claim that repeats another claim; the original is shown in full
LONGEST_RATIONALE = 200  # maximum length of a rationale in the terminal; the page shows it in full


def print_report(report: FactualityReport, console: Console) -> None:
    """Prints the report at the width of the console. Markup and escape sequences in the text have no effect."""
    if report.prompt:
        print_question(console, report.prompt)
    print_section(console, "Response", whole_text(map(_sentence, segments(report))))
    views = problems_first(views_of(report.claims))
    reading = [one for one in views if one.needs_reading]
    problems = [one for one in views if one.is_problem and not one.needs_reading]
    others = [one for one in views if not one.is_problem]
    rest = "Other claims" if problems or reading else "Claims"
    for title, claims in (("Problems", problems), ("Needs reading", reading), (rest, others)):
        if claims:
            print_section(console, title, _list(claims))
    print_section(console, "Result", rows_table(_rows(report)))


def _sentence(segment: Segment) -> Text:
    if segment.no_claim is not None:
        return Text(f"{NO_CLAIM_SYMBOL} {visible(segment.text)}", style="dim")
    if not segment.claims:
        return Text(visible(segment.text))
    status, shown = worst(segment.claims), visible(segment.text)
    failing = faults(shown, segment.claims, segment.table_head)
    text = Text(shown, style="" if failing or status is Status.SUPPORTED else _STYLES[status])
    for fault in reversed(failing):
        text.stylize(_STYLES[fault.status], fault.start, fault.end)
        if segment.table_head is not None:
            text = text[: fault.start] + Text(f"{fault.status.symbol} ", _STYLES[fault.status]) + text[fault.start :]
    if segment.table_head is not None and failing:
        return text
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
    if one.claim.duplicate_of is not None:
        same = "another claim" if one.repeats is None else f"claim {one.repeats}"
        return [Text(f"{one_line(one.text, LONGEST_REPEAT)} ") + Text(f"(same as {same})", style="dim")]
    said = f"{one.words}: {visible(one.source_says)}" if one.source_says else one.words
    said = f"{said} ({one.not_counted})" if one.not_counted else said
    lines = [Text(visible(one.text))]
    lines += [] if said == one.words and one.needs_reading else [Text(said, style=_STYLES[one.status])]
    lines += [Text(one_line(one.beside, LONGEST_RATIONALE))] if one.beside else []
    lines += _sources(one)
    if one.stage:
        lines.append(Text(f"{one.stage}: {visible(one.claim.judgement.judged_by)}", style="dim"))
    if is_split(one.claim):
        lines += [Text(one_line(said, LONGEST_RATIONALE), style="dim") for said in one.jury]
    return lines


def _sources(one: ClaimView) -> list[Text]:
    if not one.cited:
        return []
    said = one.marked
    source, section = (one.cited[0], one.cited[0].section) if said is None else (said.source, said.section)
    style = _DECIDING if one.is_problem and one.deciding else "italic"
    lines = [] if said is None else [Text(f"“{one_line(said.text, LONGEST_RATIONALE)}”", style=style)]
    lines += [Text(visible(heading(source.title, section)), style="dim")] if source.title else []
    link = Style(dim=True, link=web_address(source.source))
    place = figures.place_of(source)
    named = " · ".join(filter(None, (source.source.partition("#")[0] if place else source.source, place)))
    return [*lines, Text(visible(named), style=link, no_wrap=True, overflow="ellipsis")]


def _rows(report: FactualityReport) -> list[Row]:
    name, value, basis = figures.main_figure(report)
    rows = [("Claims", _counts(report) if report.claims else Text(f"none. {basis}"))]
    rows += [(name, Text(f"{value}  ({basis}). {figures.how_far(report)}"))] if report.claims else []
    rows += [("Unscored", Text(reason, style=_STYLES[Status.UNSCORED])) for reason in figures.unscored_reasons(report)]
    without = figures.sentences_without_claim(report)
    rows += [(f"{NO_CLAIM_SYMBOL} No claim", Text(f"sentences {without}"))] if without else []
    rows += [(f"F1@{at.k}", Text(f"{at.f1:.2f}  (recall {at.recall:.2f})")) for at in report.at_k]
    rows += [("Core", Text(every))] if (every := figures.every_claim(report)) else []
    if report.citations is not None and report.citations.cited:
        rows.append(("Citations", Text(figures.citations(report.citations))))
    rows += [("Eligible", Text(eligible))] if (eligible := figures.eligibility(report)) else []
    right = f". {figures.how_often_right(report.fingerprint, warns=False)}" if report.claims else ""
    rows.append(("Judge", Text(visible(f"{report.fingerprint.judge}{right}"))))
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
