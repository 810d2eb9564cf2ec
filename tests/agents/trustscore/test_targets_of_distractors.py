"""Targets: no word of the question, entities before nouns and numbers before the rest, what is asked for first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Target
from factloop.agents.trustscore.distractors.targets import TargetOrder, find_tiers
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.names.base import LinkedEntity

ENTITY, NOUN, SHARED, ANY = SubstitutionLevel


def find_targets(
    question: str, response: str, entities: Sequence[LinkedEntity], order: TargetOrder = "asked"
) -> list[Target]:
    return [target for tier in find_tiers(question, response, entities, order) for target in tier]


def linked(response: str, *names: str) -> list[LinkedEntity]:
    places = [(name, response.index(name)) for name in names]
    return [LinkedEntity(name, start, start + len(name), name, ("thing",)) for name, start in places]


def levels(question: str, response: str, *names: str) -> dict[str, SubstitutionLevel]:
    return {one.text: one.level for one in find_targets(question, response, linked(response, *names))}


@pytest.mark.parametrize(
    ("question", "response", "names", "expected"),
    [
        (
            "who built the first temple for god in jerusalem?",
            "King Solomon built the first temple for god in jerusalem.",
            ["King Solomon", "jerusalem"],
            {"King Solomon": ENTITY},
        ),
        ("when did all night long come out?", "All night long came out in 1983.", [], {"1983": NOUN}),
        ("", "The sharp teeth bite badly.", [], {"teeth": NOUN, "sharp": SHARED, "bite": SHARED, "badly": ANY}),
        ("who is michael j fox wife?", "Ann Bell is Michael J. Fox wife.", [], {"Ann Bell": ENTITY}),
        ("", "A cable length is long.", [], {"length": NOUN, "long": SHARED}),
        ("", "1500 metres", [], {"1500": NOUN, "metres": NOUN}),
        ("", "No one is the one.", [], {}),
    ],
)
def test_levels(question: str, response: str, names: list[str], expected: dict[str, SubstitutionLevel]) -> None:
    assert levels(question, response, *names) == expected


@pytest.mark.parametrize(
    ("response", "names", "first"),
    [
        ("the Netherlands", ["the Netherlands"], ["Netherlands"]),
        ("It is 'Purple Rain'.", [], ["Purple Rain"]),
        ("by Solomon in Rome", ["Rome", "Solomon"], ["Rome", "Solomon"]),
        ("in June", ["June"], ["June"]),
        ("the 2012 Olympics", ["2012 Olympics"], ["2012 Olympics"]),
    ],
)
def test_names_and_short_responses(response: str, names: list[str], first: list[str]) -> None:
    assert [one.text for one in find_tiers("", response, linked(response, *names))[0]] == first


@pytest.mark.parametrize(
    ("question", "response", "first"),
    [
        ("when did it open", "The Tower opened in Paris in 1889.", "1889"),
        ("How many won?", "In Paris, 24 players won.", "24"),
    ],
)
def test_what_is_asked_for_comes_first(question: str, response: str, first: str) -> None:
    found = find_targets(question, response, linked(response, "Paris"))
    assert (found[0].text, found[0].asked) == (first, True)
    assert find_targets(question, response, linked(response, "Paris"), "paper")[0].text == "Paris"


def test_the_papers_order_puts_words_only_in_the_response_before_all_shared_ones() -> None:
    question, response = "who built jerusalem?", "Solomon swiftly finished Jerusalem."
    paper = [target.text for target in find_targets(question, response, linked(response, "Jerusalem"), "paper")]
    assert (paper[0], paper[-1]) == ("Solomon", "Jerusalem")
    assert "Jerusalem" not in levels(question, response, "Jerusalem")


@given(st.text(max_size=80), st.text(max_size=80))
def test_targets_are_what_stands_there(question: str, response: str) -> None:
    for target in find_targets(question, response, ()):
        assert target.text == response[target.start : target.end] != ""
