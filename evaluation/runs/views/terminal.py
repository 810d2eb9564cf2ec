"""A run over a data set on the terminal: each system's scores with their intervals, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.core.records import Counts
from factloop.evaluation.runs.longform_records import KRule, LongFormScores, Mean, SystemScore
from factloop.evaluation.runs.measures import figures_of
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views import words as run_words
from factloop.evaluation.runs.views.agreement_terminal import print_agreement
from factloop.evaluation.runs.views.calibration_terminal import print_calibration
from factloop.reports.figures import percent, plural
from factloop.reports.savings import savings_words
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table, usage_rows
from factloop.reports.visible import visible

WIDE = 90
"""Columns from which each system has one line."""
NARROW = 60
"""Columns below which a measure has lines of its own, so that no number is cut."""


def print_run(summary: RunSummary, console: Console) -> None:
    """Prints the run at the console's width. Names are printed as text: no markup, no escapes."""
    print_section(console, "Scores", _scores(summary.scores, console.width))
    if summary.labelled is not None:
        print_section(console, "Scores by people's labels", _scores(summary.labelled, console.width))
    if summary.agreement is not None:
        print_agreement(summary.agreement, console)
    if summary.calibration is not None:
        print_calibration(summary.calibration, console)
    print_section(console, "Claims", _claims(summary.scores.systems, console.width))
    print_section(console, "Run", rows_table(_rows(summary)))


def policy(scores: LongFormScores) -> str:
    """What an abstention counts as, with how many there were."""
    n_abstained = sum(system.n_abstained for system in scores.systems)
    return f"{run_words.policy_words(scores.abstention)} ({plural(n_abstained, 'such response')})"


def _measures(scores: LongFormScores, system: SystemScore) -> Iterator[tuple[str, Mean]]:
    """`F1@64`, `F1@41 (median)`, `Precision`."""
    rules = {choice.k: f" ({choice.rule})" for choice in scores.ks if choice.rule is not KRule.GIVEN}
    for measure, k, mean in figures_of(system):
        if measure.leads:
            yield f"{measure.heading(k)}{rules.get(k, '') if k is not None else ''}", mean


def _scores(scores: LongFormScores, width: int) -> Table:
    return _narrow_scores(scores) if width < NARROW else _scores_in_columns(scores, width)


def _narrow_scores(scores: LongFormScores) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    for system in scores.systems:
        table.add_row(Text(one_line(system.system)))
        for name, found in _measures(scores, system):
            table.add_row(Text.assemble(f"  {name}  ", (run_words.share(found.value), "bold"), f"  n = {found.n:,}"))
            if found.low is not None:
                interval = f"{percent(scores.level)} {run_words.interval(found.low, found.high)}"
                table.add_row(Text(f"    {interval}", style="dim"))
    return table


def _scores_in_columns(scores: LongFormScores, width: int) -> Table:
    wide = width >= WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("System", overflow="fold")
    table.add_column("Measure", no_wrap=True)
    table.add_column("Mean", justify="right", no_wrap=True, style="bold")
    table.add_column(f"{percent(scores.level)} interval", justify="right", no_wrap=wide)
    table.add_column("n", justify="right", no_wrap=True)
    for system in scores.systems:
        for place, (name, found) in enumerate(_measures(scores, system)):
            shown = one_line(system.system) if place == 0 else ""
            table.add_row(
                Text(shown),
                name,
                run_words.share(found.value),
                run_words.interval(found.low, found.high),
                f"{found.n:,}",
            )
    return table


def _claims(systems: Sequence[SystemScore], width: int) -> Table:
    """Responses and claims of each system, by where they fell."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_header=width >= WIDE)
    table.add_column("System", overflow="fold")
    if width < WIDE:
        table.add_column()
        for one in systems:
            table.add_row(Text(one_line(one.system)), Group(*_claims_in_words(one)))
        return table
    for head in ("Responses", "abstained", "unscored", "Claims", "supported", "not", "irrelevant", "unscored"):
        table.add_column(head, justify="right", no_wrap=True)
    for one in systems:
        numbers = (one.n_responses, one.n_abstained, one.n_unscored_responses, one.counts.total)
        table.add_row(Text(one_line(one.system)), *(f"{number:,}" for number in (*numbers, *_by_verdict(one.counts))))
    return table


def _claims_in_words(system: SystemScore) -> tuple[Text, Text]:
    verdicts = zip(_by_verdict(system.counts), ("supported", "not", "irrelevant", "unscored"), strict=True)
    responses = f"{system.n_abstained:,} abstained, {system.n_unscored_responses:,} unscored"
    claims = ", ".join(f"{number:,} {words}" for number, words in verdicts)
    return (
        Text(f"{plural(system.n_responses, 'response')}: {responses}"),
        Text(f"{plural(system.counts.total, 'claim')}: {claims}"),
    )


def _by_verdict(counts: Counts) -> tuple[int, ...]:
    return counts.supported, counts.not_supported, counts.irrelevant, counts.unscored


def _rows(summary: RunSummary) -> list[Row]:
    scores = summary.scores
    n_prompts = len({line.prompt_id for line in summary.responses})
    basis = f"{plural(len(summary.responses), 'response')} to {plural(n_prompts, 'prompt')}"
    rows = [
        ("Data", Text(f"{visible(summary.data)}: {basis}")),
        ("Abstentions", Text(policy(scores))),
        ("Judge", Text(visible(summary.fingerprint.judge))),
    ]
    if scores.n_resamples:
        said = f"{percent(scores.level)}, by {scores.n_resamples:,} resamples of whole prompts"
        rows.append(("Intervals", Text(said)))
    if summary.cascade is not None:
        saved = savings_words(summary.cascade, summary.fingerprint.cascade)
        rows += [("Cascade", Text(one_line(sentence))) for sentence in saved]
    return rows + usage_rows(summary.usage) + notice_rows("Warning", summary.warnings)
