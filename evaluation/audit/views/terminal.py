"""An audit of evaluators on the terminal: what each may be used for, then the figures behind it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.tables import advice_sheet, groups_of, scope_of, sections_of
from factloop.evaluation.audit.views.words import P_ADJUSTMENTS, notice_text, tests_of, where
from factloop.reports.figures import plural
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible


def print_audit(report: AuditReport, console: Console) -> None:
    """Prints the audit at the console's width, over all data sets together. Names are printed as text: no markup."""
    group = groups_of(report.data)[0]
    print_sheet(console, advice_sheet([one for one in report.advice if one.group == group]))
    for at in report.at:
        console.print(Text(f"At a threshold of {at.threshold:g}, {one_line(where(group))}", style="bold"))
        console.print()
        scope = scope_of(at, group, report.data)
        for section in sections_of(scope):
            for sheet in section.terminal_sheets(scope):
                print_sheet(console, sheet)
    print_section(console, "Result", rows_table(_result_rows(report)))


def _result_rows(report: AuditReport) -> list[Row]:
    data, settings, basis = report.data, report.settings, report.at[0].rates.basis
    prompts = "" if data.n_prompts is None else f" to {plural(data.n_prompts, 'prompt')}"
    several = "over data sets, each with the same weight; by wording and by chunks over all claims together"
    drawn = f"{100 * settings.level:g} %, by {settings.n_resamples:,} resamples of whole {basis.clusters}s"
    rows = {
        "Data": data.name,
        "Claims": f"{data.n_claims:,} in {plural(data.n_responses, 'response')}{prompts}",
        "Data sets": _named(data.datasets),
        "Task groups": _named(data.tasks) if data.tasks else "",
        "Systems": _named(data.systems),
        "Means": "none: there is one data set" if len(data.datasets) == 1 else several,
        "Intervals": f"{drawn} ({basis.n_clusters:,}), seed {settings.seed}" if settings.n_resamples else "none",
        "Tests": f"alpha {settings.alpha:g}, {P_ADJUSTMENTS[settings.p_adjustment]}",
        "Compared": tests_of(report.at[0].rankings),
    }
    return [
        *((name, Text(visible(text))) for name, text in rows.items() if text),
        *(("Left out", Text(visible(notice_text(one)))) for one in report.left_out),
        *notice_rows("Warning", map(notice_text, report.warnings)),
    ]


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{len(names):,}: {shown}" + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
