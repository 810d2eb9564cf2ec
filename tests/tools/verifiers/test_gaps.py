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
