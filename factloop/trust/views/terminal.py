"""Shows TrustScores in the terminal: one answer with all its checks, many answers, the claims in a long answer, or the
distractors made for an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, Group
from rich.style import Style
from rich.table import Table
from rich.text import Text

from factloop.agents.trustscore.records import (
    ClaimStanding,
    ClaimTrust,
    ConsistencyCheck,
    Distractor,
    DistractorSet,
    LongFormTrustReport,
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
from factloop.reports.claims import ClaimView
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, name, sheet_of, value_cell
from factloop.reports.sheet.terminal import keep_sheet, print_sheet
from factloop.reports.terminal_parts import (
    LONGEST,
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
from factloop.trust.views import figures as trust_figures
from factloop.trust.views.figures import WORST_FIRST, MarkedSentence, sentences
from factloop.trust.views.words import (
    LEVEL_WORDS,
    SOURCE_WORDS,
    STANDING_SIGNS,
    STANDING_WORDS,
    Belief,
    Documents,
    belief_of,
    documents_of,
)

_BELIEF_STYLES = {Belief.CONSISTENT: "cyan", Belief.INCONSISTENT: "bold magenta", Belief.UNSCORED: "yellow"}
_DOCUMENT_STYLES = {
    Documents.SUPPORT: "green",
    Documents.NEUTRAL: "yellow",
    Documents.CONTRADICT: "bold red",
    Documents.UNSCORED: "yellow",
}
_STANDING_STYLES = {
    ClaimStanding.SUPPORTED_INSISTED: "green",
    ClaimStanding.SUPPORTED_WAVERING: "cyan",
    ClaimStanding.UNSUPPORTED_INSISTED: "bold red",
    ClaimStanding.UNSUPPORTED_WAVERING: "magenta",
    ClaimStanding.UNPLACED: "dim",
}


def print_trust_report(report: TrustReport, console: Console) -> None:
    """Prints one answer with its scores, all checks and the cited passages, at the console's width. Markup and escape
    sequences in the text have no effect."""
    keep_sheet(console, answers_sheet([report]))
    print_question(console, report.question)
    title = f"Response of {visible(report.answered_by)}" if report.answered_by else "Response"
    print_section(console, title, Text(visible(report.response) or "(empty)"))
    if report.trust_bc.checks:
        blocks = [part for check in report.trust_bc.checks for part in (_check(check, report.trust_bc), Text())]
        print_section(console, "Does the model stand by it?", Group(*blocks[:-1]))
    if report.trust_fc.passages or report.trust_fc.rationale:
        print_section(console, "Do documents support it?", Group(*_grounds(report)))
    print_section(console, "Result", rows_table(_result_rows(report)))


def print_trust_run(run: TrustRun, console: Console) -> None:
    """Prints each mean with the number of answers that it is based on, and then each answer with its scores."""
    print_sheet(console, means_sheet(run))
    print_sheet(console, answers_sheet(run.reports))
    print_section(console, "Result", rows_table(_run_rows(run)))


def print_long_form(report: LongFormTrustReport, console: Console) -> None:
    """Prints the response, with the signs of its claims before each sentence, and then the claims, worst first."""
    if report.factuality.prompt:
        print_question(console, report.factuality.prompt)
    print_section(console, "Response", whole_text(map(_sentence, sentences(report))))
    print_sheet(console, claims_sheet(report))
    print_section(console, "Result", rows_table(_long_form_rows(report)))


def means_sheet(run: TrustRun) -> Sheet:
    columns: tuple[ColumnOf[tuple[str, MeanScore]], ...] = (
        (name("Score"), lambda one: one[0]),
        (Column("Mean", is_strong=True), lambda one: value_cell(one[1].mean, trust_figures.number)),
        (Column("Answers"), lambda one: one[1].n_scored),
        (Column("Unscored"), lambda one: one[1].n_unscored),
    )
    return sheet_of("Mean TrustScores", columns, trust_figures.named_means(run.summary))


def answers_sheet(reports: Sequence[TrustReport]) -> Sheet:
    """Returns each answer's three scores, with the reason for each missing score."""
    columns: tuple[ColumnOf[TrustReport], ...] = (
        (name("Question"), lambda one: one.question),
        (name("Response"), lambda one: one.response),
        (Column("TrustBC"), lambda one: _score(one.trust_bc.value, trust_figures.belief_basis(one.trust_bc))),
        (Column("TrustFC"), lambda one: _score(one.trust_fc.value, trust_figures.documents_basis(one.trust_fc))),
        (Column("TrustOV"), lambda one: _score(one.trust_ov.value)),
    )
    return sheet_of("TrustScores of each answer", columns, reports)


