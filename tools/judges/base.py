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
    """Degree of support in [0, 1]. Higher is better, but only some verifiers return a calibrated probability."""
    cited: tuple[int, ...]
    """Indices of the relevant passages, starting at 0, best first. Empty if none is relevant to the claim."""
    rationale: str
    """A one-line explanation for readers: the decisive evidence, or what was sought but not found."""
    quote: str = ""
    """The decisive sentence, verbatim from the first cited passage. Empty if there is none."""
    wrong: str = ""
    """For `contradicted`: the words of the claim that differ from the passages."""
    instead: str = ""
    """The words of the quote that correspond to `wrong`, verbatim."""


class Verifier(Protocol):
    """Judges claims only by the given passages, without searching and without memory of earlier claims."""

    @property
    def name(self) -> str:
        """The name in `Judgement.judged_by` and in the fingerprint of a run."""
        ...

    @property
    def abstains(self) -> bool:
        """Whether `insufficient` means that the verifier is unsure and a human reader must decide. Otherwise, it means
        that nothing supports the claim.
        """
        ...

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        """Judges a claim. Odd text causes no error: an empty claim or a lack of passages is `insufficient` with score
        0.

        `documents` contains the number of each passage's document. Several passages of one document may support a claim
        together. If it is None, each passage is a separate document.
        """
        ...
