"""The interface of a verifier, which judges how well passages support a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Label = Literal["supported", "contradicted", "insufficient"]


@dataclass(frozen=True)
class SupportReading:
    label: Label
    score: float
    """Degree of support in [0, 1]; higher is better. Only some verifiers return a calibrated probability."""
    cited: tuple[int, ...]
    """Indices of the relevant passages, starting at 0, best first."""
    rationale: str
    """A one-line explanation for readers: the decisive evidence, or what was sought but not found."""
    quote: str = ""
    """The decisive sentence, verbatim from the first cited passage, if there is one."""
    wrong: str = ""
    """The words of a `contradicted` claim that differ from the passages."""
    instead: str = ""


class Verifier(Protocol):
    """Judges a claim only by the passages given."""

    @property
    def name(self) -> str:
        """The name in `Judgement.judged_by` and in fingerprints."""
        ...

    @property
    def abstains(self) -> bool:
        """Whether `insufficient` means that the verifier is unsure and a person must decide. If not, `insufficient`
        means that no passage supports the claim.
        """
        ...

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        """Judges a claim. If it is empty or there are no passages, the result is `insufficient` with score 0.

        `documents` contains the document number of each passage. Passages of one document may support a claim together.
        By default, each passage is a separate document.
        """
        ...
