"""TrustScores on the terminal: one answer with every question asked about it, or a table of many."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.agents.trustscore.records import (
    ConsistencyCheck,
    MeanScore,
    Option,
    OptionKind,
    TrustBC,
    TrustReport,
    TrustRun,
)
from factloop.core.citations import heading, named
from factloop.core.records import Evidence
from factloop.reports import figures
from factloop.reports.terminal_parts import (
    WIDE,
    Row,
    notice_rows,
    one_line,
    print_question,
    print_section,
    rows_table,
    usage_rows,
)
from factloop.reports.visible import visible, web_address
from factloop.trust.views import figures as trust_figures
from factloop.trust.views.words import SOURCE_WORDS, Belief, Documents, belief_of, documents_of

_BELIEF_STYLES = {Belief.CONSISTENT: "cyan", Belief.INCONSISTENT: "bold magenta", Belief.UNSCORED: "yellow"}
_DOCUMENT_STYLES = {
    Documents.SUPPORT: "green",
    Documents.NEUTRAL: "yellow",
    Documents.CONTRADICT: "bold red",
    Documents.UNSCORED: "yellow",
}


def print_trust_report(report: TrustReport, console: Console) -> None:
    """Prints one answer at the console's width: its scores, every check, and the passages cited.

    Texts of the report are printed as text: no markup, no escapes.
    """
    print_question(console, report.question)
    print_section(console, _response_title(report), Text(visible(report.response) or "(empty)"))
    if report.trust_bc.checks:
        print_section(console, "Does the model stand by it?", _check_blocks(report.trust_bc, console.width))
    if report.trust_fc.passages or report.trust_fc.rationale:
        print_section(console, "Do documents support it?", Group(*_grounds(report)))
    print_section(console, "Result", rows_table(_result_rows(report)))


def print_trust_run(run: TrustRun, console: Console) -> None:
    """Prints each answer with its scores, then the means with the number of answers they rest on."""
    if run.reports:
        print_section(console, "Answers", _answers(run.reports))
    print_section(console, "Result", rows_table(_run_rows(run)))


def _response_title(report: TrustReport) -> str:
    return f"Response of {visible(report.answered_by)}" if report.answered_by else "Response"


def _grounds(report: TrustReport) -> Iterator[Text]:
    """Why documents were judged so, the passages cited, and how many others were judged."""
    fc = report.trust_fc
    if fc.rationale:
        yield Text(one_line(named(fc.rationale, fc.passages)))
    cited = [item for item in fc.passages if item.id in fc.cited]
    for item in cited:
        yield from _passage(item)
    others = len(fc.passages) - len(cited)
    if others:
        yield Text(f"{figures.plural(others, 'passage')} judged and not cited", style="dim")


def _passage(item: Evidence) -> Iterator[Text]:
    yield Text()
    yield Text(f"cited: {visible(heading(item.title or item.source, item.section))}", style="bold")
    yield Text(one_line(item.passage))
    if item.title:
        link = Style(dim=True, link=web_address(item.source))
        yield Text(visible(item.source), style=link, no_wrap=True, overflow="ellipsis")


def _result_rows(report: TrustReport) -> list[Row]:
    bc, fc = report.trust_bc, report.trust_fc
    rows = [
        ("TrustOV", _overall(report)),
        ("TrustBC", Text(f"{_belief(report)}  {trust_figures.belief_basis(bc)}", _BELIEF_STYLES[belief_of(bc)])),
    ]
    rows += [("", Text(one_line(bc.rationale)))] if bc.rationale and bc.value is None else []
    rows += [("Graded", Text(graded))] if (graded := trust_figures.graded_words(bc)) else []
    rows.append(("TrustFC", Text(_documents(report), _DOCUMENT_STYLES[documents_of(fc)])))
    spare = trust_figures.spare_checks(bc)
    rows += [("Limit", Text(spare))] if spare else []
    rows.append(("Subject", Text(visible(report.fingerprint.subject_model or "none"))))
    if fc.judged_by:
        rows.append(("Judge", Text(visible(fc.judged_by))))
    notices = notice_rows("Note", bc.notes) + notice_rows("Warning", report.warnings)
    return rows + usage_rows(report.usage) + notices


def _overall(report: TrustReport) -> Text:
    if report.trust_ov.value is None:
        return Text(f"{trust_figures.NOTHING}  {visible(report.trust_ov.missing)}", style="yellow")
    return Text(f"{trust_figures.score(report.trust_ov.value)}  {trust_figures.in_plain_words(report)}", style="bold")


def _belief(report: TrustReport) -> str:
    """`= 1`, `≠ 0`, or `? –`."""
    return f"{belief_of(report.trust_bc).sign} {trust_figures.score(report.trust_bc.value)}"


def _documents(report: TrustReport) -> str:
    documents, basis = documents_of(report.trust_fc), trust_figures.documents_basis(report.trust_fc)
    if documents is Documents.UNSCORED:
        return f"{documents.sign} {trust_figures.NOTHING}  {basis}"
    return f"{documents.sign} {trust_figures.score(report.trust_fc.value)}  {documents.words}, {basis}"


def _answers(reports: tuple[TrustReport, ...]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for number, report in enumerate(reports, 1):
        lines = [
            Text(one_line(report.question), style="dim"),
            Text(one_line(report.response)),
            Text.assemble("TrustBC ", _belief_cell(report)),
            Text.assemble("TrustFC ", _documents_cell(report)),
            Text.assemble("TrustOV ", (trust_figures.score(report.trust_ov.value), "bold")),
        ]
        table.add_row(str(number), Group(*lines))
    return table


def _belief_cell(report: TrustReport) -> Text:
    basis = trust_figures.belief_basis(report.trust_bc)
    return Text(f"{_belief(report)} {basis}", style=_BELIEF_STYLES[belief_of(report.trust_bc)])


def _documents_cell(report: TrustReport) -> Text:
    documents = documents_of(report.trust_fc)
    words = trust_figures.documents_basis(report.trust_fc) if documents is Documents.UNSCORED else documents.words
    return Text(f"{documents.sign} {words}", style=_DOCUMENT_STYLES[documents])


def _run_rows(run: TrustRun) -> list[Row]:
    rows = [("Answers", Text(f"{len(run.reports):,}"))]
    rows += [(name, Text(_mean(mean))) for name, mean in trust_figures.named_means(run.summary)]
    rows += [
        (f"By {SOURCE_WORDS[one.source]}", Text(f"stood by it in {one.consistent:.0%} of {one.n_checks:,} questions"))
        for one in run.summary.by_source
        if one.consistent is not None and len(run.summary.by_source) > 1
    ]
    return rows + usage_rows(run.usage) + notice_rows("Warning", run.warnings)


def _mean(mean: MeanScore) -> str:
    return f"{trust_figures.number(mean.mean)}  {trust_figures.mean_basis(mean)}"


def _check_blocks(bc: TrustBC, width: int) -> Group:
    """All checks of an answer, an empty line between them."""
    blocks = [part for check in bc.checks for part in (_check(check, bc, width), Text())]
    return Group(*blocks[:-1])


def _check(check: ConsistencyCheck, bc: TrustBC, width: int) -> Group:
    """One check: what was chosen, and the options in the order shown, `>` before the one chosen."""
    belief = trust_figures.belief_of_check(check)
    head = Text(f"{belief.sign} Check {check.number}: {trust_figures.choice(check)}", style=_BELIEF_STYLES[belief])
    if not check.counted:
        head.append(" (not counted)", style="dim")
    reply = [Text(f"  It said: {one_line(check.reply)}")] if check.reply else []
    return Group(head, *reply, _options(check, bc, width >= WIDE))


def _options(check: ConsistencyCheck, bc: TrustBC, wide: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True, width=3)
    if check.letter_probabilities is not None:
        table.add_column(no_wrap=True, width=4)
    table.add_column()
    if wide:
        table.add_column(style="dim")
    for option in check.options:
        table.add_row(*_cells(option, check, bc, wide), style="bold" if option.letter == check.chosen else "")
    return table


def _cells(option: Option, check: ConsistencyCheck, bc: TrustBC, wide: bool) -> list[Text | Group]:
    cells: list[Text | Group] = [Text(f"{'>' if option.letter == check.chosen else ' '} {option.letter}")]
    if check.letter_probabilities is not None:
        cells.append(Text(trust_figures.number(check.letter_probabilities.get(option.letter))))
    shown = trust_figures.option_marked(option, check, bc)
    text = Text.assemble(visible(shown.before), (visible(shown.marked), "underline"), visible(shown.after))
    aside = Text(_aside(option, bc), style="dim not bold")
    if wide:
        return [*cells, text, aside]
    return [*cells, Group(text, aside) if aside else text]


def _aside(option: Option, bc: TrustBC) -> str:
    """A note on the origin of an option: the answer under test, or how the distractor was made."""
    if option.kind is OptionKind.RESPONSE:
        return "= the answer"
    made = trust_figures.distractor_of(option, bc)
    return one_line(f"{trust_figures.replacement(made)} ({trust_figures.making(made)})") if made else ""
