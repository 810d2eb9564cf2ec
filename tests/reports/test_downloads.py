"""Data that a page carries with it."""

from __future__ import annotations

import csv
import io

import pytest

from factloop.reports.downloads import csv_text


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(sign: str) -> None:
    rows = csv.reader(io.StringIO(csv_text([f"{sign}head"], [[f"{sign}1+1"], [f"1{sign}1"]]), newline=""))
    assert list(rows) == [[f"'{sign}head"], [f"'{sign}1+1"], [f"1{sign}1"]]


def test_numbers_stay_numbers() -> None:
    assert csv_text(["a", "b", "c"], [[-0.5, 2, None]]) == "a,b,c\r\n-0.5,2,\r\n"
