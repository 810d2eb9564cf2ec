"""What each half of TrustOV adds: its correlation with the labels less that of TrustBC, and of TrustFC, alone.

The paper has no table of its own for this; it reads it off the rows of Table 1 (Zheng et al. 2024, section 4). Here
both correlations are taken over the responses that have all three scores, and differences of resamples of whole
questions give the interval, since two correlations with the same labels vary together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from factloop.core.figure import Figure, Undefined, ends
from factloop.core.records import Record
from factloop.evaluation.statistics.correlation import FEWEST_DRAWN

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factloop.evaluation.mixedqa.scores import ScoredResponse

    Floats = NDArray[np.float64]

FEWEST = 3
"""Responses, as for any correlation."""
_ROUNDING = 1e-12


class Gain(Record):
    """Pearson's r of TrustOV less that of one of its halves."""

    system: str | None
    """None for all systems together."""
    over: Literal["trust_bc", "trust_fc"]
    gain: Figure
    """In [-2, 2], above 0 where the two together agree better with people; `n` responses have all three scores."""


def gain_of(
    system: str | None,
    over: Literal["trust_bc", "trust_fc"],
    responses: Sequence[ScoredResponse],
    *,
    rng: np.random.Generator,
    resamples: int,
    level: float,
) -> Gain:
    """The gain over a half, with its interval, withheld as that of a correlation is.

    The order of the responses changes nothing.
    """
    import numpy as np

    from factloop.evaluation.statistics.bootstrap import bootstrap, loses_too_many, percentile_interval

    scored = [one for one in responses if None not in (one.trust_bc, one.trust_fc, one.trust_ov)]
    questions = sorted({one.question_id for one in scored})
    place_of = {question: place for place, question in enumerate(questions)}
    sums = np.zeros((len(questions), 2, 6))
    for one in scored:
        for side, score in enumerate((one.trust_ov, one.trust_bc if over == "trust_bc" else one.trust_fc)):
            assert score is not None  # filtered above
            x, y = float(score), float(one.human_correct)
            sums[place_of[one.question_id], side] += (1.0, x, y, x * x, y * y, x * y)
    value = float(_differences(sums.sum(axis=0)[None])[0]) if len(scored) >= FEWEST else float("nan")
    if np.isnan(value):
        why = Undefined.TOO_FEW if len(scored) < FEWEST else Undefined.CONSTANT
        return Gain(system=system, over=over, gain=Figure(value=None, undefined=why, n=len(scored)))
    interval = None
    if len(questions) >= FEWEST_DRAWN:
        drawn = bootstrap(sums, _differences, rng, resamples)
        interval = None if loses_too_many(drawn) else percentile_interval(drawn, level)
    return Gain(system=system, over=over, gain=Figure(value=value, **ends(interval), n=len(scored)))


def _differences(sums: Floats) -> Floats:
    """(n_resamples,): r of the first side less r of the second, from n, Σx, Σy, Σx², Σy² and Σxy of each."""
    import numpy as np

    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = (n * xx - x * x) * (n * yy - y * y)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(spread > _ROUNDING * n**4, (n * xy - x * y) / np.sqrt(spread), np.nan)
    return np.asarray(r[:, 0] - r[:, 1])
