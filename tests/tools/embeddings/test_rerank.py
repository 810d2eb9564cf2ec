from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.embeddings.nearest import rank_fusion


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_every_item_comes_once(first: list[int], second: list[int]) -> None:
    assert sorted(rank_fusion([first, second])) == list(range(6))


@given(st.permutations(range(6)))
def test_rankings_that_agree_stay_as_they_are(ranking: list[int]) -> None:
    assert rank_fusion([ranking, ranking]) == list(ranking)
