"""The interface of a verifier: one claim and its passages in, a degree of support out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Label = Literal["supported", "contradicted", "insufficient"]


@dataclass(frozen=True)
class SupportReading:
    """How far a list of passages bears out one claim."""

    label: Label
    score: float
    """Degree of support in [0, 1]; higher is better. The verifier says whether it is a calibrated probability."""
    cited: tuple[int, ...]
    """Indices into the passages, from 0, best first; empty where nothing in them bears on the claim."""
    rationale: str
    """One line in plain words that a reader understands: what decides, or what was looked for and not found."""
    quote: str = ""
    """The sentence that decides, word for word as the first of `cited` has it; empty where none is named."""
    wrong: str = ""
    """For `contradicted`: the words of the claim that the passages have otherwise."""
    instead: str = ""
    """What the quote has in the place of `wrong`, word for word."""


class Verifier(Protocol):
    """Judges one claim by passages alone: no search, no memory of earlier claims."""

    @property
    def name(self) -> str:
        """Names what judged, for `Judgement.judged_by` and the fingerprint of a run."""
        ...

    @property
    def abstains(self) -> bool:
        """Whether `insufficient` means that it is not sure, and a person has to read; else that nothing bears out the
        claim."""
        ...

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        """Never raises on odd text: an empty claim or no passages is `insufficient` with score 0.

        `documents`: the number of each passage's document; a claim may be borne out by several passages of one. None:
        each passage is a document of its own.
        """
        ...
