"""People: the well-known ones of a trade first, and made-up ones who fit culture and gender."""

from __future__ import annotations

import asyncio

import pytest

from factloop.tools.knowledge_base.base import Sibling
from factloop.tools.knowledge_base.built_in import BuiltInKnowledgeBase
from factloop.tools.knowledge_base.known_people import known_people, role_asked_for
from factloop.tools.knowledge_base.name_lists import COMMON_FAMILY, COMMON_GIVEN, known_given, name_lists
from factloop.tools.knowledge_base.people import gender_asked_for, read_name

KB = BuiltInKnowledgeBase()


def siblings(name: str, question: str) -> tuple[tuple[str, ...], list[Sibling]]:
    (entity,) = asyncio.run(KB.link(name, question))
    return entity.types, list(asyncio.run(KB.siblings(entity, 40)))


def test_an_actor_is_replaced_by_actors_and_then_by_men() -> None:
    types, others = siblings("Geoffrey Palmer", "who played lionel in as time goes by")
    assert types == ("person", "man", "actor")
    known = [other.label for other in others if other.shared == types]
    assert {"Tom Hanks", "Brad Pitt", "Johnny Depp"} <= set(known)
    assert [other.label for other in others[: len(known)]] == known
    assert len(others) == 40
    assert {other.shared for other in others[len(known) :]} == {("person", "man")}


@pytest.mark.parametrize(
    ("name", "form"),
    [("Dr. Rajendra Prasad", "Dr. "), ("John C. Breckinridge", " D. Roosevelt"), ("Sir Fred Hoyle", "Sir ")],
)
def test_known_people_have_the_form_of_the_name(name: str, form: str) -> None:
    _, others = siblings(name, "who was elected president")
    assert form in others[0].label


def test_nobody_is_replaced_by_a_namesake() -> None:
    _, others = siblings("Emma Watson", "who plays hermione")
    assert [other.label for other in others if "Watson" in other.label] == []


def test_whoever_the_question_names_already_has_no_trade_by_it() -> None:
    types, _ = siblings("Geoffrey Palmer", "who plays with geoffrey palmer")
    assert types == ("person", "man")


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("who plays zoey in i love you man", "actor"),
        ("Which actress was in it?", "actor"),
        ("Who plays for Barcelona?", None),
        ("who sang one bad apple", "singer"),
        ("who wrote the song be thankful", "singer"),
        ("Who wrote the music for it?", "singer"),
        ("Who is the author of Cane?", "writer"),
        ("Who was the director of The Tune?", "director"),
        ("Who was the Vice-President for George W Bush?", "politician"),
        ("Who discovered radium?", "scientist"),
        ("Who was the last king of England?", None),
        ("", None),
    ],
)
def test_the_question_tells_the_trade(question: str, role: str | None) -> None:
    assert role_asked_for(question) == role


@pytest.mark.parametrize("role", ["actor", "singer", "politician", "athlete", "writer", "scientist", "director"])
def test_each_trade_has_people_of_the_form_that_is_asked_for(role: str) -> None:
    men, anybody = known_people(role, "man", 2), known_people(role, None, 2)
    assert len(men) >= 4
    assert set(men) <= set(anybody)
    assert all(len(name.split()) == 2 for name in anybody)
    assert set(men).isdisjoint(known_people(role, "woman", 2))


def test_a_trade_that_nobody_is_listed_for_gives_nobody() -> None:
    assert known_people("man", "man", 2) == ()


@pytest.mark.parametrize(
    ("question", "gender"),
    [
        ("Which actress won it?", "woman"),
        ("Who is the father of Krishna?", "man"),
        ("Who was the mother of King Henry?", None),
        ("Who won it?", None),
    ],
)
def test_the_question_tells_the_gender_where_it_speaks_of_one(question: str, gender: str | None) -> None:
    assert gender_asked_for(question) == gender


def test_a_name_that_tells_no_gender_takes_that_of_the_question() -> None:
    types, _ = siblings("Frankie Lons", "who is keyshia cole's mother")
    assert types == ("person", "woman")


@pytest.mark.parametrize(
    ("name", "locale"),
    [
        ("Abraham Zzyx", "en_US"),
        ("Dick Cheney", "en_US"),
        ("Rudolf Virchow", "en_US"),
        ("Julius Zzyx", "en_US"),
        ("Milkha Singh", "en_IN"),
        ("John Singh", "en_US"),
        ("Émile Durkheim", "fr_FR"),
        ("Giacomo Puccini", "it_IT"),
        ("Masayoshi Tanaka", "ja_JP"),
    ],
)
def test_a_given_name_that_travels_tells_no_culture(name: str, locale: str) -> None:
    form = read_name(name)
    assert form is not None
    assert form.locale == locale


def test_behind_a_particle_stands_a_family_name() -> None:
    form = read_name("Francisco de Paula Santander")
    assert form is not None
    assert form.parts == ("given", "kept", "family", "family")


def test_only_names_in_common_use_are_drawn_but_all_are_known() -> None:
    own = name_lists()["en_US"]
    _, others = siblings("John Zzyx", "")
    assert own.is_by_use
    assert {other.label.split()[0] for other in others} <= set(own.men[:COMMON_GIVEN])
    assert {other.label.split()[1] for other in others} <= set(own.family[:COMMON_FAMILY])
    assert own.men[-1].lower() in known_given()


def test_scottish_names_have_their_second_capital() -> None:
    family = name_lists()["en_US"].family
    assert "McDonald" in family
    assert [name for name in family if name.startswith("Mc") and name[2].islower()] == []


def test_a_single_name_that_is_no_family_name_is_replaced_by_given_names() -> None:
    _, others = siblings("Banquo", "character in macbeth who is murdered")
    known = name_lists()["en_US"]
    assert {other.label for other in others} <= {*known.men, *known.women}
