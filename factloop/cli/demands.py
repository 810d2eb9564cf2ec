"""Demands on a report: --strict, --fail-under, at least one scored claim; and the exit code where it falls short."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from rich.console import Console

from factloop.cli.exits import BELOW_THRESHOLD, DONE, UNSCORED
from factloop.cli.outputs import leave_now
from factloop.core.errors import ConfigError
from factloop.core.reasons import FAILURES, UnscoredReason
from factloop.core.records import FactualityReport
from factloop.reports.figures import plural, shown_below, unscored_reasons
from factloop.reports.visible import visible

Result = tuple[UnscoredReason | None, str]
"""The reason why something is unscored, None if it is scored, and the words on it."""
BREAKDOWNS = FAILURES - {UnscoredReason.REFUSAL}
"""Reasons that are breakdowns. A refusal is not: of a model or a prompt under examination it is a finding."""
NO_CLAIM = "no claim could be scored"
NO_CLAIMS_MADE = "the response makes no claim that can be checked"
ALL_IRRELEVANT = "none of them has to do with the question"


def refuse_impossible(fail_under: float | None) -> None:
    """Raises ConfigError for a threshold that no precision has."""
    if fail_under is not None and not 0.0 <= fail_under <= 1.0:
        raise ConfigError(f"--fail-under {fail_under:g}: precision is a share between 0 and 1")


def first_failure(results: Iterable[Result], failures: Collection[UnscoredReason] = FAILURES) -> str | None:
    """The first failure, in one line; None where nothing failed."""
    said = next((said for reason, said in results if reason in failures), None)
    return None if said is None else visible(" ".join(said.split()))


def results_of(report: FactualityReport) -> Iterator[Result]:
    return ((claim.judgement.unscored_reason, claim.judgement.rationale) for claim in report.claims)


def exit_code(report: FactualityReport, messages: Console, *, strict: bool, fail_under: float | None) -> int:
    """The exit code of a report; one that is not 0 is said on the console.

    A report without a scored claim has no precision, and so falls below every threshold.
    """
    unscored = report.counts.unscored
    if unscored and not report.counts.scored:
        why = first_failure(results_of(report)) or ", ".join(unscored_reasons(report))
        messages.print(f"factloop: {NO_CLAIM}: {why}", soft_wrap=True)
        return UNSCORED
    if strict and unscored:
        are = "is" if unscored == 1 else "are"
        messages.print(f"factloop: {plural(unscored, 'claim')} {are} unscored (--strict)", soft_wrap=True)
        return UNSCORED
    if fail_under is not None and (report.precision is None or report.precision < fail_under):
        messages.print(f"factloop: {below_threshold('precision', report.precision, fail_under)}", soft_wrap=True)
        return BELOW_THRESHOLD
    return DONE


def below_threshold(name: str, value: float | None, threshold: float, of: str = "") -> str:
    """Says that a figure is below --fail-under, with three digits or as many as tell the two apart."""
    reached = "undefined" if value is None else shown_below(value, threshold, "f")
    return f"{name} {reached}{of} is below {str(threshold).removesuffix('.0')} (--fail-under)"


def left_after(report: FactualityReport, code: int, deadline_s: float | None) -> int:
    """The exit code of a report that is written; where its deadline cut calls off, the process ends here with it."""
    if deadline_s is not None and any(reason is UnscoredReason.TIMEOUT for reason, _ in results_of(report)):
        leave_now(code)
    return code


def scored_exit_code(report: FactualityReport, messages: Console, *, strict: bool, fail_under: float | None) -> int:
    """As `exit_code`, for a report that was asked for: one without a scored claim answers nothing, and is not 0."""
    code = exit_code(report, messages, strict=strict, fail_under=fail_under)
    if code == DONE and not report.counts.scored:
        why = ALL_IRRELEVANT if report.claims else NO_CLAIMS_MADE
        messages.print(f"factloop: {NO_CLAIM}: {why}", soft_wrap=True)
        return UNSCORED
    return code
