"""Measures how well TrustScore and other metrics agree with human labels on MixedQA (Zheng et al. 2024, Table 1).

In the paper (section 4), each system is asked about its own responses, as in a run with a subject model for each
system. Departures: a run with a single subject model asks it about all responses, and the results include correlations
over all systems combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from factloop.agents.trustscore.records import TrustFingerprint, TrustReport
from factloop.core.figure import Figure, Undefined, ends
from factloop.core.records import Count, Record, Share, Usage
from factloop.evaluation.datasets.mixedqa import Label, MixedQaResponse, human_label
from factloop.evaluation.statistics.correlation import (
    FEWEST_DRAWN,
    LEVEL,
    RESAMPLES,
    Coefficient,
    Correlation,
    Method,
    correlate,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SOURCE = "Zheng et al. 2024, arXiv 2402.12545, Table 1"

SYSTEMS = ("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")
"""The names in the data set. The paper calls these systems FLAN-T5, LLaMA and GPT-3.5."""

Kind = Literal["reference-based", "reference-free, without evidence", "reference-free, with evidence"]


class PublishedRow(Record):
    """Pearson's correlation of one metric with the human labels, over 1,000 responses per system."""

    metric: str
    kind: Kind
    correlations: Mapping[str, Coefficient | None]
    """Correlations by system. They are None if the metric has the same value for every response."""


_ROWS: tuple[tuple[Kind, str, tuple[float | None, float | None, float | None]], ...] = (
    ("reference-based", "Exact Match", (0.635, None, None)),
    ("reference-based", "BLEU-1", (0.655, 0.435, 0.289)),
    ("reference-based", "BLEU-4", (0.536, 0.376, 0.228)),
    ("reference-based", "ROUGE-L", (0.607, 0.533, 0.382)),
    ("reference-based", "METEOR", (0.603, 0.536, 0.106)),
    ("reference-based", "BERTScore", (0.573, 0.266, 0.087)),
    ("reference-based", "BARTScore-ref", (0.570, 0.474, 0.368)),
    ("reference-based", "GPTScore-ref", (0.610, 0.575, 0.453)),
    ("reference-free, without evidence", "BARTScore-src", (-0.075, -0.099, -0.151)),
    ("reference-free, without evidence", "GPTScore-src", (-0.055, -0.081, -0.139)),
    ("reference-free, without evidence", "TrustBC", (0.313, 0.133, 0.353)),
    ("reference-free, with evidence", "BARTScore-evid", (0.070, 0.091, -0.013)),
    ("reference-free, with evidence", "GPTScore-evid", (0.075, 0.186, 0.024)),
    ("reference-free, with evidence", "TrustFC", (0.593, 0.533, 0.449)),
    ("reference-free, with evidence", "TrustOV", (0.613, 0.539, 0.484)),
)

PUBLISHED = tuple(
    PublishedRow(metric=metric, kind=kind, correlations=dict(zip(SYSTEMS, figures, strict=True)))
    for kind, metric, figures in _ROWS
)


_FEWEST = 3
"""Minimum number of responses for a correlation."""


class TrustMetric(StrEnum):
    TRUST_BC = "trust_bc"
    TRUST_BC_GRADED = "trust_bc_graded"
    """Mean probability of the option that contains the response. This metric is not in the paper."""
    TRUST_FC = "trust_fc"
    TRUST_OV = "trust_ov"


class ScoredResponse(Record):
    """Scores that could not be computed are None."""

    question_id: str
    system: str
    human_correct: Annotated[Label, BeforeValidator(human_label)]
    trust_bc: Share | None = None
    trust_bc_graded: Share | None = None
    trust_fc: Share | None = None
    trust_ov: Share | None = None
    reference: Mapping[str, float | None] = Field(default_factory=dict)

    def score(self, metric: TrustMetric) -> float | None:
        found: float | None = getattr(self, metric.value)
        return found


class SystemLabels(Record):
    system: str
    n_responses: Count
    n_correct: Count


class _ScoreCorrelation(Record):
    system: str | None
    mean: float | None
    correlation: Correlation

    @property
    def n_scored(self) -> int:
        return self.correlation.n

    @property
    def n_unscored(self) -> int:
        return self.correlation.n_left_out


class MetricCorrelation(_ScoreCorrelation):
    metric: TrustMetric

    @property
    def name(self) -> str:
        return metric_name(self.metric)


