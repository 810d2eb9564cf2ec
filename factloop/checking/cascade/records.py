"""Defines the records for a cascade, which is tuned on labelled claims, saved in a file and used by checks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.records import Count, Record, Share

OpenShare = Annotated[float, Field(gt=0.0, lt=1.0)]


class ErrorKind(StrEnum):
    """Whether a cascade's verifier may accept claims, reject claims, or both."""

    BALANCED = "balanced"
    """The verifier may accept and reject claims. The maximum error rate applies separately to both."""
    FALSE_SUPPORT = "false_support"
    """The verifier may accept claims, but never rejects them."""
    FALSE_REJECT = "false_reject"
    """The verifier may reject claims, but never accepts them."""


class CascadeSide(Record):
    """Statistics for the labelled claims that the verifier accepts, or for the claims that it rejects."""

    threshold: Share | None
    """None if the verifier accepts (or rejects) no claims."""
    n: Count
    """Number of accepted (or rejected) claims."""
    n_wrong: Count
    """Number of claims that are wrongly accepted (or rejected), according to the labels."""
    error: Share | None
    """`n_wrong` divided by `n`, or None if `n` is 0."""
    bound: Share | None
    """Upper confidence bound on `error`, at the level `confidence`.

    The bound is valid for a single threshold. Since several thresholds were tried, only the maximum error for which the
    cascade was tuned is guaranteed.
    """
    n_label: Count
    """Number of labelled claims that it would be wrong to accept (or reject)."""
    label_error: Share | None
    """`n_wrong` divided by `n_label`."""
    label_bound: Share | None
    confidence: OpenShare
    """Confidence level of each of the two bounds."""
    design_effect: Annotated[float, Field(ge=1.0)]
    """The design effect in `bound`, because claims from one document or response are alike. 1 means no effect."""
    label_design_effect: Annotated[float, Field(ge=1.0)] = 1.0
    """The design effect in `label_bound`."""
    why_none: str = ""
    """Why there is no threshold, in plain words."""


class CascadePoint(Record):
    """The result of tuning with the same labels for a different maximum error. Rely on only one such guarantee."""

    max_error: OpenShare
    upper: Share | None
    lower: Share | None
    n_accepted: Count
    n_rejected: Count
    n_accepted_wrong: Count
    n_rejected_wrong: Count
    share_sent: Share
    """The fraction of labelled claims that are left to the model."""
    balanced_error: Share | None
    """The error rate averaged over both labels, assuming that the model makes no errors. None if a label is missing."""


class CascadeTuning(Record):
    """The tuned thresholds, with the statistics used to choose them."""

    error: ErrorKind
    max_error: OpenShare
    confidence: OpenShare
    """Probability that all guarantees hold simultaneously."""
    n: Count
    """Number of labelled claims."""
    n_supported: Count
    n_unscored: Count
    """Number of labelled claims without a score. In a check, claims without a score are left to the model."""
    n_groups: Count
    """Number of groups. Claims are in the same group if they share a document, a response or their wording."""
    likeness: Share | None
    """Intraclass correlation of the labels within groups. None if there is only one group."""
    accepted: CascadeSide
    rejected: CascadeSide
    share_sent: Share
    balanced_error: Share | None
    curve: tuple[CascadePoint, ...] = ()

    @property
    def n_settled(self) -> int:
        return self.accepted.n + self.rejected.n


class CascadeFile(Record):
    """A file that `factloop research cascade tune` writes and `--cascade` reads."""

    schema_version: Literal["1.0"] = "1.0"
    verifier: str
    """The name of the verifier, as in `--verifier`."""
    identity: Mapping[str, Any]
    """What affects the verifier's scores, such as a hash of its weights. Checks reject all other verifiers."""
    upper: Share | None
    """Claims with at least this score are accepted. If None, the verifier accepts no claims."""
    lower: Share | None
    """Claims with at most this score are rejected. If None, the verifier rejects no claims."""
    data: str = ""
    """Name of the labelled data, with a hash if it is a file."""
    tuned: CascadeTuning | None = None
    """How the thresholds were tuned. None if they were set by hand, in which case nothing is guaranteed."""
    created_at: datetime | None = None
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.upper is not None and self.lower is not None and self.lower >= self.upper:
            raise ValueError("`lower` must be below `upper`")
        if self.tuned is not None:
            thresholds = self.tuned.accepted.threshold, self.tuned.rejected.threshold
            if (self.upper, self.lower) != thresholds:
                raise ValueError("`upper` and `lower` must match `tuned`; to set them by hand, remove `tuned`")
        return self
