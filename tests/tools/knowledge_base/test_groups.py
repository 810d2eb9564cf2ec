"""Bands, teams, clubs and brands are no people, and are replaced by known ones of their kind."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.knowledge_base.built_in import BuiltInKnowledgeBase
from factloop.tools.knowledge_base.groups import group_kind, known_groups

KB = BuiltInKnowledgeBase()


def linked(text: str, question: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.types) for one in asyncio.run(KB.link(text, question))]


@pytest.mark.parametrize(
    ("name", "question", "kind"),
    [
        ("The New York Yankees", "who has won the most world series in baseball", "team"),
        ("Houston Rockets", "who does he play for", "team"),
        ("Philadelphia Eagles", "", "team"),
        ("New York Islands", "who won it", None),
        ("The Osmonds", "who sang one bad apple", "band"),
        ("Brooks & Dunn", "who sings that aint no way to go", "musical group"),
        ("Queen", "which band was it", "musical group"),
        ("Queen", "who reigned then", None),
        ("The Osmonds", "who lived there", None),
        ("The Osmonds", "who sang it with the osmonds", None),
        ("Real Madrid", "what club does he play for", "club"),
        ("Real Madrid", "where was it", None),
        ("", "", None),
    ],
)
def test_name_and_question_tell_the_kind(name: str, question: str, kind: str | None) -> None:
    assert group_kind(name, question) == kind


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("The New York Yankees won it.", "who won the world series", [("New York Yankees", ("thing", "team"))]),
        ("The Osmonds sang it.", "who sang it", [("Osmonds", ("thing", "band"))]),
        ("Real Madrid", "who does he play for", [("Real Madrid", ("thing", "club"))]),
        ("Zyxpur Junction is it.", "who is the longest railway station", []),
        ("Alchemist is the name.", "What is the name for a person who makes gold?", []),
        ("Sierra Leone is one.", "who borders guinea", [("Sierra Leone", ("place", "country", "country_in_africa"))]),
        ("It was Plato.", "which philosopher was it", [("Plato", ("person",))]),
        ("Division II is it.", "who won", []),
        ("The All-American Rejects sang it.", "who wrote it", []),
        ("Tiger Woods won it.", "who won", [("Tiger Woods", ("person",))]),
        ("A. R. Rahman was it.", "who was the composer", [("A. R. Rahman", ("person",))]),
        ("It was A. P. J. Abdul Kalam.", "who was it", [("A. P. J. Abdul Kalam", ("person",))]),
    ],
)
def test_what_is_no_person_is_not_linked_as_one(
    text: str, question: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert linked(text, question) == expected


@pytest.mark.parametrize(
    ("name", "question", "among"),
    [
        ("The Beatles", "Which group was it?", "Rolling Stones"),
        ("Juventus", "Which club was it?", "Real Madrid"),
        ("Nike", "Which company was it?", "Microsoft"),
    ],
)
def test_known_ones_come_first(name: str, question: str, among: str) -> None:
    (entity,) = asyncio.run(KB.link(name, question))
    others = [one.label for one in asyncio.run(KB.siblings(entity, 29))]
    assert among in others
    assert name.removeprefix("The ") not in {one.removeprefix("The ") for one in others}


def test_a_team_plays_in_another_city_under_another_name() -> None:
    (entity,) = asyncio.run(KB.link("the Houston Rockets", "who won the nba title"))
    others = [one.label for one in asyncio.run(KB.siblings(entity, 30))]
    assert len(set(others)) == len(others) >= 25
    assert not any(one.endswith("Rockets") for one in others)


@given(st.text(max_size=30), st.text(max_size=40), st.sampled_from(["team", "band", "club", "company", "school"]))
def test_any_text_is_accepted(name: str, question: str, kind: str) -> None:
    group_kind(name, question)
    drawn = list(known_groups(kind, name, random.Random(0)))
    assert len(set(drawn)) == len(drawn)
