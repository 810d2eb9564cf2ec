from __future__ import annotations

from factloop.evaluation.audit.table import Column, column_of, responses_of


def named(column: Column) -> list[str]:
    return [column.names[code] for code in column.codes.tolist()]


def test_responses_are_told_apart_by_data_set_system_and_id() -> None:
    responses = responses_of(column_of("xxyy"), column_of("abaa"), column_of(["1", "1", "1", "2"]))
    assert responses.codes.tolist() == [0, 1, 2, 3]
    assert responses.names == ("1", "1", "1", "2")
    same = responses_of(column_of("xxxx"), column_of("aaba"), column_of(["2", "1", "1", "2"]))
    assert same.codes.tolist() == [1, 0, 2, 1]
    assert same.names == ("1", "2", "1")
