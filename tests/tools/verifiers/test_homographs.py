"""Nouns that are spelt like verbs: rubbish denies nothing, and a saw is not seen."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Refuse is collected on Mondays.", "Refuse is collected on Mondays."),
        ("Waste is collected on Tuesdays.", "Refuse and waste are collected on Tuesdays."),
        ("The bins are emptied on Mondays.", "Refuse bins are emptied on Mondays."),
        ("The council collects refuse on Mondays.", "Refuse is collected on Mondays by the council."),
        ("Household refuse is burned in the plant.", "At night, household refuse is burned in the plant."),
        ("The grey bin is for refuse.", "The grey bin is for refuse, the blue bin for paper."),
        ("Bags of refuse must be tied.", "Bags of refuse must be tied."),
        ("The guards refuse to let visitors in.", "The guards refuse to let visitors in."),
        ("The kit contains a hammer and a saw.", "The kit contains a hammer, a saw and a chisel."),
        ("The prince gave her a rose.", "The prince gave her a rose."),
    ],
)
def test_a_noun_is_no_denial_and_no_past(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Refuse is not collected on Mondays.", "Refuse is collected on Mondays."),
        ("The bins are not emptied on Mondays.", "Refuse bins are emptied on Mondays."),
        ("The council does not collect refuse on Mondays.", "Refuse is collected on Mondays by the council."),
        ("The guards let visitors in.", "The guards refuse to let visitors in."),
        ("Some banks paid the fee.", "Some banks refuse to pay the fee."),
        ("The owners, who agree, will sell.", "The owners, who refuse, will not sell."),
        ("You accept cookies.", "Refuse all cookies."),
        ("The kit contains a hammer and a saw.", "The kit contains a hammer and a chisel."),
        ("The kit contains a saw and a hammer.", "He saw the kit, which contains a hammer."),
    ],
)
def test_a_denial_and_another_thing_bear_nothing_out(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"
