"""`factloop check`: reads files and flags, and gives a report and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.checking.checker import FactChecker
from factloop.checking.estimate import estimate, plan_of
from factloop.checking.views.html import render_html
from factloop.checking.views.terminal import print_report
from factloop.cli.demands import left_after, refuse_impossible, scored_exit_code
from factloop.cli.exits import DONE, messages_console, run_until_stopped
from factloop.cli.inputs import read_text
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, price, say, try_outputs, write_files, write_output
from factloop.cli.prompts_of_checks import note_unsent_prompts_of_check
from factloop.cli.self_support import refuse_self_support
from factloop.core.events import CheckFinished, ResponseSplit
from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport
from factloop.entrance.settings_sources import load_settings
from factloop.reports.progress import ProgressDisplay
from factloop.setup.recording import refuse_missing_recording
from factloop.setup.settings import CheckSettings
from factloop.tools.search.build import check_sources

NO_SOURCES = (
    "there is nothing to check against, so every claim will be unscored: give documents (--docs) or a search (--search)"
)
WRITING = "writing the report"
LARGE_PAGE = 5_000
"""Sentences of a response whose page browsers open slowly."""
_KB_A_SENTENCE = 3.3
"""On the page, with its claim: measured on 11,852 sentences of 42 characters and three shared passages each."""


@dataclass(frozen=True)
class Ask:
    """Arguments of the command, beside the settings of the check."""

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
    """Checks and writes the outputs; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(CheckSettings, flags, os.environ, Path.cwd())
    refuse_impossible(ask.fail_under)
    try_outputs((ask.json, ask.html), (ask.answer,), settings=settings, run_dir=ask.run_dir)
    refuse_missing_recording(settings)
    response = read_text(ask.answer)
    refuse_self_support(ask.answer, settings.docs, "--docs")
    note_unsent_prompts_of_check(settings)
    if ask.dry_run:
        return _print_estimate(ask, settings, response)
    kept = settings.model is not None and settings.cache
    report = run_until_stopped(_check(ask, settings, response, messages), messages, run_dir=ask.run_dir, kept=kept)
    _write(ask, report, messages)
    code = scored_exit_code(report, messages, strict=ask.strict, fail_under=ask.fail_under)
    return left_after(report, code, settings.deadline_s)


async def _check(ask: Ask, settings: CheckSettings, response: str, messages: Console) -> FactualityReport:
    async with FactChecker(settings=settings) as checker:
        with ProgressDisplay(messages) as progress:
            async with aclosing(checker.astream(response, ask.prompt, run_dir=ask.run_dir)) as events:
                async for event in events:
                    if isinstance(event, ResponseSplit):
                        for line in _cautions(ask, settings, event.n_sentences):
                            messages.print(f"factloop: {line}", soft_wrap=True)
                    if isinstance(event, CheckFinished):
                        return event.report
                    if not ask.quiet:
                        progress.handle(event)
    raise AssertionError("a check ends with its report")


def _cautions(ask: Ask, settings: CheckSettings, n_sentences: int) -> Iterator[str]:
    """What a reader should know before the check rather than after it."""
    if not settings.docs and not settings.search:
        yield NO_SOURCES
    if ask.html is not None and n_sentences >= LARGE_PAGE:
        megabytes = round(n_sentences * _KB_A_SENTENCE / 1000)
        size = f"the page of {n_sentences:,} sentences takes some {megabytes} MB"
        yield f"--html: {size}, which browsers open slowly; check the text in parts for lighter pages"


def _write(ask: Ask, report: FactualityReport, messages: Console) -> None:
    is_watched = messages.is_terminal and not ask.quiet
    with messages.status(WRITING) if is_watched else nullcontext():  # of a long text a page takes seconds
        write_files({ask.json: partial(to_json, report), ask.html: partial(render_html, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_report(report, Terminal()))


def _print_estimate(ask: Ask, settings: CheckSettings, response: str) -> int:
    check_sources(settings.search, settings.docs)
    result = estimate(settings, response, ask.prompt)
    if ask.json is not None:
        write_output(ask.json, to_json(result))
    if ask.json == STANDARD_OUTPUT:
        return DONE
    lines = (
        f"Nothing was spent. Estimate for plan {plan_of(settings)!r} with {settings.model or 'the offline engine'}:",
        f"  {result.n_sentences} sentences, about {result.n_claims} claims",
        f"  about {result.calls} model calls, {result.searches} searches",
        f"  about {result.prompt_tokens} prompt and {result.completion_tokens} completion tokens",
        f"  {price(result.cost_usd)}",
    )
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE
