"""Maps errors to the reasons why claims are unscored."""

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
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), UnscoredReason.TOOL_FAILURE)
