"""The numbers of an audit that advice is drawn from, apart from the records that they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Finding:
    """A measured number; `value` is None where it is undefined."""

    value: float | None
    n: int
    """Claims, pairs or systems that it rests on."""
    low: float | None = None
    high: float | None = None
    """Upper end of the interval, if there is one."""
    n_clusters: int | None = None
    """Prompts or responses that the claims belong to, where that is known."""

    @property
    def number(self) -> float:
        """The value. Raises ValueError if it is undefined."""
        if self.value is None:
            raise ValueError("the figure has no value")
        return self.value

    @property
    def magnitude(self) -> Finding:
        """The finding without its sign; the interval starts at 0 where its ends lie on both sides."""
        if self.low is None or self.high is None:
            return replace(self, value=abs(self.number))
        near, far = sorted((abs(self.low), abs(self.high)))
        return replace(self, value=abs(self.number), low=0.0 if self.low <= 0.0 <= self.high else near, high=far)

    @property
    def opposite(self) -> Finding:
        """The finding with the other sign, its interval likewise."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, value=-self.number, low=low, high=high)


NOT_MEASURED = Finding(None, 0)


@dataclass(frozen=True)
class Findings:
    """The findings of an audit on one evaluator on one data set or group.

    Rates, biases and shares are between 0 and 1. A bias is estimated minus labelled error rate.
    """

    evaluator: str
    where: str
    """The data set or group, as it reads in a sentence."""
    tpr: Finding = NOT_MEASURED
    tnr: Finding = NOT_MEASURED
    """`n` is the number of claims labelled attributable, and unattributable."""
    balanced_accuracy: Finding = NOT_MEASURED
    """Mean of both rates; `n` is the number of claims of either kind."""
    mean_bias: Finding = NOT_MEASURED
    """Mean magnitude over systems; `n` is the number of systems."""
    worst_bias: float | None = None
    best_adjustment: str | None = None
    """What the method is called that left the least mean bias on systems held out."""
    adjusted_bias: float | None = None
    """The bias that it left."""
    unadjusted_bias: float | None = None
    """The bias without it, over the same choices of the labelled system; `mean_bias` is over all systems."""
    n_adjusted: int = 0
    """Choices of the labelled system that this is the mean of."""
    headroom_bias: Finding = NOT_MEASURED
    """Lowest predicted minus lowest labelled error rate; `n` is the number of systems."""
    headroom_size: Finding = NOT_MEASURED
    """Mean magnitude of it over several data sets, between which the bias itself may cancel out."""
    wrong_pairs: Finding = NOT_MEASURED
    """Share of system pairs ordered wrongly; `n` is the number of pairs."""
    reversed_pairs: float | None = None
    found_pairs: Finding = NOT_MEASURED
    """Of the pairs that differ significantly by the labels the share that differ likewise by predictions; `n` is the
    number of those pairs."""
    tau: Finding = NOT_MEASURED
    """Kendall's coefficient of error rates; `n` is the number of systems."""
    lost_across_chunks: Finding = NOT_MEASURED
    """Share of the claims above zero R2-diff that pass with the whole document, and turn unattributable once it is cut:
    what never passes cannot be lost, and an evaluator that passes little would seem to lose nothing."""
    tpr_by_wording: Finding = NOT_MEASURED
    tnr_by_wording: Finding = NOT_MEASURED
    """In all bins by ROUGE-2 precision together: over the same claims as those of the outermost bins, which `tpr` and
    `tnr`, where they are means over data sets, are not."""
    tpr_least_similar: Finding = NOT_MEASURED
    """TPR in the lowest of the bins; `n` counts attributable claims in it."""
    tnr_least_similar: Finding = NOT_MEASURED
    tnr_most_similar: Finding = NOT_MEASURED
    """TNR in the highest of the bins; `n` counts unattributable claims in it."""
    tpr_most_similar: Finding = NOT_MEASURED
    level: float = 0.95
    """Level of the intervals, such as 0.95."""
