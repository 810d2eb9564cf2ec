"""Rows of tables held against rows of tables."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.rows import verify_row

PLANS = "plan: Solo; price a month: 5 €; storage: 100 GB\nplan: Team; price a month: 29 €; storage: 1 TB"
SHIFTS = "day: Monday; nurse: Ada\nday: Monday; nurse: Bob"


@pytest.mark.parametrize(
    ("claim", "label", "instead"),
    [
        ("Plan: Team; Price: 29 €.", "supported", ""),
        ("Plan: Team; Price per month: €29.", "supported", ""),
        ("Plan: Team; Price a month: 19 €.", "contradicted", "29 €"),
        ("Plan: Team; Storage: 100 GB.", "contradicted", "1 TB"),
    ],
)
def test_a_cell_is_that_of_the_same_row_and_column(claim: str, label: str, instead: str) -> None:
    read = verify_row(claim, ["Larder has plans.", PLANS])
    assert read is not None
    assert (read.label, read.instead, read.cited) == (label, instead, (1,))
    assert read.quote in PLANS


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Model: Kettle; Capacity: 1.7 litres.", "supported"),  # its unit stands above the column
        ("Model: Kettle; Power: 2200 W.", "supported"),
        ("Model: Kettle; Price: £49.", "supported"),
        ("Model: Kettle; Weight: 1.1 kg.", "supported"),  # the source gives no unit
        ("Model: Kettle; Capacity: 1.7 gallons.", "contradicted"),
        ("Model: Kettle; Price: $49.", "contradicted"),
        ("Model: Kettle; Power: 1800 W.", "contradicted"),
    ],
)
def test_a_unit_may_stand_above_its_column(claim: str, label: str) -> None:
    read = verify_row(claim, ["Model: Kettle; Capacity (l): 1.7; Power (W): 2200; Price (GBP): 49; Weight: 1.1"])
    assert read is not None
    assert read.label == label


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Plan: Team; Seats: ten.", "supported"),
        ("Plan: Team; Guests: 2.", "supported"),
        ("Plan: Team; Seats: twelve.", "contradicted"),
        ("Plan: Team; Guests: one.", "contradicted"),
    ],
)
def test_a_number_in_words_is_the_one_in_figures(claim: str, label: str) -> None:
    read = verify_row(claim, ["Plan: Team; Seats: 10; Guests: two"])
    assert read is not None
    assert read.label == label


@pytest.mark.parametrize(
    "claim",
    [
        "Plan: Enterprise; Price: 99 €.",  # no such row
        "Plan: Team; Users: 5.",  # no such column
        "Day: Monday; Nurse: Cleo.",  # two rows of one subject disagree
        "The Team plan costs 19 €.",
        "",
    ],
)
def test_without_the_row_and_its_column_nothing_is_said(claim: str) -> None:
    assert verify_row(claim, [PLANS, SHIFTS]) is None


@pytest.mark.parametrize("claim", ["Plan: Solo; Price: 5 €.", "Plan: Solo; Storage: 100 GB."])
def test_running_text_bears_out_a_row_with_or_without_its_columns(claim: str) -> None:
    text = "The Solo plan costs 5 € a month and has 100 GB of storage."
    assert LexicalVerifier().verify(claim, [text]).label == "supported"


def test_one_of_several_rows_is_enough_to_bear_a_claim_out() -> None:
    assert LexicalVerifier().verify("Day: Monday; Nurse: Bob.", [SHIFTS]).label == "supported"
    assert LexicalVerifier().verify("Plan: Team; Price: 19 €.", [PLANS]).wrong == "19 €"
