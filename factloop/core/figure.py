"""`Figure`: a value with its interval and sample size, or the reason why there is no value."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from factloop.core.records import Count, Record


class Undefined(StrEnum):
    """Why a figure has no value. Reports show its `words`."""

    words: str

    def __new__(cls, value: str, words: str) -> Self:
        member = str.__new__(cls, value)
        member._value_, member.words = value, words
        return member

    NOTHING_SCORED = "nothing_scored", "nothing scored"
    NOT_BOTH_SCORED = "not_both_scored", "nothing scored by both"
    NO_LABELS = "no_labels", "no labels"
    CLASS_MISSING = "class_missing", "claims with a verdict must have labels of both kinds: supported and not supported"
    NO_SUPPORTED = "no_supported", "none labelled supported"
    NO_UNSUPPORTED = "no_unsupported", "none labelled not supported"
    NO_ATTRIBUTABLE = "no_attributable", "none is labelled right"
    NO_UNATTRIBUTABLE = "no_unattributable", "none is labelled wrong"
    ONE_CLASS = "one_class", "all are in the same class"
    """All verdicts and labels are the same. Chance agreement is then perfect, and kappa is 0 / 0."""
    NONE_PREDICTED = "none_predicted", "both are empty"
    VERDICT_MISSING = "verdict_missing", "none of the labelled claims has one of the run's verdicts"
    NO_SIGNAL = "no_signal", "the evaluator may be guessing: TPR - FPR is not significantly above 0"
    TOO_FEW = "too_few", "too few"
    """Too few pairs for a correlation."""
    CONSTANT = "constant", "constant"
    """One of the correlated variables is constant."""
    ONE_SYSTEM = "one_system", "one system"
    NO_DATASET = "no_dataset", "undefined in every data set"
    ONE_REPEAT = "one_repeat", "two repeats are needed"
    PRICE_UNKNOWN = "price_unknown", "the price is unknown"
    NOT_SAMPLED = (
        "not_sampled",
        "withheld: no labelled claim comes from this system or run, so its claims may differ from the labelled ones "
        "(--transfer verdicts assumes that they do not)",
    )


class Measurement(Record):
    value: float | None
    undefined: Undefined | None = None
    low: float | None = None
    high: float | None = None
    """None if no interval was requested, or none can be calculated."""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def why(self) -> str:
        """Why there is no value, or "" if there is a value."""
        return "" if self.undefined is None else self.undefined.words

    @model_validator(mode="after")
    def _is_value_or_undefined(self) -> Self:
        if (self.value is None) == (self.undefined is None):
            raise ValueError("a figure must have a `value` or, if it is undefined, a reason in `undefined`")
        if (self.low is None) != (self.high is None) or (self.value is None and self.low is not None):
            raise ValueError("`low` and `high` must be set together, and only if there is a `value`")
        return self


class Figure(Measurement):
    n: Count
    """Number of items (claims, responses or pairs) that the value is based on."""


def ends(interval: tuple[float, float] | None) -> dict[str, Any]:
    return {} if interval is None else {"low": interval[0], "high": interval[1]}
