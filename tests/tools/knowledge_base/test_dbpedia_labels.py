from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.knowledge_base.dbpedia_labels import fitted, label_of, plain


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("Casablanca (film)", "Casablanca"),
        ("Mercury  (planet) ", "Mercury"),
        ("(500) Days of Summer", "(500) Days of Summer"),
        ("(film)", "(film)"),
        ("Friends (season 1) (DVD)", "Friends (season 1)"),
        ("f(x)", "f(x)"),
        ("", ""),
    ],
)
def test_explanations_are_dropped(label: str, told: str) -> None:
    assert plain(label) == told


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("http://dbpedia.org/resource/Boise,_Idaho", "Boise, Idaho"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("http://dbpedia.org/resource/Dwayne_%22The_Rock%22", 'Dwayne "The Rock"'),
        ("http://a.example/kb/Casablanca_(film)", "Casablanca"),
        ("http://dbpedia.org/resource/%ff", "\ufffd"),
    ],
)
def test_labels_shown_by_addresses(address: str, label: str) -> None:
    assert label_of(address) == label


@pytest.mark.parametrize(
    ("label", "name", "own", "form"),
    [
        ("LeBron James", "Kobe Bryant", "Kobe Bryant", "LeBron James"),
        ("LeBron James", "Bryant", "Kobe Bryant", "James"),
        ("LeBron James", "Kobe", "Kobe Bryant", "LeBron"),
        ("LeBron James", "kobe", "Kobe Bryant", "LeBron"),
        ("David", "King Solomon", "Solomon", "King David"),
        ("Queen Victoria", "King Solomon", "Solomon", "King Victoria"),
        ("Ludwig van Beethoven", "Mozart", "Wolfgang Amadeus Mozart", "Beethoven"),
        ("George W. Bush", "President Obama", "Barack Obama", "President Bush"),
        ("Catherine the Great", "Newton", "Isaac Newton", "Catherine"),
        ("Martin Luther King, Jr.", "Lincoln", "Abraham Lincoln", "King"),
        ("Jimmy Carter", "Dr. King", "Martin Luther King Jr.", "Dr. Carter"),
        ("LeBron James", "Black Mamba", "Kobe Bryant", "LeBron James"),
        ("Plato", "Aristotle", "Aristotle", "Plato"),
        ("Plato", "Newton", "Isaac Newton", "Plato"),
        ("LeBron James", "", "", "LeBron James"),
    ],
)
def test_people(label: str, name: str, own: str, form: str) -> None:
    assert fitted(label, name, own, is_person=True) == form


@pytest.mark.parametrize(
    ("label", "name", "own", "form"),
    [
        ("Boston, Massachusetts", "Boise", "Boise, Idaho", "Boston"),
        ("Boston, Massachusetts", "Boise, Idaho", "Boise, Idaho", "Boston, Massachusetts"),
        ("Good Morning, Vietnam", "Casablanca", "Casablanca", "Good Morning, Vietnam"),
        ("Texas", "Florida", "Florida", "Texas"),
        ("Lincoln (film)", "Casablanca", "Casablanca (film)", "Lincoln"),
    ],
)
def test_other_things(label: str, name: str, own: str, form: str) -> None:
    assert fitted(label, name, own, is_person=False) == form


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_any_text_has_a_form(label: str, name: str, own: str, is_person: bool) -> None:
    assert isinstance(fitted(label, name, own, is_person=is_person), str)
