"""Amounts spelt as sums and parts are read as one figure, and other amounts stay other amounts."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.sums import in_one_unit, in_sums


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("an hour and a quarter", "1.25 hours"),
        ("two and a half years", "2.5 years"),
        ("two hours and a half", "2.5 hours"),
        ("three quarters of an hour", "0.75 hours"),
        ("half a million people", "0.5 million people"),
        ("a million and a half people", "1.5 million people"),
        ("a hundred metres", "one hundred metres"),
        ("2 hours and 30 minutes", "150 minutes"),
        ("1 year, 6 months", "18 months"),
        ("1 h 5 min", "65 minutes"),
    ],
)
def test_a_sum_is_one_figure(text: str, read: str) -> None:
    assert in_one_unit(in_sums(text)) == read


@pytest.mark.parametrize(
    "text",
    [
        "1990 and a half of the rest",
        "in the second half of a year",
        "two and a half of them",
        "2 days and 3 weeks",
        "3 years 2 months later",
        "a half hour",
        "10 m 30 s",
        "half of the seats",
    ],
)
def test_what_is_no_sum_stays_as_it_is(text: str) -> None:
    assert in_one_unit(in_sums(text)) == text


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The ride takes an hour and a quarter.", "The ride takes 75 minutes."),
        ("The ride takes 75 minutes.", "The ride takes an hour and a quarter."),
        ("The course lasts two and a half years.", "The course lasts 30 months."),
        ("The course lasts 30 months.", "The course lasts two and a half years."),
        ("The walk takes three quarters of an hour.", "The walk takes 45 minutes."),
        ("The test takes an hour and ten minutes.", "The test takes 70 minutes."),
        ("The trip takes two and a half hours.", "The trip takes 2 hours and 30 minutes."),
        ("The lease runs for one year.", "The lease runs for 12 months."),
        ("The permit is valid for 36 months.", "The permit is valid for three years."),
        ("A quarter of a million people came.", "250,000 people came."),
    ],
)
def test_equal_sums_bear_each_other_out(claim: str, passage: str) -> None:
    read = LexicalVerifier().verify(claim, [passage])
    assert (read.label, read.quote) == ("supported", passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The ride takes an hour and a quarter.", "The ride takes 90 minutes."),
        ("The ride takes a quarter of an hour.", "The ride takes half an hour."),
        ("The course lasts two and a half years.", "The course lasts 24 months."),
        ("The walk takes three quarters of an hour.", "The walk takes 30 minutes."),
        ("The trip takes two and a half hours.", "The trip takes 2 hours and 15 minutes."),
        ("The lease runs for one year.", "The lease runs for 18 months."),
        ("The warranty lasts three years.", "The warranty lasts 24 months."),
        ("The film cost two million euros.", "The film cost half a million euros."),
    ],
)
def test_other_sums_do_not(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Less than a million people live in Arvik.", "900,000 people live in Arvik."),
        ("Arvik has less than a million inhabitants.", "Arvik has 900,000 inhabitants."),
        ("The museum holds more than a thousand coins.", "The museum holds 1,150 coins."),
        ("The tower is over a hundred metres tall.", "The tower is 112 metres tall."),
        ("The film cost under a million euros.", "The film cost 850,000 euros."),
        ("The hall seats more than half a million people.", "The hall seats 560,000 people."),
        ("The film lasts more than two hours.", "The film lasts 2 hours and 5 minutes."),
        ("The film lasts nearly two hours.", "The film lasts 1 hour and 55 minutes."),
        ("The course takes less than two years.", "The course takes 20 months."),
        ("The course takes less than two years.", "The course takes a year and a half."),
        ("50 is more than the number of members of the club.", "The club has fewer than 50 members."),
        ("30 is less than the number of rooms in the hotel.", "The hotel has more than 30 rooms."),
    ],
)
def test_a_bound_in_words_is_kept(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("More than a million people live in Arvik.", "900,000 people live in Arvik."),
        ("The museum holds fewer than a thousand coins.", "The museum holds 1,150 coins."),
        ("The tower is under a hundred metres tall.", "The tower is 112 metres tall."),
        ("The film cost less than a million euros.", "The film cost 2 million euros."),
        ("50 is less than the number of members of the club.", "The club has fewer than 50 members."),
        ("30 is more than the number of rooms in the hotel.", "The hotel has more than 30 rooms."),
    ],
)
def test_a_bound_in_words_is_broken(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The film lasts less than 2 hours.", "The film lasts 125 minutes."),
        ("The film lasts more than two hours.", "The film lasts 1 hour and 55 minutes."),
        ("The course takes more than two years.", "The course takes 20 months."),
        ("The course takes less than two years.", "The course takes two and a half years."),
    ],
)
def test_an_amount_past_a_bound_does_not_keep_it(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The film lasts at least one hour.", "The film lasts 2 hours and 5 minutes."),
        ("The film lasts less than three hours.", "The film lasts 75 minutes."),
        ("The lease runs for at most ten years.", "The lease runs for a year and a half."),
        ("The film lasts less than three hours.", "The film lasts half an hour."),
    ],
)
def test_an_amount_far_from_a_bound_does_not_break_it(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "contradicted"


def test_a_reason_spells_a_sum_as_the_texts_do() -> None:
    read = LexicalVerifier().verify("The ride takes 90 minutes.", ["The ride takes 2 hours and 30 minutes."])
    assert (read.wrong, read.instead) == ("90", "2 hours and 30 minutes")
