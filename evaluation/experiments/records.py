"""Defines the records of an experiment: its variants, what each said about every claim, and the report."""

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
    """The first line not in the packaged prompt; if unchanged, its first line."""
    is_changed: bool
    """Whether its text differs from the packaged one's."""
    changes: str = ""
    """The words that differ from the baseline's text; of the baseline itself from the packaged one."""

    @property
    def words(self) -> str:
        """`variants/strict/safe/assessment.md (19ba95bb0fe0): “each detail” − “so”`."""
        same = "" if self.is_changed else ", whose text is the packaged one"
        return f"{self.path} ({self.sha256[:12]}): {self.changes or f'“{self.first_line}”'}{same}"


class Variant(Record):
    """A variant of the settings of a check."""

    name: Name
    changes: Mapping[str, Any]
    """The settings in which it differs from the plan's own, as the plan has them."""
    fingerprint: Fingerprint
    """Model, plan, prompt hashes and everything else affecting its results."""
    shares_evidence: bool
    """Whether it saw exactly the passages that the baseline saw, for every claim in every repeat that both judged.

    Identical queries are answered once for all variants, so that variants that judge differently may search alike.
    """
    n_same_evidence: Count = 0
    """Claims, times repeats, with exactly the baseline's passages, of `n_compared` that both judged."""
    n_compared: Count = 0
    prompt_files: tuple[PromptFile, ...] = ()
    """The files of its own that it was judged by."""
    prompt_texts: Mapping[str, str] = Field(default_factory=dict)
    """The texts of prompts, by name, that a report shows beside the baseline's; they may be left out."""


class JudgedClaim(Record):
    """The judgement of one variant on one claim in one repeat."""

    variant: Name
    repeat: Repeat
    claim_id: str
    group: str
    """Claims of one response or document share it, and are resampled together. Of responses: the response's id."""
    claim: str
    gold: bool | None
    """People's label: supported or not; None without a label."""
    probability: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """How likely the claim was to be drawn for its label; None if it was not drawn."""
    judgement: Judgement
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[str, ...] = ()
    usage: Usage
    """Usage of this claim alone, as if the variant had been run alone: shared answers count in full."""


class JudgedText(Record):
    """The judgement of one variant on one whole response in one repeat."""

    variant: Name
    repeat: Repeat
    response_id: str
    system: str
    prompt_id: str
    counts: Counts
    quality: SplitQuality | None = None
    """How well it was split into claims, if the plan measures that (`splitting`)."""
    usage: Usage
    """Usage as if the variant had been run alone."""


class Results(Record):
    """All results of an experiment, from which its figures are computed."""

    name: str
    kind: Literal["claims", "responses"]
    data: str
    """The name of the data, and its hash if it is a file."""
    n_items: Count
    """Claims, or responses, of the data."""
    repeats: Repeat
    baseline: Name
    variants: tuple[Variant, ...]
    k: tuple[K, ...]
    claims: tuple[JudgedClaim, ...]
    """The claims of every variant in every repeat. For responses: the claims found; those of equal text pair up."""
    responses: tuple[JudgedText, ...] = ()
    paid: Usage
    """What was paid in all attempts of the run directory, also for variants since dropped; shared answers once."""

    @model_validator(mode="after")
    def _names_its_variants(self) -> Self:
        names = {variant.name for variant in self.variants}
        strangers = ({one.variant for one in self.claims} | {one.variant for one in self.responses}) - names
        if strangers or self.baseline not in names or len(names) < len(self.variants):
            raise ValueError(f"the variants are {sorted(names)}: {sorted(strangers) or self.baseline} is wrong")
        return self


class Latency(Record):
    """Seconds that an item took, over items and repeats; None without items."""

    median_s: NonNegative | None
    p95_s: NonNegative | None
    n: Count


class VariantReport(Record):
    """The results for one variant alone."""

    variant: Variant
    n_items: Count
    """Items with a result; in each repeat they count once."""
    n_missing: Count
    """Items of the data, times repeats, without any result: the experiment was stopped before."""
    figures: tuple[QuantityFigure, ...]
    stability: GroupFigure
    """Share of claims whose verdict is the same in all repeats, of those with a verdict in every repeat."""
    latency: Latency
    usage: Usage
    """Usage over all items and repeats, as if it had been run alone."""
    why_unscored: str | None = None
    """The first cause, if every claim that it judged is unscored, so that it has no agreement figure."""

    def find(self, quantity: Quantity, k: int | None = None) -> QuantityFigure | None:
        return next((one for one in self.figures if (one.quantity, one.k) == (quantity, k)), None)


