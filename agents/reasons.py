"""Maps errors to the reasons why a claim is left unscored. No other module does this."""

from __future__ import annotations

from factloop.core.errors import (
    BudgetExceeded,
    DeadlineExceeded,
    FactloopError,
    ModelOutputError,
    ModelRefusal,
    ToolTimeout,
)
from factloop.core.records import UnscoredReason

_REASONS: tuple[tuple[type[FactloopError], UnscoredReason], ...] = (
    (ModelRefusal, UnscoredReason.REFUSAL),
    (ModelOutputError, UnscoredReason.PARSE_FAILURE),
    (BudgetExceeded, UnscoredReason.BUDGET),
    (DeadlineExceeded, UnscoredReason.TIMEOUT),
    (ToolTimeout, UnscoredReason.TIMEOUT),
)


def reason_of(error: FactloopError) -> UnscoredReason:
    """The reason to record if this error prevents a verdict."""
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), UnscoredReason.TOOL_FAILURE)
