"""One amount in two units says the same; other amounts and units without a fixed worth do not."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.amounts import in_other_units
from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The trail is 1.2 km long.", "The trail is 1,200 metres long."),
        ("The trail is 1,200 metres long.", "The trail is 1.2 km long."),
        ("The warranty lasts 24 months.", "The warranty lasts two years."),
        ("The warranty lasts two years.", "The warranty lasts 24 months."),
        ("The parcel weighs 2.5 kg.", "The parcel weighs 2,500 grams."),
        ("The bottle holds half a litre.", "The bottle holds 500 ml."),
        ("The ascent takes an hour and a half.", "The ascent takes 90 minutes."),
        ("The visa is valid for a year.", "The visa is valid for 12 months."),
        ("The course lasts three weeks.", "The course lasts 21 days."),
    ],
)
def test_an_equal_amount_in_another_unit_bears_a_claim_out(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, ["The shop is shut.", passage])
    assert (read.label, read.quote, read.cited) == ("supported", passage, (1,))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The trail is 1.2 km long.", "The trail is 1,300 metres long."),
        ("The trail is 1.2 km long.", "The trail is 1.2 metres long."),
        ("The trail is 1.2 km long.", "The trail is 1,200 feet long."),
        ("The warranty lasts 24 months.", "The warranty lasts 24 years."),
        ("The warranty lasts two years.", "The warranty lasts 24 weeks."),
        ("The parcel weighs 2.5 kg.", "The parcel weighs 2,500 tonnes."),
        ("The visa is valid for a year.", "The visa is valid for 6 months."),
        ("The trail is 1.2 km long.", "The lake holds 1,200 litres."),
    ],
)
def test_another_amount_does_not(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize("claim", ["The trail is long.", "It has 12 arches.", "It opened in 1200.", ""])
def test_a_claim_without_an_amount_has_no_other_form(claim: str) -> None:
    assert list(in_other_units(claim, ["The trail is 1,200 metres long and took 12 months."])) == []
