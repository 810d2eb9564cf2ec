from __future__ import annotations

import asyncio
import bz2
import gzip
import random
import sqlite3
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import ConfigError, DataError
from factloop.tools.names.base import LinkedEntity, Sibling
from factloop.tools.names.build import TableStats, build_table, read_triples
from factloop.tools.names.built_in import BuiltInKnowledgeBase
from factloop.tools.names.inflection import fitted, fold
from factloop.tools.names.made_up import made_up_people
from factloop.tools.names.table import TableKnowledgeBase

PREFIXES = """@prefix : <http://dbpedia.org/resource/> . @prefix dbo: <http://dbpedia.org/ontology/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> . @prefix dct: <http://example.org/> .
"""
TYPES = (
    PREFIXES
    + """
:Florida a owl:Thing, dbo:Place, dbo:Region, dbo:State . :Illinois a dbo:Place, dbo:Region, dbo:State, schema:State .
:Louisiana a dbo:Place, dbo:Region, dbo:State .
:Lincolnshire a dbo:Place, dbo:Region . :Spain a dbo:Place, dbo:Country .
:Kent a dbo:Place, dbo:Region . <http://dbpedia.org/resource/Florida_(film)> a dbo:Work, dbo:Film .
:Amazon a dbo:Place, dbo:River . <http://dbpedia.org/resource/Amazon_(company)> a dbo:Agent, dbo:Company .
:Alien a dbo:Work, dbo:Film . :Gone_with_the_Wind a dbo:Work, dbo:Film .
<http://dbpedia.org/resource/Mamma_Mia!> a dbo:Work, dbo:Film .
:Red_fox a dbo:Species, dbo:Mammal . :Nobody a dbo:Agent . :Other a schema:Thing .
:Solomon a dbo:Agent, dbo:Person, dbo:Monarch . :Hatta a dbo:Agent, dbo:Person . [] a dbo:Place .
"""
)
LABELS = (
    PREFIXES
    + """
:Florida rdfs:label "Florida"@en, "Floride"@fr . :Illinois rdfs:label "Illinois"@en .
:Louisiana rdfs:label "Louisiana"@en .
:Lincolnshire rdfs:label "Lincolnshire"@en . :Spain rdfs:label "Spain"@en, "España"@es . :Kent rdfs:label "Kent" .
<http://dbpedia.org/resource/Florida_(film)> rdfs:label "Florida (film)"@en . :Amazon rdfs:label "Amazon"@en .
<http://dbpedia.org/resource/Amazon_(company)> rdfs:label "Amazon (company)"@en . :Alien rdfs:label "Alien"@en .
:Gone_with_the_Wind rdfs:label "Gone with the Wind"@en .
<http://dbpedia.org/resource/Mamma_Mia!> rdfs:label "Mamma Mia!"@en .
:Red_fox rdfs:label "Red fox"@en . :Nobody rdfs:label "Niemand"@de . :Untyped rdfs:label "Untyped"@en .
:Other rdfs:label "Other thing"@en . :Solomon rdfs:label "King Solomon"@en . :Hatta rdfs:label "Mohammad Hatta"@en .
"""
)
LINKS = (
    PREFIXES
    + """
:X dct:link :Louisiana . :Y dct:link :Louisiana, :Lincolnshire .
:Z dct:link :Louisiana, :Illinois, :Florida, :Amazon .
:W dct:link :Lincolnshire, :Illinois . :V dct:link :Lincolnshire, :Amazon . :U dct:link :Untyped .
:Kent dct:rank "0.5" .
:Kent dct:note "famous" .
"""
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def build(
    folder: Path, *, types: str = TYPES, labels: str = LABELS, links: str = LINKS, language: str = "en"
) -> TableStats:
    folder.mkdir(exist_ok=True)
    return build_table(
        [written(folder, "types.ttl", types)],
        [written(folder, "labels.ttl", labels)],
        folder / "kb.sqlite",
        popularity=[written(folder, "links.ttl", links)],
        language=language,
    )


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> TableKnowledgeBase:
    return TableKnowledgeBase(build(tmp_path_factory.mktemp("kb")).path)


def link(kb: TableKnowledgeBase, text: str, question: str = "") -> list[LinkedEntity]:
    return list(asyncio.run(kb.link(text, question)))


def siblings(kb: TableKnowledgeBase, entity: LinkedEntity, limit: int = 10) -> list[Sibling]:
    return list(asyncio.run(kb.siblings(entity, limit)))


def local(entity: LinkedEntity) -> str:
    return entity.key.removeprefix("http://dbpedia.org/resource/")


def test_siblings_share_all_types_first_then_fewer_and_the_best_known_lead(kb: TableKnowledgeBase) -> None:
    florida, spain = link(kb, "Florida was returned to spain.", "which state was returned to spain?")
    assert (local(florida), florida.types) == ("Florida", ("Place", "Region", "State"))
    assert local(spain) == "Spain"
    # Louisiana has 3 links, Illinois 2; with two types Lincolnshire 3 links, Kent rank 0.5; with one Amazon 2, Spain 0.
    assert siblings(kb, florida) == [
        Sibling("Louisiana", ("Place", "Region", "State")),
        Sibling("Illinois", ("Place", "Region", "State")),
        Sibling("Lincolnshire", ("Place", "Region")),
        Sibling("Kent", ("Place", "Region")),
        Sibling("Amazon", ("Place",)),
        Sibling("Spain", ("Place",)),
    ]
    assert siblings(kb, florida, 2) == siblings(kb, florida)[:2]
    assert siblings(kb, florida, 0) == []


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Florida", "Which film is it?", ["Florida_(film)"]),
        ("Florida", "Where is it?", ["Florida"]),
        ("It is Amazon.", "Which company is it?", ["Amazon_(company)"]),
        ("It is Amazon.", "", ["Amazon"]),
        ("alien beings came", "", []),
        ("it was gone with the wind", "", []),
        ("it was gone with the wind", "which film was it?", ["Gone_with_the_Wind"]),
        ("They sang Mamma Mia!", "", ["Mamma_Mia!"]),
        ("a red fox", "what mammal is it?", ["Red_fox"]),
        ("a red fox", "", []),
        ("FLORIDA WAS RETURNED", "", ["Florida"]),
        ("", "", []),
    ],
)
def test_question_and_spelling_choose_among_namesakes(
    kb: TableKnowledgeBase, text: str, question: str, expected: list[str]
) -> None:
    assert [local(entity) for entity in link(kb, text, question)] == expected


