"""The model that reads by words: hasty as it comes, exact when told to be."""

from __future__ import annotations

import pytest

from tests.simulator.blocks import Block
from tests.simulator.reading import is_exact, read_by_words

PASSAGE = Block("1", "The ferry Marigold carries nine cars. She has crossed the Tarn since 1932.")


@pytest.mark.parametrize(
    ("claim", "hasty", "exact"),
    [
        ("The ferry Marigold carries nine cars.", "supported", "supported"),
        ("The ferry Marigold carries nine lorries.", "supported", "insufficient"),  # 4 of 5 words
        ("The ferry Marigold has crossed the Tarn since 1923.", "contradicted", "contradicted"),
        ("Nine vehicles fit on board.", "insufficient", "insufficient"),  # 1 of 4 words
        ("", "insufficient", "insufficient"),
    ],
)
def test_what_it_makes_of_claims(claim: str, hasty: str, exact: str) -> None:
    assert read_by_words(claim, [PASSAGE], exact=False).stance == hasty
    assert read_by_words(claim, [PASSAGE], exact=True).stance == exact
    assert read_by_words(claim, [], exact=False).stance == "insufficient"


def test_it_is_told_by_words() -> None:
    assert is_exact("supported: the evidence states every detail.")
    assert not is_exact("supported: the evidence states it or leaves no doubt.")
