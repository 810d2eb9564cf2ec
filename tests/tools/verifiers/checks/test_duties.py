"""What must be done, may be done and is forbidden."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

OUTDOORS = "Storing petrol inside is forbidden."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("You must register.", "You may register."),
        ("Visitors must book a tour.", "Visitors may book a tour."),
        ("Guests must pay by card.", "Guests can pay by card."),
        ("Members must wear a badge.", "Members should wear a badge."),
        ("Applicants should send a photo.", "Applicants may send a photo with the form."),
        ("The fee must be paid in advance.", "The fee may be paid in advance."),
        ("Owners are required to insure the boat.", "Owners can insure the boat."),
        ("You have to register.", "You are allowed to register."),
        ("You may register.", "You must register."),
        ("Children must enter with a parent.", "You must be 18 to enter; children may enter with a parent."),
        ("Petrol may be used.", "Using petrol is forbidden in winter."),
        ("You must use petrol.", "Using petrol is forbidden in winter."),
    ],
)
def test_another_force_bears_nothing_out(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "insufficient"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("You must register.", "You are required to register."),
        ("Visitors have to book a tour.", "Visitors must book a tour."),
        ("Guests can pay by card.", "Guests may pay by card."),
        ("Guests can pay by card.", "Guests must pay by card."),
        ("The fee must be paid in advance.", "The fee has to be paid in advance."),
        ("Members must wear a badge.", "Members must wear a badge; guests may wear one."),
        ("Tickets must be bought online.", "Tickets can only be bought online."),
        ("You must show a ticket.", "You must show a ticket, which you may buy online."),
        ("Dogs must be kept on a lead.", "Dogs are allowed in the garden but must be kept on a lead."),
        ("The device may get hot.", "The device may get hot."),
        ("It is forbidden to unplug the hub while it updates.", "Do not unplug the hub while it updates."),
        ("You must not unplug the hub while it updates.", "Do not unplug the hub while it updates."),
        ("The hub must not be unplugged while it updates.", "Never unplug the hub while it updates."),
    ],
)
def test_the_same_force_does(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Petrol may be stored outside.", OUTDOORS),
        ("Petrol may not be used in summer or winter.", "Using petrol is forbidden in summer and winter."),
        ("You must not park or stop here.", "Parking and stopping here is prohibited."),
        ("Drones cannot be flown over the park, not even at night.", "Flying drones over the park is banned."),
        ("It is prohibited to lift the pump by its cable.", "Never lift the pump by its cable, even for a moment."),
        ("Using petrol indoors is forbidden.", "You may use petrol outdoors."),
    ],
)
def test_what_is_forbidden_in_other_words_is_not_contradicted(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("You may unplug the hub while it updates.", "Do not unplug the hub while it updates."),
        ("You must unplug the hub while it updates.", "Do not unplug the hub while it updates."),
        ("You must not unplug the hub before cleaning.", "Unplug the hub before cleaning."),
        ("You must not unplug the hub while it updates.", "Unplug the hub while it updates."),
        ("It is forbidden to park here.", "You may park here."),
        ("Parking is prohibited in the yard.", "Guests should park in the yard."),
        ("Smoking is forbidden.", "The guests did not smoke."),
    ],
)
def test_what_is_asked_for_is_not_forbidden(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"
