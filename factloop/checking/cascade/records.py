"""The records of a cascade: its thresholds and how they were tuned on labelled claims."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.records import Count, Record, Share

OpenShare = Annotated[float, Field(gt=0.0, lt=1.0)]


class ErrorKind(StrEnum):
    """Which errors a cascade limits, and therefore what its verifier may decide."""

    BALANCED = "balanced"
    """The verifier accepts and rejects claims. The maximum error rate applies to each decision separately."""
    FALSE_SUPPORT = "false_support"
    """The verifier accepts claims but never rejects any."""
    FALSE_REJECT = "false_reject"
    """The verifier rejects claims but never accepts any."""


class CascadeSide(Record):
    """Statistics on the labelled claims that the verifier accepts, or on those that it rejects."""

    threshold: Share | None
    n: Count
    n_wrong: Count
    """Number of claims that are accepted (or rejected) wrongly, according to the labels."""
    error: Share | None
    """`n_wrong / n`, or None if `n` is 0."""
    bound: Share | None
    """Upper confidence bound on `error`, at the level `confidence`. The bound holds for a single threshold chosen in
    advance. Tuning tries several, so only the maximum error that the cascade was tuned for is guaranteed."""
    n_label: Count
    """Number of labelled claims that it would be wrong to accept (or reject)."""
    label_error: Share | None
    """`n_wrong / n_label`, or None if `n_label` is 0."""
    label_bound: Share | None
    confidence: OpenShare
    """Confidence level of `bound` and `label_bound`."""
    design_effect: Annotated[float, Field(ge=1.0)]
    """Design effect for `bound`, because claims from the same document or response are not independent. 1 means that
    they are independent."""
    label_design_effect: Annotated[float, Field(ge=1.0)] = 1.0
    why_none: str = ""


class CascadePoint(Record):
    """The result of tuning for another maximum error on the same labels. Rely on only one such guarantee."""

    max_error: OpenShare
    upper: Share | None
    lower: Share | None
    n_accepted: Count
    n_rejected: Count
    n_accepted_wrong: Count
    n_rejected_wrong: Count
    share_sent: Share
    """Fraction of labelled claims that go on to the model."""
    balanced_error: Share | None
    """Error rate averaged over both labels, assuming a model without errors. None if a label does not occur."""


class CascadeTuning(Record):
    error: ErrorKind
    max_error: OpenShare
    confidence: OpenShare
    """Probability that all guarantees hold at once."""
    n: Count
    n_supported: Count
    n_unscored: Count
    """Number of labelled claims without a score. In a check, such claims go on to the model."""
    n_groups: Count
    """Number of groups. Claims that share a document, a response or their wording are in the same group."""
    likeness: Share | None
    """Intraclass correlation of the labels. None if there is only one group."""
    accepted: CascadeSide
    rejected: CascadeSide
    share_sent: Share
    balanced_error: Share | None
    curve: tuple[CascadePoint, ...] = ()

    @property
    def n_settled(self) -> int:
        return self.accepted.n + self.rejected.n


class CascadeFile(Record):
    """The file that `factloop research cascade tune` writes and `--cascade` reads."""

    schema_version: Literal["1.0"] = "1.0"
    verifier: str
    """The verifier, in the form that `--verifier` accepts."""
    identity: Mapping[str, Any]
    """Everything that affects the verifier's scores, such as a hash of its weights. A check rejects any other verifier.
    """
    upper: Share | None
    """Minimum score for a claim to be accepted. If None, no claims are accepted."""
    lower: Share | None
    """Maximum score for a claim to be rejected. If None, no claims are rejected."""
    data: str = ""
    """Name of the labelled data, with a hash if it is a file."""
    tuned: CascadeTuning | None = None
    """None if the thresholds were set by hand, in which case nothing is guaranteed."""
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
