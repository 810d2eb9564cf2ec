"""Weights labelled claims by how they were drawn.

A sheet is in random order, so its beginning is a smaller draw: if m of n drawn claims have an answer, each claim was
among them with its probability times m / n.

A draw leaves out the labelled claims of its run, and its probabilities depend on their labels. A total then has two
unbiased estimates: one from the earlier labels, and one from the known labels and the draw from the rest. The second is
unbiased whatever the first draw was; so the two have no covariance, and their mean by `sampling.share_of_draw` is
unbiased, too. Each claim then has one label and one probability: for a drawn claim, p over the share of the draw, as on
its sheet; for one labelled before, that of `sampling.probability_after`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from factloop.core.errors import DataError
from factloop.evaluation.labels.sampling import probability_after, share_of_draw
from factloop.reports.labels import ClaimToLabel, Draw


@dataclass
class DrawnPart:
    """The returned claims of one draw, and how many of them have an answer."""

    draw: Draw | None
    """None if it is unknown."""
    place: str
    """Where the first of its claims was found."""
    n_drawn: int = 0
    n_answered: int = 0
    runs: set[tuple[str, str]] = field(default_factory=set)
    """Data set and judge of the runs that its claims come from."""

    @property
    def n_open(self) -> int:
        """Number of drawn claims that have no answer or were not returned."""
        return self.n_drawn - self.n_answered

    @property
    def share(self) -> float:
        """Probability that a claim in the draw is answered, which is the same for all if the first rows are."""
        return self.n_answered / self.n_drawn

    @property
    def n_before(self) -> int:
        """Number of claims in the run that had a label when it was drawn."""
        return 0 if self.draw is None else self.draw.n_before

    @property
    def name(self) -> str:
        return "the claims" if self.draw is None else f"draw {self.draw.name}"


def drawn_parts(claims: Iterable[tuple[ClaimToLabel, str, bool]]) -> dict[str | None, DrawnPart]:
    """The draws by their names, from different claims with a probability, each with its place and whether it has an
    answer.

    If the number drawn is unknown, the number of returned claims is used.
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
    """Labelled claims, each with the probability by which it is weighted; a claim that was not drawn is unchanged.

    Raises DataError for independent draws, and for one whose earlier labels are incomplete.
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
    """The labelled claims that the draw left out. Raises DataError if their number does not match the draw's."""
    found = [
        place
        for place, one in enumerate(claims)
        if (one.dataset, one.judge) in part.runs and (one.draw is None or one.draw.n_before < part.n_before)
    ]
    if len(found) != part.n_before:
        raise DataError(
            f"{part.name} left out {part.n_before:,} claims that had a label, but {len(found):,} are given here: add "
            "the file that labels next --labels was given, and no other labels of these claims",
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
