"""The records of verification: the settings, the rows read and written, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from factloop.core.files.rows import NotBlank
from factloop.core.records import Count, Record, Share, Usage
from factloop.evaluation.datasets.mapping import (
    UNKNOWN_SYSTEM,
    BinaryLabel,
    ClaimRow,
    LabelledClaim,
    MaybeName,
    Spans,
    binary_label,
)
from factloop.setup.marks import MODEL, Mark
from factloop.setup.settings import BaseUrl, RunSettings, Temperature


class VerifySettings(RunSettings):
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """URL of an OpenAI-compatible server."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Sampling temperature of the models.

    None uses the server's default."""
    logprobs: bool = True
    """Use the answer's probability as the score if the server returns it; otherwise scores are 0 or 1."""


def _label(value: Any) -> Any:
    return None if value is None or value == "" else binary_label(value)


class PairRow(ClaimRow):
    claim_id: MaybeName = None
    """Defaults to the row's `id` or line number."""
    group: MaybeName = None
    """In an experiment, whole groups of claims are drawn rather than whole responses."""
    document: str | None = None
    label: Annotated[Literal[0, 1] | None, BeforeValidator(_label)] = None
    evaluators: Mapping[NotBlank, Share | None] = Field(default_factory=dict)
    """Existing scores from other evaluators, which are kept."""
    unscored: Mapping[str, str] = Field(default_factory=dict)


class MarkedRow(PairRow):
    """A claim in a labelled data set. In a user's file, the `marked` column may contain anything and is ignored."""

    marked: Spans | None = None

    @classmethod
    def of(cls, claim: LabelledClaim) -> MarkedRow:
        """Claims about the same document form a group."""
        return cls.model_validate({**claim.model_dump(), "group": claim.document_id})


class Prediction(Record):
    """An output row, which an audit can read as input. The audit ignores `unscored`."""

    dataset: str
    system: str
    response_id: str
    claim_id: str
    task: str | None = None
    prompt_id: str | None = None
    label: BinaryLabel | None = None
    """1 for attributable, 0 for not attributable. The audit rejects rows without a label."""
    claim: str
    document: str
    marked: Spans | None = None
    """Spans of the claim that people marked as not supported by the document, if the data set has such spans."""
    evaluators: Mapping[str, Share | None]
    """Scores by evaluator. None means no score. `NAME@N` reads chunks of at most N words."""
    unscored: Mapping[str, str] = Field(default_factory=dict)
    """The reason for each missing score, as in reports, or `no_source` if the document is blank."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Unique within a file."""
        return self.dataset, self.system, self.response_id, self.claim_id

    @classmethod
    def of(cls, row: PairRow, *, default_dataset: str) -> Prediction:
        """Returns the row before it is scored. A claim without a response is treated as its own response."""
        claim_id = row.claim_id or row.id
        return cls(
            dataset=row.dataset.strip() or default_dataset,
            system=row.system.strip() or UNKNOWN_SYSTEM,
            response_id=row.response_id or claim_id,
            claim_id=claim_id,
            task=row.task,
            prompt_id=row.prompt_id,
            label=row.label,
            claim=row.claim,
            document=row.document or "",
            marked=row.marked if isinstance(row, MarkedRow) else None,
            evaluators=row.evaluators,
            unscored=row.unscored,
        )


class SpanFigures(Record):
    """How well the claims that a verifier finds unsupported cover the marked spans, measured in characters.

    As in RAGTruth (Niu et al. 2024), figures are micro-averaged over all scored claims that could have marked spans.
    Departure: a verifier marks whole claims, and characters between claims do not count.
    """

    precision: Share | None
    recall: Share | None
    f1: Share | None
    """Each figure is None if its denominator is 0."""
    n_predicted: Count
    n_marked: Count

    @classmethod
    def of(cls, predicted: int, marked: int, both: int) -> SpanFigures:
        return cls(
            precision=both / predicted if predicted else None,
            recall=both / marked if marked else None,
            f1=2 * both / (predicted + marked) if predicted + marked else None,
            n_predicted=predicted,
            n_marked=marked,
        )


class VerifierSummary(Record):
    name: str
    n_scored: Count
    unscored: Mapping[str, Count]
    share_supported: Share | None
    """Fraction of the scored pairs whose score is at least 0.5. None if no pair has a score."""
    spans: SpanFigures | None = None
    """None if no claim's data set has marked spans."""


class VerifyRun(Record):
    """The report of `factloop research verify`. The scores themselves are in the output file."""

    schema_version: Literal["1.1"] = "1.1"
    data: str
    n_pairs: Count
    n_labelled: Count
    evaluators: tuple[VerifierSummary, ...]
    """The verifiers in the requested order, each followed by its chunk columns."""
    usage: Usage
    created_at: datetime
    warnings: tuple[str, ...] = ()
