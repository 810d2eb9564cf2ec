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
