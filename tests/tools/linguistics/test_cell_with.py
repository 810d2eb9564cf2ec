"""The cell of a row that has certain words."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.rows import cell_with


@pytest.mark.parametrize(
    ("words", "cell"),
    [("€89", "€89"), ("25", "25 seats"), ("2", None), ("", None), ("Team", None), ("€99", None)],
)
def test_one_cell_alone_has_them(words: str, cell: str | None) -> None:
    row = "| Team | €89 | 25 seats | Team |"
    found = cell_with(words, row)
    assert (None if found is None else row[slice(*found)]) == cell
