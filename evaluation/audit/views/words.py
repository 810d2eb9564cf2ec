"""The words of an audit from `words.json`, each for one value: uses, conditions, reasons, notices, figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from importlib import resources
from typing import Any, TypeVar

from factloop.evaluation.audit.adjustment import FEWEST, AdjustmentMethod, CalibrationWarning, UnadjustedReason
from factloop.evaluation.audit.advice import CLUSTERS_WARNED, FEWEST_CLUSTERS, FEWEST_RESAMPLES
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.ranking import Order, PairTest, Ranking
from factloop.evaluation.audit.report import Leave, Measure, Notice, NoticeKind, Reason, Use
from factloop.evaluation.audit.table import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment

E = TypeVar("E", bound=StrEnum)
_SAID = json.loads(resources.files(__package__).joinpath("words.json").read_text("utf-8"))
_NUMBERS = {
    "CLUSTERS_WARNED": CLUSTERS_WARNED,
    "FEWEST": FEWEST,
    "FEWEST_CLUSTERS": FEWEST_CLUSTERS,
    "FEWEST_RESAMPLES": FEWEST_RESAMPLES,
    "UNKNOWN_SYSTEM": UNKNOWN_SYSTEM,
}
"""What the words name."""


def _words(kind: type[E], table: str) -> Mapping[E, str]:
    return {kind(value): said.format(**_NUMBERS) for value, said in _SAID[table].items()}


USES, MEASURES = _words(Use, "uses"), _words(Measure, "measures")
LEAVES: Mapping[Leave, tuple[str, str, str]] = {
    Leave(value): (words, sign, tone) for value, (words, sign, tone) in _SAID["leaves"].items()
}
"""In words, as a sign, and the tone of both."""
REASONS = _words(Reason, "reasons")
"""What is said under each condition."""
NOTICES = _words(NoticeKind, "notices")
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
"""What a table shows for a value of a record."""


def notice_text(one: Notice) -> str:
    """The notice with whom it is about and its numbers before it."""
    of = "" if one.of is None else f" of {one.of:,}"
    count = "" if one.n is None else f"{one.n:,}{of} "
    return f"{one.about + ': ' if one.about else ''}{count}{NOTICES[one.kind]}"


def tests_of(rankings: Iterable[Ranking]) -> str:
    """How pairs of systems were compared; empty where there is none."""
    used = {pair.test for one in rankings for pair in one.pairs}
    return "; ".join(words for test, words in TESTS.items() if test in used)


def title_of(group: Group) -> str:
    """As a heading has it."""
    return {"all": "All data sets", "task": f"Task group: {group.name}", "dataset": f"Data set: {group.name}"}[
        group.kind
    ]


def where(group: Group) -> str:
    """As it reads in a sentence."""
    return {"all": "all data sets", "task": f"the data sets of {group.name}", "dataset": group.name}[group.kind]
