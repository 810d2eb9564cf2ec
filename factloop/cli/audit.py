"""`factloop audit`: how far evaluators can be trusted, from claims that people labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from rich.console import Console

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.inputs import name_of_data
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.audit.views.html import render_audit_html
from factloop.evaluation.audit.views.terminal import print_audit
from factloop.evaluation.audit.whole import audit
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment


@dataclass(frozen=True)
class AuditAsk:
    """Arguments of the command."""

    predictions: str
    evaluators: tuple[str, ...]
    """Evaluators to audit; empty for all."""
    threshold: float | None
    alpha: float
    p_adjustment: PValueAdjustment
    resamples: int
    level: float
    seed: int
    systems: tuple[str, ...]
    """Groups of systems, each `GROUP=SYSTEM,SYSTEM`."""
    json: str | None
    html: str | None
    quiet: bool


def run_audit(ask: AuditAsk) -> int:
    """Reads, audits and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    try_outputs((ask.json, ask.html), (ask.predictions,))
    with stopped_with("It costs nothing to run it again.", messages), _steps(messages, ask) as say_step:
        say_step("reading")
        name = name_of_data(ask.predictions)
        table = _chosen(load_predictions(ask.predictions), ask)
        say_step(f"auditing {table.n_rows:,} claims by {len(table.scores):,} evaluators")
        report = _audited(table, name, ask)
        say_step("writing")
        write_files({ask.json: partial(to_json, report), ask.html: partial(render_audit_html, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_audit(report, Terminal()))
    return DONE


@contextmanager
def _steps(messages: Console, ask: AuditAsk) -> Iterator[Callable[[str], None]]:
    """Shows the current step on a terminal, and leaves nothing behind."""
    if ask.quiet or not messages.is_terminal:
        yield lambda _: None
        return
    with messages.status("") as status:
        yield status.update


def _chosen(table: PredictionTable, ask: AuditAsk) -> PredictionTable:
    if not ask.evaluators:
        return table
    unknown = [name for name in ask.evaluators if name not in table.scores]
    if unknown:
        raise ConfigError(
            f"{ask.predictions}: no scores of {', '.join(unknown)}; there are those of {', '.join(table.scores)}"
        )
    return replace(table, scores={name: scores for name, scores in table.scores.items() if name in ask.evaluators})


def _audited(table: PredictionTable, name: str, ask: AuditAsk) -> AuditReport:
    return audit(
        table,
        name=name,
        created_at=datetime.now(UTC),
        threshold=ask.threshold,
        alpha=ask.alpha,
        p_adjustment=ask.p_adjustment,
        resamples=ask.resamples,
        level=ask.level,
        seed=ask.seed,
        system_groups=_groups(ask.systems, table),
    )


def _groups(given: Sequence[str], table: PredictionTable) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    known = [name for name in table.system.names if name != UNKNOWN_SYSTEM]
    for one in given:
        name, mark, systems = one.partition("=")
        names = tuple(filter(None, (system.strip() for system in systems.split(","))))
        if not (name and mark and names):
            raise ConfigError(f"--systems {one}: it is GROUP=SYSTEM,SYSTEM")
        if name in groups:
            raise ConfigError(f"--systems names {name!r} twice")
        unknown = [system for system in names if system not in known]
        if unknown:
            there = ", ".join(known)
            raise ConfigError(f"--systems {one}: no claims of {', '.join(unknown)}; there are those of {there}")
        groups[name] = names
    return groups