def test_types_of_other_vocabularies_count_only_where_the_ontology_has_none(kb: TableKnowledgeBase) -> None:
    (other,) = link(kb, "Other thing", "")
    (illinois,) = link(kb, "Illinois", "")
    assert other.types == ("http://schema.org/Thing",)
    assert illinois.types == ("Place", "Region", "State")
    assert siblings(kb, other) == []


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2"])
def test_packed_dumps_and_n_triples_are_read(tmp_path: Path, packing: str) -> None:
    line = '<http://e/s> <http://e/p> "x\\"y"@EN .\n# a comment\n_:b <http://e/p> "z" .\n'
    line += "<http://e/s> <http://e/p> <http://e/a|b> .\n"
    packed = {"": line.encode(), ".gz": gzip.compress(line.encode()), ".bz2": bz2.compress(line.encode())}
    path = tmp_path / f"dump.nt{packing}"
    path.write_bytes(packed[packing])
    assert [tuple(triple) for triple in read_triples(path)] == [
        ("http://e/s", "http://e/p", 'x"y', False, "en"),
        ("http://e/s", "http://e/p", "http://e/a|b", True, None),
    ]


def test_a_malformed_line_is_named_and_an_older_table_stays(tmp_path: Path) -> None:
    before = build(tmp_path).path.read_bytes()
    with pytest.raises(DataError) as caught:
        build(tmp_path, labels=LABELS + '\n:Kent rdfs:label "unclosed .\n')
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "labels.ttl"), LABELS.count("\n") + 2)
    assert (tmp_path / "kb.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb.sqlite", "labels.ttl", "links.ttl", "types.ttl"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("dump.nt.gz", gzip.compress(b"<http://e/s> <http://e/p> <http://e/o> .\n" * 999)[:-20], "cannot read"),
        ("dump.nt.gz", b"no gzip", "cannot read the file"),
        ("dump.csv", b"", "must end in"),
        ("dump.nt", b'<http://e/s> <http://e/p> "\xff" .\n', "invalid RDF"),
    ],
)
def test_unreadable_dumps_are_named(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        list(read_triples(path))
    assert caught.value.path == str(path)


@pytest.mark.parametrize(("types", "labels"), [("", LABELS), (TYPES, ""), (LABELS, LABELS), (TYPES, TYPES)])
def test_dumps_without_anything_to_use_are_refused(tmp_path: Path, types: str, labels: str) -> None:
    with pytest.raises(DataError):
        build(tmp_path, types=types, labels=labels)
    assert not (tmp_path / "kb.sqlite").exists()


@pytest.mark.parametrize("kind", ["missing", "text", "empty", "folder", "foreign", "newer"])
def test_what_is_no_table_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "kb.sqlite"
    if kind == "text":
        path.write_text("no database at all " * 100)
    elif kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind in {"foreign", "newer"}:
        if kind == "newer":
            build(tmp_path)
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE other (a)")
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    with pytest.raises(ConfigError, match="factloop research kb build"):
        TableKnowledgeBase(path)


HOSTILE = ['"; DROP TABLE name; --', "O'Neill \\ {x}", "a\nb", "%s %(x)s", "‮evil", "x" * 5000, "<script>", "富士山"]


def test_hostile_labels_are_data(tmp_path: Path) -> None:
    quoted = [label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for label in HOSTILE]
    types = PREFIXES + "".join(f":h{n} a dbo:Place .\n" for n in range(len(HOSTILE)))
    labels = PREFIXES + "".join(f':h{n} rdfs:label "{label}"@en .\n' for n, label in enumerate(quoted))
    kb = TableKnowledgeBase(build(tmp_path, types=types, labels=labels, links="").path)
    found = link(kb, "He saw O'Neill \\ {x} there.", "where?")
    place = LinkedEntity("", 0, 0, "http://dbpedia.org/resource/h0", ("Place",))
    got = {sibling.label for sibling in siblings(kb, place, 99)}
    assert [entity.name for entity in found] == ["O'Neill \\ {x}"]
    assert got == {" ".join(label.split()) for label in HOSTILE[1:]}
    assert siblings(kb, LinkedEntity("", 0, 0, "'; DROP TABLE entity; --", ("Place",))) == []


TYPE_SETS = st.lists(st.sets(st.sampled_from("ABCDEF"), min_size=1), min_size=2, max_size=14)


@given(TYPE_SETS, st.integers(1, 20))
def test_siblings_come_by_types_shared_then_by_label(
    tmp_path_factory: pytest.TempPathFactory, type_sets: list[set[str]], limit: int
) -> None:
    types = PREFIXES + "".join(f":e{n} a dbo:{one} .\n" for n, some in enumerate(type_sets) for one in sorted(some))
    labels = PREFIXES + "".join(f':e{n} rdfs:label "Name{n:02}"@en .\n' for n in range(len(type_sets)))
    kb = TableKnowledgeBase(build(tmp_path_factory.mktemp("kb"), types=types, labels=labels, links="").path)
    (entity,) = link(kb, "Name00")
    expected = [(-len(some & type_sets[0]), f"Name{n:02}") for n, some in enumerate(type_sets) if some & type_sets[0]]
    got = [(-len(sibling.shared), sibling.label) for sibling in siblings(kb, entity, limit)]
    kb.close()
    assert got == [pair for pair in sorted(expected) if pair[1] != "Name00"][:limit]


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
    """Such as a person whose occupation is unknown, whom any other name would give away."""
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


@pytest.mark.parametrize(
    ("label", "name", "own", "is_person", "form"),
    [
        ("LeBron James", "Kobe Bryant", "Kobe Bryant", True, "LeBron James"),
        ("LeBron James", "Bryant", "Kobe Bryant", True, "James"),
        ("LeBron James", "kobe", "Kobe Bryant", True, "LeBron"),
        ("David", "King Solomon", "Solomon", True, "King David"),
        ("Queen Victoria", "Queen Mary", "Mary", True, "Queen Victoria"),
        ("Ludwig van Beethoven", "Mozart", "Wolfgang Amadeus Mozart", True, "Beethoven"),
        ("George W. Bush", "President Obama", "Barack Obama", True, "President Bush"),
        ("Martin Luther King, Jr.", "Lincoln", "Abraham Lincoln", True, "King"),
        ("LeBron James", "Black Mamba", "Kobe Bryant", True, "LeBron James"),
        ("LeBron James", "", "", True, "LeBron James"),
        ("Boston, Massachusetts", "Boise", "Boise, Idaho", False, "Boston"),
        ("Boston, Massachusetts", "Boise, Idaho", "Boise, Idaho", False, "Boston, Massachusetts"),
        ("Lincoln (film)", "Casablanca", "Casablanca (film)", False, "Lincoln"),
    ],
)
def test_a_label_takes_the_form_of_the_name(label: str, name: str, own: str, is_person: bool, form: str) -> None:
    assert fitted(label, name, own, is_person=is_person) == form
