"""Weights labelled claims by how they were drawn.

A sheet is in random order, so its first rows are a smaller draw: if m of n drawn claims have an answer, the
probability that a claim is among them is its own probability times m / n.

A draw leaves out the claims of its run that have a label, and its probabilities depend on those labels. A total then
has two unbiased estimates: one from the earlier labels alone, and one that adds a draw from the remaining claims. The
second is unbiased whatever the first draw was, so the two are uncorrelated, and their mean, weighted by
`sampling.share_of_draw`, is unbiased, too. In that mean, a drawn claim has its probability divided by the share of the
draw, as on its sheet, and a claim labelled earlier has the probability from `sampling.probability_after`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from factloop.core.errors import DataError
from factloop.evaluation.labels.sampling import probability_after, share_of_draw
from factloop.reports.labels import ClaimToLabel, Draw


@dataclass
class DrawnPart:
    """The claims of one draw that were returned, and how many of them have an answer."""

    draw: Draw | None
    """None if it is unknown."""
    place: str
    """The file that contains the first of its claims."""
    n_drawn: int = 0
    n_answered: int = 0
    runs: set[tuple[str, str]] = field(default_factory=set)
    """The data set and the judge of each run that its claims come from."""

    @property
    def n_open(self) -> int:
        """Number of drawn claims that have no answer or were not returned."""
        return self.n_drawn - self.n_answered

    @property
    def share(self) -> float:
        """Probability that a claim of the draw has an answer, which is equal for all if people answer from the top."""
        return self.n_answered / self.n_drawn

    @property
    def n_before(self) -> int:
        """Number of claims in the run that already had a label at the time of the draw."""
        return 0 if self.draw is None else self.draw.n_before

    @property
    def name(self) -> str:
        return "the claims" if self.draw is None else f"draw {self.draw.name}"


def drawn_parts(claims: Iterable[tuple[ClaimToLabel, str, bool]]) -> dict[str | None, DrawnPart]:
    """Groups claims by the name of their draw. They must be distinct and have a probability.

    Each claim comes with its file and whether it has an answer. If the size of a draw is unknown, it is the number of
    returned claims."""
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
    """Returns the labelled claims with the probabilities by which they are weighted.

    Claims that were not drawn are unchanged. Raises DataError if draws of a run are independent, or if the earlier
    labels of a draw are incomplete.
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
    """Returns the positions of the claims that the draw left out. Raises DataError if there are too few or too many."""
    found = [
        place
        for place, one in enumerate(claims)
        if (one.dataset, one.judge) in part.runs and (one.draw is None or one.draw.n_before < part.n_before)
    ]
    if len(found) != part.n_before:
        raise DataError(
            f"{part.name} left out {part.n_before:,} claims that had a label, but there are {len(found):,} here: add "
            "the file passed to labels next --labels, and no other labels of these claims",
            path=part.place,
        )
    return found


def _refuse_strangers(part: DrawnPart, before: Iterable[DrawnPart]) -> None:
    for one in before:
        if part.n_before == one.n_before and not one.runs.isdisjoint(part.runs):
            raise DataError(
                f"this file and {one.place} come from independent draws and cannot be combined: export one of them, "
                "then draw more claims with labels next --labels",
                path=part.place,
            )


def _name(claim: ClaimToLabel) -> str | None:
    return _name_of(claim.draw)


def _name_of(draw: Draw | None) -> str | None:
    return None if draw is None else draw.name
