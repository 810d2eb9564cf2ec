"""`factloop correct`: reads files and flags, and gives a text to use and an exit code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.checking.checker import FactChecker
from factloop.cli.check import Ask as Check
from factloop.cli.check import run_check
from factloop.cli.demands import exit_code, left_after, refuse_impossible, scored_exit_code
from factloop.cli.exits import messages_console, run_until_stopped
from factloop.cli.inputs import read_text
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.cli.prompts_of_checks import note_unsent_prompts_of_check
from factloop.cli.self_support import refuse_self_support
from factloop.core.files.json import to_json
from factloop.correction.corrector import Corrector
from factloop.correction.records import Correction
from factloop.correction.settings import CorrectionSettings
from factloop.correction.views.html import render_correction_html
from factloop.correction.views.terminal import print_correction
from factloop.correction.views.words import kept_back
from factloop.entrance.settings_sources import load_settings
from factloop.reports.progress import waiting_in_words
from factloop.reports.visible import visible
from factloop.setup.recording import refuse_missing_recording
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.patience import told_of_waits

WORKING = "Checking, rewriting, checking again"


@dataclass(frozen=True)
class Ask:
    """Arguments of the command, beside the settings of the check."""

    answer: str
    prompt: str | None
    max_rounds: int
    out: str | None
    json: str | None
    html: str | None
    run_dir: Path | None
    fail_under: float | None
    dry_run: bool
    strict: bool
    quiet: bool

    @property
    def outputs(self) -> tuple[str | None, ...]:
        return self.out, self.json, self.html


def run_correct(ask: Ask, flags: Mapping[str, Any]) -> int:
    """Corrects and writes the outputs; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(CorrectionSettings, flags, os.environ, Path.cwd())
    refuse_impossible(ask.fail_under)
    try_outputs(ask.outputs, (ask.answer,), settings=settings, run_dir=ask.run_dir)
    refuse_missing_recording(settings)
    response = read_text(ask.answer)
    refuse_self_support(ask.answer, settings.docs, "--docs")
    if ask.dry_run:
        return _print_estimate(ask, flags)
    note_unsent_prompts_of_check(settings)
    kept = settings.model is not None and settings.cache
    correction = run_until_stopped(
        _correct(ask, settings, response, messages), messages, run_dir=ask.run_dir, kept=kept
    )
    _write(ask, correction, messages)
    # A text of which all claims were taken out was checked; one that had none to begin with was not.
    judged = exit_code if correction.before.counts.scored else scored_exit_code
    code = judged(correction.report, messages, strict=ask.strict, fail_under=ask.fail_under)
    return left_after(correction.report, code, settings.deadline_s)


def _print_estimate(ask: Ask, flags: Mapping[str, Any]) -> int:
    """Prints the estimate of one check, and what may come on top, which depends on what the check finds."""
    check = Check(ask.answer, ask.prompt, ask.json, None, None, None, dry_run=True, strict=False, quiet=ask.quiet)
    code = run_check(check, {name: value for name, value in flags.items() if name in CheckSettings.model_fields})
    if STANDARD_OUTPUT not in ask.outputs:
        most = (
            "A correction makes a call for each sentence to be worded anew, and checks these again, "
            f"{ask.max_rounds} times at most."
        )
        say(lambda: Terminal().print(f"  That is one check. {most}", soft_wrap=True))
    return code


async def _correct(ask: Ask, settings: CorrectionSettings, response: str, messages: Console) -> Correction:
    async with FactChecker(settings=settings.check_settings) as checker:
        corrector = Corrector(
            checker,
            max_rounds=ask.max_rounds,
            unmendable=settings.unmendable,
            unproven=settings.unproven,
            unchecked=settings.unchecked,
        )
        if ask.quiet or not messages.is_terminal:
            return await corrector.acorrect(response, ask.prompt, run_dir=ask.run_dir)
        with messages.status(WORKING) as status, told_of_waits(lambda told: status.update(waiting_in_words(told))):
            return await corrector.acorrect(response, ask.prompt, run_dir=ask.run_dir)


def _write(ask: Ask, correction: Correction, messages: Console) -> None:
    """Writes the outputs. Where no report is printed, one line still says what was not done."""
    write_files(
        {
            ask.out: lambda: correction.text,
            ask.json: partial(to_json, correction),
            ask.html: partial(render_correction_html, correction),
        }
    )
    not_done = kept_back(correction)
    if not ask.quiet and STANDARD_OUTPUT not in ask.outputs:
        say(lambda: print_correction(correction, Terminal()))
    elif not_done is not None:
        messages.print(f"factloop: {visible(' '.join(not_done.split()))}", soft_wrap=True)
