"""Well-known names that are written in two ways are one name; names that hold one of them are not."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("She lives in the UK.", "She lives in Britain."),
        ("She lives in Britain.", "She lives in the United Kingdom."),
        ("The firm sells its pumps in the US.", "The firm sells its pumps in the United States."),
        ("The firm sells its pumps in the United States.", "The firm sells its pumps in the U.S.A."),
        ("Britain's largest dam is in Elan.", "The UK's largest dam is in Elan."),
        ("The EU banned the paint in 2009.", "In 2009 the European Union banned the paint."),
        ("The tulips come from Holland.", "The tulips come from the Netherlands."),
    ],
)
def test_two_names_of_one_country_agree(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert (read.label, read.quote) == ("supported", passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("She lives in the UK.", "She lives in the United States."),
        ("She lives in Britain.", "She lives in the United Arab Emirates."),
        ("The firm sells its pumps in the US.", "The firm sells its pumps in the UK."),
        ("The firm sells its pumps in the US.", "The firm sells us its pumps."),
        ("The EU banned the paint in 2009.", "In 2009 the United Nations banned the paint."),
        ("The tulips come from Holland.", "The tulips come from the Czech Republic."),
        ("The tulips come from the Netherlands.", "The tulips come from New Holland."),
        ("Great Britain won.", "New Britain won."),
    ],
)
def test_other_countries_do_not(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"
