"""Defines the records of a cascade. A cascade is tuned on labelled claims, saved in a file and used by checks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.records import Count, Record, Share

OpenShare = Annotated[float, Field(gt=0.0, lt=1.0)]


class ErrorKind(StrEnum):
    """Which claims a cascade may settle cheaply, and therefore which kinds of error it can make."""

    BALANCED = "balanced"
    """Claims are accepted and rejected cheaply. The stated error applies separately to each side."""
    FALSE_SUPPORT = "false_support"
    """Claims are accepted cheaply, but never rejected cheaply."""
    FALSE_REJECT = "false_reject"
    """Claims are rejected cheaply, but never accepted cheaply."""


class CascadeSide(Record):
    """Statistics of the labelled claims that the verifier accepts, or of those that it rejects."""

    threshold: Share | None
    """None if nothing is settled on this side."""
    n: Count
    """Number of settled claims."""
    n_wrong: Count
    """Number of claims settled wrongly according to the labels."""
    error: Share | None
    """`n_wrong` divided by `n`; None if nothing was settled."""
    bound: Share | None
    """Upper confidence bound on the fraction of errors among the settled claims, at the confidence of this side.

    The bound is valid for a single threshold. Across all thresholds that were tried, only the stated error is
    guaranteed.
    """
    n_label: Count
    """Number of labelled claims that would be wrong on this side: unsupported ones if it accepts claims, supported ones
    if it rejects them."""
    label_error: Share | None
    """`n_wrong` divided by `n_label`."""
    label_bound: Share | None
    confidence: OpenShare
    """Confidence level of each of the two bounds."""
    design_effect: Annotated[float, Field(ge=1.0)]
    """The factor by which `bound` discounts similar claims from one document or response; 1 if all are independent."""
    label_design_effect: Annotated[float, Field(ge=1.0)] = 1.0
    """The same factor for `label_bound`."""
    why_none: str = ""
    """The reason why there is no threshold, in words."""


class CascadePoint(Record):
    """The result for another stated error on the same labels. The guarantee holds for any one point, not for all."""

    max_error: OpenShare
    upper: Share | None
    lower: Share | None
    n_accepted: Count
    n_rejected: Count
    n_accepted_wrong: Count
    n_rejected_wrong: Count
    share_sent: Share
    """The fraction of all labelled claims that is left to the model."""
    balanced_error: Share | None
    """The fraction of claims settled wrongly, averaged over both labels, assuming that the model makes no errors. None
    if one label is missing."""


class CascadeTuning(Record):
    """Thresholds and the statistics that they are based on."""

    error: ErrorKind
    max_error: OpenShare
    confidence: OpenShare
    """Probability that all guarantees hold simultaneously."""
    n: Count
    """Number of labelled claims."""
    n_supported: Count
    n_unscored: Count
    """Number of labelled claims without a score. In a check, such claims are left to the model."""
    n_groups: Count
    """Number of groups of claims that share a document, a response or their wording."""
    likeness: Share | None
    """Intraclass correlation of the labels within groups; None if there is only one group."""
    accepted: CascadeSide
    rejected: CascadeSide
    share_sent: Share
    balanced_error: Share | None
    curve: tuple[CascadePoint, ...] = ()

    @property
    def n_settled(self) -> int:
        return self.accepted.n + self.rejected.n


class CascadeFile(Record):
    """The file written by `factloop research cascade tune` and read by `--cascade`."""

    schema_version: Literal["1.0"] = "1.0"
    verifier: str
    """The verifier, named as in `--verifier`."""
    identity: Mapping[str, Any]
    """Everything that affects the verifier's scores, such as a hash of its weights. Checks reject other verifiers."""
    upper: Share | None
    """Claims with at least this score are accepted; if None, the verifier accepts no claim."""
    lower: Share | None
    """Claims with at most this score are rejected; if None, the verifier rejects no claim."""
    data: str = ""
    """Name of the labelled claims and, for a file, its hash."""
    tuned: CascadeTuning | None = None
    """How the thresholds were tuned. None if they were set by hand, which guarantees nothing."""
    created_at: datetime | None = None
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.upper is not None and self.lower is not None and self.lower >= self.upper:
            raise ValueError("lower must be below upper")
        if self.tuned is not None:
            thresholds = self.tuned.accepted.threshold, self.tuned.rejected.threshold
            if (self.upper, self.lower) != thresholds:
                raise ValueError("upper and lower differ from the tuned ones; to set them by hand, remove 'tuned'")
        return self
