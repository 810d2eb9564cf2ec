"""The lexical baseline over pairs: it reads of a document what a check would."""

from __future__ import annotations

import pytest

from factloop.tools.calls.meter import UsageMeter
from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.lexical_reader import LexicalReader
from factloop.tools.verifiers.pairs import VerifierPair

FOUNDED = "The mill at Alder Weir was founded in 1884 by Hester Quill."
OTHERS = [
    f"The mill at {name} Weir was founded in {year} by {owner}, and spun flax for towns along the river until its fire."
    for name, year, owner in [("Birch", 1850, "Amos Dray"), ("Cedar", 1861, "Ruth Oake"), ("Elm", 1872, "Jonas Pell")]
]


async def read(claim: str, document: str) -> float:
    (score,) = await LexicalReader(LexicalVerifier()).read([VerifierPair(claim, document)], meter=UsageMeter())
    assert score.score is not None
    return score.score


@pytest.mark.parametrize("claim", [FOUNDED, FOUNDED.replace(".", " [3]."), FOUNDED.replace(".", "[1][12].")])
async def test_marks_of_citations_are_no_figures(claim: str) -> None:
    assert await read(claim, " ".join([*OTHERS, FOUNDED])) >= 0.5


async def test_of_a_long_document_the_passages_that_speak_of_the_claim_are_read() -> None:
    """A heading is the title of what stands below it, as in a check."""
    document = "\n\n".join(
        ["# Mills of the Ald", *(f"## {text[:20]}\n\n{text * 8}" for text in OTHERS), "## Alder Weir", FOUNDED]
    )
    assert await read(FOUNDED, document) >= 0.5
    assert await read(FOUNDED.replace("1884", "1890"), document) < 0.5


async def test_a_document_without_text_supports_nothing() -> None:
    assert await read(FOUNDED, " \n ") == 0.0
