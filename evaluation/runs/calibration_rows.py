"""A row of labelled claims, and what is wrong of rows beside each other: two labels of a claim.

A claim that counts twice moves the figure, and where all claims of a run seem labelled the interval would have no
width around it. So rows of the same claim of the same response count once, and are refused where they differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from factloop.core.files.rows import NotBlank, Row, shown
from factloop.core.records import Record, Share
from factloop.evaluation.runs.run_claims import ClaimOrigin, origin_of


def _zero_or_one(value: Any) -> Any:
    if type(value) is not int or value not in (0, 1):
        raise ValueError("the number 1 (supported) or 0 (not) is needed")
    return value


def _zero_one_or_none(value: Any) -> Any:
    if value is not None and (type(value) is not int or value not in (0, 1)):
        raise ValueError("the number 1 (supported) or 0 (not) is needed, or null where there is no verdict")
    return value


def _name(value: Any) -> Any:
    return str(value) if type(value) is int else value


class LabelledRow(Record):
    """One labelled claim with the evaluator's verdict."""

    model_config = ConfigDict(extra="ignore")

    label: Annotated[Literal[0, 1], BeforeValidator(_zero_or_one)]
    verdict: Annotated[Literal[0, 1] | None, BeforeValidator(_zero_one_or_none)]
    group: Annotated[NotBlank, BeforeValidator(_name)] | None = None
    system: NotBlank | None = None
    """The system that wrote the claim."""
    probability: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """How likely the claim was to be drawn for labelling, as `factloop labels next` writes it."""
    response_id: Annotated[NotBlank, BeforeValidator(_name)] | None = None
    claim: str | None = None
    """What the claim is recognised by where it is one of the run that is corrected."""
    score: Share | None = None
    """The evaluator's score, which stands in the place of its verdict where that narrows an interval."""
    judge: NotBlank | None = None
    """The evaluator that gave the verdict, as `factloop labels export` names it."""

    @property
    def origin(self) -> ClaimOrigin:
        return origin_of(system=self.system, group=self.group, response_id=self.response_id, claim=self.claim)


@dataclass
class NamedClaims:
    """The claims of a file that can be told from each other, with the first row of each."""

    first: dict[tuple[object, ...], tuple[int, LabelledRow]] = field(default_factory=dict)
    n_repeated: int = 0

    def has(self, row: Row, read: LabelledRow) -> bool:
        """Whether an earlier row is about the same claim and says the same of it.

        Raises DataError where it has another judge, label, verdict or probability.
        """
        key = _key(row, read)
        if key is None:
            return False
        line, earlier = self.first.setdefault(key, (row.line, read))
        if earlier is read:
            return False
        for name in ("judge", "label", "verdict", "probability"):
            here, there = getattr(read, name), getattr(earlier, name)
            if here != there:
                said = f"{shown(here)}, but line {line} has {shown(there)} for the same claim of the same response"
                raise row.error(f"{said}: give each claim one row", name)
        self.n_repeated += 1
        return True


def _key(row: Row, read: LabelledRow) -> tuple[object, ...] | None:
    """What tells a claim from all others; None where rows may be of different responses.

    A response may say one thing twice: such claims have ids of their own.
    """
    dataset, claim_id = (_as_text(row.fields.get(name)) for name in ("dataset", "claim_id"))
    if read.response_id is None or (read.claim is None and not claim_id):
        return None
    return read.system, dataset, read.response_id, read.group, claim_id, read.claim


def _as_text(value: Any) -> str:
    """What a field that is not ours holds, be it a list, as a text; empty where it holds nothing."""
    return "" if value is None else str(value)
