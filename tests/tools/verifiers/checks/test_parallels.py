"""What a sentence tells of two things side by side is of each its own."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

TEAM = "Our support team has 23 people in Leicester and 9 in Porto."
SIGN_IN = "Two-factor authentication is optional on Free and Team and mandatory on Business."
GLASSES = "Glasses come with a warranty of 2 years on frames, 1 year on electronics."
REFUNDS = "Refund requests over £200 are approved by the billing team, all others by the support agent on shift."
DOCK = "The Dock comes with a two-year warranty; the Label Printer with one year."
DRUGS = "Tablets keep for three years, drops for six months."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("There are 23 people in Porto.", TEAM, "contradicted"),
        ("There are 23 people in Leicester.", TEAM, "supported"),
        ("There are 9 people in Porto.", TEAM, "supported"),
        ("The support team has people in Leicester and Porto.", TEAM, "supported"),
        ("Two-factor authentication is mandatory on Team.", SIGN_IN, "insufficient"),
        ("Two-factor authentication is optional on Business.", SIGN_IN, "insufficient"),
        ("Two-factor authentication is mandatory on Business.", SIGN_IN, "supported"),
        ("Two-factor authentication is optional on Free.", SIGN_IN, "supported"),
        ("Electronics carry a two-year warranty.", GLASSES, "contradicted"),
        ("Frames have a warranty of 2 years.", GLASSES, "supported"),
        ("Electronics have a warranty of 1 year.", GLASSES, "supported"),
        ("Refund requests over £200 are approved by the support agent.", REFUNDS, "insufficient"),
        ("Refund requests over £200 are approved by the billing team.", REFUNDS, "supported"),
    ],
)
def test_phrases_with_one_preposition(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("The Label Printer has a warranty of two years as well.", DOCK, "contradicted"),
        ("The Label Printer has a warranty of one year.", DOCK, "supported"),
        ("The Dock has a two-year warranty.", DOCK, "supported"),
        ("Drops keep for three years.", DRUGS, "contradicted"),
        ("Drops keep for six months.", DRUGS, "supported"),
        ("Tablets keep for three years.", DRUGS, "supported"),
    ],
)
def test_clauses_that_leave_their_verb_out(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label
