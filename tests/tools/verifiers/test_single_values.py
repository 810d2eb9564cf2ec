"""Relations with one value: another value in the sources contradicts, and nothing else does."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.single_values import find_other_value

OTHERWISE = [
    ("Ada Brisk was born in Paris.", "Ada Brisk was born in London.", "Paris", "London"),
    (
        "Ada Brisk was born in Paris in 1815.",
        "Ada Brisk was a poet. She was born in London in 1815.",
        "Paris",
        "London",
    ),
    ("Ada Brisk was born in Paris.", "Ada Brisk was born on 3 May 1815 in London.", "Paris", "London"),
    ("Ada Brisk was born in France.", "Ada Brisk was born in England.", "France", "England"),
    ("Brisk died in Paris.", "Ada Brisk died in 1852 in London.", "Paris", "London"),
    ("Ada Brisk died at the age of 59.", "Ada Brisk died of cancer in 1852, aged 36.", "59", "36"),
    ("Brisk was buried in Paris.", "Brisk was buried in Hucknall.", "Paris", "Hucknall"),
    (
        "Brisk won the Nobel Prize in Medicine in 1911.",
        "In 1911 Brisk was awarded the Nobel Prize in Chemistry.",
        "Medicine",
        "Chemistry",
    ),
    ("The capital of Australia is Sydney.", "Canberra is the capital of Australia.", "Sydney", "Canberra"),
    ("Ann Lee is the CEO of Acme.", "The CEO of Acme is Bo Marr.", "Ann Lee", "Bo Marr"),
    ("Acme is headquartered in Oslo.", "Acme is headquartered in Bergen.", "Oslo", "Bergen"),
]


@pytest.mark.parametrize(("claim", "passage", "wrong", "instead"), OTHERWISE)
def test_another_value_contradicts(claim: str, passage: str, wrong: str, instead: str) -> None:
    read = LexicalVerifier().verify(claim, ["Nothing of this.", passage])
    assert (read.label, read.wrong, read.instead, read.cited[0]) == ("contradicted", wrong, instead, 1)
    assert read.quote in passage
    assert read.score < 0.5


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Ada Brisk was born in London.", "Ada Brisk was born in London."),
        ("Ada Brisk was born in England.", "Ada Brisk was born in London."),  # one may lie in the other
        ("Ada Brisk was born in London.", "Ada Brisk was born in Camden, London."),
        ("Ada Brisk was born in Britain.", "Ada Brisk was born in the United Kingdom."),
        ("Ada Brisk was born in Holland.", "Ada Brisk was born in the Netherlands."),
        ("Ada Brisk was born in Paris.", "Bo Brisk was born in London."),
        ("Ada Brisk was born in Paris.", "Ada Brisk wrote. Bo Marr was born in London."),
        ("Ada Brisk was born in Paris.", "Ada Brisk met Bo Marr. Bo Marr sang. He was born in London."),
        ("Ada Brisk was born in Paris.", "Ada Brisk was born in May 1815."),
        ("Ada Brisk was born in Paris.", "Ada Brisk was probably born in London."),
        ("Ada Brisk was born in Paris.", "Ada Brisk's mother was born in London."),
        ("Ada Brisk studied in Paris.", "Ada Brisk studied in London."),
        ("Brisk won the Nobel Prize in Physics in 1903.", "Brisk won the Nobel Prize in Chemistry in 1911."),
        ("Brisk won the Nobel Prize in Physics.", "Brisk won the Nobel Prize in Chemistry in 1911."),
        ("Ada Brisk married at the age of 19.", "Ada Brisk died at the age of 36."),
        ("Ann Lee is the CEO of Acme.", "Bo Marr was the CEO of Acme until 2020."),
        ("Ann Lee is the CEO of Acme.", "Bo Marr is the CEO of Bolt."),
        ("The capital of Austria is Vienna.", "Canberra is the capital of Australia."),
        ("", ""),
    ],
)
def test_what_may_be_true_as_well_contradicts_nothing(claim: str, passage: str) -> None:
    assert find_other_value(claim, [passage]) is None


def test_sources_that_disagree_contradict_nothing() -> None:
    passages = ["Ada Brisk was born in London.", "Ada Brisk was born in Paris."]
    assert find_other_value("Ada Brisk was born in Paris.", passages) is None
