"""What one clause says of its subject is not said of the subject of another."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

DOCTORS = "Dr. Lee is a dentist and Dr. Shah is a paediatrician."
PLAYERS = "Mara plays the flute and Jon plays the cello."
OFFICES = "The Bergen office sells insurance, while the Oslo office handles claims."
TRAINS = "The red train stops at Harn and the blue train stops at Lisse."
TREES = "Oak was used for the doors, but pine was used for the floors."


@pytest.mark.parametrize(
    ("claim", "passage", "said_of"),
    [
        ("Dr. Shah is a dentist.", DOCTORS, "Lee"),
        ("Dr. Lee is a paediatrician.", DOCTORS, "Shah"),
        ("Mara plays the cello.", PLAYERS, "Jon"),
        ("Jon plays the flute.", PLAYERS, "Mara"),
        ("The Oslo office sells insurance.", OFFICES, "Bergen"),
        ("The Bergen office handles claims.", OFFICES, "Oslo"),
    ],
)
def test_what_is_said_of_another_is_not_supported(claim: str, passage: str, said_of: str) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert read.label == "insufficient"
    assert f'"{said_of}"' in read.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Dr. Lee is a dentist.", DOCTORS),
        ("Dr. Shah is a paediatrician.", DOCTORS),
        ("Mara plays the flute.", PLAYERS),
        ("The Oslo office handles claims.", OFFICES),
        ("Dr. Shah is a dentist.", "Dr. Shah, who came from Leeds, is a dentist."),
        ("Dr. Shah is a dentist.", "Dr. Shah came from Leeds and is a dentist."),
        ("Dr. Shah is a dentist.", "Dr. Shah came from Leeds, where she is a dentist."),
        ("Dr. Shah is a dentist.", "Dr. Lee is a dentist and Dr. Shah is a dentist as well."),
        ("Mara plays the cello.", "Mara came in 1990 and her band, in which she plays the cello, in 1991."),
        ("The red train stops at Harn.", TRAINS),
        ("Pine was used for the floors.", TREES),
    ],
)
def test_what_is_said_of_this_one_is(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The museum opened in 1967.", "The museum's café opened in 1967."),
        ("The museum opened in 1964.", "The museum's café opened in 1967."),
        ("Kern died in 1931.", "Kern's brother died in 1931."),
        ("The ferry was sold in May.", "The ferry’s old engine was sold in May."),
        ("Marta Kern lived in Leeds.", "Marta Kern's aunt lived in Leeds."),
        ("The firm moved to Oslo.", "The firm's founder moved to Oslo."),
    ],
)
def test_what_an_owned_thing_did_is_not_said_of_its_owner(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "insufficient"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The museum opened in 1967.", "The museum opened in 1967."),
        ("The museum's café opened in 1967.", "The museum's café opened in 1967."),
        ("The café opened in 1967.", "The museum's café opened in 1967."),
        ("Kern died in 1931.", "Kern's brother came in 1930. Kern died in 1931."),
        ("The firm moved to Oslo.", "The firm, with the founder's son, moved to Oslo."),
        ("The founder moved to Oslo.", "The firm's founder moved to Oslo."),
    ],
)
def test_what_the_owner_did_is(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    "passage",
    [
        "Marta Kern retired in 2001.",
        "Dr. Marta Kern retired in 2001. Ida Kern is her sister.",
        "The firm was led by Ida Kern and Marta Kern. Marta Kern retired in 2001.",
    ],
)
def test_what_is_said_of_a_namesake_is_not_supported(passage: str) -> None:
    read = LexicalVerifier().verify("Ida Kern retired in 2001.", [passage])
    assert read.label == "insufficient"
    assert 'of "Marta Kern", not of "Ida Kern"' in read.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Ida Kern retired in 2001.", "I. Kern retired in 2001. Ida Kern was a nurse."),
        ("Ida Kern retired in 2001.", "Chairman Kern retired in 2001. His name was Ida Kern."),
        ("Ida Kern retired in 2001.", "On Monday Kern retired in 2001. Ida Kern was a nurse."),
        ("Ida Kern retired in 2001.", "Ida and Marta Kern retired in 2001."),
        ("Ida Kern left Ulm in 2001.", "Marta and Ida Kern left Ulm in 2001."),
        ("Ida Kern led the Kern Group.", "Ida Kern led the Marta Kern Group."),
        ("Ida Marie Kern retired in 2001.", "Marie Kern retired in 2001. Ida Marie Kern is a nurse."),
        ("John Adams died in Leeds.", "John Quincy Adams died in Leeds."),
        ("Bill Clinton was born in 1946.", "William Jefferson Clinton was born in 1946. Bill Clinton likes music."),
        ("Smeaton's Tower is red.", "Eddystone Tower is red. Smeaton's Tower is one name of it."),
        ("Marta Kern was succeeded by Ida Kern.", "Ida Kern succeeded Marta Kern."),
        ("Ida Kern's father repaired watches.", "Ida Kern lived in Ulm. Her father, Konrad Kern, repaired watches."),
        ("Ida Kern was a child of Konrad Kern.", "Konrad Kern had a child, Ida."),
    ],
)
def test_other_forms_of_a_name_are_of_the_same_person(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


ROUTERS = "The R200 was released in September 2020, the R400 in April 2022 and the R600 in May 2024."


@pytest.mark.parametrize(
    ("claim", "passage", "said_of"),
    [
        ("The R400 was released in September 2020.", ROUTERS, "R200"),
        ("The R400 was discontinued in 2019.", "The R100 was discontinued in 2019. The R400 is the newest.", "R100"),
        ("The R200 is for large homes.", "The R200 is for small flats. The R400 is for large homes.", "R400"),
        ("Firmware 3.2 added support for VPN.", "Firmware 3.4 added support for VPN.", "Firmware 3.4"),
        ("Class 7 visited Rome.", "Class 6 visited Rome. Class 7 went to Ulm.", "Class 6"),
        ("Room 14 is for meetings.", "Room 12 is for meetings and room 14 is for meals.", "Room 12"),
    ],
)
def test_what_is_said_of_one_of_another_number_is_not_supported(claim: str, passage: str, said_of: str) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert read.label == "insufficient"
    assert f'of "{said_of}", not of' in read.rationale


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The R200 was released in September 2020.", ROUTERS),
        ("The R400 was released in April 2022.", ROUTERS),
        ("The R400 weighs 680 g.", "The R200 weighs 410 g and the R400 weighs 680 g."),
        ("The R400 has four antennas.", "The R200 and the R400 have four antennas."),
        (
            "The Kestrel 3 has a frame of carbon.",
            "The Kestrel 2 has a frame of steel, the Kestrel 3 has one of carbon.",
        ),
    ],
)
def test_what_is_said_of_the_number_itself_is_supported(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


def test_a_reason_calls_nothing_missing_that_the_nearest_sentence_has() -> None:
    passage = "The Corvex R200 is a dual-band router and the R400 is a tri-band router."
    read = LexicalVerifier().verify("The R200 is a tri-band router.", [passage])
    assert read.label == "insufficient"
    assert read.rationale.startswith("No one sentence of the sources says all of this.")
