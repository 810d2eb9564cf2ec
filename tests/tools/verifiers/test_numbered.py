"""A number after *model* or *version* names a thing; sentences on another one tell nothing of it."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.numbered import of_numbered

PUMPS = " ".join(f"Pump model {number} weighs {number + 2} kg." for number in range(60))


@pytest.mark.parametrize("number", [1, 3, 12, 40, 59])
def test_the_sentence_on_this_one_bears_it_out(number: int) -> None:
    read = LexicalVerifier().verify(f"Pump model {number} weighs {number + 2} kg.", [PUMPS])
    assert (read.label, read.quote) == ("supported", f"Pump model {number} weighs {number + 2} kg.")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Pump model 40 weighs 39 kg.", PUMPS),
        ("Pump model 60 weighs 59 kg.", PUMPS),
        ("Pump model 1000 weighs 1002 kg.", "Pump model 1000 is red. Pump model 1002 weighs 1004 kg."),
        ("Version 4 has 12 tools.", "Version 3 has 12 tools. Version 4 has 9 tools."),
        ("Version 4 has a dark mode.", "Version 4 is free. Version 3 is free. It has a dark mode."),
        ("Room 12 has 30 seats.", "Room 14 has 30 seats and 12 tables."),
        ("Grade 2 pays 900 euros.", "Grade 2 is for clerks. Grade 7 pays 900 euros."),
    ],
)
def test_a_sentence_on_another_one_does_not(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


def test_another_value_of_this_one_contradicts() -> None:
    read = LexicalVerifier().verify("Pump model 1 weighs 2 kg.", [PUMPS])
    assert (read.label, read.quote, read.instead) == ("contradicted", "Pump model 1 weighs 3 kg.", "3")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Version 4 runs on Linux.", "Version 3 or newer runs on Linux."),
        ("Version 4 runs on Linux.", "Version 3 and 4 run on Linux."),
        ("Version 4 runs on Linux.", "Unlike version 3, version 4 runs on Linux."),
        ("The program needs version 4 of the driver.", "The program needs version 3 of the driver."),
        ("The hall has 30 seats.", "Room 14 has 30 seats."),
        ("Versions 4 and 5 run on Linux.", "Version 3 does not."),
    ],
)
def test_what_may_be_on_this_one_is_read(claim: str, passage: str) -> None:
    assert of_numbered(claim, [passage]) == [passage]
