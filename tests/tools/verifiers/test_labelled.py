"""A claim that names who has a label, held against the labels of forms and contracts."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.labelled import verify_names
from factloop.tools.verifiers.lexical import LexicalVerifier

LEASE = "Residential lease. Landlord: Petra Wolf. Tenant: Hans Gruber. Rent: 900 euros."
SHOW = "Director: Ines Duval\nStage manager: Rolf Ames\nLights: Dr. Ada Brisk"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The landlord is Petra Wolf and the tenant is Hans Gruber.", LEASE),
        ("The tenant is Hans Gruber.", LEASE),
        ("The landlord is Petra Wolf.", LEASE),
        ("The stage manager is Rolf Ames.", SHOW),
        ("The director was Ines Duval.", SHOW),
        ("The director is Ines Duval, and the stage manager is Rolf Ames.", SHOW),
    ],
)
def test_the_name_beside_the_label_bears_a_claim_out(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, ["Nothing of this.", passage])
    assert (read.label, read.cited) == ("supported", (1,))
    assert read.quote in passage


@pytest.mark.parametrize(
    ("claim", "passage", "wrong", "instead"),
    [
        ("The landlord is Hans Gruber and the tenant is Petra Wolf.", LEASE, "Hans Gruber", "Petra Wolf"),
        ("The tenant is Petra Wolf.", LEASE, "Petra Wolf", "Hans Gruber"),
        ("The landlord is Petra Wolf and the tenant is Rolf Ames.", LEASE, "Rolf Ames", "Hans Gruber"),
        ("The stage manager is Ines Duval.", SHOW, "Ines Duval", "Rolf Ames"),
        ("The director is Rolf Ames.", SHOW, "Rolf Ames", "Ines Duval"),
        ("The director is Rolf Ames and the stage manager is Ines Duval.", SHOW, "Rolf Ames", "Ines Duval"),
    ],
)
def test_another_name_beside_it_contradicts(claim: str, passage: str, wrong: str, instead: str) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert (read.label, read.wrong, read.instead) == ("contradicted", wrong, instead)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The landlord is Hans Gruber and the tenant is Petra Wolf.", "Landlord: Hans Gruber."),
        ("The tenant is Petra Wolf.", "Tenant: Hans Gruber. Tenant: Petra Wolf."),
        ("The tenant is Petra Gruber.", LEASE),  # may be the same
        ("The owner is Hans Gruber.", LEASE),
        ("The tenant is not Hans Gruber.", LEASE),
        ("The tenant is late.", LEASE),
        ("The tenant of the shop is Petra Wolf.", LEASE),
    ],
)
def test_labels_that_do_not_decide(claim: str, passage: str) -> None:
    assert verify_names(claim, [passage]) is None


def test_half_of_a_claim_bears_out_no_more() -> None:
    claim = "The landlord is Hans Gruber and the tenant is Petra Wolf."
    assert LexicalVerifier().verify(claim, ["Tenant: Hans Gruber."]).label != "supported"


@pytest.mark.parametrize("claim", ["The tenant is Petra Wolf.", "The tenant is Hans Gruber."])
def test_the_quote_is_as_the_passage_spells_it(claim: str) -> None:
    line = "Tenant:\N{NO-BREAK SPACE}Hans Gruber"
    assert LexicalVerifier().verify(claim, [f"Residential lease\n{line}\n"]).quote == line
