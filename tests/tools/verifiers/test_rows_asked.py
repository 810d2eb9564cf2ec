"""Comparisons and figures that one column of a table decides."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.rows_asked import verify_comparison, verify_value

HUTS = """Hut: Blue Hut; Beds: 40; Height (m): 2,310
Hut: Stone Hut; Beds: 22; Height (m): 1,980
Hut: Red Hut; Beds: 31; Height (m): 2,310"""
PLANS = "Plan: Solo; Price (EUR per month): 9; Seats: 1\nPlan: Team; Price (EUR per month): 19; Seats: 10"
CARS = "Car: Finch; Weight: 980 kg; Price: 14,500 €\nCar: Heron; Weight: 1,420 kg; Price: 23,900 €"


@pytest.mark.parametrize(
    ("claim", "table", "label"),
    [
        ("Blue Hut has more beds than Stone Hut.", HUTS, "supported"),
        ("Stone Hut has fewer beds than Red Hut.", HUTS, "supported"),
        ("Blue Hut has the most beds.", HUTS, "supported"),
        ("Stone Hut has the fewest beds.", HUTS, "supported"),
        ("The Solo plan is cheaper than the Team plan.", PLANS, "supported"),
        ("Heron is heavier than Finch.", CARS, "supported"),
        ("The Heron costs more than the Finch.", CARS, "supported"),
        ("Stone Hut has more beds than Blue Hut.", HUTS, "contradicted"),
        ("Red Hut has fewer beds than Stone Hut.", HUTS, "contradicted"),
        ("Red Hut has the most beds.", HUTS, "contradicted"),
        ("Blue Hut has the fewest beds.", HUTS, "contradicted"),
        ("The Team plan is cheaper than the Solo plan.", PLANS, "contradicted"),
        ("Finch is heavier than Heron.", CARS, "contradicted"),
        ("Blue Hut is higher than Red Hut.", HUTS, "contradicted"),  # as high
    ],
)
def test_the_cells_decide_a_comparison(claim: str, table: str, label: str) -> None:
    read = LexicalVerifier().verify(claim, ["Huts and plans.", table])
    assert (read.label, read.cited) == (label, (1,))
    assert read.quote in table.splitlines()


PHONES = """Model: R100; Weight: 950 g; Price: 120 euros
Model: R200; Weight: 1,100 g; Price: 150 euros
Model: R300; Weight: 1,400 g; Price: 140 euros"""
LAKES = "Lake: Arne; Depth (m): 45; Area: 12\nLake: Bore; Depth (m): 80; Area: 9\nLake: Cald; Depth (m): 30; Area: 20"


@pytest.mark.parametrize(
    ("claim", "table", "label"),
    [
        ("The R300 is the heaviest.", PHONES, "supported"),
        ("The R300 is the heaviest model.", PHONES, "supported"),
        ("The heaviest model is the R300.", PHONES, "supported"),
        ("The R100 is the cheapest of all models.", PHONES, "supported"),
        ("The R200 is the most expensive of the three.", PHONES, "supported"),
        ("Bore is the deepest lake.", LAKES, "supported"),
        ("Lake Cald is the shallowest.", LAKES, "supported"),
        ("Cald has the largest area.", LAKES, "supported"),
        ("The R200 is the heaviest.", PHONES, "contradicted"),
        ("The R100 is the heaviest model.", PHONES, "contradicted"),
        ("The heaviest model is the R100.", PHONES, "contradicted"),
        ("The R300 is the cheapest of all models.", PHONES, "contradicted"),
        ("The R300 is the most expensive of the three.", PHONES, "contradicted"),
        ("Arne is the deepest lake.", LAKES, "contradicted"),
        ("Lake Bore is the shallowest.", LAKES, "contradicted"),
        ("Arne has the largest area.", LAKES, "contradicted"),
    ],
)
def test_the_cells_decide_a_superlative(claim: str, table: str, label: str) -> None:
    read = LexicalVerifier().verify(claim, ["Phones and lakes.", table])
    assert (read.label, read.cited) == (label, (1,))
    assert read.quote in table.splitlines()


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("The R300 is the heaviest.", "Model: R300; Weight: 1,400 g\nModel: R200; Weight: 2 kg"),
        ("The R300 is the heaviest.", "Model: R300; Weight: 1,400 g\nModel: R200; Weight: unknown"),
        ("The R300 is the heaviest.", "Model: R300; Weight: 1,400 g"),
        ("The R400 is the heaviest.", PHONES),
        ("The R200 is the fastest.", PHONES),
        ("The R300 is the heaviest of the five models.", PHONES),
        ("The R300 is the heaviest phone of the decade.", PHONES),
        ("The R300 is the second heaviest.", PHONES),
    ],
)
def test_cells_that_do_not_decide_a_superlative(claim: str, table: str) -> None:
    assert verify_comparison(claim, [table]) is None
    assert LexicalVerifier().verify(claim, [table]).label == "insufficient"


def test_equal_cells_make_nothing_the_most() -> None:
    table = "Hut: Blue Hut; Beds: 40\nHut: Red Hut; Beds: 40"
    assert LexicalVerifier().verify("Blue Hut has the most beds.", [table]).label == "insufficient"


@pytest.mark.parametrize(
    ("claim", "label", "cited"),
    [
        ("Blue Hut has the most beds.", "insufficient", (2,)),
        ("Stone Hut has the fewest beds.", "insufficient", (1,)),
        ("Elm Hut has the fewest beds.", "supported", (1, 0)),
        ("Ash Hut has the most beds.", "supported", (2, 0)),
    ],
)
def test_a_table_may_go_on_in_another_passage(claim: str, label: str, cited: tuple[int, ...]) -> None:
    """Ash Hut has 60 beds, Elm Hut 9: whether of the same table, is not known."""
    more = ["Hut: Elm Hut; Beds: 9; Height (m): 12", "Hut: Ash Hut; Beds: 60; Height (m): 90"]
    read = LexicalVerifier().verify(claim, [HUTS, *more])
    assert (read.label, read.cited) == (label, cited)


@pytest.mark.parametrize("cell", ["up to 60", "over 30", "30+", "~41", "about 41", "< 50", "-20", "max. 60"])
def test_a_cell_with_a_bound_contradicts_no_figure(cell: str) -> None:
    assert verify_value("Blue Hut has 40 beds.", [f"Hut: Blue Hut; Beds: {cell}"]) is None


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("Blue Hut has more beds than Green Hut.", HUTS),  # no such row
        ("Blue Hut has more rooms than Stone Hut.", HUTS),  # no such column
        ("Blue Hut has beds.", HUTS),
        ("Blue Hut has more beds than Stone Hut.", "Hut: Blue Hut; Beds: 40\nHut: Stone Hut; Beds: many"),
        ("Finch is cheaper than Heron.", "Car: Finch; Price: 900 €\nCar: Heron; Price: 500 £"),
        ("Stone Hut has more beds than Blue Hut.", f"{HUTS}\nHut: Blue Hut; Beds: 4; Height (m): 5"),
    ],
)
def test_rows_that_do_not_decide_a_comparison(claim: str, table: str) -> None:
    assert verify_comparison(claim, [table]) is None


@pytest.mark.parametrize(
    ("claim", "table", "wrong", "instead"),
    [
        ("Team costs 24 euros.", "Plan: Team; Price: 19 euros", "24", "19"),
        ("The Team plan costs 24 euros a month.", PLANS, "24", "19"),
        ("The Team plan has 12 seats.", PLANS, "12", "10"),
        ("The Finch weighs 990 kg.", CARS, "990", "980"),
        ("The Heron costs €32,900.", CARS, "32,900", "23,900"),
        ("The height of Stone Hut is 1,890 m.", HUTS, "1,890", "1,980"),
        ("Stone Hut has 32 beds.", HUTS, "32", "22"),
        ("The Team plan costs €89 per month.", "Plan: Team; Monthly price: €79", "89", "79"),
        ("The Team plan costs €89 per year.", "Plan: Team; Annual price: €79", "89", "79"),
    ],
)
def test_another_figure_in_the_cell_contradicts(claim: str, table: str, wrong: str, instead: str) -> None:
    read = LexicalVerifier().verify(claim, [table])
    assert (read.label, read.wrong, read.instead) == ("contradicted", wrong, instead)


@pytest.mark.parametrize(
    ("claim", "table"),
    [
        ("The Team plan costs 19 euros a month.", PLANS),
        ("The Team plan costs 190 euros a year.", PLANS),  # another period
        ("The Team plan costs 24 dollars a month.", PLANS),  # another currency
        ("The Team plan costs €890 per year.", "Plan: Team; Monthly price: €79"),
        ("The Team plan costs €89.", "Plan: Team; Monthly price: €79; Annual price: €790"),
        ("The Team plan costs less than 24 euros a month.", PLANS),
        ("The Duo plan costs 24 euros a month.", PLANS),
        ("The Team plan has 12 tables.", PLANS),
        ("Team costs 24 euros.", "Plan: Team; Price: 19 euros; Price: 24 euros\nPlan: Team; Price: 24 euros"),
        ("Team costs 24 euros.", "Plan: Team; Price: 19 or 24 euros"),
    ],
)
def test_a_figure_that_may_be_of_something_else_is_not_contradicted(claim: str, table: str) -> None:
    assert verify_value(claim, [table]) is None


def test_a_text_that_is_no_sentence_is_held_against_no_column() -> None:
    """The square of its length would outlast the time limit of a test."""
    assert verify_comparison("Blue Hut has more beds " * 40_000, [HUTS]) is None
    assert verify_value("The beds of Blue Hut is " * 40_000, [HUTS]) is None
