"""What evidence leaves open though it shares words with a claim: half of an *and*, a rank, what a heading names."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

HALVES = [
    ("She has two brothers and a sister.", "She has two brothers."),
    ("She has two brothers and a sister.", "Ada grew up in Leeds. She has two brothers, who live in York."),
    ("The kit contains a hammer and a drill.", "The kit contains a hammer."),
    ("The hotel offers breakfast and dinner.", "The hotel offers breakfast from 7 to 10."),
    ("The farm sells cheese and honey.", "The farm sells cheese on Fridays."),
    ("Visitors get a map and a lamp.", "Visitors get a map at the gate."),
]
RANKS = [
    ("Kowalski was the first woman to lead the firm.", "Kowalski runs the firm. Its first shop was at 14 Mill Street."),
    ("Harn is the oldest mill in the valley.", "Harn is an old mill in the valley."),
    ("The Lisse is the longest river in the county.", "The Lisse is a long river in the county."),
    ("Ames was the first captain of the ferry.", "Ames is captain of the ferry. The first crossing was in May."),
    ("Strand was the last head of the school.", "Strand was head of the school. The last train left at nine."),
    ("Tarvo makes the fastest printer.", "Tarvo makes a fast printer."),
]
HEADINGS = [
    ("The tenant may terminate the lease at any time.", "Residential lease."),
    ("The tenant may terminate the lease at any time.", "Residential lease. Tenant: Hans Gruber."),
    ("The tenant may terminate the lease at any time.", "Termination of the lease by the tenant"),
    ("The council repaired the bridge.", "Repair of the bridge"),
    ("The nurse cleaned the ward.", "Cleaning of the ward"),
    ("The guests must pay the tourist tax.", "Tourist tax for guests"),
]


@pytest.mark.parametrize(("claim", "passage"), [*HALVES, *RANKS, *HEADINGS])
def test_what_the_evidence_leaves_open_is_not_supported(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "insufficient"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("She has two brothers and a sister.", "She has a sister and two brothers."),
        ("The kit contains a hammer and a drill.", "The kit contains a drill, a hammer and nails."),
        ("The hotel offers breakfast and dinner.", "The hotel offers breakfast from 7 to 10, and dinner from 18."),
        ("The farm sells cheese.", "The farm sells cheese and honey."),
        ("Visitors get a map and a lamp.", "At the gate visitors get a lamp and a map."),
        ("Marta and Otto Kern run the mill.", "Otto Kern and Marta Kern run the mill."),
        ("Kowalski was the first woman to lead the firm.", "In 1990 Kowalski was the first woman to lead the firm."),
        ("Harn is the oldest mill in the valley.", "Harn, the oldest mill in the valley, is shut."),
        ("Ames was the first captain of the ferry.", "The first captain of the ferry was Ames."),
        ("The Lisse is the longest river in the county.", "The county's longest river is the Lisse."),
        ("The forest covers the hill.", "A forest covers the hill."),
        ("Strand was the last head of the school.", "The school's last head was Strand."),
        ("The tenant may terminate the lease at any time.", "Lease. The tenant may terminate the lease at any time."),
        ("The council repairs the bridge.", "Bridge. The council repairs it."),
        ("The nurse cleans the wound.", "Wound cleaning. The nurse cleans the wound each morning."),
        ("The hotel has free parking.", "Hotel Lindner. Free parking in the yard of the hotel"),
        ("The guests pay the tourist tax.", "Tourist tax. The guests pay the tax."),
        ("The rent is due in May.", "Rent. It is due in May."),
    ],
)
def test_what_the_evidence_says_is_supported(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"
