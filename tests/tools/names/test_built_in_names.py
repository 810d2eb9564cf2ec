"""The packaged names: what a text names, of which kind it is, and that others of it are of the same kind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.built_in import BuiltInKnowledgeBase
from factloop.tools.names.made_up import made_up_people
from factloop.tools.names.spelling import fold

KB = BuiltInKnowledgeBase()


def linked(text: str, question: str = "") -> dict[str, LinkedEntity]:
    found = asyncio.run(KB.link(text, question))
    assert all(text[one.start : one.end] == one.name for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    return {one.name: one for one in found}


def others(entity: LinkedEntity, limit: int = 42) -> list[str]:
    return [one.label for one in asyncio.run(KB.siblings(entity, limit))]


@pytest.mark.parametrize(
    ("question", "text", "name", "kind", "among", "never"),
    [
        ("who built it?", "King Solomon built it.", "Solomon", "king", ["David"], ["Solomon", "Rome"]),
        ("who painted it?", "Rembrandt painted it.", "Rembrandt", "painter", ["Pablo Picasso"], ["Keano", "Paris"]),
        ("Who directed it?", "Xan Brummel directed it.", "Xan Brummel", "film director", ["Steven Spielberg"], []),
        ("who sang the song?", "Lou Rawls sang it.", "Lou Rawls", "singer", ["Elvis Presley"], ["Stephen King"]),
        ("which band sings it?", "The Eagles", "The Eagles", "rock group", ["The Doors"], ["Queen", "Eagles"]),
        ("which state?", "Florida was returned.", "Florida", "state of the USA", ["Texas"], ["Miami", "Florida"]),
        ("", "He lives in Chicago, Illinois.", "Chicago, Illinois", "city", ["Houston, Texas"], ["Chicago, Missouri"]),
        ("", "He lives in Paris, France.", "Paris, France", "capital in Europe", ["Rome, Italy"], ["Rome"]),
        ("which country?", "It is England.", "England", "country in Europe", ["France"], ["United Kingdom"]),
        ("what is the capital?", "Dushanbe", "Dushanbe", "capital in Asia", ["Tokyo"], ["Rome"]),
        ("his nationality?", "He is French.", "French", "nationality", ["German"], ["France"]),
        ("which sport?", "He plays football.", "football", "sport", ["baseball", "tennis"], ["soccer", "Football"]),
        ("which bird of prey?", "the peregrine falcon", "peregrine falcon", "bird of prey", ["eagle", "owl"], ["cow"]),
        ("what was removed?", "brain", "brain", "neural structure", ["cerebellum"], ["encephalon", "mind"]),
        ("what genre is it?", "Drama", "Drama", "genre", ["comedy", "horror"], ["drama", "poetry"]),
        ("what school?", "Phillips Zed Academy", "Phillips Zed Academy", "boarding school", ["Eton College"], ["Eton"]),
        ("what film?", 'the film "Ozz Moon"', "Ozz Moon", "film", ["Titanic"], ["Tom Hanks"]),
    ],
)  # fmt: skip
def test_names_have_a_kind_and_others_share_it(
    question: str, text: str, name: str, kind: str, among: Sequence[str], never: Sequence[str]
) -> None:
    entity = linked(text, question)[name]
    found = others(entity)
    assert kind in entity.types
    assert set(among) <= set(found)
    assert set(found).isdisjoint({*never, name})
    assert len({fold(one) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("text", "question", "absent"),
    [
        ("Orville Zan Roosevelt won.", "", "Roosevelt"),  # a part of a name
        ("He found it there.", "", "found"),  # a verb, though a noun is spelt so
        ('They sang "Trust in Me".', "", "Trust"),  # a part of a title
        ("In June 1983.", "", "June"),  # a date
        ("They saw the Moon.", "", "person"),
    ],
)
def test_what_only_looks_like_a_name_is_left(text: str, question: str, absent: str) -> None:
    found = linked(text, question)
    assert absent not in found
    assert absent not in {one.types[0] for one in found.values()}


def test_a_name_of_no_known_kind_has_no_others() -> None:
    """Neither a person of no known trade, whom any other would give away, nor a thing that nothing tells of."""
    zed = linked("Zed Quillam was ousted.", "Who was ousted?")["Zed Quillam"]
    assert (zed.types[0], others(zed)) == ("person", [])
    assert others(LinkedEntity("x", 0, 1, "http://dbpedia.org/resource/X", ("Thing",))) == []


def test_made_up_names_have_the_form_and_the_gender_of_the_original() -> None:
    made = list(made_up_people("Mary L. Jones", 20, random.Random(0)))
    assert len(set(made)) == 20
    assert all(len(name.split()) == 3 and name.split()[1].endswith(".") for name in made)
    assert made == list(made_up_people("Mary L. Jones", 20, random.Random(0)))
    assert not {"James", "John", "Robert"} & {name.split()[0] for name in made}


@given(st.text(max_size=80), st.text(max_size=40))
def test_any_text_is_accepted(text: str, question: str) -> None:
    for entity in linked(text, question).values():
        assert entity.types
        assert fold(entity.name) not in map(fold, others(entity, 5))
