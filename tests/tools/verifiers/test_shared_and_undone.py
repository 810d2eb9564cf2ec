"""True claims whose evidence says more than one thing of their kind: none of them is contradicted."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Lund's victory over Berg in 1850 ended the war.", "Berg's defeat by Lund in 1850 ended the war."),
        ("The fee is 5 percent of the price.", "The fee is 5 percent of the price; half of the fee goes to Berg."),
        ("12 percent of the prints were scanned.", "Half the prints are stored away; 12 percent of it were scanned."),
        ("About half of the land is covered by trees.", "Lakes cover 8 percent of the land, and trees cover half."),
        ("The tax is 19 percent.", "The tax was cut from 19 to 16 percent in July and went back to 19 percent in May."),
        ("The driving age is 16.", "Parliament rejected a bill that raised the driving age from 16 to 18."),
        ("The shop is shut on Sundays.", "The shop is open on Saturdays but not on Sundays."),
        ("The road is closed to cars.", "The road is open to bicycles but not to cars."),
        ("No, the Alder has no lift.", "Hotel: Alder; Lift: no"),
        ("The Alder offers no pets and no smoking.", "Hotel: Alder; Pets and smoking: no"),
        ("Half of the devices run Alder.", "Alder 1.5.2 % of the devices run Alder since May."),
    ],
)
def test_a_true_claim_is_not_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The Alder is available.", "Plan: Alder; Available: no"),
        ("Alder is available.", "Plan: Alder; Available: ×"),
        ("Half of the patients had nausea.", "Nausea was seen in 21 percent of the patients."),
        ("The tax is 19 percent.", "The tax was cut from 19 to 16 percent in July."),
        ("The cleaning kit is included in the box.", "A cleaning kit is sold separately. In the box: dock and cable."),
    ],
)
def test_a_false_one_is_not_supported(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert verifier.verify(claim, [passage]).label != "supported"
