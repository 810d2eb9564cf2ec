"""Table 1 of the TrustScore paper as data (Zheng et al. 2024, arXiv 2402.12545)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from factloop.core.records import Record
from factloop.evaluation.statistics.correlation import Coefficient

SOURCE = "Zheng et al. 2024, arXiv 2402.12545, Table 1"

SYSTEMS = ("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")
"""Systems by their names in the data set; the paper writes FLAN-T5, LLaMA and GPT-3.5."""

Kind = Literal["reference-based", "reference-free, without evidence", "reference-free, with evidence"]


class PublishedRow(Record):
    """Pearson's correlation of one metric with the human labels, 1,000 responses a system."""

    metric: str
    kind: Kind
    correlations: Mapping[str, Coefficient | None]
    """System to its correlation; None where the paper has no number, for a metric with one value for every response."""


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
