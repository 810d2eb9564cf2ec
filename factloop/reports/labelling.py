"""What a page carries so that a person can label its claims on it, or answer which of two sides is right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from factloop.reports.labels import ClaimToLabel, ClaimToSettle, hash_of

STYLES = ("label.css",)
SCRIPTS = ("labelling.js", "label.js")
"""After `list.js`."""


@dataclass(frozen=True)
class Labelling:
    """JSON for a page's script: of the whole page, and of each claim by its place among those to be labelled."""

    page: str
    rows: tuple[str, ...]
    """What each claim has that the others have not: no page says the same for every claim."""
    places: dict[str, int] = field(default_factory=dict)
    """Claim id to place, where ids are those of one response."""

    def row(self, claim_id: str) -> str | None:
        """The row of a claim; None where it is not to be labelled."""
        place = self.places.get(claim_id)
        return None if place is None else self.rows[place]


def labelling_of(claims: Sequence[ClaimToLabel], begins: Literal["blind"] | None = None) -> Labelling:
    """`begins`: whether the page opens for labelling, with its verdicts hidden; otherwise a reader asks for it."""
    return _labelling(claims, begins, "labels")


def settling_of(claims: Sequence[ClaimToSettle]) -> Labelling:
    """Of a page that opens for answers. It has no verdict to hide, only two sides in a drawn order."""
    return _labelling(claims, "open", "answers")


def _labelling(
    claims: Sequence[ClaimToLabel | ClaimToSettle],
    begins: Literal["blind", "open"] | None,
    kind: Literal["labels", "answers"],
) -> Labelling:
    rows = [one.model_dump(mode="json") for one in claims]
    first = rows[0] if rows else {}
    common = {name: value for name, value in first.items() if all(row[name] == value for row in rows)}
    own = [{name: value for name, value in row.items() if name not in common} for row in rows]
    page = {"claims_hash": hash_of(claims), "common": common, "begins": begins, "kind": kind}
    return Labelling(_json(page), tuple(map(_json, own)), {one.claim_id: place for place, one in enumerate(claims)})


def _json(value: Any) -> str:
    """In ASCII without control characters, as attributes of a page keep them no better than its text."""
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")
