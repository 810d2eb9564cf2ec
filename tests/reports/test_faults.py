from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factloop.core.reasons import UnscoredReason
from factloop.core.records import Claim, Verdict
from factloop.reports.faults import faults, source_says
from tests.reports.claims_about import claim

SENTENCE = "The first tower was built by Winstanley, a painter, and was lit in 1698."
BUILT = claim("The first tower was built by Winstanley.", sentence=SENTENCE, verdict=Verdict.SUPPORTED)
PAINTER = claim("Winstanley was a painter.", sentence=SENTENCE, verdict=Verdict.SUPPORTED)
LIT = "The first tower was lit in 1698."


def failing(sentence: str, *claims: Claim) -> list[tuple[str, str]]:
    return [(sentence[one.start : one.end], one.said) for one in faults(sentence, claims)]


def test_the_words_that_the_judge_names_fail_with_what_the_source_says() -> None:
    lit = claim(LIT, wrong="1698", instead="1696")
    assert source_says(lit) == "1698 · the source says 1696"
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


def test_only_a_pair_of_words_is_set_against_each_other() -> None:
    assert source_says(claim("x", wrong="1698")) == ""
    assert source_says(claim("x", instead="1696")) == ""


WORDS = st.lists(st.sampled_from(["a", "b", "in", "1698", ",", "lit", "é"]), max_size=8).map(" ".join)


@given(WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3))
def test_faults_lie_apart_within_the_sentence(sentence: str, told: list[tuple[str, str]]) -> None:
    found = faults(sentence, [claim(text, wrong=wrong) for text, wrong in told])
    reached = 0
    for one in found:
        assert reached <= one.start <= one.end <= len(sentence)
        reached = one.end
