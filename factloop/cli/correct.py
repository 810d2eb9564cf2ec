"""`factloop correct` checks a text and writes a corrected version."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from factloop.cli.check import Check, print_estimate, read_input, with_leave
from factloop.cli.console import note, run_until_stopped, step
from factloop.cli.demands import exit_code, left_after
from factloop.cli.inputs import file_name
from factloop.cli.options import OUTPUT, Flags, command, taking
from factloop.cli.outputs import STANDARD_OUTPUT, deliver
from factloop.correction.records import Correction, CorrectionSettings, MarkStyle
from factloop.setup.marks import CACHE, CORRECTION, LIMITS, MODEL, PER_CHECK, SCORES, SEARCH, Mark
from factloop.setup.settings import AtLeastOne

WORKING = "Checking, rewriting, checking again"


class Correct(Check):
    """Requirements such as `--fail-under` apply to the corrected text."""

    max_rounds: Annotated[AtLeastOne, Mark(metavar="N")] = 2
    """Maximum number of times to rewrite the text and check it again."""
    out: Annotated[str | None, Mark(OUTPUT, "FILE")] = None
    """Write the corrected text to this file (- for standard output)."""
    marks: Annotated[MarkStyle, Mark(OUTPUT)] = "brackets"
    """How --out and --html mark claims that remain doubtful: in brackets, or with Markdown footnotes that say why."""


@command(taking(CorrectionSettings, CORRECTION, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK, SCORES))
def correct(given: Correct, flags: Flags) -> int:
    outputs = (given.out, given.json_, given.html)
    settings, response = read_input(CorrectionSettings, given, flags, outputs)
    from factloop.correction.views.html import render_correction_html
    from factloop.correction.views.terminal import print_correction
    from factloop.correction.views.words import footnoted, kept_back

    if given.dry_run:
        more = "  This estimate is for one check. A correction also makes a call for each sentence that it rewrites, "
        more += f"and checks the rewritten sentences again, at most {given.max_rounds} times."
        return print_estimate(given, settings, response, more)
    settings = with_leave(given, settings, response)
    kept = settings.model is not None and settings.cache
    correction = run_until_stopped(_correction(given, settings, response), run_dir=given.run_dir, kept=kept)
    show = partial(print_correction, correction)
    page = partial(render_correction_html, correction, file_name(given.answer), given.marks)
    text = partial(footnoted, correction) if given.marks == "footnotes" else lambda: correction.text
    deliver(given, correction, show, page=page, files={given.out: text})
    not_done = kept_back(correction)
    if not_done is not None and (given.quiet or STANDARD_OUTPUT in outputs):  # no printed report mentions it
        note(" ".join(not_done.split()))
    # a text without claims is a success only if the correction removed all claims
    code = exit_code(correction.report, given, may_be_empty=correction.before.counts.scored > 0)
    return left_after(correction.report, code, settings.deadline_s)


async def _correction(given: Correct, settings: CorrectionSettings, response: str) -> Correction:
    from factloop.checking.checker import FactChecker
    from factloop.correction.corrector import Corrector
    from factloop.reports.progress import waiting_in_words
    from factloop.tools.calls.patience import told_of_waits

    async with FactChecker(settings=settings.check_settings) as checker:
        corrector = Corrector(
            checker,
            max_rounds=given.max_rounds,
            contradicted=settings.contradicted,
            unsupported=settings.unsupported,
            unscored=settings.unscored,
        )
        with step(WORKING, quiet=given.quiet) as say_step, told_of_waits(lambda told: say_step(waiting_in_words(told))):
            return await corrector.acorrect(response, given.question, run_dir=given.run_dir)
