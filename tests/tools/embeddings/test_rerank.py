"""Fusing the order of a word search with the order by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from factloop.tools.embeddings.nearest import rank_fusion, rank_passages


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_every_item_comes_once(first: list[int], second: list[int]) -> None:
    assert sorted(rank_fusion([first, second])) == list(range(6))


@given(st.permutations(range(6)))
def test_rankings_that_agree_stay_as_they_are(ranking: list[int]) -> None:
    assert rank_fusion([ranking, ranking]) == list(ranking)


class Planar:
    """Vectors by table."""

    name = "planar"

    def __init__(self, angles: dict[str, float]) -> None:
        self._angles = angles

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        radians = np.array([self._angles[text] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


@pytest.mark.parametrize("passages", [[], ["only"]])
def test_few_passages_need_no_embedding(passages: list[str]) -> None:
    assert rank_passages("query", passages, Planar({})) == list(range(len(passages)))
