"""A cascade as it is tuned, kept in a file, and given to a check."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from factloop.core.records import Count, Record, Share

OpenShare = Annotated[float, Field(gt=0.0, lt=1.0)]


class ErrorKind(StrEnum):
    """The claims that may be settled cheaply, and so the direction in which a cascade may err."""

    BALANCED = "balanced"
    """Both: the stated error holds for accepted claims, and for rejected ones."""
    FALSE_SUPPORT = "false_support"
    """Only accepted; nothing is rejected cheaply."""
    FALSE_REJECT = "false_reject"
    """Only rejected; nothing is accepted cheaply."""


class CascadeSide(Record):
    """The claims that the verifier accepts, or those that it rejects, among the labelled ones."""

    model_config = ConfigDict(extra="ignore")  # files tuned by earlier versions have `n_needed`

    threshold: Share | None
    """None where nothing is settled on this side."""
    n: Count
    """Settled."""
    n_wrong: Count
    """Claims settled wrongly, by the labels."""
    error: Share | None
    """`n_wrong` of `n`; None where nothing was settled."""
    bound: Share | None
    """The largest share of errors among the settled that the labels leave possible, at the confidence of this side.

    Of this one threshold: for all that were tried, what holds is that the share is at most the stated error.
    """
    n_label: Count
    """Labelled claims that would be settled wrongly here: the unsupported if accepted, the supported if rejected."""
    label_error: Share | None
    """`n_wrong` of `n_label`."""
    label_bound: Share | None
    confidence: OpenShare
    """Confidence of each of the two bounds."""
    design_effect: Annotated[float, Field(ge=1.0)]
    """The factor by which claims of one document or response count for fewer in `bound`: 1 if they are independent."""
    label_design_effect: Annotated[float, Field(ge=1.0)] = 1.0
    """The same of `label_bound`."""
    why_none: str = ""
    """Why there is no threshold, in words."""


class CascadePoint(Record):
    """The outcome of another stated error on the same labels. The promise is that of one point, not of all."""

    max_error: OpenShare
    upper: Share | None
    lower: Share | None
    n_accepted: Count
    n_rejected: Count
    n_accepted_wrong: Count
    n_rejected_wrong: Count
    share_sent: Share
    """Share of all labelled claims that are left to the model."""
    balanced_error: Share | None
    """Error of the whole, if the model never erred: mean of both labels' shares settled wrongly; None if one lacks."""


class CascadeTuning(Record):
    """Thresholds with what they rest on."""

    error: ErrorKind
    max_error: OpenShare
    confidence: OpenShare
    """Probability that all promises hold at once."""
    n: Count
    """Labelled claims."""
    n_supported: Count
    n_unscored: Count
    """Labelled claims without a score; such claims go to the model."""
    n_groups: Count
    """Groups of claims that share a document, a response or their wording."""
    likeness: Share | None
    """Intraclass correlation of the labels within groups; None with a single group, where it cannot be seen."""
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
    """The verifier as `--verifier` takes it."""
    identity: Mapping[str, Any]
    """All that shapes its scores, such as a hash of its weights: a check with another one is refused."""
    upper: Share | None
    """A claim with at least this score is accepted; with None the verifier accepts no claim."""
    lower: Share | None
    """A claim with at most this score is rejected; with None the verifier rejects no claim."""
    data: str = ""
    """Name of the labelled claims, and hash where they are a file."""
    tuned: CascadeTuning | None = None
    """None for thresholds set by hand, which promise nothing."""
    created_at: datetime | None = None
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.upper is not None and self.lower is not None and self.lower >= self.upper:
            raise ValueError("lower must be below upper")
        if self.tuned is not None:
            thresholds = self.tuned.accepted.threshold, self.tuned.rejected.threshold
            if (self.upper, self.lower) != thresholds:
                raise ValueError("upper and lower are not those that were tuned; to set them by hand remove 'tuned'")
        return self