class ItemCell(Record):
    """What one variant made of one item."""

    verdict: Verdict | None = None
    """For a claim, its majority verdict; None if there is none."""
    unscored_reason: UnscoredReason | None = None
    """For a claim without any verdict, the reason in the first repeat."""
    value: float | None
    """For a claim, the share of its scored repeats that match the label; for a response, the mean over repeats of F1 at
    the first K or, without any K, of precision. None if there is none."""
    n_scored: Count
    """Repeats with a verdict: of a response, with a scored claim."""
    n_repeats: Count
    """Repeats with any result."""


class ItemRow(Record):
    """One item against every variant."""

    item_id: str
    group: str
    """The group of a claim, the prompt of a response."""
    claim: str | None = None
    """None for a response."""
    gold: Verdict | None = None
    """The verdict that is people's label of a claim."""
    cells: tuple[ItemCell, ...]
    """One for each variant, in their order."""


class Conclusion(Record):
    """The headline of one comparison, in words."""

    first: Name
    second: Name
    outcome: Outcome
    words: str


class PastExperiment(Record):
    """What is kept of an experiment, a line of `history.jsonl` in its run directory."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    created_at: datetime | None
    name: str
    data: str
    n_items: Count
    repeats: Repeat
    level: Level
    n_seen: Count = 0
    """Held-out items that had been judged in the run directory before the first look at them."""
    variants: tuple[VariantReport, ...]
    """Without the texts of prompts."""

    @property
    def asked(self) -> tuple[object, ...]:
        """What was asked; repeating it is not a new experiment."""
        shaped = (one.variant.fingerprint.configuration for one in self.variants)
        return self.data, self.n_items, self.repeats, *sorted(json.dumps(one, sort_keys=True) for one in shaped)


class LookReport(Record):
    """One look at an experiment that judges its groups step by step."""

    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    n_in_all: Count
    """Items that the last look has."""
    still_open: tuple[Name, ...]
    """Variants whose difference is neither shown nor ruled out."""
    words: str


class ExperimentReport(Record):
    """A complete report. Except for `created_at`, it depends only on results, settings and seed."""

    schema_version: Literal["4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7"] = "4.7"
    name: str
    kind: Literal["claims", "responses"]
    data: str
    n_items: Count
    n_labelled: Count
    """Distinct claims with a label of people; `n_supported` of them supported."""
    n_supported: Count
    repeats: Repeat
    baseline: Name
    k: tuple[K, ...]
    level: Level
    """Level of the intervals, those of differences a family together; these are held against alpha, one minus this."""
    n_resamples: Count
    seed: Count
    look: LookReport | None = None
    """Set if groups are judged step by step; `level` is then that of this look."""
    families: tuple[Family, ...]
    headline: Quantity
    headline_k: K | None = None
    conclusions: tuple[Conclusion, ...]
    """One for each variant but the baseline, or for each pair; empty for a single variant."""
    pooled: tuple[str, ...] = ()
    """What each prompt does over several models or settings, if each was tried with every prompt."""
    demands: tuple[DemandResult, ...] = ()
    """What was demanded of each variant but the baseline."""
    variants: tuple[VariantReport, ...]
    differences: tuple[PairedDifference, ...]
    flip_counts: tuple[FlipCount, ...]
    flips: tuple[Flip, ...]
    """Between baseline and each variant: worse first, then better, then neutral; then by cause."""
    items: tuple[ItemRow, ...] = ()
    """Every item of the data against every variant, by group and item."""
    paid: Usage
    warnings: tuple[str, ...] = ()
    history: tuple[PastExperiment, ...] = ()
    """Earlier experiments of the run directory on the same data, with other variants."""
    n_seen: Count = 0
    """As in `PastExperiment`."""
    created_at: datetime | None = None

    def differences_of(self, first: str, second: str) -> tuple[PairedDifference, ...]:
        return tuple(one for one in self.differences if (one.first, one.second) == (first, second))
