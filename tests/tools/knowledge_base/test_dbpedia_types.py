from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.knowledge_base.dbpedia_types import closed, fewer_and_fewer, general_first, most_specific

CHAIN = closed([("Player", "Athlete"), ("Athlete", "Person"), ("Person", "Agent")])
POLITICIAN = closed([("Senator", "Person"), ("Author", "Person")])
PLACE = closed([("City", "Place"), ("Place", "Location"), ("Location", "Place")])


def test_closed_is_transitive_and_bears_circles() -> None:
    assert CHAIN["Player"] == {"Athlete", "Person", "Agent"}
    assert PLACE["City"] == {"Place", "Location"}
    assert PLACE["Place"] == {"Location"}
    assert PLACE["Location"] == {"Place"}


def test_general_first_keeps_the_order_of_equals() -> None:
    assert general_first(("Player", "Agent", "Person", "Athlete"), CHAIN) == ("Agent", "Person", "Athlete", "Player")
    assert general_first(("Author", "Senator", "Person"), POLITICIAN) == ("Person", "Author", "Senator")
    assert general_first(("b", "a"), {}) == ("b", "a")


def test_a_line_of_descent_loses_its_most_specific_class_each_time() -> None:
    sets = list(fewer_and_fewer(("Agent", "Person", "Athlete", "Player"), CHAIN))
    assert sets == [
        ("Agent", "Person", "Athlete", "Player"),
        ("Agent", "Person", "Athlete"),
        ("Agent", "Person"),
        ("Agent",),
    ]


def test_of_equal_size_the_specific_comes_first() -> None:
    assert list(fewer_and_fewer(("Person", "Author", "Senator"), POLITICIAN)) == [
        ("Person", "Author", "Senator"),
        ("Person", "Senator"),
        ("Person", "Author"),
        ("Person",),
    ]
    assert list(fewer_and_fewer(("a", "b"), {})) == [("a", "b"), ("b",), ("a",)]


def test_equivalent_classes_stay_together() -> None:
    assert list(fewer_and_fewer(("Place", "Location", "City"), PLACE)) == [
        ("Place", "Location", "City"),
        ("Place", "Location"),
    ]
    assert most_specific(("Place", "Location"), PLACE) == ("Location",)


def test_most_specific_implies_the_rest() -> None:
    assert most_specific(("Agent", "Person", "Athlete", "Player"), CHAIN) == ("Player",)
    assert most_specific(("Person", "Senator", "Author"), POLITICIAN) == ("Author", "Senator")
    assert most_specific(("b", "a", "a"), {}) == ("a", "b")


NAMES = st.sampled_from("abcdef")


@given(st.sets(NAMES, min_size=1).map(sorted), st.lists(st.tuples(NAMES, NAMES), max_size=12))
def test_subsets_shrink_are_distinct_and_keep_what_they_imply(names: list[str], pairs: list[tuple[str, str]]) -> None:
    supers = closed(pairs)
    types = general_first(names, supers)
    subsets = list(fewer_and_fewer(types, supers))
    assert subsets[0] == types
    assert [len(subset) for subset in subsets] == sorted((len(subset) for subset in subsets), reverse=True)
    assert len({frozenset(subset) for subset in subsets}) == len(subsets)
    told_by = {most_specific(subset, supers) for subset in subsets}
    assert len(told_by) == len(subsets), "no two of them ask for the same"
    assert all(told for told in told_by)
