"""Random tables for the property tests of the audit, and its groups by name."""

from __future__ import annotations

from hypothesis import strategies as st

from factloop.evaluation.audit.figures import Group
from tests.evaluation.audit.prediction_rows import Row

ALL = Group(kind="all")
SCORES = st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0, None])


def dataset(name: str) -> Group:
    return Group(kind="dataset", name=name)


def task(name: str) -> Group:
    return Group(kind="task", name=name)


@st.composite
def row_lists(draw: st.DrawFn, *, has_prompts: bool = False, most: int = 30) -> list[Row]:
    """Rows of two data sets, three systems, a few responses and two evaluators, of which one misses some scores."""
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
