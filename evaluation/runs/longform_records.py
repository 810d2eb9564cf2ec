"""Records of F1@K over a run of long answers: counts of each answer, and means with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from factloop.core.factuality import is_unknown
from factloop.core.figure import Figure, Undefined
from factloop.core.records import Count, Counts, Record, Share

K = Annotated[int, Field(ge=1)]


class AbstentionPolicy(StrEnum):
    """How an answer without any claim counts."""

    ZERO = "zero"
    """F1@K 0, as in the paper's code."""
    EXCLUDE = "exclude"
    """It is left out of every mean, and counted."""


class KRule(StrEnum):
    """A rule that gives a K."""

    GIVEN = "given"
    MEDIAN = "median"
    """The median of supported claims over the run's answers, rounded up, at least 1."""
    MAXIMUM = "maximum"
    """Their maximum, at least 1."""


class Quantity(StrEnum):
    """A quantity measured of answers; each is a field of `SystemScore` or of `ScoreAtK`, declared in `measures`."""

    PRECISION = "precision"
    F1 = "f1"
    RECALL = "recall"


class CountedResponse(Record):
    """One answer of one system to one prompt."""

    system: str
    prompt_id: str
    counts: Counts

    @property
    def abstained(self) -> bool:
        """Whether it claims nothing at all. Irrelevant claims are claims: such an answer has F1@K 0."""
        return self.counts.total == 0

    @property
    def unscored(self) -> bool:
        """Whether nothing is known of it: it has unscored claims, and none that is supported or not."""
        return is_unknown(self.counts)


class ChosenK(Record):
    k: K
    rule: KRule


class PromptFigure(Figure):
    """A figure over answers, or their claims, with a percentile bootstrap interval over prompts."""

    low: float | None = None
    high: float | None = None
    """None without a generator, with fewer than two prompts (of each class, for balanced accuracy), and where all
    resamples give the same, as of a rate of 0 or 1: nothing varies, which is no certainty."""
    n_prompts: Count
    """Prompts of the items that it rests on."""


class Mean(PromptFigure):
    """A mean over answers; undefined where none has a value."""

    value: Share | None
    n: Count
    """Answers that it rests on."""

    @model_validator(mode="before")
    @classmethod
    def _says_why_of_version_1_0(cls, fields: Any) -> Any:
        """Summaries of version 1.0 give a mean of no answer without its reason."""
        is_bare = isinstance(fields, dict) and fields.get("value") is None and fields.get("undefined") is None
        return {**fields, "undefined": Undefined.NOTHING_SCORED} if is_bare else fields


class ScoreAtK(Record):
    k: K
    f1: Mean
    recall: Mean


class SystemScore(Record):
    system: str
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Answers none of whose claims got a verdict; they are in no mean."""
    counts: Counts
    """Claims of all its answers, irrelevant and unscored ones too."""
    precision: Mean
    """Over answers with a claim that is supported or not supported; no policy gives an abstention a precision."""
    at_k: tuple[ScoreAtK, ...]


class Ranking(Record):
    """The systems at one K, best first; systems without a value are left out."""

    k: K
    systems: tuple[str, ...]
    ranks: Mapping[str, Annotated[float, Field(ge=1.0)]]
    """Ranks from 1; systems with the same F1@K share the mean of their ranks."""


class LongFormScores(Record):
    """F1@K of each system of a run, by name, and all that the numbers rest on."""

    abstention: AbstentionPolicy
    ks: tuple[ChosenK, ...]
    systems: tuple[SystemScore, ...]
    rankings: tuple[Ranking, ...]
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    n_resamples: Count


class CurvePoint(Record):
    k: K
    f1: Mapping[str, Share | None]
    """System to its mean F1@K."""
