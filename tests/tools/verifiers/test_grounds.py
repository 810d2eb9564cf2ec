"""What a reader is told beside a verdict: a reason that agrees with it."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


@pytest.mark.parametrize(
    ("claim", "passage", "said"),
    [
        (
            "The flood carried away all arches.",
            "The flood carried away two arches.",
            'has "two arches" where the claim',
        ),
        ("A course takes an hour.", "A course takes up to 2 hours.", 'has "2 hours" where the claim has "an hour"'),
        ("Explorer 11 is no longer supported.", "Explorer 11 support was dropped.", "says: “Explorer 11 support"),
    ],
)
def test_without_evidence_the_nearest_sentence_is_told(
    verifier: LexicalVerifier, claim: str, passage: str, said: str
) -> None:
    read = verifier.verify(claim, [passage])
    assert read.label == "insufficient"
    assert read.rationale.startswith(f"No sentence of the sources says this. The nearest {said}")


def test_a_contradiction_is_what_the_source_says(verifier: LexicalVerifier) -> None:
    read = verifier.verify("The museum has 35 rooms.", ["The museum has 25 rooms and a garden."])
    assert (read.label, read.rationale.split(": ")[0]) == ("contradicted", 'The source says "25", the claim "35"')


def test_an_item_is_quoted_without_its_mark(verifier: LexicalVerifier) -> None:
    passage = "- Audit log: €25 per month\n2. Choose Cancel."
    read = verifier.verify("The audit log costs €35 per month.", [passage])
    assert (read.label, read.quote) == ("contradicted", "Audit log: €25 per month")
    assert read.quote in passage
    assert verifier.verify("Choose Cancel.", [passage]).rationale == "Borne out by: “2. Choose Cancel.”"
