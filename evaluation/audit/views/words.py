from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib import resources
from typing import Any, TypeVar

from factloop.evaluation.audit.adjustment import FEWEST, AdjustmentMethod, CalibrationWarning, UnadjustedReason
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.ranking import Order, PairTest, Ranking
from factloop.evaluation.audit.table import Level
from factloop.evaluation.statistics.significance import PValueAdjustment

E = TypeVar("E", bound=StrEnum)
_SAID = json.loads(resources.files(__package__).joinpath("words.json").read_text("utf-8"))


def _words(kind: type[E], table: str) -> Mapping[E, str]:
    return {kind(value): said.format(FEWEST=FEWEST) for value, said in _SAID[table].items()}


TESTS, METHODS = _words(PairTest, "tests"), _words(AdjustmentMethod, "methods")
P_ADJUSTMENTS = _words(PValueAdjustment, "p_adjustments")
_SHOWN: tuple[Mapping[Any, str], ...] = (
    _words(Level, "levels"),
    _words(Order, "orders"),
    METHODS,
    _words(UnadjustedReason, "undefined"),
    _words(CalibrationWarning, "warnings"),
)
VALUES: Mapping[tuple[type[StrEnum], StrEnum], str] = {
    (type(one), one): words for table in _SHOWN for one, words in table.items()
}


def tests_of(rankings: Iterable[Ranking]) -> str:
    used = {pair.test for one in rankings for pair in one.pairs}
    return "; ".join(words for test, words in TESTS.items() if test in used)


def title_of(group: Group) -> str:
    return {"all": "All data sets", "task": f"Task group: {group.name}", "dataset": f"Data set: {group.name}"}[
        group.kind
    ]


def where(group: Group) -> str:
    return {"all": "all data sets", "task": f"the data sets of {group.name}", "dataset": group.name}[group.kind]
