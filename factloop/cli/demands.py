"""Determines the exit codes of checks, which depend on requirements such as `--fail-under`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from factloop.cli.console import BELOW_THRESHOLD, DONE, left_unscored, note
from factloop.cli.outputs import leave_now
from factloop.core.reasons import FAILURES, UnscoredReason
from factloop.core.records import FactualityReport
from factloop.reports.figures import plural, shown_below, unscored_reasons
from factloop.reports.visible import visible

if TYPE_CHECKING:
    from factloop.evaluation.comparing.records import DemandResult


class Demands(Protocol):
    @property
    def fail_if_unscored(self) -> bool: ...
    @property
    def fail_under(self) -> float | None: ...


Result = tuple[UnscoredReason | None, str]
"""Why a result is unscored (None if it is scored), and a description of the reason."""
BREAKDOWNS = FAILURES - {UnscoredReason.REFUSAL}
"""Reasons that count as failures when models or prompts are compared. A refusal does not."""
NO_CLAIM = "no claim could be scored"
NO_CLAIMS_MADE = "the response makes no claims that can be checked"
ALL_IRRELEVANT = "none of the claims is relevant to the question"


def first_failure(results: Iterable[Result], failures: Collection[UnscoredReason] = FAILURES) -> str | None:
    """The first failure in one line, or None if nothing failed."""
    said = next((said for reason, said in results if reason in failures), None)
    return None if said is None else visible(" ".join(said.split()))


def results_of(report: FactualityReport) -> Iterator[Result]:
    return ((claim.judgement.unscored_reason, claim.judgement.rationale) for claim in report.claims)


def exit_code(report: FactualityReport, demands: Demands, *, may_be_empty: bool = False) -> int:
    """Prints why the code is not 0. If no claims are scored, precision is below any threshold."""
    counts = report.counts
    why = first_failure(results_of(report)) or ", ".join(unscored_reasons(report))
    nothing = None if may_be_empty else ALL_IRRELEVANT if report.claims else NO_CLAIMS_MADE
    return code_of(counts.scored, counts.unscored, {"": report.precision}, demands, why=why, nothing=nothing)


def code_of(
    scored: int,
    unscored: int,
    precisions: Mapping[str, float | None],
    demands: Demands,
    *,
    why: str,
    nothing: str | None,
) -> int:
    """`why` explains unscored claims. `nothing` explains why there are no claims, or is None if that is acceptable."""
    if unscored and not scored:
        return left_unscored(f"{NO_CLAIM}: {why or plural(unscored, 'claim')}")
    if demands.fail_if_unscored and unscored:
        return left_unscored(f"{plural(unscored, 'claim')} unscored (--fail-if-unscored)")
    if (least := demands.fail_under) is not None:
        below = {of: value for of, value in precisions.items() if value is None or value < least}
        for of, value in below.items():
            note(below_threshold("precision", value, least, of))
        if below:
            return BELOW_THRESHOLD
    return DONE if scored or nothing is None else left_unscored(f"{NO_CLAIM}: {nothing}")


def below_threshold(name: str, value: float | None, threshold: float, of: str = "") -> str:
    """Shows the value with three digits, or more if rounding would hide that it is below `--fail-under`."""
    reached = "undefined" if value is None else shown_below(value, threshold, "f")
    return f"{name} {reached}{of} is below {str(threshold).removesuffix('.0')} (--fail-under)"


def left_after(report: FactualityReport, code: int, deadline_s: float | None) -> int:
    """Returns the exit code or, if the deadline interrupted calls, ends the process with it."""
    if deadline_s is not None and any(reason is UnscoredReason.TIMEOUT for reason, _ in results_of(report)):
        leave_now(code)
    return code


def demands_exit_code(demands: Sequence[DemandResult]) -> int:
    """Prints unmet requirements on standard error. Returns 0 if all requirements are met, and 1 otherwise."""
    for one in demands:
        if not one.is_met:
            note(one.said)
    return DONE if all(one.is_met for one in demands) else BELOW_THRESHOLD
