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


async def test_numbers_in_brackets_that_cite_nothing_are_figures() -> None:
    for claim, document in [
        ("In [1990] he left Rome.", "He left Rome in 1985."),
        ("He scored [3] goals in Rome.", "He scored 5 goals in Rome."),
        ("3. Liga is a league of 20 clubs.", "2. Liga is a league of 20 clubs."),
    ]:
        assert await read(claim, document) < 0.5, claim


async def test_a_short_document_is_read_whole_where_a_search_of_it_finds_nothing() -> None:
    assert await read("The children ate mice.", "A child eats a mouse.") >= 0.5


async def test_of_a_long_document_the_passages_that_speak_of_the_claim_are_read() -> None:
    """A heading is the title of what stands below it, as in a check."""
    document = "\n\n".join(
        ["# Mills of the Ald", *(f"## {text[:20]}\n\n{text * 8}" for text in OTHERS), "## Alder Weir", FOUNDED]
    )
    assert await read(FOUNDED, document) >= 0.5
    assert await read(FOUNDED.replace("1884", "1890"), document) < 0.5


async def test_a_document_without_text_supports_nothing() -> None:
    assert await read(FOUNDED, " \n ") == 0.0


async def test_an_item_of_a_list_is_not_held_against_the_figures_of_its_neighbours() -> None:
    document = "# Hub\n\n- Audit logs: 25 euros per month\n- Team plan: 29 euros per month\n- Help: 9 euros per month"
    assert await read("The Team plan costs 29 euros per month.", document) >= 0.5
    assert await read("The Team plan costs 25 euros per month.", document) < 0.5


@pytest.mark.parametrize("claim", ["Version 4.2.0 was released on 14 January 2025.", "Version 4.1.0 is of 3 May 2024."])
async def test_the_first_heading_is_read_as_the_others(claim: str) -> None:
    document = "# Changelog\n\n## 4.2.0 – 14 January 2025\n\n- Faster.\n\n## 4.1.0 – 3 May 2024\n\n- Smaller."
    assert await read(claim, document) >= 0.5
    assert await read(claim.replace("4 ", "7 ").replace("3 ", "7 "), document) < 0.5


POLICY = """# Leave

## 1. Annual leave

1.1 Staff get 27 days. 1.2 Up to five unused days may be carried over.
1.3 Managers must answer a request within four days.

## 2. Sick leave

2.1 Notify your manager.

## 3. Parental leave

3.1 Staff must have completed 12 months of service."""


async def test_numbers_of_headings_and_clauses_bear_nothing_out() -> None:
    assert await read("You need three years of service for parental leave.", POLICY) < 0.5
    clauses = (
        "1.2 Up to five unused days may be carried over. 1.3 Line managers must answer a leave request within {} days."
    )
    claim = "Your manager has five working days to reply to a leave request."
    assert await read(claim, clauses.format("three working")) < 0.5
    assert await read(claim, clauses.format("five working")) >= 0.5


@pytest.mark.parametrize(
    "claim", ["Managers must answer a request within four days.", "Clause 1.3: Managers answer requests."]
)
async def test_clauses_bear_out_what_they_say(claim: str) -> None:
    assert await read(claim, POLICY) >= 0.5
