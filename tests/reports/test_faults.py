from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.reasons import UnscoredReason
from factloop.core.records import Claim, Verdict
from factloop.reports.faults import faults
from tests.reports.claims_about import claim

SENTENCE = "The first tower was built by Winstanley, a painter, and was lit in 1698."
BUILT = claim("The first tower was built by Winstanley.", sentence=SENTENCE, verdict=Verdict.SUPPORTED)
PAINTER = claim("Winstanley was a painter.", sentence=SENTENCE, verdict=Verdict.SUPPORTED)
LIT = "The first tower was lit in 1698."


def failing(sentence: str, *claims: Claim) -> list[tuple[str, str]]:
    return [(sentence[one.start : one.end], one.said) for one in faults(sentence, claims)]


DESTROYED = "It was destroyed by the storm, and Winstanley died in it."
DIED = claim("Winstanley died in it.", verdict=None, unscored_reason=UnscoredReason.AMBIGUOUS)
CANDLES = claim("Its lamp burned candles.")
VOSS = "Henrietta Voss was an engineer who designed the Kestrel engine."
OF_VOSS = claim("Henrietta Voss was an engineer."), claim("Henrietta Voss designed the Kestrel engine.")


@pytest.mark.parametrize(
    ("sentence", "claims", "fails"),
    [
        # the words that the judge names, whole and in either case, with what the source says
        (SENTENCE, (BUILT, claim(LIT, wrong="1698", instead="1696")), [("1698", "1698 · the source says 1696")]),
        ("Port 80 and port 8080.", (claim("Port 80 is used.", wrong="PORT 80"),), [("Port 80", "contradicted")]),
        ("Version 18 of 8.", (claim("x 8", wrong="8"),), [("8", "contradicted")]),
        # else those that no claim which holds has too; else those of the claim; else the sentence
        (SENTENCE, (BUILT, PAINTER, claim(LIT)), [("lit in 1698", "contradicted")]),
        (DESTROYED, (DIED,), [("Winstanley died in it", "unscored")]),
        (SENTENCE, (CANDLES,), [(SENTENCE, "contradicted")]),
        # what holds has no faults; of two the graver marks its words, and none are marked twice
        (SENTENCE, (BUILT, claim("x", verdict=Verdict.IRRELEVANT)), []),
        (SENTENCE, (claim(LIT, contradicted=False), claim(LIT, wrong="1698")), [("1698", "contradicted")]),
        (
            VOSS,
            OF_VOSS,
            [("Henrietta Voss was an engineer", "contradicted"), ("designed the Kestrel engine", "contradicted")],
        ),
    ],
)
def test_the_words_that_fail(sentence: str, claims: tuple[Claim, ...], fails: list[tuple[str, str]]) -> None:
    assert failing(sentence, *claims) == fails


HEAD = "Plan | Price | Users | Calls per day"
ROW, FIVES, EUROS = "Team | 15 € | up to 50 | 20,000", "Team | 5 | 5 | 5", "Team | 24 euros | 10 | 500"
COSTS = "Team has 10 users and costs 24 euros."
NONE = "no evidence found"


@pytest.mark.parametrize(
    ("row", "text", "judged", "start", "words", "said"),
    [
        (ROW, "Plan: Team; Calls per day: 20,000.", {"contradicted": False}, 25, "20,000", NONE),
        (ROW, "The Team plan allows a customer up to 50 of them.", {"contradicted": False}, 14, "up to 50", NONE),
        (ROW, "It is the best of them.", {"contradicted": False}, 0, ROW, NONE),
        (FIVES, "Plan: Team; Users: 5.", {"contradicted": False}, 11, "5", NONE),
        ("Plan 15 | 15 € | 5", "Plan: Plan 15; Price: 15 €.", {"wrong": "15"}, 10, "15", "contradicted"),
        # words that the judge names outside of the cell fail in the row; without them the cell does
        (EUROS, COSTS, {"wrong": "24"}, 7, "24", "contradicted"),
        (EUROS, COSTS, {"wrong": "Team"}, 0, "Team", "contradicted"),
        (EUROS, "Plan: Team; Users: 10.", {"wrong": "ten"}, 18, "10", "contradicted"),
    ],
)
def test_in_the_row_of_a_table_the_cell_fails_that_the_claim_is_about(
    row: str, text: str, judged: dict[str, Any], start: int, words: str, said: str
) -> None:
    (found,) = faults(row, [claim(text, **judged)], HEAD)
    assert (found.start, row[found.start : found.end], found.said) == (start, words, said)


WORDS = st.lists(st.sampled_from(["a", "b", "in", "1698", ",", "lit", "é", "|"]), max_size=8).map(" ".join)


@given(WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3), st.none() | WORDS)
def test_faults_lie_apart_within_the_sentence(sentence: str, told: list[tuple[str, str]], head: str | None) -> None:
    found = faults(sentence, [claim(text, wrong=wrong) for text, wrong in told], head)
    reached = 0
    for one in found:
        assert reached <= one.start <= one.end <= len(sentence)
        reached = one.end
