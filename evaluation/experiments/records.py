"""Records of an experiment: its variants, and what each of them said of every claim in every repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.records import Count, Counts, Evidence, Fingerprint, Judgement, Record, Usage

Repeat = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]


class Variant(Record):
    """A variant of the settings of a check."""

    name: Name
    changes: Mapping[str, Any]
    """The settings in which it differs from the plan's own, as the plan has them."""
    fingerprint: Fingerprint
    """Model, plan, prompt hashes and all else that made its results."""
    shares_evidence: bool
    """Whether it saw the very passages that the baseline saw, for every claim in every repeat that both judged.

    Identical queries are answered once for all variants, so that a variant that judges otherwise may search alike.
    """
    n_same_evidence: Count = 0
    """Claims, times repeats, with the baseline's very passages, of `n_compared` that both judged."""
    n_compared: Count = 0
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
    usage: Usage
    """Usage as if the variant had been run alone."""


class Results(Record):
    """All that an experiment found: what its figures are computed from."""

    name: str
    kind: Literal["claims", "responses"]
    data: str
    """The name of the data, and its hash if it is a file."""
    n_items: Count
    """Claims, or responses, of the data."""
    repeats: Repeat
    baseline: Name
    variants: tuple[Variant, ...]
    k: tuple[Annotated[int, Field(ge=1)], ...]
    claims: tuple[JudgedClaim, ...]
    """The claims of every variant in every repeat. For responses: the claims found; those of equal text pair up."""
    responses: tuple[JudgedText, ...] = ()
    paid: Usage
    """What the whole experiment cost, answers shared between variants once."""

    @model_validator(mode="after")
    def _names_its_variants(self) -> Self:
        names = {variant.name for variant in self.variants}
        strangers = ({one.variant for one in self.claims} | {one.variant for one in self.responses}) - names
        if strangers or self.baseline not in names or len(names) < len(self.variants):
            raise ValueError(f"the variants are {sorted(names)}: {sorted(strangers) or self.baseline} is wrong")
        return self
