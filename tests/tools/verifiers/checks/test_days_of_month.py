"""A day is of its month, whatever else has its number."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

UPDATES = "The QD-1 gets security updates until 31 December 2027. Price: 149 euros. It scans 30 pages a minute."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("The QD-1 gets updates until 30 December 2027.", UPDATES, "contradicted"),
        ("The QD-1 gets updates until 31 December 2027.", UPDATES, "supported"),
        (
            "She was born on 13 March 1830.",
            "She was born on March 12th, 1830, in Ulm. She had 13 sisters.",
            "contradicted",
        ),
        ("She was born on 12 March 1830.", "She was born on March 12th, 1830, and died in March 1880.", "supported"),
        ("It is open on 5 May.", "It is open from 3 to 7 May.", "insufficient"),
    ],
)
def test_another_day_of_the_month(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label
