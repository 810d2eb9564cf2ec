"""What the evidence leaves unsaid, with a true twin beside each case."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

PLATES = (
    "The Marwen plates.\nThe donor was Lene Prohaska, who had inherited the plates. "
    "Marwen had taken them on an expedition of five weeks with four porters."
)
LIFE = "Ottilie Marwen was a photographer. She lived in Zirn."
BROTHER = "The Marwen mill.\nKonrad Marwen went on an expedition of five weeks with four porters."
LAMP = "The lamp was designed by Otto Kern in 1950. It has one switch."
BOARD = "Boards.\nData are kept in PostgreSQL. Versions from 13 on work."
NEWS = "News.\nThe newer search is faster."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passages", "is_said"),
    [
        ("Ottilie Marwen's expedition lasted five weeks.", [PLATES, LIFE], True),
        ("Ottilie Marwen's expedition lasted five weeks.", [BROTHER, LIFE], False),
        ("Ottilie Marwen's expedition lasted five weeks.", [BROTHER.replace("Konrad", "O."), LIFE], True),
        ("Ottilie Marwen's expedition lasted five weeks.", [BROTHER.replace("Konrad", "K."), LIFE], False),
        ("The lamp was designed by Otto Kern.", [LAMP], True),
        ("The lamp was designed by a woman.", [LAMP], False),
        ("The lamp was designed by a woman.", [f"{LAMP} The second lamp is the work of a woman."], True),
        ("Kern designed the lamp in 1950.", [LAMP], True),
        ("Kern designed the lamp while drunk.", [LAMP], False),
        ("Kern designed the lamp while drunk.", [f"{LAMP} Kern was drunk."], True),
        ("PostgreSQL 13 or newer.", [BOARD, NEWS], True),
        ("PostgreSQL 12 or newer.", [BOARD, NEWS], False),
        ("Greta Howe repaired the flaw.", ["The flaw, found by Imre Sollis, was fixed by Greta Howe."], True),
        ("Imre Sollis repaired the flaw.", ["The flaw, found by Imre Sollis, was fixed by Greta Howe."], False),
    ],
)
def test_a_claim_is_supported_where_all_of_it_is_said(
    verifier: LexicalVerifier, claim: str, passages: list[str], is_said: bool
) -> None:
    assert (verifier.verify(claim, passages).label == "supported") == is_said


def test_what_denies_is_named(verifier: LexicalVerifier) -> None:
    found = verifier.verify("The lamp is fanless.", ["The lamp has a fan."])
    assert found.rationale == 'The claim denies ("fanless") what the source says: “The lamp has a fan.”'


def test_several_passages_of_one_document_bear_a_claim_out_together(verifier: LexicalVerifier) -> None:
    passages = ["Ada Brisk led the harbour board. The board met on Mondays.", "She was followed by Otto Lund in 1931."]
    claim = "Ada Brisk was followed by Otto Lund."
    assert verifier.verify(claim, passages, [0, 0]).label == "supported"
    assert verifier.verify(claim, passages, [0, 1]).label == verifier.verify(claim, passages).label == "insufficient"


PRICES = (
    "Refunds and cancellations.\nAfter that we refund the unused whole months, minus an administration fee of £15. "
    "Refunds go back to the card that was used and take 5 to 10 working days. We cannot refund to a different card.\n"
    "Refunds & cancellations › Hardware (Quillnest Dock and Label Printer)\n"
    "- Return within 14 days of delivery, unused and in its original box.\n"
    "- Return postage is free for faulty items; otherwise it costs £4.95 and is taken off the refund.",
    "Quillnest Dock (model QD-2).\nThe Dock is a desktop scanner with a feeder for 40 sheets. It scans both sides at "
    "30 pages per minute, up to 600 dpi, and sends the pages straight to your workspace over Wi-Fi (2.4 GHz and 5 "
    "GHz) or USB-C. It has no Ethernet port and no battery.\nIt was launched in October 2025 and replaces the QD-1, "
    "which is no longer sold. The QD-1 gets security updates until 31 December 2027.\nPrice: £149 incl. VAT.",
)


@pytest.mark.parametrize(
    ("claim", "label"), [("The Dock costs £149.", "supported"), ("The Dock costs $149.", "insufficient")]
)
def test_a_price_is_in_its_currency_wherever_it_stands(claim: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, PRICES, (0, 1)).label == label
