from __future__ import annotations

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


HEAD = "Plan | Price | Users | Calls per day"


def failing(sentence: str, *claims: Claim, head: str | None = None) -> list[tuple[str, str]]:
    return [(sentence[one.start : one.end], one.said) for one in faults(sentence, claims, head)]


def test_the_words_that_the_judge_names_fail_with_what_the_source_says() -> None:
    lit = claim(LIT, wrong="1698", instead="1696")
    assert failing(SENTENCE, BUILT, lit) == [("1698", "1698 · the source says 1696")]


def test_words_are_found_in_whole_and_in_either_case() -> None:
    assert failing("Port 80 and port 8080.", claim("Port 80 is used.", wrong="PORT 80")) == [
        ("Port 80", "contradicted")
    ]
    assert failing("Version 18 of 8.", claim("x 8", wrong="8")) == [("8", "contradicted")]


def test_else_the_words_that_no_claim_which_holds_has_too() -> None:
    assert failing(SENTENCE, BUILT, PAINTER, claim(LIT)) == [("lit in 1698", "contradicted")]


def test_else_the_words_of_the_claim() -> None:
    sentence = "It was destroyed by the storm, and Winstanley died in it."
    died = claim("Winstanley died in it.", verdict=None, unscored_reason=UnscoredReason.AMBIGUOUS)
    assert failing(sentence, died) == [("Winstanley died in it", "unscored")]


def test_else_the_sentence() -> None:
    assert failing(SENTENCE, claim("Its lamp burned candles.")) == [(SENTENCE, "contradicted")]
    assert failing("", claim("Its lamp burned candles.")) == [("", "contradicted")]


def test_what_holds_has_no_faults() -> None:
    assert failing(SENTENCE, BUILT, claim("x", verdict=Verdict.IRRELEVANT)) == []


def test_the_graver_of_two_marks_its_words_and_none_are_marked_twice() -> None:
    found = failing(SENTENCE, claim(LIT, contradicted=False), claim(LIT, wrong="1698"))
    assert ("1698", "contradicted") in found
    assert len(found) == 1


def test_two_claims_that_fail_with_one_subject_are_both_marked() -> None:
    sentence = "Henrietta Voss was an engineer who designed the Kestrel engine."
    was, designed = claim("Henrietta Voss was an engineer."), claim("Henrietta Voss designed the Kestrel engine.")
    assert [text for text, _ in failing(sentence, was, designed)] == [
        "Henrietta Voss was an engineer",
        "designed the Kestrel engine",
    ]


def test_in_the_row_of_a_table_the_cell_fails_that_the_claim_is_about() -> None:
    row = "Team | 15 € | up to 50 | 20,000"
    calls = claim("Plan: Team; Calls per day: 20,000.", contradicted=False)
    assert failing(row, calls, head=HEAD) == [("20,000", "no evidence found")]
    in_prose = claim("The Team plan allows a customer up to 50 of them.", contradicted=False)
    assert failing(row, in_prose, head=HEAD) == [("up to 50", "no evidence found")]


def test_of_equal_cells_the_one_under_the_head_of_the_claim_fails() -> None:
    row = "Team | 5 | 5 | 5"
    users = claim("Plan: Team; Users: 5.", contradicted=False)
    (found,) = faults(row, [claim("Plan: Team; Price: 5.", verdict=Verdict.SUPPORTED), users], HEAD)
    assert (found.start, row[found.start : found.end]) == (11, "5")


def test_the_words_that_the_judge_names_are_those_of_the_cell() -> None:
    row = "Plan 15 | 15 € | up to 50 | 20,000"
    price = claim("Plan: Plan 15; Price: 15 €.", wrong="15", instead="12")
    (found,) = faults(row, [price], HEAD)
    assert (found.start, found.end, found.said) == (10, 12, "15 · the source says 12")


@pytest.mark.parametrize(
    ("wrong", "instead", "marked"), [("24", "20", (7, 9)), ("Team", "Solo", (0, 4)), ("10", "8", (18, 20))]
)
def test_words_that_the_judge_names_outside_of_the_cell_fail_in_the_row(
    wrong: str, instead: str, marked: tuple[int, int]
) -> None:
    row = "Team | 24 euros | 10 | 500"
    users = claim("Team has 10 users and costs 24 euros.", wrong=wrong, instead=instead)
    (found,) = faults(row, [users], HEAD)
    assert (found.start, found.end, found.said) == (*marked, f"{wrong} · the source says {instead}")


def test_the_cell_fails_where_the_row_has_no_words_that_the_judge_names() -> None:
    users = claim("Plan: Team; Users: 10.", wrong="ten", instead="eight")
    (found,) = faults("Team | 24 euros | 10 | 500", [users], HEAD)
    assert (found.start, found.end) == (18, 20)


def test_a_claim_about_no_one_cell_of_a_row_has_its_own_words() -> None:
    row = "Team | 15 € | up to 50 | 20,000"
    whole = claim("It is the best of them.", contradicted=False)
    assert failing(row, whole, head=HEAD) == [(row, "no evidence found")]


WORDS = st.lists(st.sampled_from(["a", "b", "in", "1698", ",", "lit", "é", "|"]), max_size=8).map(" ".join)


@given(WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3), st.none() | WORDS)
def test_faults_lie_apart_within_the_sentence(sentence: str, told: list[tuple[str, str]], head: str | None) -> None:
    found = faults(sentence, [claim(text, wrong=wrong) for text, wrong in told], head)
    reached = 0
    for one in found:
        assert reached <= one.start <= one.end <= len(sentence)
        reached = one.end
