"""Distractors differ from the response, from the question and from one another."""

from __future__ import annotations

from time import process_time

import pytest

from factloop.agents.trustscore.distractors.base import Target
from factloop.agents.trustscore.distractors.distinct import Sieve, normalised
from factloop.agents.trustscore.distractors.form import insert
from factloop.core.trust_records import SubstitutionLevel


def admitted(response: str, text: str, substitutes: list[str], question: str = "") -> list[str]:
    sieve, start = Sieve(question, response), response.index(text)
    target = Target(text, start, start + len(text), SubstitutionLevel.ENTITY, "entity", "NNP")
    return [one for one in substitutes if sieve.admits(insert(response, target, one))]


@pytest.mark.parametrize(
    ("substitutes", "kept"),
    [
        (["Ohio", "Ohio"], ["Ohio"]),
        (["Ohio", "ohio", "OHIO", "Ohio.", "the Ohio"], ["Ohio"]),
        (["Québec", "Quebec"], ["Québec"]),
        (["Guinea", "Guinea-Bissau", "New Guinea"], ["Guinea"]),
        (["New Guinea", "Guinea"], ["New Guinea"]),
        (["John Smith", "John Baker"], ["John Smith", "John Baker"]),
        (["temple", "temples"], ["temple"]),
        (["Florida", "florida", "West Florida", "Florida's"], []),
        (["Spain", "Ohio"], ["Ohio"]),
        (["", "…"], []),
        (["art", "party"], ["art", "party"]),
    ],
)
def test_near_duplicates_are_refused(substitutes: list[str], kept: list[str]) -> None:
    assert admitted("Florida was returned to Spain.", "Florida", substitutes) == kept


def test_what_contains_the_response_or_stands_in_it_is_refused() -> None:
    assert admitted("New York", "New York", ["New York City", "York", "Boston"]) == ["Boston"]
    assert admitted("He saw York", "York", ["York City", "New York", "Boston"]) == ["Boston"]


def test_what_the_question_says_is_refused() -> None:
    assert admitted("It was Rome.", "Rome", ["Paris", "Oslo"], "Was it Paris or Rome?") == ["Oslo"]
    assert admitted("Rome is big", "Rome", ["Oslo"], "Oslo is big?") == []


def test_two_targets_do_not_give_the_same_text() -> None:
    sieve = Sieve("", "King Solomon built it.")
    whole = Target("King Solomon", 0, 12, SubstitutionLevel.ENTITY, "entity", "NNP")
    last = Target("Solomon", 5, 12, SubstitutionLevel.ENTITY, "entity", "NNP")
    assert sieve.admits(insert("King Solomon built it.", whole, "King David"))
    assert not sieve.admits(insert("King Solomon built it.", last, "David"))
    assert sieve.admits(insert("King Solomon built it.", last, "Saul"))


def test_figures_are_compared_with_their_points() -> None:
    assert admitted("It weighs 2.5 kg.", "2.5", ["1.5", "15", "1.5"]) == ["1.5", "15"]


def test_normalised_text_has_words_only() -> None:
    assert normalised("The Café, in  a 1,5 'Night's'!") == ("cafe", "in", "1,5", "night")
    assert normalised("The") == ("the",)
    assert normalised("…") == ()
    assert normalised("鲁迅") == ("鲁迅",)


def test_two_hundred_candidates_of_a_thousand_words_take_little_time() -> None:
    response = "Florida " + "was returned to Spain after the war " * 150
    began = process_time()
    kept = admitted(response, "Florida", [f"Name{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200)])
    assert len(kept) == 200
    assert process_time() - began < 1.0
