"""TrustOV: both consistencies together (paper, appendix A.5.3, table 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from factloop.trust_records import Relation, TrustBC, TrustFC, TrustOV

FACTUAL_VALUE: Mapping[Relation, float] = {Relation.SUPPORT: 1.0, Relation.NEUTRAL: 0.5, Relation.CONTRADICT: 0.0}
"""TrustFC as a number. The paper correlates it with human labels without saying which numbers it used."""

OVERALL: Mapping[tuple[Literal[0, 1], Relation], float] = {
    (1, Relation.SUPPORT): 1.0,
    (0, Relation.SUPPORT): 0.8,
    (1, Relation.NEUTRAL): 0.6,
    (0, Relation.NEUTRAL): 0.4,
    (1, Relation.CONTRADICT): 0.2,
    (0, Relation.CONTRADICT): 0.0,
}


def overall(consistency: TrustBC, factual: TrustFC) -> TrustOV:
    """The value of the table, or what is missing for one; a missing part is never taken for a bad one."""
    if consistency.value is not None and factual.relation is not None:
        return TrustOV(value=OVERALL[consistency.value, factual.relation])
    missing = [
        f"{name} ({part.rationale or part.unscored_reason})"
        for name, part in (("TrustBC", consistency), ("TrustFC", factual))
        if part.unscored_reason is not None
    ]
    return TrustOV(missing=" and ".join(missing))
