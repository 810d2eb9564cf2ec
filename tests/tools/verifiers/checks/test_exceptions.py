"""What is excepted, and what is said of all although something is."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

PASS = "No deposit from holders of the annual pass, except for cargo bikes."
REPAIRS = "Repairs of own bikes; Harbour: yes; Castle Hill: yes, except e-bikes; Lakeside: no"
TESTS = "Blood tests are walk-in, except glucose tests, which need an appointment."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Holders of the annual pass pay no deposit for cargo bikes.", PASS),
        ("Holders of the annual pass never pay a deposit.", PASS),
        ("Castle Hill repairs customers' own e-bikes.", REPAIRS),
    ],
)
def test_an_exception_bears_nothing_out(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Holders of the annual pass pay no deposit for city bikes.", f"{PASS} City bikes have three gears."),
        ("Holders of the annual pass pay no deposit, except for cargo bikes.", PASS),
        ("Glucose tests need an appointment.", TESTS),
    ],
)
def test_what_is_not_excepted_is_as_before(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"
