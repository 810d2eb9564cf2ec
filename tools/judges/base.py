"""Defines the interface of a verifier, which judges how well passages support a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Label = Literal["supported", "contradicted", "insufficient"]


@dataclass(frozen=True)
class SupportReading:
    """How well a list of passages supports a claim."""

    label: Label
    score: float
    """Degree of support in [0, 1]. Higher is better, but only some verifiers return a calibrated probability."""
    cited: tuple[int, ...]
    """Indices of the relevant passages, starting at 0, best first. Empty if no passage is relevant."""
    rationale: str
    """A one-line explanation for readers: the decisive evidence, or what was looked for but not found."""
    quote: str = ""
    """The decisive sentence, verbatim from the first cited passage. Empty if there is none."""
    wrong: str = ""
    """The words of a `contradicted` claim that differ from the passages."""
    instead: str = ""
    """The words of the quote that correspond to `wrong`, copied verbatim."""


class Verifier(Protocol):
    """Judges each claim only by the passages given, without searching and without remembering earlier claims."""

    @property
    def name(self) -> str:
        """The verifier's name in `Judgement.judged_by` and in a run's fingerprint."""
        ...

    @property
    def abstains(self) -> bool:
        """Whether `insufficient` means that the verifier is unsure and that a person must decide. Otherwise,
        `insufficient` means that no passage supports the claim."""
        ...

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        """Judges a claim. If the claim is empty or there are no passages, the result is `insufficient` with score 0.

        `documents` contains the document number of each passage. Passages from the same document may support a claim
        together. If `documents` is None, each passage is a separate document.
        """
        ...
