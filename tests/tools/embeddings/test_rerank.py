"""Fusing the order of a word search with the order by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from factloop.tools.embeddings.rerank import rank_fusion, rank_passages


def test_worked_by_hand() -> None:
    # k = 1. a: 1/2 + 1/4 = 0.75; b: 1/3 + 1/2 = 0.83; c: 1/4 + 1/3 = 0.58.
    assert rank_fusion([[0, 1, 2], [1, 2, 0]], k=1) == [1, 0, 2]


def test_ties_keep_the_first_order() -> None:
    assert rank_fusion([[3, 5], [5, 3]]) == [3, 5]


def test_what_only_one_ranking_has_is_kept() -> None:
    assert rank_fusion([[0, 1], [2]]) == [0, 2, 1]


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


def test_meaning_lifts_a_passage() -> None:
    # By words 0, 1, 2, 3; by meaning 2, 1, 0, 3. 0: 1/61 + 1/63; 2: 1/63 + 1/61, a tie; 1: 2/62, less; 3: 2/64.
    embedder = Planar({"query": 0.0, "far": 1.0, "near": 0.5, "same": 0.0, "away": 1.5})
    assert rank_passages("query", ["far", "near", "same", "away"], embedder) == [0, 2, 1, 3]


@pytest.mark.parametrize("passages", [[], ["only"]])
def test_few_passages_need_no_embedding(passages: list[str]) -> None:
    assert rank_passages("query", passages, Planar({})) == list(range(len(passages)))
