"""Another word after the same *and*."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "The toolbox that comes with the bench contains a hammer and a saw.",
            "The toolbox that comes with the bench contains a hammer and a chisel.",
        ),
        (
            "Each room on the second floor has a kettle and a safe.",
            "Each room on the second floor has a kettle and a desk.",
        ),
        (
            "The ferry carries cars and lorries across the sound in winter.",
            "The ferry carries cars and bicycles across the sound in winter.",
        ),
        (
            "The museum shop sells postcards, maps and posters of the castle.",
            "The museum shop sells postcards, maps and magnets of the castle.",
        ),
        ("The choir sings psalms and carols every summer.", "The choir sings psalms and ballads every summer."),
        ("The farm keeps goats and sheep behind the barn.", "The farm keeps goats and pigs behind the barn."),
    ],
)
def test_another_thing_in_a_list_is_not_said(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "insufficient"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (
            "Each room on the second floor has a kettle and a desk.",
            "Each room on the second floor has a desk, a lamp and a kettle.",
        ),
        (
            "The ferry carries cars and bicycles across the sound in winter.",
            "In winter the ferry carries cars, bicycles and lorries across the sound.",
        ),
        ("The museum shop sells postcards and maps.", "The museum shop sells postcards, maps and magnets."),
        ("The kit contains a hammer and a saw.", "The kit contains a hammer and a saw, and a chisel."),
        ("The museum shop sells maps and magnets of the castle.", "The shop of the museum sells magnets and maps."),
        ("The ferry carries cars and lorries in winter.", "In winter the ferry carries cars and lorries."),
    ],
)
def test_things_in_another_order_are(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


CENTRES = "Data is stored in two data centres. Business customers can choose one of them; other customers cannot."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("Team customers pay £129.", "Price: £149. Business customers pay £129.", "insufficient"),
        ("Business customers pay £129.", "Price: £149. Business customers pay £129.", "supported"),
        ("Premium members get free coffee.", "Gold members get free coffee.", "insufficient"),
        ("Gold members get free coffee.", "All gold members get free coffee.", "supported"),
        ("Team customers can choose the data centre.", CENTRES, "insufficient"),
        ("Members get free coffee.", "Our members get free coffee.", "supported"),
    ],
)
def test_a_subject_is_of_its_own_kind(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label


POST = "We ship to the UK, Ireland and France. Orders over £50 are shipped free by Standard within the UK."


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Orders over £50 ship free to Ireland.", "insufficient"),
        ("Orders over £50 ship free within the UK.", "supported"),
        ("Orders ship to Ireland.", "supported"),
    ],
)
def test_a_place_is_that_of_the_clause_that_says_the_rest(claim: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [POST]).label == label
