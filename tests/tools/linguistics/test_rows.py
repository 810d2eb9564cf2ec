"""Rows of tables as claims."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.rows import row_claims

HEAD = "| Plan | Price a month | Storage |"


@pytest.mark.parametrize(
    ("row", "claims"),
    [
        ("| Team | **29 €** | 1 TB |", ["Plan: Team; Price a month: 29 €.", "Plan: Team; Storage: 1 TB."]),
        ("Team | 29 € | 1 TB", ["Plan: Team; Price a month: 29 €.", "Plan: Team; Storage: 1 TB."]),
        ("| Team | – | 1 TB |", ["Plan: Team; Storage: 1 TB."]),
        ("| Team | 29 € |", []),
        ("| | 29 € | 1 TB |", []),
        ("The Team plan costs 29 €.", []),
    ],
)
def test_each_cell_stands_under_its_column_with_whose_it_is(row: str, claims: list[str]) -> None:
    assert row_claims(row, HEAD) == claims


def test_a_column_without_a_name_leaves_the_cell_alone() -> None:
    assert row_claims("| Team | 29 € |", "| | Price |") == ["Team; Price: 29 €."]
    assert row_claims("| Team | 29 € |", "") == []
