"""`factloop check` reports which claims in a text are supported."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

from factloop.cli.console import DONE, messages_console, note, run_until_stopped, step
from factloop.cli.demands import exit_code, left_after
from factloop.cli.inputs import file_name, read_text, refuse_missing, refuse_self_support
from factloop.cli.options import ARGUMENT, Estimated, Flags, Judged, command, taking
from factloop.cli.outputs import deliver, price, show_lines, try_outputs
from factloop.cli.preparing import agreed, note_unsent_prompts_of_check, with_leave_to_fetch
from factloop.core.errors import DataError
from factloop.core.events import CheckFinished, ResponseSplit
from factloop.core.records import FactualityReport
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, RECORDING, SCORES, SEARCH, Mark
from factloop.setup.settings import CheckSettings

if TYPE_CHECKING:
    from factloop.checking.estimate import Estimate

NO_SOURCES = "there is nothing to check against, so every claim will be unscored: use --docs or --search"
LONGEST_UNASKED = 500_000  # maximum length, in characters, of a text to check without a limit or a question

S = TypeVar("S", bound=CheckSettings)


class Check(Judged):
    answer: Annotated[str, Mark(ARGUMENT, "ANSWER")]
    """File that contains the text to check (- for standard input)."""
    question: str | None = None
    """The question that the text answers."""
    yes: Annotated[bool, Mark(LIMITS)] = False
    """Check even texts of more than 500,000 characters without asking."""


@command(taking(CheckSettings, MODEL, SEARCH, LIMITS, CACHE, PER_CHECK, SCORES, RECORDING))
def check(given: Check, flags: Flags) -> int:
    settings, response = read_input(CheckSettings, given, flags, given.written)
    from factloop.checking.views.shown import print_report, render_html

    if given.dry_run:
        return print_estimate(given, settings, response)
    settings = with_leave(given, settings, response)
    kept = settings.model is not None and settings.cache
    report = run_until_stopped(_report(given, settings, response), run_dir=given.run_dir, kept=kept)
    with step("writing the report", quiet=given.quiet):  # a page for a long text takes seconds to render
        page = partial(render_html, report, file_name(given.answer))
        deliver(given, report, partial(print_report, report), page=page)
    return left_after(report, exit_code(report, given), settings.deadline_s)


def read_input(kind: type[S], given: Check, flags: Flags, outputs: Sequence[str | None]) -> tuple[S, str]:
    """The settings and the text to check. Raises FactloopError for invalid input."""
    refuse_missing(given.answer, flags.get("docs"))
    from factloop.setup.recording import refuse_missing_recording

    settings = load_settings(kind, flags)
    try_outputs(outputs, (given.answer,), settings=settings, run_dir=given.run_dir)
    refuse_missing_recording(settings)
    response = read_text(given.answer)
    refuse_self_support(given.answer, settings.docs, "--docs")
    note_unsent_prompts_of_check(settings)
    return settings, response


def with_leave(given: Check, settings: S, response: str) -> S:
    """Asks before a very long check or a download. Raises DataError or ConfigError unless the user agrees."""
    is_limited = any(limit is not None for limit in (settings.deadline_s, settings.max_calls, settings.budget_usd))
    if len(response) > LONGEST_UNASKED and not (given.yes or is_limited):
        found = _estimate(given, settings, response)
        cost = f"{plural(found.calls, 'model call')}, {price(found.cost_usd)}"
        said = f"the text has {len(response):,} characters, about {plural(found.n_claims, 'claim')} ({cost})"
        if not agreed(f"{given.answer}: {said}.", "Check all of it?"):
            remedy = "use --yes to check all of it, or set --deadline, --max-calls or --budget-usd"
            raise DataError(f"{said}: {remedy}", path=given.answer)
    return with_leave_to_fetch(settings)


async def _report(given: Check, settings: CheckSettings, response: str) -> FactualityReport:
    from factloop.checking.checker import FactChecker
    from factloop.reports.progress import ProgressDisplay

    async with FactChecker(settings=settings) as checker:
        with ProgressDisplay(messages_console(), len(response)) as progress:
            async with aclosing(checker.astream(response, given.question, run_dir=given.run_dir)) as events:
                async for event in events:
                    if isinstance(event, ResponseSplit) and not settings.docs and not settings.search:
                        note(NO_SOURCES)
                    if isinstance(event, CheckFinished):
                        return event.report
                    if not given.quiet:
                        progress.handle(event)
    raise AssertionError("the check ended without a report")


def print_estimate(given: Check, settings: CheckSettings, response: str, more: str | None = None) -> int:
    """Prints the estimated cost of a check, followed by `more`. Makes no calls. Returns the exit code."""
    from factloop.checking.preparing import plan_of

    found = _estimate(given, settings, response)
    return deliver_estimate(given, found, f"plan {plan_of(settings)!r}", settings, more)


def _estimate(given: Check, settings: CheckSettings, response: str) -> Estimate:
    from factloop.checking.estimate import estimate, length_of_documents
    from factloop.tools.search.build import check_sources

    check_sources(settings.search, settings.docs)
    return estimate(settings, response, given.question, n_characters=length_of_documents(settings))


def deliver_estimate(
    given: Estimated, found: Estimate, of: str, settings: CheckSettings, more: str | None = None
) -> int:
    """Delivers an estimate, followed by `more`, and returns the exit code."""
    lines = (
        f"Nothing was spent. Estimate for {of} with {settings.model or 'the offline engine'}:",
        f"  {plural(found.n_sentences, 'sentence')}, about {plural(found.n_claims, 'claim')}",
        f"  about {plural(found.calls, 'model call')}, {plural(found.searches, 'search')}",
        f"  about {found.prompt_tokens:,} prompt and {found.completion_tokens:,} completion tokens",
        f"  {price(found.cost_usd)}",
    )
    deliver(given, found, show_lines(lines if more is None else (*lines, more)))
    return DONE
