"""Two things told of two others, paired the other way round."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

SHARES = "The family holds 82 % of the shares, the employees' trust the remaining 18 %."
DEPOSITS = "Deposits: city bikes €50, trekking bikes €100, e-bikes €250, cargo bikes €300."
MAPS = "Nadia Ferrant drew the maps for the guidebook; the text is by her brother Luc."
LOANS = "Item: DVDs; Loan period: 7 days\nItem: Board games; Loan period: 21 days"
AWARDS = "2009 – Night Heron wins silver. 2011 – Night Heron wins gold at the Northern Beer Awards."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The employees' trust owns 82 % and the family 18 %.", SHARES),
        ("The deposit is €300 for an e-bike and €250 for a cargo bike.", DEPOSITS),
        ("Nadia Ferrant wrote the text, and her brother drew the maps.", MAPS),
        ("DVDs are lent for 21 days and board games for 7 days.", LOANS),
        ("Night Heron took gold in 2009 and silver in 2011.", AWARDS),
    ],
)
def test_crossed_pairs_are_not_borne_out(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The family owns 82 % and the employees' trust 18 %.", SHARES),
        ("The deposit is €250 for e-bikes and €300 for cargo bikes.", DEPOSITS),
        ("DVDs are lent for 7 days and board games for 21 days.", LOANS),
        ("Night Heron took silver in 2009 and gold in 2011.", AWARDS),
        ("The bridge opened in 1836 and is 176 m long.", "The bridge is 176 m long, and it opened in 1836."),
    ],
)
def test_pairs_in_another_order_are_the_same(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"
