"""The knowledge base of the invented world, as another program reads it."""

from __future__ import annotations

from collections import Counter

import pyoxigraph
import pytest

from tests.simulator import World, build_world
from tests.simulator.triples import ONTOLOGY, RESOURCE, knowledge_base_triples


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


def parsed(document: str) -> list[tuple[str, str, str]]:
    triples = pyoxigraph.parse(input=document.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return [(triple.subject.value, triple.predicate.value, triple.object.value) for triple in triples]


def test_every_entity_has_one_type_and_one_label(world: World) -> None:
    types, labels = map(parsed, knowledge_base_triples(world))
    typed = Counter(kind.removeprefix(ONTOLOGY) for _, _, kind in types)
    # the population of building.py, 20 awards, and the two word lists of relations.py
    assert typed == {
        "Person": 80, "Institute": 36, "Town": 60, "River": 30, "Ship": 36, "WrittenWork": 40,
        "Award": 20, "AcademicSubject": 32, "Cargo": 40,
    }  # fmt: skip
    assert [subject for subject, _, _ in types] == [subject for subject, _, _ in labels]
    assert len({subject for subject, _, _ in types}) == len(types)
    assert {subject: label for subject, _, label in labels} == {
        RESOURCE + label.replace(" ", "_"): label for _, _, label in labels
    }


def test_every_value_that_is_a_name_is_in_it(world: World) -> None:
    _, labels = map(parsed, knowledge_base_triples(world))
    known = {label for _, _, label in labels}
    for pair in world.questions:
        assert (pair.value in known) == (pair.topic.pool not in ("year", "count"))
        assert pair.topic.subject in known
        assert not pair.topic.key or pair.topic.key in known


def test_labels_are_english(world: World) -> None:
    _, labels = knowledge_base_triples(world)
    first = labels.splitlines()[0]
    assert first.endswith('"@en .')
    assert "http://www.w3.org/2000/01/rdf-schema#label" in first
