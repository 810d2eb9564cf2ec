"""Rows of tables as claims."""

from __future__ import annotations

import pytest

from factloop.tools.text.rows import cell_of, cell_with, row_claims

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


@pytest.mark.parametrize(
    ("claim", "cell"),
    [
        ("Model: Tarn 4; RAM: 8 GB.", "8 GB"),
        ("Model: Tarn 4; Bays: 4.", "4"),
        ("Model: Tarn 4; Ports: 4.", "4 "),
        ("The Tarn 4 has 8 GB of RAM.", "8 GB"),
        ("The Tarn 4 has 4 bays.", "4"),
        ("The Tarn 4 is sold.", None),
        ("The warranty of the Tarn 4 is good for 3 years.", "**3 years**"),
    ],
)
@pytest.mark.parametrize("row", ["| Tarn 4 | 4 | 8 GB | 4  | **3 years** |", "Tarn 4|4|8 GB|4 |**3 years**"])
def test_a_claim_is_about_one_cell_of_its_row(row: str, claim: str, cell: str | None) -> None:
    place = cell_of(claim, row, "| Model | Bays | RAM | Ports | Warranty |")
    assert (None if place is None else row[slice(*place)]) == (None if cell is None else cell.strip())
    assert cell != "4 " or (place is not None and place[0] > row.index("8 GB"))
    assert cell_of(claim, "no row", "") is None


@pytest.mark.parametrize(
    ("words", "cell"),
    [("€89", "€89"), ("25", "25 seats"), ("2", None), ("", None), ("Team", None), ("€99", None)],
)
def test_one_cell_alone_has_them(words: str, cell: str | None) -> None:
    row = "| Team | €89 | 25 seats | Team |"
    found = cell_with(words, row)
    assert (None if found is None else row[slice(*found)]) == cell
