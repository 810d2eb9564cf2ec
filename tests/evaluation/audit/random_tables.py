from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import strategies as st

from factloop.evaluation.audit.figures import AuditFigure, Group
from factloop.evaluation.audit.quantification import EvaluatorBias, Quantification, SystemBias
from factloop.evaluation.audit.rates import EvaluatorRates, PairAgreement
from factloop.evaluation.audit.table import Level
from tests.evaluation.audit.prediction_rows import Row

ALL = Group(kind="all")
SCORES = st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0, None])


def dataset(name: str) -> Group:
    return Group(kind="dataset", name=name)


def task(name: str) -> Group:
    return Group(kind="task", name=name)


@st.composite
def row_lists(draw: st.DrawFn, *, has_prompts: bool = False, most: int = 30) -> list[Row]:
    rows = []
    for _ in range(draw(st.integers(1, most))):
        response = draw(st.sampled_from("123"))
        rows.append(
            Row(
                label=draw(st.integers(0, 1)),
                scores={"e": draw(SCORES), "f": draw(st.sampled_from([0.0, 0.5, 1.0]))},
                system=draw(st.sampled_from("abc")),
                response=response,
                dataset=draw(st.sampled_from("xy")),
                prompt=response if has_prompts else None,
            )
        )
    return rows


R = TypeVar("R", EvaluatorRates, EvaluatorBias)


def find(records: Iterable[R], evaluator: str, group: Group, level: Level = Level.CLAIM) -> R:
    return next(r for r in records if (r.evaluator, r.group, r.level) == (evaluator, group, level))


def find_pair(pairs: Iterable[PairAgreement], evaluator: str, other: str | None, group: Group) -> PairAgreement:
    return next(one for one in pairs if {one.evaluator, one.other} == {evaluator, other} and one.group == group)


def of_system(found: Quantification, dataset: str, system: str, level: Level = Level.CLAIM) -> SystemBias:
    return next(b for b in found.systems if (b.dataset, b.system, b.level) == (dataset, system, level))


def error_rate(found: Quantification, dataset: str, system: str, level: Level = Level.CLAIM) -> AuditFigure:
    wanted = dataset, system, level
    return next(b.error_rate for b in found.errors if (b.dataset, b.system, b.level) == wanted)
