"""Defines the interface of a verifier, which takes a claim and passages and returns a degree of support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Label = Literal["supported", "contradicted", "insufficient"]


@dataclass(frozen=True)
class SupportReading:
    """The degree to which a list of passages supports a claim."""

    label: Label
    score: float
    """Degree of support in [0, 1]; higher is better. Only some verifiers return a calibrated probability."""
    cited: tuple[int, ...]
    """Indices into the passages, starting at 0, best first; empty if none of them is relevant to the claim."""
    rationale: str
    """One line in plain words for readers: what decides, or what was looked for and not found."""
    quote: str = ""
    """The sentence that decides, verbatim from the first of `cited`; empty if there is none."""
    wrong: str = ""
    """For `contradicted`: the words of the claim that differ from the passages."""
    instead: str = ""
    """The words of the quote in place of `wrong`, verbatim."""


class Verifier(Protocol):
    """Judges a claim by passages only, without searching and without memory of earlier claims."""

    @property
    def name(self) -> str:
        """The name for `Judgement.judged_by` and the fingerprint of a run."""
        ...

    @property
    def abstains(self) -> bool:
        """Whether `insufficient` means that the verifier is unsure and a human reader must decide; otherwise it means
        that nothing supports the claim."""
        ...

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        """Never raises on odd text: an empty claim or an empty list of passages gives `insufficient` with a score of 0.

        `documents` has the number of each passage's document; several passages of one document may support a claim
        together. If it is None, each passage is a document of its own.
        """
        ...
