"""Defines the records of an experiment: its variants, their judgements of every claim, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.reasons import UnscoredReason
from factloop.core.records import Count, Counts, Evidence, Fingerprint, Judgement, NonNegative, Record, Usage, Verdict
from factloop.evaluation.comparing.records import (
    DemandResult,
    Family,
    Flip,
    FlipCount,
    GroupFigure,
    Level,
    Outcome,
    PairedDifference,
    Quantity,
    QuantityFigure,
)
from factloop.evaluation.experiments.splitting import SplitQuality
from factloop.evaluation.runs.longform import K

Repeat = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class PromptFile(Record):
    """A user's file that replaces a packaged prompt."""

    name: str
    path: str
    sha256: str
    first_line: str
    """The first line that is not in the packaged prompt, or simply the first line if there is no such line."""
    is_changed: bool
    """Whether the text differs from the packaged prompt."""
    changes: str = ""
    """The words that differ from the baseline's prompt or, for the baseline itself, from the packaged prompt."""

    @property
    def words(self) -> str:
        """Describes the file, as in `variants/strict/safe/assessment.md (19ba95bb0fe0): “each detail” − “so”`."""
        same = "" if self.is_changed else ", with the packaged text"
        return f"{self.path} ({self.sha256[:12]}): {self.changes or f'“{self.first_line}”'}{same}"


class Variant(Record):
    """A variant of the settings used for a check."""

    name: Name
    changes: Mapping[str, Any]
    """The settings that differ from the plan's shared settings, as written in the plan."""
    fingerprint: Fingerprint
    """The model, plan, prompt hashes, and everything else that affects the results."""
    shares_evidence: bool
    """Whether the variant saw the same passages as the baseline for every claim in every repeat that both judged.

    Identical queries are answered once for all variants, so variants that judge differently can share searches.
    """
    n_same_evidence: Count = 0
    """Number of claims (times repeats) with the same passages as the baseline, out of `n_compared` judged by both."""
    n_compared: Count = 0
    prompt_files: tuple[PromptFile, ...] = ()
    """The user's own prompt files, if the variant used any."""
    prompt_texts: Mapping[str, str] = Field(default_factory=dict)
    """Maps the names of prompts to their texts, which a report shows next to the baseline's prompts. May be omitted."""


class JudgedClaim(Record):
    """One variant's judgement of one claim in one repeat."""

    variant: Name
    repeat: Repeat
    claim_id: str
    group: str
    """The group of claims from a response or document, resampled as a whole. For responses, the response's id."""
    claim: str
    gold: bool | None
    """The human label: supported (True) or not (False), or None without a label."""
    probability: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """The probability with which the claim was drawn for labelling, or None if it was not drawn."""
    judgement: Judgement
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[str, ...] = ()
    usage: Usage
    """The usage for this claim as if the variant had been run alone: shared answers count in full."""


class JudgedText(Record):
    """One variant's judgement of one whole response in one repeat."""

    variant: Name
    repeat: Repeat
    response_id: str
    system: str
    prompt_id: str
    counts: Counts
    quality: SplitQuality | None = None
    """How well the response was split into claims, if the plan asks for this (`splitting`)."""
    usage: Usage
    """The usage as if the variant had been run alone."""


class Results(Record):
    """All results of an experiment. Its figures are computed from these."""

    name: str
    kind: Literal["claims", "responses"]
    data: str
    """The name of the data, with its hash if it is a file."""
    n_items: Count
    """Number of claims or responses in the data."""
    repeats: Repeat
    baseline: Name
    variants: tuple[Variant, ...]
    k: tuple[K, ...]
    claims: tuple[JudgedClaim, ...]
    """The claims of every variant in every repeat. For responses, the claims found, paired by identical text."""
    responses: tuple[JudgedText, ...] = ()
    paid: Usage
    """The usage paid for in all attempts in the run directory, even for dropped variants. Shared answers count once."""

    @model_validator(mode="after")
    def _names_its_variants(self) -> Self:
        names = {variant.name for variant in self.variants}
        strangers = ({one.variant for one in self.claims} | {one.variant for one in self.responses}) - names
        if len(names) < len(self.variants):
            raise ValueError("variants must have unique names")
        if unknown := sorted({*strangers, self.baseline} - names):
            raise ValueError(f"unknown variants {unknown}; the variants are {sorted(names)}")
        return self


class Latency(Record):
    """Seconds per item over all items and repeats, or None if there are no items."""

    median_s: NonNegative | None
    p95_s: NonNegative | None
    n: Count


