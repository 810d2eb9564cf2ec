"""Shapes by endings: like words get one shape, and words that only look alike get none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.vocabulary.shapes import shape_of


@pytest.mark.parametrize(
    ("word", "tag", "shape"),
    [
        ("biology", "NN", "science"),
        ("economics", "NNS", "science"),
        ("freedom", "NN", "quality"),
        ("abilities", "NNS", "quality"),
        ("exploration", "NN", "deed"),
        ("governments", "NNS", "deed"),
        ("runner", "NN", "person"),
        ("teacher", "NN", "person"),
        ("editor", "NN", "person"),
        ("dentists", "NNS", "person"),
        ("river", "NN", ""),
        ("rumor", "NN", ""),
        ("winter", "NN", ""),
        ("nucleus", "NN", ""),
        ("ovarian", "JJ", "of something"),
        ("possible", "JJ", "able"),
        ("red", "JJ", ""),
        ("famous", "JJ", "full of it"),
        ("ran", "VBD", ""),
        ("London", "NNP", ""),
        ("", "NN", ""),
    ],
)
def test_endings_tell_the_shape(word: str, tag: str, shape: str) -> None:
    assert shape_of(word, tag) == shape


@given(st.text(max_size=20), st.sampled_from(["NN", "NNS", "JJ", "JJR", "NNP", "VB"]))
def test_any_text_has_a_shape_or_none(word: str, tag: str) -> None:
    assert isinstance(shape_of(word, tag), str)
