"""A run over a data set on the terminal: each system's scores with their intervals, and what they rest on."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from rich.text import Text

from factloop.evaluation.runs.label_agreement import LabelAgreement
from factloop.evaluation.runs.longform import LongFormScores
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views import sheets
from factloop.evaluation.runs.views.calibration import print_calibration
from factloop.reports.figures import citations, percent, plural, savings_words
from factloop.reports.sheet.terminal import print_sheet, stacked
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table, usage_rows
from factloop.reports.visible import visible


def print_run(summary: RunSummary, console: Console) -> None:
    """Prints the run at the console's width. Names are printed as text: no markup, no escapes."""
    if not summary.scores.systems:
        print_section(console, "Scores", Text("The run holds no responses."))
    _print_scores(console, "Scores", summary.scores)
    if summary.labelled is not None:
        _print_scores(console, "Scores by people's labels", summary.labelled)
    if summary.agreement is not None:
        print_agreement(summary.agreement, console)
    if summary.calibration is not None:
        print_calibration(summary.calibration, console)
    print_sheet(console, sheets.claims(summary.scores))
    print_section(console, "Run", rows_table(_rows(summary)))


def policy(scores: LongFormScores) -> str:
    """What an abstention counts as, with how many there were."""
    n_abstained = sum(system.n_abstained for system in scores.systems)
    return f"{sheets.policy_words(scores.abstention)} ({plural(n_abstained, 'such response')})"


def repeats(summary: RunSummary) -> str:
    """How claims that repeat another count, with how many were left out."""
    n_repeated = sum(system.counts.repeated for system in summary.scores.systems)
    said = sheets.repeats_words(summary.fingerprint.repeats)
    return f"{said} ({plural(n_repeated, 'claim')} left out)" if n_repeated else said


def _print_scores(console: Console, title: str, scores: LongFormScores) -> None:
    whole = sheets.scores_of(scores)
    print_sheet(console, sheets.turned(title, scores), lambda _: stacked(whole), whole=replace(whole, title=title))


def print_agreement(found: LabelAgreement, console: Console) -> None:
    """Prints both tables of agreement with people's labels."""
    figures = sheets.agreement(found)
    shown = figures.turned(figures.title, measure="Measure", value="", interval=sheets.interval_head(found.level))
    print_sheet(console, shown, lambda _: stacked(figures), whole=figures)
    print_sheet(console, sheets.verdicts(found))


def _rows(summary: RunSummary) -> list[Row]:
    scores = summary.scores
    n_prompts = len({line.prompt_id for line in summary.responses})
    basis = f"{plural(len(summary.responses), 'response')} to {plural(n_prompts, 'prompt')}"
    rows = [
        ("Data", Text(f"{visible(summary.data)}: {basis}")),
        ("Abstentions", Text(policy(scores))),
        ("Repeats", Text(repeats(summary))),
        ("Judge", Text(visible(summary.fingerprint.judge))),
    ]
    if scores.n_resamples:
        said = f"{percent(scores.level)}, by {scores.n_resamples:,} resamples of whole prompts"
        few = sheets.few_prompts_of(scores)
        if summary.agreement is not None:
            few = few or sheets.few_prompts_of_labels(summary.agreement)
        rows.append(("Intervals", Text(f"{said}. {few}" if few else said)))
    if summary.cascade is not None:
        saved = savings_words(summary.cascade, summary.fingerprint.cascade)
        rows += [("Cascade", Text(one_line(sentence))) for sentence in saved]
    if summary.citations is not None:
        rows.append(("Citations", Text(citations(summary.citations))))
    return rows + usage_rows(summary.usage) + notice_rows("Warning", summary.warnings)
