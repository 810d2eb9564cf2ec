"""Calculates the probabilities that weight labelled claims.

The rows of a sheet are in random order, so the first rows are themselves a smaller random draw. If m of n drawn claims
have an answer, the probability that a claim is drawn and answered is its probability of being drawn times m / n.

A later draw leaves out the run's labelled claims, so its probabilities depend on their labels. A total then has two
unbiased estimates: one from the earlier labels alone, and one from the earlier labels and a draw from the remaining
claims. The second is unbiased whatever the first draw was, so they are uncorrelated, and their mean, weighted by
`sampling.share_of_draw`, is unbiased too. In this mean, a claim from the later draw is weighted by its probability
divided by that share. The sheet contains this quotient. A claim labelled earlier is weighted by the probability from
`sampling.probability_after`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from factloop.core.errors import DataError
from factloop.evaluation.labels.sampling import probability_after, share_of_draw
from factloop.reports.labels import ClaimToLabel, Draw


@dataclass
class DrawnPart:
    draw: Draw | None
    place: str
    n_drawn: int = 0
    n_answered: int = 0
    runs: set[tuple[str, str]] = field(default_factory=set)
    """The data set and judge of each run that these claims come from."""

    @property
    def n_open(self) -> int:
        """Drawn claims that have no answer or were not returned."""
        return self.n_drawn - self.n_answered

    @property
    def share(self) -> float:
        """The probability that a drawn claim has an answer. It is equal for all claims if people start at the top."""
        return self.n_answered / self.n_drawn

    @property
    def n_before(self) -> int:
        """Claims that already had a label when the draw was made."""
        return 0 if self.draw is None else self.draw.n_before

    @property
    def name(self) -> str:
        return "the claims" if self.draw is None else f"draw {self.draw.name}"


def drawn_parts(claims: Iterable[tuple[ClaimToLabel, str, bool]]) -> dict[str | None, DrawnPart]:
    """Groups claims by the name of their draw. The claims must be distinct, and each must have a probability.

    Each claim is passed with its file and whether it has an answer. If the size of a draw is unknown, the number of
    returned claims is used.
    """
    found: dict[str | None, DrawnPart] = {}
    for claim, place, is_answered in claims:
        part = found.setdefault(_name(claim), DrawnPart(claim.draw, place))
        part.n_drawn += 1
        part.n_answered += is_answered
        part.runs.add((claim.dataset, claim.judge))
    for part in found.values():
        part.n_drawn = max(part.n_drawn, 0 if part.draw is None else part.draw.n)
    return found


def counted(claims: Sequence[ClaimToLabel], parts: Iterable[DrawnPart]) -> list[ClaimToLabel]:
    """Returns the labelled claims with the probabilities that determine their weights.

    Claims that were not drawn are unchanged. Raises DataError if a run has several independent draws, or if earlier
    labels that a draw left out are missing.
    """
    given = {_name_of(part.draw): part for part in parts if part.n_answered}
    later = sorted(given.values(), key=lambda part: part.n_before)
    for place, part in enumerate(later):
        _refuse_strangers(part, later[:place])
    chances = [None if one.probability is None else one.probability * given[_name(one)].share for one in claims]
    for part in later:
        if part.draw is not None and part.n_before:
            share = share_of_draw(part.draw.n_claims, part.n_before, part.draw.n)
            for place in _before(part, claims):
                known = chances[place]
                chances[place] = None if known is None else probability_after(known, share)
    rounded = (None if chance is None else round(chance, 12) for chance in chances)
    return [one.model_copy(update={"probability": chance}) for one, chance in zip(claims, rounded, strict=True)]


def _before(part: DrawnPart, claims: Sequence[ClaimToLabel]) -> list[int]:
    found = [
        place
        for place, one in enumerate(claims)
        if (one.dataset, one.judge) in part.runs and (one.draw is None or one.draw.n_before < part.n_before)
    ]
    if len(found) != part.n_before:
        raise DataError(
            f"{part.name} left out {part.n_before:,} claims that already had labels, but the other files contain "
            f"{len(found):,}; add the file that you passed to `labels next --labels`, and remove other labels for "
            "these claims",
            path=part.place,
        )
    return found


def _refuse_strangers(part: DrawnPart, before: Iterable[DrawnPart]) -> None:
    for one in before:
        if part.n_before == one.n_before and not one.runs.isdisjoint(part.runs):
            raise DataError(
                f"this file and {one.place} come from independent draws and cannot be combined; export one of them, "
                "then run `labels next --labels` with it to draw more claims",
                path=part.place,
            )


def _name(claim: ClaimToLabel) -> str | None:
    return _name_of(claim.draw)


def _name_of(draw: Draw | None) -> str | None:
    return None if draw is None else draw.name