class ReferenceCorrelation(_ScoreCorrelation):
    """The correlation of a metric that compares the response with correct answers, the question or evidence."""

    metric: str

    @property
    def name(self) -> str:
        return self.metric


class Gain(Record):
    """Pearson's r of TrustOV minus the r of one of its two components."""

    system: str | None
    over: Literal["trust_bc", "trust_fc"]
    gain: Figure
    """In [-2, 2]. Positive if TrustOV agrees better with labels. `n` counts the responses with all three scores."""

    @property
    def half(self) -> TrustMetric:
        return TrustMetric(self.over)


class SystemSubject(Record):
    system: str
    model: str
    base_url: str | None = None
    sampling: Mapping[str, Any] = Field(default_factory=dict)


class MixedQaResult(Record):
    """Correlations of TrustScores and other metrics with human labels, alongside the published correlations."""

    schema_version: Literal["1.0", "1.1", "1.2"] = "1.2"
    data: str = ""
    """The name of the scored data file and, if available, its hash."""
    n_questions: Count
    systems: tuple[SystemLabels, ...]
    correlations: tuple[MetricCorrelation, ...]
    """For each TrustScore, the correlation for each system comes first, then that for all systems combined."""
    reference: tuple[ReferenceCorrelation, ...] = ()
    gains: tuple[Gain, ...] = ()
    """The gains for each system and for all systems combined. Computed only for Pearson's r."""
    published: tuple[PublishedRow, ...] = PUBLISHED
    usage: Usage
    fingerprint: TrustFingerprint
    """`subject_model` was asked about all responses. It is None if each system had its own model."""
    subjects: tuple[SystemSubject, ...] = ()
    created_at: datetime
    warnings: tuple[str, ...] = ()

    @property
    def asks_subjects(self) -> bool:
        return self.fingerprint.subject_model is not None or bool(self.subjects)

    def of(self, system: str | None) -> tuple[MetricCorrelation, ...]:
        """Returns the TrustScores' correlations for one system, or for all systems combined if it is None."""
        return tuple(found for found in self.correlations if found.system == system)

    def paper(self, metric: str, system: str | None) -> float | None:
        """Returns the paper's coefficient for a metric, whatever its model. The paper reports only Pearson's."""
        if any(found.correlation.method is not Method.PEARSON for found in self.correlations):
            return None
        rows: Mapping[str, PublishedRow] = {row.metric: row for row in self.published}
        row = rows.get(metric.partition(" (")[0])
        return None if row is None or system is None else row.correlations.get(system)


_NAMES = {
    TrustMetric.TRUST_BC: "TrustBC",
    TrustMetric.TRUST_BC_GRADED: "TrustBC, graded",
    TrustMetric.TRUST_FC: "TrustFC",
    TrustMetric.TRUST_OV: "TrustOV",
}


def metric_name(metric: TrustMetric) -> str:
    return _NAMES[metric]


def scored_response(
    question_id: str,
    response: MixedQaResponse,
    report: TrustReport,
    reference: Mapping[str, float | None] | None = None,
) -> ScoredResponse:
    """Combines a response with its scores. Missing scores are None."""
    return ScoredResponse(
        question_id=question_id,
        system=response.system,
        human_correct=response.human_correct,
        trust_bc=report.trust_bc.value,
        trust_bc_graded=report.trust_bc.graded,
        trust_fc=report.trust_fc.value,
        trust_ov=report.trust_ov.value,
        reference=reference or {},
    )


