"""Claims about *it* whose passages say *the bakery*."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.named_things import NounClaim, by_noun_alone

FULL = "The Bramley bakery opened in 1921 in Leeds."
STAFF = "The bakery employs 42 people."
CLAIM, SENTENCE = "The Bramley bakery employs 42 people.", "It employs 42 people."


@pytest.mark.parametrize(
    ("claim", "sentence", "passages", "left"),
    [
        (CLAIM, SENTENCE, [FULL, STAFF], "The bakery employs 42 people."),
        ("Bramley Bakery employs 42.", "It employs 42.", ["Bramley Bakery is old.", STAFF], "The bakery employs 42."),
        (
            "The Oss Road mill's wheel is of oak.",
            "Its wheel is of oak.",
            ["The Oss Road mill stands in Oss.", "The mill's wheel is of oak."],
            "The mill's wheel is of oak.",
        ),
        (
            "In 2004, the Kestrel bridge was repaired.",
            "In 2004, it was repaired.",
            ["The Kestrel bridge is old.", "In May 2004 the bridge was repaired."],
            "In 2004, the bridge was repaired.",
        ),
        (
            "The Tarn library lends 900 books a day.",
            "It lends 900 books a day.",
            ["The Tarn library is of brick.", "Staff at the library lend 900 books a day."],
            "The library lends 900 books a day.",
        ),
        (
            "The Vale museum has a café.",
            "It has a café.",
            ["The Vale museum opened in 1999.", "Visitors like the café. The museum has a shop, too."],
            "The museum has a café.",
        ),
    ],
)
def test_a_passage_may_call_it_by_its_noun(claim: str, sentence: str, passages: list[str], left: str) -> None:
    found = by_noun_alone(claim, sentence, passages, list)
    assert found == NounClaim(left, found.noun if found else "", (1,))


@pytest.mark.parametrize(
    "passages",
    [
        [FULL, STAFF, "The Holt bakery in York has four ovens."],
        [FULL, STAFF, "Two bakeries stand in Leeds."],
        [FULL, STAFF, "Holt's bakery is new."],
        [FULL, STAFF, "Another bakery closed."],
        [FULL, STAFF, "The Upper Bramley bakery closed."],
        [FULL, STAFF, "York Bakery is old."],
        [FULL, "The bakery in York employs 42 people."],
        [FULL, "Holt and Sons run a shop. The bakery employs 42 people."],
        [FULL, "The old bakery employs 42 people."],
        [FULL, "The Bakery employs 42 people."],
        [STAFF],
        [FULL],
        [],
    ],
)
def test_of_another_thing_or_in_doubt_it_says_nothing(passages: list[str]) -> None:
    assert by_noun_alone(CLAIM, SENTENCE, passages, list) is None


@pytest.mark.parametrize(
    ("claim", "sentence", "passages"),
    [
        (
            "Clara Miller sold it in 1920.",
            "She sold it in 1920.",
            ["Clara Miller was old.", "The miller sold it in 1920."],
        ),
        (
            "Clara Miller's mill is of oak.",
            "Her mill is of oak.",
            ["Clara Miller died.", "The miller's mill is of oak."],
        ),
        (CLAIM, "The Bramley bakery employs 42 people.", [FULL, STAFF]),
        (CLAIM, "The bakery employs 42 people.", [FULL, STAFF]),
        ("The Bramley bakers employ 42.", "They employ 42.", ["The Bramley bakers are old.", "The bakers employ 42."]),
        (
            "The Titanic employed 42 people.",
            "It employed 42 people.",
            ["The Titanic sank.", "The ship employed 42 people."],
        ),
    ],
)
def test_it_holds_for_what_the_sentence_calls_it_alone(claim: str, sentence: str, passages: list[str]) -> None:
    assert by_noun_alone(claim, sentence, passages, list) is None


@pytest.mark.parametrize(
    ("passages", "others", "is_found"),
    [
        ([STAFF], [FULL], True),
        ([STAFF, FULL], [], True),
        ([STAFF, FULL], None, False),
        ([STAFF], [FULL, "York Bakery is old."], False),
    ],
)
def test_what_else_could_be_found_names_it_and_no_other(
    passages: list[str], others: list[str] | None, is_found: bool
) -> None:
    assert (by_noun_alone(CLAIM, SENTENCE, passages, lambda: others) is not None) == is_found


def test_what_else_could_be_found_is_read_only_where_a_passage_may_be_taken() -> None:
    def read() -> list[str]:
        raise AssertionError("nothing to take")

    assert by_noun_alone(CLAIM, SENTENCE, [FULL], read) is None
