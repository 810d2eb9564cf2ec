"""`factloop check`: from files and flags to a report, and an exit code."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.checker import FactChecker
from factloop.cli.config import load_settings
from factloop.cli.inputs import STANDARD_INPUT, read_text
from factloop.errors import ConfigError
from factloop.estimate import estimate
from factloop.evaluation.reports.html import render_html
from factloop.evaluation.reports.json import to_json, write_atomically
from factloop.evaluation.reports.progress import ProgressDisplay
from factloop.evaluation.reports.terminal import print_report
from factloop.events import CheckFinished
from factloop.records import FactualityReport
from factloop.settings import CheckSettings

DONE, BELOW_THRESHOLD, UNSCORED, INTERRUPTED = 0, 1, 3, 130


@dataclass(frozen=True)
class Ask:
    """What the user asked for, beside the settings of the check."""

    answer: str
    prompt: str | None
    json: str | None
    html: str | None
    run_dir: Path | None
    fail_under: float | None
    dry_run: bool
    strict: bool
    quiet: bool


def run_check(ask: Ask, flags: Mapping[str, Any]) -> int:
    """Checks and writes what was asked for; returns the exit code. Raises FactloopError for wrong input."""
    messages = Console(stderr=True)
    settings = load_settings(flags, os.environ, Path.cwd())
    _try_outputs(ask)
    response = read_text(ask.answer)
    if ask.dry_run:
        return _print_estimate(ask, settings, response)
    try:
        report = asyncio.run(_check(ask, settings, response, messages))
    except KeyboardInterrupt:
        messages.print(_how_to_go_on(ask, settings), markup=False, highlight=False)
        return INTERRUPTED
    _write(ask, report)
    return _exit_code(ask, report, messages)


async def _check(ask: Ask, settings: CheckSettings, response: str, messages: Console) -> FactualityReport:
    async with FactChecker(settings=settings) as checker:
        with ProgressDisplay(messages) as progress:
            async for event in checker.astream(response, ask.prompt, run_dir=ask.run_dir):
                if isinstance(event, CheckFinished):
                    return event.report
                if not ask.quiet:
                    progress.handle(event)
    raise AssertionError("a check ends with its report")


def _try_outputs(ask: Ask) -> None:
    """Finds out before anything is spent whether the outputs can be written."""
    if ask.json == STANDARD_INPUT and ask.html == STANDARD_INPUT:
        raise ConfigError("only one of --json and --html can go to standard output")
    if ask.fail_under is not None and not 0.0 <= ask.fail_under <= 1.0:
        raise ConfigError(f"--fail-under {ask.fail_under:g}: precision is a share between 0 and 1")
    for name in (ask.json, ask.html):
        if name is None or name == STANDARD_INPUT:
            continue
        folder = Path(name).absolute().parent
        if not folder.is_dir():
            raise ConfigError(f"{name}: cannot be written, the folder {folder} does not exist")
        if Path(name).is_dir() or not os.access(folder, os.W_OK):
            raise ConfigError(f"{name}: cannot be written")


def _write(ask: Ask, report: FactualityReport) -> None:
    to_standard_output = STANDARD_INPUT in (ask.json, ask.html)
    for name, render in ((ask.json, to_json), (ask.html, render_html)):
        if name == STANDARD_INPUT:
            sys.stdout.write(render(report))
        elif name is not None:
            write_atomically(Path(name), render(report))
    if not ask.quiet and not to_standard_output:
        print_report(report, Console())


def _exit_code(ask: Ask, report: FactualityReport, messages: Console) -> int:
    if ask.strict and report.counts.unscored:
        messages.print(f"factloop: {report.counts.unscored} claims are unscored (--strict)", highlight=False)
        return UNSCORED
    if ask.fail_under is not None and report.claims and (report.precision or 0.0) < ask.fail_under:
        reached = "undefined" if report.precision is None else f"{report.precision:.3f}"
        messages.print(f"factloop: precision {reached} is below {ask.fail_under:g} (--fail-under)", highlight=False)
        return BELOW_THRESHOLD
    return DONE


def _how_to_go_on(ask: Ask, settings: CheckSettings) -> str:
    if ask.run_dir is not None:
        return f"factloop: stopped. Run the same command again to go on from {ask.run_dir}."
    if settings.model is not None and settings.cache:
        return "factloop: stopped. Answers so far are in the cache: the same command pays only for the rest."
    return "factloop: stopped. With --run-dir FOLDER a stopped run can be resumed."


def _print_estimate(ask: Ask, settings: CheckSettings, response: str) -> int:
    result = estimate(settings, response, ask.prompt)
    if ask.json == STANDARD_INPUT:
        sys.stdout.write(to_json(result))
        return DONE
    if ask.json is not None:
        write_atomically(Path(ask.json), to_json(result))
    cost = (
        "price unknown (give --price-in and --price-out)" if result.cost_usd is None else f"{result.cost_usd:.4f} USD"
    )
    lines = (
        f"Nothing was spent. Estimate for plan {settings.plan!r} with {settings.model or 'the offline engine'}:",
        f"  {result.n_sentences} sentences, about {result.n_claims} claims",
        f"  about {result.calls} model calls, {result.searches} searches",
        f"  about {result.prompt_tokens} prompt and {result.completion_tokens} completion tokens",
        f"  about {cost}",
    )
    Console().print("\n".join(lines), markup=False, highlight=False)
    return DONE
