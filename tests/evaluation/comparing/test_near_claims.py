"""Claims whose words nearly agree are brought together, and others are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.comparing.near import near_pairs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada died in 1907.", "Ada died in 1911."),
        ("Ada was born in Paris.", "Ada was born in London."),
        ("It is 49 metres tall.", "It is 51 metres tall."),
        ("The lighthouse was automated in 1982.", "The lighthouse was not automated in 1982."),
        ("Bob beat Ada.", "Ada beat Bob."),
    ],
)
def test_claims_apart_by_a_word_are_paired(one: str, other: str) -> None:
    assert near_pairs([one], [other]) == [(0, 0)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The first tower was lit in 1698.", "The second tower was lit in 1759."),  # tower, lit of four
        ("The bridge was opened in 1931.", "The bridge was built in 1820."),
        ("Ada was a doctor.", "Ada lived in Paris."),
        ("It is what it is.", "It is what it was."),  # no content word
        ("", ""),
    ],
)
def test_claims_of_different_content_are_not(one: str, other: str) -> None:
    assert near_pairs([one], [other]) == []


def test_the_nearest_are_paired_first_and_each_once() -> None:
    first = ["Ada died in Rome in 1907.", "Ada died in 1907."]
    second = ["Ada died in 1911.", "Ada died in Rome in 1907 of a fever."]
    # Rome/Rome shares 4 of (4 + 5): 8/9; Rome/1911 shares 2 of (4 + 3): 4/7; 1907/1911 shares 2 of (3 + 3): 2/3.
    assert near_pairs(first, second) == [(0, 1), (1, 0)]
    assert near_pairs(first[1:], second[:1] * 2) == [(0, 0)]
    assert near_pairs(["Ada died in 1907."] * 2, ["Ada died in 1911."] * 2) == [(0, 0), (1, 1)]


claims = st.lists(st.lists(st.sampled_from(["ada", "died", "1907", "rome", "lit"]), max_size=4).map(" ".join))


@given(claims, claims)
def test_no_claim_has_two_partners_and_the_order_is_the_first_ones(first: list[str], second: list[str]) -> None:
    found = near_pairs(first, second)
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)
    assert [one for one, _ in found] == sorted(one for one, _ in found)


def test_thousands_of_claims_of_one_pattern_are_paired_by_place() -> None:
    first, second = ([f"Tower number {n} was lit in {year}." for n in range(600)] for year in (1698, 1759))
    assert near_pairs(first, second) == [(n, n) for n in range(600)]
