"""TrustOV: both consistencies together (paper, appendix A.5.3, table 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from factloop.agents.trustscore.records import Relation, TrustOV

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


def overall(consistency: Mapping[str, Any], factual: Mapping[str, Any]) -> TrustOV:
    """The value of the table for a `TrustBC` and a `TrustFC` as dictionaries, or what is missing for one.

    A missing part is never taken for a bad one.
    """
    value, relation = consistency["value"], factual["relation"]
    if value is not None and relation is not None:
        return TrustOV(value=OVERALL[value, Relation(relation)])
    parts = (("TrustBC", value, consistency), ("TrustFC", relation, factual))
    missing: dict[str, list[str]] = {}
    for name, had, part in parts:
        if had is None:
            missing.setdefault(part["rationale"] or part["unscored_reason"], []).append(name)
    return TrustOV(missing=" and ".join(f"{' and '.join(names)} ({why})" for why, names in missing.items()))
