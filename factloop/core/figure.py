"""A figure: a value with its interval and what it rests on, or the reason why it is undefined.

Every measured number of a report is one. "Nothing to measure" is no number: the value is then None and `undefined` says
why, one of the reasons below, whose words are the same on every surface.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import model_validator

from factloop.core.records import Count, Record


class Undefined(StrEnum):
    """Why a figure has no value."""

    NOTHING_SCORED = "nothing_scored"
    """Nothing that it would rest on has a verdict."""
    NOT_BOTH_SCORED = "not_both_scored"
    """A comparison in which nothing has a verdict on both sides."""
    NO_LABELS = "no_labels"
    """People gave no label, or none to a claim with a verdict."""
    CLASS_MISSING = "class_missing"
    """It takes labels of both kinds, supported and not."""
    NO_SUPPORTED = "no_supported"
    """People call none of the labelled claims with a verdict supported."""
    NO_UNSUPPORTED = "no_unsupported"
    NO_ATTRIBUTABLE = "no_attributable"
    """No scored claim (or response) is labelled attributable."""
    NO_UNATTRIBUTABLE = "no_unattributable"
    ONE_CLASS = "one_class"
    """All verdicts, and all labels, are the same: chance alone would agree, and kappa is 0 / 0."""
    NONE_PREDICTED = "none_predicted"
    """Neither of two sets has a member."""
    VERDICT_MISSING = "verdict_missing"
    """The run has a verdict that no labelled claim has."""
    NO_SIGNAL = "no_signal"
    """TPR - FPR is not above 0 beyond its own uncertainty."""
    TOO_FEW = "too_few"
    """Fewer pairs than a correlation takes."""
    CONSTANT = "constant"
    """One side of a correlation is the same in every pair."""
    ONE_SYSTEM = "one_system"
    """It takes two systems at least."""
    NO_DATASET = "no_dataset"
    """No data set of the group has a value to average."""
    ONE_REPEAT = "one_repeat"
    """It takes two repeats at least."""
    PRICE_UNKNOWN = "price_unknown"
    NOT_SAMPLED = "not_sampled"
    """No labelled claim comes from the system or the run that would be corrected by them."""

    @property
    def words(self) -> str:
        """The reason as it reads after `undefined: `."""
        return _WORDS[self]


_WORDS: Mapping[Undefined, str] = {
    Undefined.NOTHING_SCORED: "nothing scored",
    Undefined.NOT_BOTH_SCORED: "nothing scored by both",
    Undefined.NO_LABELS: "no labels to go by",
    Undefined.CLASS_MISSING: "labels of both kinds are needed, supported and not",
    Undefined.NO_SUPPORTED: "people call none supported",
    Undefined.NO_UNSUPPORTED: "people call none not supported",
    Undefined.NO_ATTRIBUTABLE: "none labelled right",
    Undefined.NO_UNATTRIBUTABLE: "none labelled wrong",
    Undefined.ONE_CLASS: "all are of one and the same class",
    Undefined.NONE_PREDICTED: "neither names any",
    Undefined.VERDICT_MISSING: "the run has a verdict that no labelled claim has",
    Undefined.NO_SIGNAL: "the evaluator may be guessing: TPR - FPR is not above 0 beyond chance",
    Undefined.TOO_FEW: "too few",
    Undefined.CONSTANT: "constant",
    Undefined.ONE_SYSTEM: "one system",
    Undefined.NO_DATASET: "no data set has one",
    Undefined.ONE_REPEAT: "it takes two repeats",
    Undefined.PRICE_UNKNOWN: "the price is unknown",
    Undefined.NOT_SAMPLED: "withheld: no labelled claim comes from this system or run, so they may be of another kind "
    "(--transfer verdicts says that they are alike)",
}


class Measurement(Record):
    """A value with its interval, or the reason why it is undefined."""

    value: float | None
    undefined: Undefined | None = None
    low: float | None = None
    high: float | None = None
    """None where no interval was asked for, or none can be had."""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def why(self) -> str:
        """The reason in words; empty where there is a value."""
        return "" if self.undefined is None else self.undefined.words

    @model_validator(mode="after")
    def _is_value_or_undefined(self) -> Self:
        if (self.value is None) == (self.undefined is None):
            raise ValueError("a figure has either a value or the reason why it is undefined")
        if (self.low is None) != (self.high is None) or (self.value is None and self.low is not None):
            raise ValueError("an interval has two ends and a value")
        return self


class Figure(Measurement):
    """A measurement over one kind of item."""

    n: Count
    """Items that the value rests on: claims, responses or pairs, as its owner says."""


def ends(interval: tuple[float, float] | None) -> dict[str, Any]:
    """The fields of an interval; empty without an interval."""
    return {} if interval is None else {"low": interval[0], "high": interval[1]}
