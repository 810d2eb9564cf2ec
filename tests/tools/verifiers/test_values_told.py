"""The value that is told against a claim: that of the same thing, as the source spells it, or none."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.base import Verifier
from factloop.tools.verifiers.lexical import LexicalVerifier

HALL = "The hall seats 300 guests on the ground floor and 120 guests in the gallery."
DEPTHS = "Winter depth is 7 metres and summer depth is 12 metres."
FARES = "The price for adults is 48 euros, for children 24 euros."
TOWER = "The tower is 28 metres tall and 64 metres long."
TRIAL = "It had 200 patients. 42 patients (21%) reported nausea."
GROWTH = "Sales rose from 1,200 bikes in 2021 to 1,900 in 2022."
FILES = "Files up to 25 MB can be attached."
ORDERS = "Orders over £50 ship free within the UK."
UNUSED = "Up to five unused days may be carried over."
YEARS = "year: 1964; staff: 420; sales_million_euros: 55\nyear: 1975; staff: 690; sales_million_euros: 102"
YEARS_IN_BRACKETS = "Year: 1975; Staff: 690; Sales (thousand euros): 1,020"
LEAFLET = (
    "The usual dose for adults is one or two 200 mg tablets up to three times a day. Do not take more than 1,200 mg in "
    "24 hours. Leave at least 4 hours between doses."
)


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "source", "wrong", "instead"),
    [
        ("The hall seats 150 guests in the gallery.", HALL, "150", "120"),
        ("The hall seats 350 guests on the ground floor.", HALL, "350", "300"),
        ("Winter depth is 9 metres.", DEPTHS, "9", "7"),
        ("Summer depth is 9 metres.", DEPTHS, "9", "12"),
        ("The price for children is 28 euros.", FARES, "28", "24"),
        ("The price for adults is 28 euros.", FARES, "28", "48"),
        ("The price for adults is 48 euros, for children 28 euros.", FARES, "28", "24"),
        ("The tower is 64 metres tall.", TOWER, "64", "28"),
        ("20% of patients reported nausea.", TRIAL, "20", "21"),
        ("45 patients reported nausea.", TRIAL, "45", "42"),
        ("Do not take more than 2,400 mg in 24 hours.", LEAFLET, "2,400", "1,200"),
        ("Sales were 120 million euros in 1975.", YEARS, "120 million", "102"),
        ("Sales were 1,200 thousand euros in 1975.", YEARS_IN_BRACKETS, "1,200 thousand", "1,020"),
        ("Sales were 1,300 bikes in 2021.", GROWTH, "1,300", "1,200"),
        ("Sales grew by 800 bikes in 2022.", "Sales grew by 700 bikes in 2022.", "800", "700"),
        ("You can attach a file of 30 MB.", FILES, "30", "25"),
        ("You can attach files up to 20 MB.", FILES, "20", "25"),
        ("An order of £40 ships free in the UK.", ORDERS, "40", "50"),
        ("You can carry over up to six days.", UNUSED, "six", "five"),
        ("You can carry over five weeks.", UNUSED, "five weeks", "five unused days"),
        ("The rate rose by 1½ percent.", "The rate rose by ½ percent.", "1 1⁄2", "1⁄2"),
    ],
)
def test_the_figure_of_the_same_thing_is_told(
    verifier: Verifier, claim: str, source: str, wrong: str, instead: str
) -> None:
    read = verifier.verify(claim, [source])
    assert (read.label, read.wrong, read.instead) == ("contradicted", wrong, instead)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The hall seats 120 guests in the gallery.", HALL),
        ("Summer depth is 12 metres.", DEPTHS),
        ("The tower is 64 metres long.", TOWER),
        ("21% of patients reported nausea.", TRIAL),
        ("More than 20% of patients had nausea.", TRIAL),
        ("42 patients reported nausea.", TRIAL),
        ("Sales were 102 million euros in 1975.", YEARS),
        ("Sales were 1,020 thousand euros in 1975.", YEARS_IN_BRACKETS),
        ("The rate rose by ½ percent.", "The rate rose by 0.5 percent."),
        ("The rate rose by 2½ percent.", "The rate rose by 2.5 percent."),
        ("Tablets should be taken at least 4 hours apart.", LEAFLET),
        ("Adults take 300–900 mg every 4–6 h.", "Adults take 300 to 900 mg every four to six hours."),
        ("You can carry over up to five days.", UNUSED),
        ("You can attach a file of 20 MB.", FILES),
        ("An order of £60 ships free in the UK.", ORDERS),
        ("The course may take an hour.", "The course may take up to 2 hours."),
        ("The quantity of descaler is 20 millilitres.", "Take 1.5 litres of water and 20 ml of descaler."),
    ],
)
def test_the_same_figure_bears_a_claim_out(verifier: Verifier, claim: str, source: str) -> None:
    assert verifier.verify(claim, [source]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Tablets should be taken at least 2 hours apart.", LEAFLET),  # *two* counts tablets there
        ("The hall seats 350 guests.", HALL),  # neither number is more like it than the other
        ("The maximum dose for adults is 2,400 mg in 24 hours.", LEAFLET),
        ("Sales grew by 700 bikes between 2021 and 2022.", GROWTH),  # which sums alone would tell
        ("The heart beats at 120 beats.", "Fewer than 100 beats are a 1, and more than 100 beats are a 2."),
        ("Sales were 1,900 bikes in 2022.", "Sales grew by 700 bikes in 2022."),
    ],
)
def test_a_figure_of_something_else_neither_bears_out_nor_contradicts(
    verifier: Verifier, claim: str, source: str
) -> None:
    read = verifier.verify(claim, [source])
    assert (read.label, read.wrong, read.instead) == ("insufficient", "", "")


def test_a_bound_that_is_kept_is_no_reason_against_the_claim(verifier: Verifier) -> None:
    read = verifier.verify("More than 20 patients reported nausea.", [TRIAL])
    assert read.label == "insufficient"
    assert 'the claim "20"' not in read.rationale
