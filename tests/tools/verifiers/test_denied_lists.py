"""One denial of several things: a list, a lead before a colon, *no* before each; and what it is of, told by *it*."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.base import Label
from factloop.tools.verifiers.lexical import LexicalVerifier

SCANNER = "The scanner is grey. It has no battery."
HOTEL = "The hotel has no pool and no gym."
DOCK = "The Dock is a scanner. It has no Ethernet port and no battery."
FILES = "PDF and JPEG files are supported. Not supported: disk images and archives. Executable files are rejected."
PHONE = "Phone: Monday to Friday, 8 am to 6 pm. Not on bank holidays."
PLAN = (
    "The Team plan includes chat support and backups. It does not include SSO, phone support or audit logs. It costs "
    "29 euros."
)
AROUND = (
    "The house opened in 2019. It lies by the harbour. Parking costs 9 euros a night.",
    "Support is given in two languages. Most questions are answered within a day. A case is sold apart.",
)


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


def assert_label(verifier: LexicalVerifier, claim: str, passage: str, label: Label) -> None:
    """The same verdict for a passage alone and amid a page."""
    for text in (passage, f"{AROUND[0]} {passage} {AROUND[1]}"):
        assert verifier.verify(claim, [text]).label == label


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The scanner has a battery.", SCANNER),
        ("The hotel has a pool.", HOTEL),
        ("The hotel has a gym.", HOTEL),
        ("The Dock has an Ethernet port.", DOCK),
        ("The Dock has a battery.", DOCK),
        ("Disk images are supported.", FILES),
        ("Archives are supported.", FILES),
        ("Batteries are included.", "Not included: batteries and the charger."),
        ("Disk images are supported.", "Unsupported: disk images and archives."),
        ("Phone support is available on bank holidays.", PHONE),
        ("The Team plan includes SSO.", PLAN),
        ("The Team plan includes phone support.", PLAN),
        ("The Team plan includes audit logs.", PLAN),
        ("The bridge carries lorries.", "The bridge does not carry cars, buses or lorries."),
        ("The hotel has a sauna.", "The hotel has no pool, no gym and no sauna."),
        ("The scanner has no battery.", "The scanner is grey. It has a battery."),
    ],
)
def test_what_a_denial_of_several_things_denies(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    for text in (passage, f"{AROUND[0]} {passage} {AROUND[1]}"):
        assert verifier.verify(claim, [text]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The scanner has no battery.", SCANNER),
        ("The hotel has no gym.", HOTEL),
        ("The hotel does not have a pool.", HOTEL),
        ("The hotel does not have a gym.", HOTEL),
        ("There is no Ethernet port on the Dock.", DOCK),
        ("The Dock has no battery.", DOCK),
        ("Disk images are not supported.", FILES),
        ("Archives are not supported.", FILES),
        ("Executable files are rejected.", FILES),
        ("PDF files are supported.", FILES),
        ("The charger is not included.", "Not included: batteries and the charger."),
        ("The Team plan does not include phone support.", PLAN),
        ("The Team plan does not include audit logs.", PLAN),
        ("The Team plan includes backups.", PLAN),
        ("The hotel has a pool.", "The hotel has a pool and no gym."),
        ("The hotel has a gym.", "The hotel has no pool but a gym."),
        ("The scanner has a battery.", "The battery of the scanner was not changed. The scanner has a battery."),
        ("Bicycles are allowed.", "The bridge does not carry cars, and bicycles are allowed."),
        ("Disk images are supported.", "Supported: disk images and archives."),
        ("Ida Kern is a singer and pianist.", "The jury did not meet Ida Kern, a singer and pianist."),
    ],
)
def test_what_it_leaves_as_it_is(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert_label(verifier, claim, passage, "supported")


def test_a_denial_of_something_else_contradicts_nothing(verifier: LexicalVerifier) -> None:
    changed = "The battery was not changed. The scanner was sold."
    assert verifier.verify("The scanner has a battery.", [changed]).label != "contradicted"