def correlate_with_labels(
    responses: Sequence[ScoredResponse],
    *,
    fingerprint: TrustFingerprint,
    usage: Usage,
    created_at: datetime,
    data: str = "",
    warnings: Sequence[str] = (),
    subjects: Sequence[SystemSubject] = (),
    method: Method = Method.PEARSON,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> MixedQaResult:
    """Correlates every score with the labels, for each system and for all systems combined.

    Intervals resample whole questions, and depend on the seed in the fingerprint. The paper uses Pearson's coefficient.
    Kendall's coefficient takes minutes for 1,000 questions. The order of the responses affects only the order of the
    systems. Raises ValueError if a system answers the same question twice.
    """
    if len({(response.question_id, response.system) for response in responses}) < len(responses):
        raise ValueError("each system must answer a question only once")
    names = list(dict.fromkeys(response.system for response in responses))
    by_system = {name: [response for response in responses if response.system == name] for name in names}
    groups: list[tuple[str | None, Sequence[ScoredResponse]]] = [*by_system.items(), (None, responses)]
    figures = _Correlations(method, fingerprint.seed, resamples, level)
    has_both = method is Method.PEARSON and any(response.trust_ov is not None for response in responses)
    metrics = dict.fromkeys(name for response in responses for name in response.reference)
    return MixedQaResult(
        data=data,
        n_questions=len({response.question_id for response in responses}),
        systems=tuple(
            SystemLabels(system=name, n_responses=len(group), n_correct=sum(one.human_correct for one in group))
            for name, group in by_system.items()
        ),
        correlations=tuple(figures.of_trust(metric, *group) for metric in TrustMetric for group in groups),
        reference=tuple(figures.of_reference(metric, *group) for metric in metrics for group in groups),
        gains=tuple(gain for group in groups for gain in figures.gains(*group)) if has_both else (),
        usage=usage,
        fingerprint=fingerprint,
        subjects=tuple(subjects),
        created_at=created_at,
        warnings=tuple(warnings),
    )


@dataclass(frozen=True)
class _Correlations:
    """Each correlation starts from the same seed, so adding a system does not change the results for the others."""

    method: Method
    seed: int
    resamples: int
    level: float

    def of_trust(self, metric: TrustMetric, system: str | None, group: Sequence[ScoredResponse]) -> MetricCorrelation:
        mean, found = self._correlated(group, [response.score(metric) for response in group])
        return MetricCorrelation(metric=metric, system=system, mean=mean, correlation=found)

    def of_reference(self, metric: str, system: str | None, group: Sequence[ScoredResponse]) -> ReferenceCorrelation:
        mean, found = self._correlated(group, [response.reference.get(metric) for response in group])
        return ReferenceCorrelation(metric=metric, system=system, mean=mean, correlation=found)

    def gains(self, system: str | None, group: Sequence[ScoredResponse]) -> Iterator[Gain]:
        """Yields TrustOV's gain over each of its components, using only responses with all three scores.

        The paper has no table of gains, but compares the rows of Table 1. Two correlations with the same labels are
        dependent, so the interval is based on their differences in resamples of whole questions. If a correlation would
        have no interval, the gain has none either.
        """
        scored = [one for one in group if None not in (one.trust_bc, one.trust_fc, one.trust_ov)]
        for over in ("trust_bc", "trust_fc"):
            yield Gain(system=system, over=over, gain=self._gain(scored, TrustMetric(over)))

    def _gain(self, scored: Sequence[ScoredResponse], half: TrustMetric) -> Figure:
        import numpy as np

        from factloop.evaluation.statistics.bootstrap import bootstrap, loses_too_many, percentile_interval

        place_of = {question: place for place, question in enumerate(sorted({one.question_id for one in scored}))}
        sums = np.zeros((len(place_of), 2, 6))
        for one in scored:
            y = float(one.human_correct)
            for side, score in enumerate((one.trust_ov, one.score(half))):
                x = float(score or 0.0)
                sums[place_of[one.question_id], side] += (1.0, x, y, x * x, y * y, x * y)
        value = float(_differences(sums.sum(axis=0)[None])[0]) if len(scored) >= _FEWEST else float("nan")
        if np.isnan(value):
            why = Undefined.TOO_FEW if len(scored) < _FEWEST else Undefined.CONSTANT
            return Figure(value=None, undefined=why, n=len(scored))
        interval = None
        if len(place_of) >= FEWEST_DRAWN:
            drawn = bootstrap(sums, _differences, self._rng(), self.resamples)
            interval = None if loses_too_many(drawn) else percentile_interval(drawn, self.level)
        return Figure(value=value, **ends(interval), n=len(scored))

    def _correlated(
        self, group: Sequence[ScoredResponse], scores: Sequence[float | None]
    ) -> tuple[float | None, Correlation]:
        scored = [score for score in scores if score is not None]
        found = correlate(
            self.method,
            scores,
            [response.human_correct for response in group],
            clusters=[response.question_id for response in group],
            rng=self._rng(),
            resamples=self.resamples,
            level=self.level,
        )
        return fmean(scored) if scored else None, found

    def _rng(self) -> np.random.Generator:
        import numpy as np

        return np.random.default_rng(self.seed % 2**64)


def _differences(sums: Floats) -> Floats:
    """Returns the differences in r, of shape (n_resamples,). `sums` are n, Σx, Σy, Σx², Σy² and Σxy."""
    import numpy as np

    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(spread > 1e-12 * n**4, (n * xy - x * y) / np.sqrt(spread), np.nan)
    return np.asarray(r[:, 0] - r[:, 1])
