"""`factloop labels`: sheets for people to fill in, and what their answers come to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import FILLED_IN, STANDARD_OUTPUT, Terminal, refuse_existing, say, try_outputs, write_files
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.core.files.tables import read_rows
from factloop.evaluation.labels.adjudication import adjudicate
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey, draw_disagreements
from factloop.evaluation.labels.exporting import ExportedLabels, export_labels, reports_by_claims
from factloop.evaluation.labels.sheets import SHEET as NEXT_SHEET
from factloop.evaluation.labels.sheets import NextLabels, draw_next, read_pilot
from factloop.evaluation.labels.views.html import render_labels_html
from factloop.evaluation.labels.views.terminal import print_adjudication
from factloop.evaluation.runs.reading import read_run
from factloop.reports.downloads import csv_text
from factloop.reports.figures import plural


@dataclass(frozen=True)
class DisagreeAsk:
    """Arguments of `labels disagree`."""

    run: str
    out: str
    key: str
    n: int
    seed: int
    quiet: bool


@dataclass(frozen=True)
class AdjudicateAsk:
    """Arguments of `labels adjudicate`."""

    claims_hash: str
    key: str
    people_usd: float
    level: float
    json: str | None
    quiet: bool


def run_disagree(ask: DisagreeAsk) -> int:
    """Draws and writes; returns the exit code. Raises FactloopError for wrong input."""
    if STANDARD_OUTPUT in (ask.out, ask.key):
        raise ConfigError("--out and --key are files: who fills in the one shall not see the other")
    try_outputs((ask.out, ask.key), (ask.run,))
    refuse_existing((ask.out,), FILLED_IN)
    refuse_existing((ask.key,), "a sheet that a person filled in may need it")
    with stopped_with("Nothing was written; run the command again.", messages_console()):
        run = read_run(ask.run)
        rows, key = draw_disagreements(
            run.responses(), ask.n, seed=ask.seed, data=run.summary.data, cost_usd=run.summary.usage.cost_usd
        )
        write_files({ask.out: partial(csv_text, SHEET, rows), ask.key: partial(to_json, key)})
    if not ask.quiet:
        drawn = f"{len(rows):,} of {plural(key.n_differing, 'disagreement')} among {key.n_labelled:,} labelled claims"
        say(
            lambda: Terminal().print(f"{drawn}: fill in `answer` (first, second, neither) in {ask.out}", soft_wrap=True)
        )
    return DONE


def run_adjudicate(ask: AdjudicateAsk) -> int:
    """Reads the answers, counts and writes; returns the exit code. Raises FactloopError for wrong input."""
    if not 0.0 < ask.level < 1.0:
        raise ConfigError(f"--level {ask.level:g}: a share between 0 and 1, such as 0.95")
    try_outputs((ask.json,), (ask.claims_hash, ask.key))
    found = adjudicate(read_rows(ask.claims_hash), _key(ask.key), people_usd=ask.people_usd, level=ask.level)
    write_files({ask.json: partial(to_json, found)})
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: print_adjudication(found, Terminal()))
    return DONE


@dataclass(frozen=True)
class NextAsk:
    """Arguments of `labels next`."""

    run: str
    out: str | None
    html: str | None
    labels: str | None
    n: int
    half_width: float | None
    seed: int
    quiet: bool


def run_next(ask: NextAsk) -> int:
    """Draws and writes; returns the exit code. Raises FactloopError for wrong input."""
    if ask.half_width is not None and not 0.0 < ask.half_width < 0.5:
        raise ConfigError(f"--half-width {ask.half_width:g}: above 0 and below 0.5, such as 0.03")
    if ask.out is None and ask.html is None:
        raise ConfigError("name what is to be written: --out for a sheet, --html for a page to label on")
    try_outputs((ask.out, ask.html), (ask.run, ask.labels))
    refuse_existing((ask.out,), FILLED_IN)
    pilot = None if ask.labels is None else read_pilot(ask.labels)
    with stopped_with("Nothing was written; run the command again.", messages_console()):
        run = read_run(ask.run)
        found = draw_next(
            run.responses(), ask.n, data=run.summary.data, seed=ask.seed, pilot=pilot, half_width=ask.half_width
        )
        sheet = partial(csv_text, NEXT_SHEET, [one.row for one in found.drawn])
        write_files({ask.out: sheet, ask.html: partial(render_labels_html, found.drawn, data=run.summary.data)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.out, ask.html):
        say(lambda: Terminal().print("\n".join(_next_words(ask, found)), soft_wrap=True))
    return DONE


def _next_words(ask: NextAsk, found: NextLabels) -> Iterator[str]:
    learnt = f"learnt from {plural(found.n_pilot, 'label')}" if found.n_pilot else "no labels to learn from"
    drawn = f"{len(found.drawn):,} of {plural(found.n_claims, 'claim')} ({learnt})"
    to_do = [f"fill in `label` (1, 0 or agree) in {ask.out}"] if ask.out is not None else []
    to_do += [f"label them on the page {ask.html}"] if ask.html is not None else []
    yield f"{drawn}: {', or '.join(to_do)}"
    if ask.half_width is None:
        return
    if found.n_needed is None:
        yield f"No number of labels gives ±{ask.half_width:g}: the run has too few responses."
    else:
        yield f"About {plural(found.n_needed, 'label')} drawn so give ±{ask.half_width:g} at 95%."


@dataclass(frozen=True)
class ExportAsk:
    """Arguments of `labels export`."""

    sheets: tuple[str, ...]
    out: str
    reports: tuple[str, ...]
    system: str
    quiet: bool


def run_export(ask: ExportAsk) -> int:
    """Writes the labels of sheets and pages; returns the exit code. Raises FactloopError for wrong input."""
    if not ask.system.strip():
        raise ConfigError("--system: a name is needed")
    try_outputs((ask.out,), (*ask.sheets, *ask.reports))
    found = export_labels(ask.sheets, system=ask.system, reports=reports_by_claims(ask.reports))
    write_files({ask.out: lambda: "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found.rows)})
    if not ask.quiet and ask.out != STANDARD_OUTPUT:
        said = "; ".join(_export_words(ask, found))
        say(lambda: Terminal().print(said, soft_wrap=True))
    return DONE


def _export_words(ask: ExportAsk, found: ExportedLabels) -> Iterator[str]:
    how = f" ({found.n_blind:,} given blind, {found.n_seen:,} with the verdict in sight)" if found.n_blind else ""
    yield f"{plural(len(found.rows), 'label')} in {ask.out}{how}"
    if found.n_empty:
        yield f"{plural(found.n_empty, 'claim')} without a label left out"
    for label, n in sorted(found.left_out.items()):
        yield f"{n:,} labelled {label.value.replace('_', ' ')} left out"


def _key(place: str) -> DisagreementKey:
    try:
        return DisagreementKey.model_validate_json(Path(place).read_bytes())
    except (OSError, ValueError) as error:
        why = "is not the key of a sheet" if isinstance(error, ValidationError) else f"cannot be read ({error})"
        raise DataError(f"{why}; name what labels disagree wrote with --key", path=place) from error
