"""Labels in the form in which a text names things."""

from __future__ import annotations

import pytest

from factloop.tools.names.spelling import fitted


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
