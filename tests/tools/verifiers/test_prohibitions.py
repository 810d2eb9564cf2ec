"""What is forbidden to all, in the words of *may not*, *is not permitted* and *is forbidden*."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.prohibitions import verify_prohibition


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Guests may not smoke in the rooms.", "Smoking is not permitted in the rooms."),
        ("Guests may not smoke in the rooms.", "Smoking in the rooms is forbidden."),
        ("Visitors must not swim in the lake.", "Swimming is prohibited in the lake."),
        ("Petrol may not be stored in the garage.", "Storing petrol is forbidden."),
        ("You cannot park in the yard.", "It is forbidden to park in the yard."),
        ("Children are not allowed to feed the seals.", "Feeding the seals is not allowed."),
        ("Smoking is forbidden in the rooms.", "Smoking in the rooms is not permitted."),
        ("Petrol must not be used.", "Using petrol is forbidden."),
        ("Petrol may not be used.", "The use of petrol is forbidden."),
        ("Bicycles may not be parked in the hall.", "Parking bicycles in the hall is forbidden."),
        ("Food cannot be eaten in the library.", "Eating food in the library is not allowed."),
        ("Drones may not be flown over the park.", "Flying drones over the park is prohibited."),
        ("Candles may not be lit in the chapel.", "Lighting candles in the chapel is not permitted."),
    ],
)
def test_what_is_forbidden_to_all_is_forbidden_to_each(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, ["Rules of the house.", passage])
    assert (read.label, read.quote, read.cited) == ("supported", passage, (1,))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Guests may smoke in the rooms.", "Smoking is not permitted in the rooms."),
        ("Guests may smoke in the rooms.", "Smoking in the rooms is forbidden."),
        ("Visitors are allowed to swim in the lake.", "Swimming is prohibited in the lake."),
        ("Parking is permitted in the yard.", "It is forbidden to park in the yard."),
        ("Children may feed the seals.", "Feeding the seals is not allowed."),
        ("Diving is allowed.", "Diving is strictly forbidden."),
        ("Petrol may be used.", "Using petrol is forbidden."),
        ("You can use petrol.", "The use of petrol is forbidden."),
        ("Bicycles may be parked in the hall.", "Parking bicycles in the hall is forbidden."),
        ("Food can be eaten in the library.", "Eating food in the library is not allowed."),
        ("Drones may be flown over the park.", "Flying drones over the park is prohibited."),
        ("Candles can be lit in the chapel.", "Lighting candles in the chapel is not permitted."),
    ],
)
def test_what_is_forbidden_is_not_allowed(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Guests may not smoke in the rooms.", "Smoking in the rooms is allowed."),
        ("Guests may not smoke on the terrace.", "Smoking is not permitted in the rooms."),
        ("Guests may not cook in the rooms.", "Smoking is not permitted in the rooms."),
        ("You don't need to make a backup.", "Always make a backup."),
        ("You don't need to make a backup before you update.", "Always make a backup before you update."),
        ("You need not lock the door.", "Always lock the door."),
    ],
)
def test_another_rule_bears_nothing_out(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Visitors may not swim in the lake.", "Swimming is forbidden in the lake except in July."),
        ("Guests may smoke on the terrace.", "Smoking is forbidden."),
        ("Guests may smoke in the rooms.", "Smoking is forbidden in the rooms unless the owner agrees."),
        ("Guests may smoke.", "Smoking is forbidden. Smoking on the terrace is allowed."),
        ("Guests may cook in the rooms.", "Smoking is forbidden in the rooms."),
        ("The lake may freeze in winter.", "Swimming is forbidden in winter."),
        ("Sealing the pipe is important.", "Sealing is forbidden."),
        ("Diesel may be used.", "Using petrol is forbidden."),
        ("Petrol may be used.", "Using petrol is forbidden in winter."),
        ("Candles may be lit in the garden.", "Lighting candles in the chapel is not permitted."),
    ],
)
def test_a_prohibition_that_may_be_of_something_else_decides_nothing(claim: str, passage: str) -> None:
    assert verify_prohibition(claim, [passage]) is None


@pytest.mark.parametrize("claim", ["Guests may not smoke in the rooms.", "Smoking is permitted in the rooms."])
def test_the_quote_is_as_the_passage_spells_it(claim: str) -> None:
    passage = "Smoking is not\N{NO-BREAK SPACE}permitted in the rooms."
    assert LexicalVerifier().verify(claim, [f"Rules of the house. {passage}"]).quote == passage


def test_a_text_that_is_no_sentence_forbids_nothing() -> None:
    """The square of its length would outlast the time limit of a test."""
    assert verify_prohibition("Guests may not smoke in the rooms " * 40_000 + ",", ["Smoking is forbidden."]) is None
