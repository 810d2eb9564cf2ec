"""Distractors differ from the response, from the question and from one another."""

from __future__ import annotations

import pytest

from factloop.agents.trustscore.distractors.base import Target
from factloop.agents.trustscore.distractors.distinct import Sieve, normalised
from factloop.agents.trustscore.distractors.form import insert
from factloop.agents.trustscore.records import SubstitutionLevel
from tests.work import LINEAR, growth


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


def test_normalised_text_has_words_only() -> None:
    assert normalised("The Café, in  a 1,5 'Night's'!") == ("cafe", "in", "1,5", "night")
    assert normalised("The") == ("the",)
    assert normalised("…") == ()
    assert normalised("鲁迅") == ("鲁迅",)


def test_work_is_linear_in_the_candidates_and_in_the_words() -> None:
    def admit(n_candidates: int, n_repeats: int) -> None:
        response = "Florida " + "was returned to Spain after the war " * n_repeats
        names = [f"Name{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(n_candidates)]
        assert len(admitted(response, "Florida", names)) == n_candidates

    assert growth(lambda n: admit(n, 150), 50) < LINEAR
    assert growth(lambda n: admit(10, n), 150) < LINEAR
