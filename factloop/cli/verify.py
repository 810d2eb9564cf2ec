"""`factloop verify`: reads pairs of claim and document, and gives the scores that an audit reads and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.cli.exits import DONE, UNSCORED, messages_console, run_until_stopped
from factloop.cli.inputs import STANDARD_INPUT
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.cli.watching import watched
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.datasets.folder import find_part
from factloop.evaluation.datasets.mapping import ColumnMapping
from factloop.evaluation.verification.records import VerifierSummary, VerifyRun
from factloop.evaluation.verification.rows import load_dataset_pairs, load_pairs
from factloop.evaluation.verification.run import VerifyRequest, astream_verify
from factloop.evaluation.verification.settings import VerifySettings
from factloop.evaluation.verification.spool import PlacedRow
from factloop.reports import figures
from factloop.reports.sheet.table import Cell, Column, ColumnOf, sheet_of, value_cell
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.visible import visible
from factloop.tools.verifiers.build import PROMPTED, parse_spec


@dataclass(frozen=True)
class VerifyAsk:
    """Arguments of the command, beside the settings of the run."""

    pairs: str | None
    dataset: str | None
    data: str | None
    documents: str | None
    verifiers: tuple[str, ...]
    out: str
    chunk_words: tuple[int, ...]
    columns: tuple[str, ...]
    constants: tuple[str, ...]
    labels: tuple[str, ...]
    limit: int | None
    download: bool
    json: str | None
    strict: bool
    quiet: bool


def run_verify(ask: VerifyAsk, flags: Mapping[str, Any]) -> int:
    """Scores and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(VerifySettings, flags, os.environ, Path.cwd())
    rows, place, dataset = _input(ask)
    if ask.out == STANDARD_OUTPUT:
        raise ConfigError("--out names a file: a run goes on from it")
    wanted = VerifyRequest(
        verifiers=ask.verifiers,
        out=Path(ask.out),
        data=place,
        default_dataset=dataset,
        chunk_words=ask.chunk_words,
        limit=ask.limit,
        allow_download=ask.download,
    )
    try_outputs((ask.out, ask.json), (place, ask.documents), settings=settings, run_dir=wanted.folder)
    prompted = [name for name in ask.verifiers if parse_spec(name).kind == PROMPTED]
    note_unsent_prompts(settings.prompts, prompted, remedy=f"--verifier {PROMPTED}:PROVIDER:NAME")
    work = watched(astream_verify(rows, wanted, settings), "pair", messages, quiet=ask.quiet)
    run = run_until_stopped(work, messages, run_dir=wanted.out, kept=True)
    if ask.json is not None:
        write_output(ask.json, to_json(run))
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: print_verify_run(run, ask.out, Terminal()))
    for warning in run.warnings if not ask.quiet else ():
        messages.print(f"factloop: {visible(warning)}", soft_wrap=True)
    return UNSCORED if ask.strict and any(one.unscored for one in run.evaluators) else DONE


def _input(ask: VerifyAsk) -> tuple[Iterator[PlacedRow], str, str]:
    """The rows, the file that they are read from, and the data set of rows that name none."""
    if (ask.pairs is None) == (ask.dataset is None):
        raise ConfigError("give a file of pairs, or a data set with --dataset NAME:PART")
    if ask.dataset is not None:
        if ask.columns or ask.constants or ask.labels:
            raise ConfigError("--column, --constant and --label go with a file of pairs; a data set has its own")
        name, _, part = ask.dataset.partition(":")
        place = find_part(name, part, ask.data)
        return load_dataset_pairs(name, part, place, ask.documents), str(place), name
    assert ask.pairs is not None
    if ask.data is not None:
        raise ConfigError("--data goes with --dataset; the file of pairs comes first")
    if ask.documents is not None:
        raise ConfigError("--documents goes with --dataset; a file of pairs has its own")
    mapping = ColumnMapping(
        columns=_named(ask.columns, "--column"),
        constants=_named(ask.constants, "--constant"),
        labels=_labels(ask.labels),
    )
    name = "pairs" if ask.pairs == STANDARD_INPUT else Path(ask.pairs).stem
    return load_pairs(ask.pairs, mapping), ask.pairs, name or "pairs"


def _named(given: Sequence[str], flag: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise ConfigError(f"{flag} {text!r}: write FIELD=VALUE")
        if name in found:
            raise ConfigError(f"{flag} names {name!r} twice")
        found[name] = value
    return found


def _labels(given: Sequence[str]) -> dict[str, int]:
    found = _named(given, "--label")
    wrong = next((name for name, value in found.items() if value not in ("0", "1")), None)
    if wrong is not None:
        raise ConfigError(f"--label {wrong}={found[wrong]}: a label is 0 or 1")
    return {name: int(value) for name, value in found.items()}


def print_verify_run(run: VerifyRun, out: str, terminal: Console) -> None:
    """Prints how far each verifier got, and what it cost."""
    columns: tuple[ColumnOf[VerifierSummary], ...] = (
        (Column("Verifier", is_name=True), lambda one: one.name),
        (Column("Scored"), lambda one: one.n_scored),
        (Column("Supported"), lambda one: value_cell(one.share_supported, "{:.1%}".format)),
        (Column("Unscored"), lambda one: Cell(f"{sum(one.unscored.values()):,}", note=_reasons(one))),
    )
    print_sheet(terminal, sheet_of("Verifiers", columns, run.evaluators))
    labelled = "all with a label" if run.n_labelled == run.n_pairs else f"{run.n_labelled:,} with a label"
    terminal.print(f"{figures.plural(run.n_pairs, 'pair')} ({labelled}) in {visible(out)}", soft_wrap=True)
    if run.usage.calls or run.usage.failed_calls:
        tokens = f"{run.usage.prompt_tokens:,} + {run.usage.completion_tokens:,} tokens"
        failed = f", {run.usage.failed_calls:,} failed" if run.usage.failed_calls else ""
        terminal.print(f"{figures.plural(run.usage.calls, 'call')}{failed}, {tokens}, {figures.cost(run.usage)}")


def _reasons(one: VerifierSummary) -> str:
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in one.unscored.items())
