"""Runs sequential experiments, which judge groups step by step and look at the results after each step.

Each look is a complete experiment on the groups judged so far, at its own level. The experiment stops once its question
is decided. The errors of all looks add up to alpha, so no further adjustment is needed (union bound). A spending
function of the O'Brien-Fleming type (Lan and DeMets 1983) makes these errors small at first and largest at the end.
With four looks and an alpha of 0.05, they are 0.0001, 0.0055, 0.0181 and 0.0264.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from factloop.evaluation.comparing.demands import Demand, Judged, judge_demands
from factloop.evaluation.comparing.differences import contrast
from factloop.evaluation.comparing.records import PairedDifference
from factloop.evaluation.comparing.table import ItemValues
from factloop.evaluation.comparing.words import name_of
from factloop.evaluation.experiments.items import Data, Kind
from factloop.evaluation.experiments.plan import Until
from factloop.evaluation.experiments.records import LookReport
from factloop.reports.figures import plural

LEAST_ERROR = 1e-6
"""A look with a smaller error is skipped, and the next look gets its error."""


def spent(share: float, alpha: float) -> float:
    """Returns the error spent once this fraction of groups is judged: 2 - 2 Phi(z(1 - alpha / 2) / sqrt(share))."""
    from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]  # stubs are not installed

    return float(2.0 * ndtr(ndtri(alpha / 2.0) / math.sqrt(share)))


def schedule(n_groups: int, until: Until, alpha: float) -> Iterator[tuple[int, float]]:
    """Yields the number of groups at each look, and the error of that look alone. The errors add up to alpha."""
    before = 0.0
    for end in sorted({math.ceil(n_groups * number / until.looks) for number in range(1, until.looks + 1)}):
        now = spent(end / n_groups, alpha)
        if now - before >= LEAST_ERROR:
            yield end, now - before
            before = now


@dataclass(frozen=True)
class Look:
    data: Data
    alpha: float
    """The error of this look alone."""
    number: int = 1
    of: int = 1
    n_in_all: int = 0
    difference: float | None = None
    """The difference to show or rule out. None if there is only one look."""

    @property
    def level(self) -> float:
        return round(1.0 - self.alpha, 12)

    @property
    def words(self) -> str:
        """Describes this look, as in `look 2 of 4, at 30 of 60 claims`."""
        n = f"{len(self.data.items):,} of {plural(self.n_in_all, self.data.kind.removesuffix('s'))}"
        return f"look {self.number} of {self.of}, at {n}"


def looks_at(data: Data, until: Until | None, level: float) -> Iterator[Look]:
    """Yields looks at more and more groups. If `until` is None, a single look covers all groups."""
    alpha, groups, n = round(1.0 - level, 12), data.groups, len(data.items)
    if until is None:
        yield Look(data, alpha, n_in_all=n)
        return
    planned = list(schedule(len(groups), until, alpha))
    for number, (end, of_look) in enumerate(planned, 1):
        part = data if end == len(groups) else data.of_groups(groups[:end])
        yield Look(part, of_look, number, len(planned), n, until.difference)


def open_questions(
    look: Look, headline: ItemValues, differences: Sequence[PairedDifference], variants: Sequence[str]
) -> Iterator[str]:
    """Yields the variants whose difference from the first one is neither shown nor ruled out. A difference is ruled out
    if the test for a demand with a margin rules out a loss in both directions. Alpha is divided among the variants."""
    shown = {one.second for one in differences if one.is_headline and one.first == variants[0] and one.outcome.is_shown}
    alpha = look.alpha / max(1, len(variants) - 1)
    for place, name in enumerate(variants[1:], 1):
        if name not in shown and not rules_out(headline, place, look.difference or 0.0, alpha, kind=look.data.kind):
            yield name


def rules_out(values: ItemValues, side: int, margin: float, alpha: float, *, kind: Kind = "claims") -> bool:
    """Whether a difference as large as the margin is ruled out in both directions, each tested at alpha."""
    demand = Demand(values.quantity.value, values.k, margin)
    both = (replace(contrast(values, *pair), first=0, second=1) for pair in ((0, side), (side, 0)))
    asked = (Judged(("first", "second"), kind, [values], [one], {}) for one in both)
    return all(judge_demands([demand], on, alpha=alpha, seed=0)[0].is_met for on in asked)


def look_report(
    look: Look, headline: ItemValues, differences: Sequence[PairedDifference], variants: Sequence[str]
) -> LookReport | None:
    if look.difference is None:
        return None
    still_open = tuple(open_questions(look, headline, differences, variants))
    wanted = f"a difference of {look.difference:g} in {name_of(headline.quantity, headline.k)}"
    if not still_open:
        said = f"{wanted} is shown or ruled out for every variant"
    else:
        rest = "no claims are left" if look.number == look.of else "more are judged"
        said = f"{wanted} is neither shown nor ruled out for {', '.join(still_open)}: {rest}"
    words = f"{look.words[0].upper()}{look.words[1:]}: {said}. Tests and intervals are at {look.level:.2%}."
    return LookReport(number=look.number, of=look.of, n_in_all=look.n_in_all, still_open=still_open, words=words)
