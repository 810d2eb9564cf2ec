"""The records of an experiment: its variants, their judgements of every claim, and the report."""

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
    """The first line that is not in the packaged prompt. If there is none, the first line."""
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
    name: Name
    changes: Mapping[str, Any]
    fingerprint: Fingerprint
    shares_evidence: bool
    """Whether the variant saw the same passages as the baseline for every claim in every repeat that both judged.

    Identical queries are answered once for all variants, so variants that judge differently can share searches.
    """
    n_same_evidence: Count = 0
    """Number of results with the same passages as the baseline, out of the `n_compared` that both have."""
    n_compared: Count = 0
    prompt_files: tuple[PromptFile, ...] = ()
    prompt_texts: Mapping[str, str] = Field(default_factory=dict)
    """Shown in a report next to the baseline's prompts. May be left out."""


class JudgedClaim(Record):
    """One variant's judgement of one claim in one repeat."""

    variant: Name
    repeat: Repeat
    claim_id: str
    group: str
    """Claims of one response or document are resampled as a whole. For a claim of a response, its response's id."""
    claim: str
    gold: bool | None
    """True if labelled supported, False if not, None without a label."""
    probability: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """The probability that the claim was drawn for labelling. None if it was not drawn."""
    judgement: Judgement
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[str, ...] = ()
    usage: Usage
    """The usage as if the variant had been run alone, so shared answers count in full."""


class JudgedText(Record):
    variant: Name
    repeat: Repeat
    response_id: str
    system: str
    prompt_id: str
    counts: Counts
    quality: SplitQuality | None = None
    """How well the response was split into claims. None unless the plan sets `splitting`."""
    usage: Usage


class Results(Record):
    """All results of an experiment, from which its figures are computed."""

    name: str
    kind: Literal["claims", "responses"]
    data: str
    """The name of the data, with a hash if it is a file."""
    n_items: Count
    repeats: Repeat
    baseline: Name
    variants: tuple[Variant, ...]
    k: tuple[K, ...]
    claims: tuple[JudgedClaim, ...]
    """For responses, the claims found in them, paired by identical text."""
    responses: tuple[JudgedText, ...] = ()
    paid: Usage
    """The usage paid for in all attempts in the run directory, with shared answers counted once."""

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
    """Seconds per item, over all items and repeats."""

    median_s: NonNegative | None
    p95_s: NonNegative | None
    n: Count


class VariantReport(Record):
    variant: Variant
    n_items: Count
    n_missing: Count
    """Results (items times repeats) that are missing because the experiment stopped early."""
    figures: tuple[QuantityFigure, ...]
    stability: GroupFigure
    """Of the claims with a verdict in every repeat, the proportion whose verdicts all agree."""
    latency: Latency
    usage: Usage
    """The usage over all items and repeats, as if the variant had been run alone."""
    why_unscored: str | None = None
    """The first reason why claims are unscored. Set only if all judged claims are unscored."""

    def find(self, quantity: Quantity, k: int | None = None) -> QuantityFigure | None:
        return next((one for one in self.figures if (one.quantity, one.k) == (quantity, k)), None)


class ItemCell(Record):
    verdict: Verdict | None = None
    unscored_reason: UnscoredReason | None = None
    """For a claim without verdicts, the reason in the first repeat."""
    value: float | None
    """For a claim, the proportion of scored repeats that match the label. For a response, the mean across repeats of F1
    at the first K, or of precision if there is no K. None if undefined."""
    n_scored: Count
    """Repeats with a verdict or, for a response, with a scored claim."""
    n_repeats: Count


class ItemRow(Record):
    item_id: str
    group: str
    """The group of a claim, or the prompt of a response."""
    claim: str | None = None
    gold: Verdict | None = None
    """The verdict that corresponds to the human label."""
    cells: tuple[ItemCell, ...]


class Conclusion(Record):
    first: Name
    second: Name
    outcome: Outcome
    words: str


class PastExperiment(Record):
    """A line of `history.jsonl` in a run directory."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    created_at: datetime | None
    name: str
    data: str
    n_items: Count
    repeats: Repeat
    level: Level
    n_seen: Count = 0
    """Held-out items already judged in the run directory when the held-out part was first used."""
    variants: tuple[VariantReport, ...]
    """The variants, without the text of their prompts."""

    @property
    def asked(self) -> tuple[object, ...]:
        """Identifies the experiment, so that running it again does not count as a new one."""
        shaped = (one.variant.fingerprint.configuration for one in self.variants)
        return self.data, self.n_items, self.repeats, *sorted(json.dumps(one, sort_keys=True) for one in shaped)


class LookReport(Record):
    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    n_in_all: Count
    """Number of items at the last look."""
    still_open: tuple[Name, ...]
    """The variants whose difference is neither shown nor ruled out."""
    words: str


class ExperimentReport(Record):
    """Except for `created_at`, a report depends only on the results, the settings and the seed."""

    schema_version: Literal["4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8"] = "4.8"
    name: str
    kind: Literal["claims", "responses"]
    data: str
    n_items: Count
    n_labelled: Count
    """Distinct claims with a human label. `n_supported` of them are labelled supported."""
    n_supported: Count
    repeats: Repeat
    baseline: Name
    k: tuple[K, ...]
    level: Level
    """Confidence level of the intervals, joint within each family of differences. Alpha is 1 minus this level."""
    n_resamples: Count
    seed: Count
    look: LookReport | None = None
    """Set only if groups are judged step by step. `level` is then that of this look."""
    families: tuple[Family, ...]
    headline: Quantity
    headline_k: K | None = None
    conclusions: tuple[Conclusion, ...]
    """One conclusion for each variant except the baseline, or one for each pair."""
    pooled: tuple[str, ...] = ()
    """The effect of each prompt across several models or settings, if every prompt was tried with each."""
    demands: tuple[DemandResult, ...] = ()
    variants: tuple[VariantReport, ...]
    differences: tuple[PairedDifference, ...]
    flip_counts: tuple[FlipCount, ...]
    flips: tuple[Flip, ...]
    """The flips from the baseline to each variant: first for the worse, then for the better, then neutral."""
    items: tuple[ItemRow, ...] = ()
    paid: Usage
    warnings: tuple[str, ...] = ()
    history: tuple[PastExperiment, ...] = ()
    """Earlier experiments in the same run directory on the same data, but with other variants."""
    n_seen: Count = 0
    created_at: datetime | None = None

    def differences_of(self, first: str, second: str) -> tuple[PairedDifference, ...]:
        return tuple(one for one in self.differences if (one.first, one.second) == (first, second))
