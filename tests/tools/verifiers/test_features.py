"""Features worked by hand, and that more agreement never lowers one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.verifiers.features import FEATURES, MAX_CLAIM_TERMS, ClaimComparison, compare
from factloop.tools.verifiers.passage_index import index_passage
from factloop.tools.verifiers.terms import FIGURES, read_sentences


def comparison(claim: str, *passages: str) -> ClaimComparison | None:
    return compare(read_sentences(claim), [index_passage(passage) for passage in passages], range(len(passages)))


def features(claim: str, *passages: str) -> dict[str, float]:
    found = comparison(claim, *passages)
    assert found is not None
    return dict(zip(FEATURES, found.features, strict=True))


def test_worked_by_hand() -> None:
    # Claim terms: Ada, painted, bridges, Oslo, 1931 (5). Sentence 1 holds Ada, painted, bridges; 2 holds 1930 instead
    # of 1931; 3 holds Oslo; 4 holds Ada.
    found = features(
        "Ada painted bridges in Oslo in 1931.",
        "Ada painted bridges. She began in 1930. She lived in Oslo. Much later Ada died.",
    )
    assert found["best_sentence"] == 3 / 5
    assert found["focus"] == 1.0  # all content of sentence 1 is in the claim
    assert found["third_sentence"] == 1 / 5
    assert found["all_names"] == 1.0
    assert found["all_figures"] == 0.0
    assert found["partners"] == 4 / 5  # the best window is sentences 1 to 3
    assert found["main_clause"] == 3 / 5
    assert found["last_word"] == 0.0  # 1931


@pytest.mark.parametrize(
    ("claim", "has_last"),
    [("Ada sold it to a friend.", 1.0), ("Ada sold it to a neighbour.", 0.0), ("Ada sold a vehicle.", 1.0)],
)
def test_the_last_word_stands_in_any_passage_or_its_synonym_in_the_best_one(claim: str, has_last: float) -> None:
    assert features(claim, "Ada sold the car.", "A friend came.")["last_word"] == has_last


def test_no_window_spans_two_passages() -> None:
    assert features("red green", "It is red.", "It is green.")["partners"] == 1 / 2
    assert features("red green", "It is red. It is green.")["partners"] == 1.0


def test_names_must_match_in_full_and_words_by_their_stem() -> None:
    found = comparison("The composer left Austria", "She composed in Australia.")
    assert found is not None
    assert [term.surface for term in found.missing()] == ["left", "Austria"]


def test_a_century_is_its_years() -> None:
    for claim, missing in (
        ("Signed in the 1500s", []),
        ("Signed in the 16th century", []),
        ("Signed in the 1600s", ["1600s"]),
    ):
        found = comparison(claim, "It was signed in the 16th century.", "It was signed at Marn.")
        assert found is not None
        assert [term.surface for term in found.missing(FIGURES)] == missing


def test_missing_figures_are_told_apart() -> None:
    found = comparison("Born in May 1867", "Born in June 1867.")
    assert found is not None
    assert [term.surface for term in found.missing(FIGURES)] == ["May"]


@pytest.mark.parametrize(
    ("claim", "passage"), [("", "Some text."), ("Ada paints", ""), ("it was", "it was"), ("a", "b")]
)
def test_nothing_in_common_is_none(claim: str, passage: str) -> None:
    assert comparison(claim, passage) is None


def test_passages_come_best_first() -> None:
    found = comparison("Ada painted bridges", "Nothing.", "Ada died.", "Ada painted bridges.")
    assert found is not None
    assert found.shares == ((2, 1.0), (1, 1 / 3))


def test_a_claim_of_many_terms_is_compared_as_far_as_its_limit() -> None:
    long = " ".join(f"w{'abcdefghij'[i % 10]}{'abcdefghij'[i // 10 % 10]}{'abcdefghij'[i // 100]}" for i in range(999))
    found = comparison(long, long)
    assert found is not None
    assert len(found.terms) == MAX_CLAIM_TERMS


WORDS = st.lists(
    st.sampled_from(["Ada", "Oslo", "paints", "bridge", "not", "the", "1931", "May", "seven", "."]), max_size=12
)


@given(WORDS, st.lists(WORDS, max_size=4))
def test_bounds(claim: list[str], passages: list[list[str]]) -> None:
    found = comparison(" ".join(claim), *(" ".join(passage) for passage in passages))
    if found is not None:
        assert all(0.0 <= value <= 1.0 for value in found.features)


MONOTONE = ("best_sentence", "third_sentence", "all_names", "all_figures")


@given(WORDS, WORDS, WORDS)
def test_another_passage_never_lowers_coverage(claim: list[str], passage: list[str], more: list[str]) -> None:
    before = comparison(" ".join(claim), " ".join(passage))
    after = comparison(" ".join(claim), " ".join(passage), " ".join(more))
    if before is not None:
        assert after is not None
        for name in MONOTONE:
            place = FEATURES.index(name)
            assert after.features[place] >= before.features[place]
