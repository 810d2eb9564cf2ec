from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.audit.table import Column, column_of, responses_of
from tests.evaluation.audit.prediction_rows import Row, table_of


def named(column: Column) -> list[str]:
    return [column.names[code] for code in column.codes.tolist()]


@given(st.lists(st.sampled_from("cab") | st.text(max_size=3)))
def test_a_column_gives_its_values_back_under_sorted_names(values: list[str]) -> None:
    column = column_of(values)
    assert named(column) == values
    assert list(column.names) == sorted(set(values))


def test_responses_are_told_apart_by_data_set_system_and_id() -> None:
    responses = responses_of(column_of("xxyy"), column_of("abaa"), column_of(["1", "1", "1", "2"]))
    assert responses.codes.tolist() == [0, 1, 2, 3]
    assert responses.names == ("1", "1", "1", "2")
    same = responses_of(column_of("xxxx"), column_of("aaba"), column_of(["2", "1", "1", "2"]))
    assert same.codes.tolist() == [1, 0, 2, 1]
    assert same.names == ("1", "2", "1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claim_ids": ["one"]}, "one value for each row"),
        ({"prompt": column_of("abc")}, "one value for each row"),
        ({"scores": {"e": np.zeros(3)}}, "one value for each row"),
        ({"label": np.array([0, 2], np.int8)}, "a label is 0 or 1"),
        ({"scores": {"e": np.array([0.0, 1.0]), "f": np.array([0.0, 1.5])}}, "'f' has a score outside"),
        ({"scores": {"f": np.array([0.0, -np.inf])}}, "'f' has a score outside"),
    ],
)
def test_columns_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    table = table_of([Row(0, {"e": None}), Row(1, {"e": 0.5})])
    with pytest.raises(ValueError, match=message):
        replace(table, **changes)  # type: ignore[arg-type]  # wrong on purpose