class VariantReport(Record):
    """The results of a single variant."""

    variant: Variant
    n_items: Count
    """Number of items with a result. All repeats of an item count as one."""
    n_missing: Count
    """Number of results (items times repeats) that are missing because the experiment stopped early."""
    figures: tuple[QuantityFigure, ...]
    stability: GroupFigure
    """Share of claims with the same verdict in all repeats, among those with a verdict in every repeat."""
    latency: Latency
    usage: Usage
    """The usage over all items and repeats, as if the variant had been run alone."""
    why_unscored: str | None = None
    """The first reason why claims are unscored. Set only if all judged claims are: agreement is then unknown."""

    def find(self, quantity: Quantity, k: int | None = None) -> QuantityFigure | None:
        return next((one for one in self.figures if (one.quantity, one.k) == (quantity, k)), None)


class ItemCell(Record):
    """The result of one variant on one item."""

    verdict: Verdict | None = None
    """For a claim, the majority verdict, or None if there is none."""
    unscored_reason: UnscoredReason | None = None
    """For a claim without verdicts, the reason given in the first repeat."""
    value: float | None
    """For a claim, the share of scored repeats that match the label. For a response, the mean across repeats of F1 at
    the first K, or of precision if there is no K. None if undefined."""
    n_scored: Count
    """Number of repeats with a verdict. For a response, the number of repeats with a scored claim."""
    n_repeats: Count
    """Number of repeats with a result."""


class ItemRow(Record):
    """The results of all variants on one item."""

    item_id: str
    group: str
    """The group of a claim, or the prompt of a response."""
    claim: str | None = None
    """None for a response."""
    gold: Verdict | None = None
    """The verdict that corresponds to the claim's human label."""
    cells: tuple[ItemCell, ...]
    """One cell for each variant, in the same order."""


class Conclusion(Record):
    """What a comparison shows about the headline."""

    first: Name
    second: Name
    outcome: Outcome
    words: str


class PastExperiment(Record):
    """The record of an experiment, which is a line of `history.jsonl` in its run directory."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    created_at: datetime | None
    name: str
    data: str
    n_items: Count
    repeats: Repeat
    level: Level
    n_seen: Count = 0
    """Number of held-out items already judged in the run directory when the held-out part was first used."""
    variants: tuple[VariantReport, ...]
    """The variants, without the text of their prompts."""

    @property
    def asked(self) -> tuple[object, ...]:
        """Everything that identifies the experiment, so that running it again does not count as a new experiment."""
        shaped = (one.variant.fingerprint.configuration for one in self.variants)
        return self.data, self.n_items, self.repeats, *sorted(json.dumps(one, sort_keys=True) for one in shaped)


class LookReport(Record):
    """One look at an experiment whose groups are judged step by step."""

    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    n_in_all: Count
    """Number of items at the last look."""
    still_open: tuple[Name, ...]
    """The variants whose difference is neither shown nor ruled out."""
    words: str


class ExperimentReport(Record):
    """A complete report. Except for `created_at`, it depends only on the results, the settings and the seed."""

    schema_version: Literal["4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8"] = "4.8"
    name: str
    kind: Literal["claims", "responses"]
    data: str
    n_items: Count
    n_labelled: Count
    """Number of distinct claims with a human label. `n_supported` of them are labelled supported."""
    n_supported: Count
    repeats: Repeat
    baseline: Name
    k: tuple[K, ...]
    level: Level
    """Confidence level of the intervals (joint within each family of differences). Alpha is 1 minus this level."""
    n_resamples: Count
    seed: Count
    look: LookReport | None = None
    """Set only if groups are judged step by step. `level` is then the level of this look."""
    families: tuple[Family, ...]
    headline: Quantity
    headline_k: K | None = None
    conclusions: tuple[Conclusion, ...]
    """One for each variant except the baseline, or one for each pair. Empty if there is only one variant."""
    pooled: tuple[str, ...] = ()
    """The effect of each prompt across several models or settings, if every prompt was tried with each of them."""
    demands: tuple[DemandResult, ...] = ()
    """The results of checking the demands on each variant except the baseline."""
    variants: tuple[VariantReport, ...]
    differences: tuple[PairedDifference, ...]
    flip_counts: tuple[FlipCount, ...]
    flips: tuple[Flip, ...]
    """The flips from the baseline to each variant: first worse, then better, then neutral ones, each by cause."""
    items: tuple[ItemRow, ...] = ()
    """The results of all variants on every item in the data, sorted by group and item."""
    paid: Usage
    warnings: tuple[str, ...] = ()
    history: tuple[PastExperiment, ...] = ()
    """Earlier experiments in the same run directory on the same data, but with other variants."""
    n_seen: Count = 0
    """As in `PastExperiment`."""
    created_at: datetime | None = None

    def differences_of(self, first: str, second: str) -> tuple[PairedDifference, ...]:
        return tuple(one for one in self.differences if (one.first, one.second) == (first, second))
