"""`factloop check`: from files and flags to a report, and an exit code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.checker import FactChecker
from factloop.cli.exits import BELOW_THRESHOLD, DONE, UNSCORED, messages_console, run_until_stopped
from factloop.cli.inputs import read_text
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files, write_output
from factloop.cli.self_support import refuse_self_support
from factloop.errors import ConfigError
from factloop.estimate import estimate
from factloop.evaluation.reports.fact_check.html import render_html
from factloop.evaluation.reports.fact_check.terminal import print_report
from factloop.evaluation.reports.json import to_json
from factloop.evaluation.reports.progress import ProgressDisplay
from factloop.events import CheckFinished
from factloop.records import FactualityReport
from factloop.settings import CheckSettings
from factloop.settings_sources import load_settings
from factloop.tools.search.build import check_sources


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
    messages = messages_console()
    settings = load_settings(CheckSettings, flags, os.environ, Path.cwd())
    if ask.fail_under is not None and not 0.0 <= ask.fail_under <= 1.0:
        raise ConfigError(f"--fail-under {ask.fail_under:g}: precision is a share between 0 and 1")
    try_outputs((ask.json, ask.html), (ask.answer, *settings.docs))
    response = read_text(ask.answer)
    refuse_self_support(ask.answer, settings.docs, "--docs")
    if ask.dry_run:
        return _print_estimate(ask, settings, response)
    kept = settings.model is not None and settings.cache
    report = run_until_stopped(_check(ask, settings, response, messages), messages, run_dir=ask.run_dir, kept=kept)
    _write(ask, report)
    return _exit_code(ask, report, messages)


async def _check(ask: Ask, settings: CheckSettings, response: str, messages: Console) -> FactualityReport:
    async with FactChecker(settings=settings) as checker:
        with ProgressDisplay(messages) as progress:
            async with aclosing(checker.astream(response, ask.prompt, run_dir=ask.run_dir)) as events:
                async for event in events:
                    if isinstance(event, CheckFinished):
                        return event.report
                    if not ask.quiet:
                        progress.handle(event)
    raise AssertionError("a check ends with its report")


def _write(ask: Ask, report: FactualityReport) -> None:
    write_files({ask.json: partial(to_json, report), ask.html: partial(render_html, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_report(report, Terminal()))


def _exit_code(ask: Ask, report: FactualityReport, messages: Console) -> int:
    if ask.strict and report.counts.unscored:
        messages.print(f"factloop: {report.counts.unscored} claims are unscored (--strict)", soft_wrap=True)
        return UNSCORED
    if ask.fail_under is not None and report.claims and (report.precision or 0.0) < ask.fail_under:
        reached = "undefined" if report.precision is None else f"{report.precision:.3f}"
        messages.print(f"factloop: precision {reached} is below {ask.fail_under:g} (--fail-under)", soft_wrap=True)
        return BELOW_THRESHOLD
    return DONE


def _print_estimate(ask: Ask, settings: CheckSettings, response: str) -> int:
    check_sources(settings.search, settings.docs)
    result = estimate(settings, response, ask.prompt)
    if ask.json is not None:
        write_output(ask.json, to_json(result))
    if ask.json == STANDARD_OUTPUT:
        return DONE
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
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE
