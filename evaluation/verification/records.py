"""Records of verification: its settings, the rows read and written, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from factloop.core.files.rows import Identifier, NotBlank
from factloop.core.files.tables import TableItem
from factloop.core.records import Count, Record, Share, Usage
from factloop.evaluation.datasets.mapping import BinaryLabel, LabelledClaim, binary_label
from factloop.setup.marks import MODEL, Mark
from factloop.setup.settings import BaseUrl, RunSettings, Temperature


class VerifySettings(RunSettings):
    """Settings of verifiers that are chat models."""

    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """Temperature of the models.

    None leaves it to the server."""
    logprobs: bool = True
    """Score by the answer's probability, where the server gives it; else 0 or 1."""


UNKNOWN_SYSTEM = "unknown"
"""System of a claim whose row names none: the audit needs one."""


def _label(value: Any) -> Any:
    return None if value is None or value == "" else binary_label(value)


def _identifier(value: Any) -> Any:
    return None if value == "" else value


MaybeIdentifier = Annotated[Identifier | None, BeforeValidator(_identifier)]
"""None for an empty cell of a CSV file."""


class PairRow(TableItem):
    """A row of the input: one claim with the text that it is judged by, labelled or not."""

    dataset: str = ""
    system: str = ""
    response_id: MaybeIdentifier = None
    claim_id: MaybeIdentifier = None
    """The row's `id`, which defaults to the number of its line."""
    task: MaybeIdentifier = None
    prompt_id: MaybeIdentifier = None
    group: MaybeIdentifier = None
    """An experiment draws the claims of a group together, in place of those of a response."""
    claim: NotBlank
    document: str | None = None
    label: Annotated[Literal[0, 1] | None, BeforeValidator(_label)] = None
    evaluators: Mapping[NotBlank, Share | None] = Field(default_factory=dict)
    """Scores that others gave before: they are kept."""
    unscored: Mapping[str, str] = Field(default_factory=dict)

    @classmethod
    def of(cls, claim: LabelledClaim) -> PairRow:
        """The claim of a labelled data set as such a row."""
        return cls.model_validate(claim.model_dump())


class Prediction(Record):
    """A row of the output, which the audit reads; it passes over `unscored`."""

    dataset: str
    system: str
    response_id: str
    claim_id: str
    task: str | None = None
    prompt_id: str | None = None
    label: BinaryLabel | None = None
    """1 attributable, 0 not; the audit takes no row without."""
    claim: str
    document: str
    evaluators: Mapping[str, Share | None]
    """Score by evaluator, None where it gave none; `NAME@N` read chunks of at most N words."""
    unscored: Mapping[str, str] = Field(default_factory=dict)
    """Why an evaluator gave none: a reason as in reports, `no_source` where the document is blank."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The key of a row; no two rows of a file share it."""
        return self.dataset, self.system, self.response_id, self.claim_id

    @classmethod
    def of(cls, row: PairRow, *, default_dataset: str) -> Prediction:
        """The row before anything is scored; a claim that is of no response is one of its own."""
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
            evaluators=row.evaluators,
            unscored=row.unscored,
        )


class VerifierSummary(Record):
    """The progress of one verifier."""

    name: str
    n_scored: Count
    unscored: Mapping[str, Count]
    """Reason to number of pairs without a score."""
    share_supported: Share | None
    """Share of the scored pairs with a score of 0.5 or more; None if no pair is scored."""


class VerifyRun(Record):
    """The report of `factloop research verify`; the scores themselves stand in the file it wrote."""

    schema_version: Literal["1.0"] = "1.0"
    data: str
    """Name of the input."""
    n_pairs: Count
    n_labelled: Count
    evaluators: tuple[VerifierSummary, ...]
    """The verifiers asked for, in that order, each with its chunked columns after it."""
    usage: Usage
    """Usage of this attempt."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