def claims_sheet(report: LongFormTrustReport) -> Sheet:
    columns: list[ColumnOf[ClaimTrust]] = [
        (
            Column("", is_name=True),
            lambda one: Cell(STANDING_SIGNS[one.standing], style=_STANDING_STYLES[one.standing]),
        ),
        (name("Claim"), lambda one: one.claim.self_contained),
        (name("Verdict"), lambda one: ClaimView(one.claim).words),
        (Column("TrustBC"), lambda one: _score(one.trust_bc.value if one.trust_bc else None)),
        (name("Group"), lambda one: ": ".join(filter(None, (STANDING_WORDS[one.standing], one.why_unplaced)))),
    ]
    if any(one.agreement for one in report.claims):
        columns.append((name("Samples"), lambda one: trust_figures.agreement_basis(one.agreement)))
    worst_first = sorted(report.claims, key=lambda one: WORST_FIRST.index(one.standing))
    return sheet_of("Claims by evidence and by belief", columns, worst_first)


def _score(value: float | None, basis: str = "") -> Cell:
    return value_cell(value, trust_figures.score, basis="" if value is not None else basis)


def _sentence(sentence: MarkedSentence) -> Text:
    if not sentence.claims:
        return Text(visible(sentence.text))
    standings = [one.standing for _, one in sentence.claims]
    signs = Text(" ").join(Text(STANDING_SIGNS[one], style=_STANDING_STYLES[one]) for one in standings)
    return Text.assemble("[", signs, "] ", (visible(sentence.text), _STANDING_STYLES[sentence.standing]))


def _long_form_rows(report: LongFormTrustReport) -> list[Row]:
    rows: list[Row] = [
        (STANDING_SIGNS[standing], Text(f"{count:,} {STANDING_WORDS[standing]}", style=_STANDING_STYLES[standing]))
        for standing in ClaimStanding
        if (count := report.counts.get(standing, 0)) or standing is not ClaimStanding.UNPLACED
    ]
    factuality = report.factuality
    name, value, basis = figures.main_figure(factuality)
    rows += [
        (name, Text(f"{value}  ({basis})")),
        ("Subject", Text(visible(report.fingerprint.subject_model or "none"))),
        ("Judge", Text(visible(factuality.fingerprint.judge))),
    ]
    rows += [(f"TrustBC {name.lower()}", value) for name, value in usage_rows(report.usage)]
    rows += [(f"SAFE {name.lower()}", value) for name, value in usage_rows(factuality.usage)]
    return rows + notice_rows("Warning", (*factuality.warnings, *report.warnings))


def _grounds(report: TrustReport) -> Iterator[Text]:
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
    belief = f"{belief_of(bc).sign} {trust_figures.score(bc.value)}"  # such as `= 1`, `≠ 0`, or `? –`
    rows = [
        ("TrustOV", _overall(report)),
        ("TrustBC", Text(f"{belief}  {trust_figures.belief_basis(bc)}", _BELIEF_STYLES[belief_of(bc)])),
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
        return Text(f"{NOTHING}  {visible(report.trust_ov.missing)}", style="yellow")
    return Text(f"{trust_figures.score(report.trust_ov.value)}  {trust_figures.in_plain_words(report)}", style="bold")


def _documents(report: TrustReport) -> str:
    documents, basis = documents_of(report.trust_fc), trust_figures.documents_basis(report.trust_fc)
    if documents is Documents.UNSCORED:
        return f"{documents.sign} {NOTHING}  {basis}"
    return f"{documents.sign} {trust_figures.score(report.trust_fc.value)}  {documents.words}, {basis}"


def _run_rows(run: TrustRun) -> list[Row]:
    rows = [
        (f"By {SOURCE_WORDS[one.source]}", Text(f"chose its answer in {one.consistent:.0%} of {one.n_checks:,} checks"))
        for one in run.summary.by_source
        if one.consistent is not None and len(run.summary.by_source) > 1
    ]
    return rows + usage_rows(run.usage) + notice_rows("Warning", run.warnings)


def _check(check: ConsistencyCheck, bc: TrustBC) -> Group:
    belief = trust_figures.belief_of_check(check)
    head = Text(f"{belief.sign} Check {check.number}: {trust_figures.choice(check)}", style=_BELIEF_STYLES[belief])
    if not check.counted:
        head.append(" (not counted)", style="dim")
    reply = [Text(f"  It said: {one_line(check.reply)}")] if check.reply else []
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True, width=3)
    table.add_column(no_wrap=True)
    table.add_column()
    for option in check.options:
        table.add_row(*_cells(option, check, bc), style="bold" if option.letter == check.chosen else "")
    return Group(head, *reply, table)


