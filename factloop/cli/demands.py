"""What --strict and --fail-under ask of a report, and the exit code where it falls short."""

from __future__ import annotations

from rich.console import Console

from factloop.cli.exits import BELOW_THRESHOLD, DONE, UNSCORED
from factloop.errors import ConfigError
from factloop.evaluation.reports.figures import plural
from factloop.records import FactualityReport


def refuse_impossible(fail_under: float | None) -> None:
    """Raises ConfigError for a threshold that no precision has."""
    if fail_under is not None and not 0.0 <= fail_under <= 1.0:
        raise ConfigError(f"--fail-under {fail_under:g}: precision is a share between 0 and 1")


def exit_code(report: FactualityReport, messages: Console, *, strict: bool, fail_under: float | None) -> int:
    """The exit code; one that is not 0 is said on the console. A response without claims falls below no threshold."""
    unscored = report.counts.unscored
    if strict and unscored:
        are = "is" if unscored == 1 else "are"
        messages.print(f"factloop: {plural(unscored, 'claim')} {are} unscored (--strict)", soft_wrap=True)
        return UNSCORED
    if fail_under is not None and report.claims and (report.precision or 0.0) < fail_under:
        reached = "undefined" if report.precision is None else f"{report.precision:.3f}"
        messages.print(f"factloop: precision {reached} is below {fail_under:g} (--fail-under)", soft_wrap=True)
        return BELOW_THRESHOLD
    return DONE
