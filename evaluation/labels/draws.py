"""What labelled claims count for, by the draws that they are from.

Whoever labels the beginning of a sheet, which is in random order, has labelled a smaller draw: of n claims drawn m have
an answer, and each was as likely to be among them as its probability times m / n.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from factloop.reports.labels import ClaimToLabel


@dataclass
class DrawnPart:
    """The claims of one draw that were given back, and how many of them have an answer."""

    name: str | None
    """None where it is not known."""
    n_drawn: int = 0
    n_answered: int = 0

    @property
    def n_open(self) -> int:
        """Claims that were drawn and have no answer, or were not given back."""
        return self.n_drawn - self.n_answered

    @property
    def share(self) -> float:
        """How likely a claim of the draw is to be answered: each as likely, where the first rows are."""
        return self.n_answered / self.n_drawn


def drawn_parts(claims: Iterable[tuple[ClaimToLabel, bool]]) -> dict[str | None, DrawnPart]:
    """The draws by their names, from different claims with a probability, and whether each has an answer.

    Where the number drawn is not known, it is that of the claims given back.
    """
    found: dict[str | None, DrawnPart] = {}
    n_known: dict[str | None, int] = {}
    for claim, is_answered in claims:
        name = None if claim.draw is None else claim.draw.name
        part = found.setdefault(name, DrawnPart(name))
        part.n_drawn += 1
        part.n_answered += is_answered
        n_known[name] = max(n_known.get(name, 0), 0 if claim.draw is None else claim.draw.n)
    for name, part in found.items():
        part.n_drawn = max(part.n_drawn, n_known[name])
    return found
