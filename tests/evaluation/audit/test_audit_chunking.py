"""Chunks, R2-diff and changed predictions, worked by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.audit.chunking import (
    Changes,
    chunked_evaluators,
    chunking_bias,
    chunks_of,
    r2_differences,
)
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.surface import NoTextError
from tests.evaluation.audit.prediction_rows import Row, table_of


def at_full_stops(document: str) -> list[str]:
    return [f"{sentence.strip()}." for sentence in document.split(".") if sentence.strip()]


def test_whole_sentences_fill_chunks() -> None:
    assert chunks_of(["a b.", "c.", "d e f.", "g."], 3) == ["a b. c.", "d e f.", "g."]
    assert chunks_of(["a b c d.", "e.", "f g."], 3) == ["a b c d.", "e. f g."]  # too long: alone, and whole
    assert chunks_of(["e.", "a b c d.", "f."], 3) == ["e.", "a b c d.", "f."]
    assert chunks_of([], 3) == []
    with pytest.raises(ValueError, match="one word"):
        chunks_of(["a."], 0)


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 12))
def test_chunks_lose_nothing_and_are_as_few_as_order_allows(lengths: list[int], n_words: int) -> None:
    sentences = [" ".join(f"w{place}_{k}" for k in range(length)) for place, length in enumerate(lengths)]
    chunks = chunks_of(sentences, n_words)
    assert " ".join(chunks).split() == " ".join(sentences).split()
    assert all(len(chunk.split()) <= n_words or chunk in sentences for chunk in chunks)
    firsts = {sentence.split()[0]: len(sentence.split()) for sentence in sentences}
    for chunk, after in pairwise(chunks):
        assert len(chunk.split()) + firsts[after.split()[0]] > n_words


def test_r2_diff_by_hand() -> None:
    document = "ann was born in oslo. she wrote many books. bob lives in rome. he paints."
    claims = [
        "ann was born in oslo",  # all in the first chunk
        "ann was born and she wrote many books",  # 2 bigrams of one chunk, 3 of the other, 7 in all
        "nothing of it at all",
        "books",
    ]
    table = table_of([Row(1, {"e": 1.0}, claim=claim, document=document) for claim in claims])
    found = r2_differences(table, 6, at_full_stops)
    assert found.is_cut.all()
    assert found.values[:3].tolist() == pytest.approx([0.0, 5 / 7 - 3 / 7, 0.0])
    assert np.isnan(found.values[3])
    # in chunks of nine words the first two sentences stand together
    assert r2_differences(table, 9, at_full_stops).values[1] == 0.0


def test_a_document_that_fits_is_not_cut_and_a_cut_one_only_once() -> None:
    seen: list[str] = []

    def split(document: str) -> list[str]:
        seen.append(document)
        return at_full_stops(document)

    rows = [Row(1, {"e": 1.0}, claim="a b", document=text) for text in ("a b. c.", "a b. c. d.", "a b. c. d.")]
    found = r2_differences(table_of(rows), 3, split)
    assert found.is_cut.tolist() == [False, True, True]
    assert np.isnan(found.values[0])
    assert seen == ["a b. c. d."]
    with pytest.raises(NoTextError, match="R2-diff"):
        r2_differences(table_of([Row(1, {"e": 1.0})]), 3, split)


@given(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=8),
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 8),
)
def test_r2_diff_lies_between_0_and_the_precision_and_needs_two_chunks(
    claim: list[str], sentences: list[list[str]], n_words: int
) -> None:
    document = " ".join(f"{' '.join(words)}." for words in sentences)
    table = table_of([Row(1, {"e": 1.0}, claim=" ".join(claim), document=document)])
    found = r2_differences(table, n_words, at_full_stops)
    if found.is_cut[0]:
        assert 0 <= found.values[0] <= 1
        whole = r2_differences(table, n_words, lambda text: [text])  # one sentence is one chunk, however long
        assert whole.values[0] == 0


def test_changed_predictions_by_hand() -> None:
    """Within one chunk 1 of 4 is lost; across chunks 2 of 3 are lost and one gained."""
    document = "a b. c d. e f."
    within, across = "a b", "a b c d"  # of its bigrams ab, bc, cd the document has three, each chunk one

    def claim(text: str, score: float | None, cut: float | None, **more: str) -> Row:
        return Row(1, {"e": score, "e@2": cut}, claim=text, document=more.get("document", document), dataset="d")

    rows = [claim(within, 0.9, 0.1), claim(within, 0.9, 0.5), claim(within, 0.1, 0.2), claim(within, 0.5, 0.9)]
    rows += [claim(across, 0.9, 0.1), claim(across, 0.5, 0.4), claim(across, 0.4, 0.5)]
    rows += [claim(across, None, 0.4), claim(across, 0.4, None), claim("a", 0.4, 0.9)]
    rows += [claim("a b", 0.9, 0.1, document="a b."), claim("a b", None, 0.1, document="a b.")]
    table = table_of(rows)
    assert chunked_evaluators(table.scores) == [("e", "e@2", 2)]
    by_dataset, whole = chunking_bias(table, "e", "e@2", r2_differences(table, 2, at_full_stops))
    assert (by_dataset.group, whole.group) == (Group(kind="dataset", name="d"), Group(kind="all", pooled=True))
    assert whole.within == Changes(n=4, n_lost=1, n_gained=0, share_lost=0.25, share_gained=0.0, share_changed=0.25)
    assert whole.across == Changes(n=3, n_lost=2, n_gained=1, share_lost=2 / 3, share_gained=1 / 3, share_changed=1.0)
    assert (whole.n_short, whole.n_no_similarity, whole.n_unscored, whole.n_words) == (2, 1, 2, 2)
    assert by_dataset.across == whole.across
    strict = chunking_bias(table, "e", "e@2", r2_differences(table, 2, at_full_stops), threshold=0.95)[-1]
    assert strict.across.n_lost == 0


def test_nothing_to_compare_is_undefined() -> None:
    table = table_of([Row(1, {"e": 1.0, "e@9": 0.0}, claim="a b", document="a b.")])
    found = chunking_bias(table, "e", "e@9", r2_differences(table, 9, at_full_stops))[-1]
    assert (found.across.n, found.across.share_lost, found.within.share_changed, found.n_short) == (0, None, None, 1)


def test_chunked_columns_are_named_after_the_whole() -> None:
    names = ["e", "e@500", "e@100", "x@500", "y", "y@0", "y@", "mail@e", "z@1", "z@1@7"]
    assert chunked_evaluators(names) == [("e", "e@500", 500), ("e", "e@100", 100), ("z@1", "z@1@7", 7)]