def _cells(option: Option, check: ConsistencyCheck, bc: TrustBC) -> list[Text | Group]:
    shown = trust_figures.option_marked(option, check, bc)
    text = Text.assemble(visible(shown.before), (visible(shown.marked), "underline"), visible(shown.after))
    aside = Text(_aside(option, bc), style="dim not bold")
    given = check.letter_probabilities
    return [
        Text(f"{'>' if option.letter == check.chosen else ' '} {option.letter}"),
        Text("" if given is None else trust_figures.number(given.get(option.letter))),
        Group(text, aside) if aside else text,
    ]


def _aside(option: Option, bc: TrustBC) -> str:
    if option.kind is OptionKind.RESPONSE:
        return "= the answer"
    made = trust_figures.distractor_of(option, bc)
    return one_line(f"{trust_figures.replacement(made)} ({trust_figures.making(made)})") if made else ""


FEWEST = 3  # number of distractors in a question


def print_distractors(distractor_set: DistractorSet, console: Console) -> None:
    """Prints each distractor with the substitute in [brackets], the words that it replaces, and its source."""
    print_question(console, distractor_set.question)
    print_section(console, "Response", Text(visible(distractor_set.response) or "(empty)"))
    if distractor_set.distractors:
        print_section(console, "Distractors", _distractor_list(distractor_set))
    print_section(console, "Result", rows_table(_distractor_rows(distractor_set)))


def _distractor_list(distractor_set: DistractorSet) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for number, one in enumerate(distractor_set.distractors, 1):
        made = f"{trust_figures.replacement(one)} ({trust_figures.making(one)})"
        table.add_row(str(number), Group(_bracketed(one, distractor_set.response), Text(visible(made), style="dim")))
    return table


def _bracketed(distractor: Distractor, response: str) -> Text:
    shown = trust_figures.substituted(distractor, response).near(LONGEST // 2)
    if not shown.marked:
        return Text(visible(shown.before))
    return Text.assemble(visible(shown.before), (f"[{visible(shown.marked)}]", "bold"), visible(shown.after))


def _distractor_rows(distractor_set: DistractorSet) -> list[Row]:
    made = distractor_set.distractors
    rows = [("Distractors", Text(f"{len(made):,} of {distractor_set.wanted:,} wanted"))]
    if len(made) < FEWEST:
        rows.append(("", Text(f"Too few for a question, which shows {FEWEST}.", style="yellow")))
    if made:
        rows.append(("Levels", Text(_tally(LEVEL_WORDS[one.level] for one in made))))
        rows.append(("Sources", Text(_tally(SOURCE_WORDS[one.source] for one in made))))
        rows.append(
            ("Checks", Text(f"{figures.plural(len(made) // FEWEST, 'check')} without showing a distractor twice"))
        )
    rows.append(("Seed", Text(str(distractor_set.seed))))
    if distractor_set.usage is not None:
        rows.append(("Spent", Text(f"{figures.calls(distractor_set.usage)}; {figures.cost(distractor_set.usage)}")))
    return rows + notice_rows("Note", distractor_set.notes)


def _tally(words: Iterable[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in Counter(words).most_common())
