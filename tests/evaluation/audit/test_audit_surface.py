"""ROUGE-2 precision against the field's package, and rates by its percentiles worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # has no type hints

from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.surface import (
    NoTextError,
    SurfaceBias,
    bigrams_of,
    precision,
    similarities,
    surface_bias,
)
from tests.evaluation.audit.prediction_rows import Row, table_of

E = "judge"
SCORER = RougeScorer(["rouge2"])


@pytest.mark.parametrize(
    ("claim", "document", "expected"),
    [
        ("the cat sat", "The cat sat.", 1.0),
        ("the cat sat on it", "on it sat the cat", 2 / 4),  # "the cat", "on it" of four bigrams
        ("no no no", "no no", 1 / 2),  # "no no" twice, of which the document has one
        ("a dog", "", 0.0),
        ("dog", "dog dog", None),
        ("", "dog dog", None),
        ("…!", "dog dog", None),
        ("αβγ δε", "ζ αβγ δε", 1.0),
        ("Café au lait", "the café au bar", 1 / 2),
    ],
)
def test_precision_by_hand(claim: str, document: str, expected: float | None) -> None:
    assert precision(bigrams_of(claim), bigrams_of(document)) == expected


ASCII = st.text(st.sampled_from("abC d.-_'1\n\t,"), max_size=40)


@given(ASCII, ASCII)
def test_it_is_what_rouge_score_gives_on_ascii(claim: str, document: str) -> None:
    expected = SCORER.score(document, claim)["rouge2"].precision
    assert (precision(bigrams_of(claim), bigrams_of(document)) or 0.0) == pytest.approx(expected)


def ten(task: str = "t", dataset: str = "d") -> list[Row]:
    """Ten claims of similarity 0.0, 0.1 ... 0.9; labels alternate; scores follow the similarity."""
    return [Row(k % 2, {E: k / 10}, dataset=dataset, task=task, response=f"r{k}") for k in range(10)]


def rates_of(found: SurfaceBias) -> list[tuple[float | None, float | None]]:
    return [(one.tpr, one.tnr) for one in found.bins]


def test_bins_by_hand() -> None:
    """Two claims to a bin: one attributable, one not. From 0.5 on a claim passes, so copied falsehood does, too."""
    found = surface_bias(table_of(ten()), E, np.arange(10) / 10)
    assert [one.group for one in found] == [
        Group(kind="dataset", name="d"),
        Group(kind="task", name="t", pooled=True),
        Group(kind="all", pooled=True),
    ]
    # similarities 0 .1 | .2 .3 | .4 .5 | .6 .7 | .8 .9, of which .1 .3 .5 .7 .9 are attributable
    assert rates_of(found[0]) == [(0, 1), (0, 1), (1, 1), (1, 0), (1, 0)]
    assert [(one.low, one.high) for one in found[0].bins] == [(0, 0.1), (0.2, 0.3), (0.4, 0.5), (0.6, 0.7), (0.8, 0.9)]
    assert {(one.n_attributable, one.n_unattributable) for one in found[0].bins} == {(1, 1)}
    assert (found[0].n, found[0].n_no_similarity, found[0].n_unscored) == (10, 0, 0)


def test_each_group_has_percentiles_of_its_own() -> None:
    rows = ten("qa", "one") + ten("qa", "two") + ten("summaries", "three")
    similarity = np.concatenate([np.arange(10) / 10, np.arange(10) / 10, np.arange(10) / 100])
    one, _, two, qa, summaries, whole = surface_bias(table_of(rows), E, similarity)
    assert [group.group.name for group in (one, two, qa, summaries)] == ["one", "two", "qa", "summaries"]
    assert rates_of(summaries) == rates_of(one) == rates_of(qa)
    assert summaries.bins[0].high == pytest.approx(0.01)
    assert (one.n, qa.n, whole.n) == (10, 20, 30)
    assert [bin_.n_attributable for bin_ in qa.bins] == [2] * 5


def test_equal_similarities_stay_together_and_empty_bins_are_undefined() -> None:
    found = surface_bias(table_of(ten()), E, np.asarray([0.0] * 8 + [0.5, 1.0]))[-1]
    assert [one.n_attributable + one.n_unattributable for one in found.bins] == [8, 0, 0, 0, 2]
    empty = found.bins[1]
    assert (empty.low, empty.high, empty.tpr, empty.tnr) == (None, None, None, None)
    one_class = surface_bias(table_of([Row(1, {E: 1.0})]), E, np.asarray([0.5]))[-1]
    assert (one_class.bins[0].tpr, one_class.bins[0].tnr) == (1.0, None)


def test_similarity_takes_text() -> None:
    with pytest.raises(NoTextError, match="documents"):
        similarities(table_of([Row(1, {E: 1.0}, claim="a b")]))
    table = table_of([Row(1, {E: 1.0}, claim="a b c", document="x a b"), Row(1, {E: 1.0}, claim="a", document="a")])
    assert similarities(table)[0] == 0.5
    assert np.isnan(similarities(table)[1])


def test_a_claim_without_a_document_has_no_similarity_and_moves_no_bound() -> None:
    """Its similarity would be 0: five such claims, unscored as they are, would take the first fifth from the others."""
    words = "abcdefghijklmnop"
    found = [Row(1, {E: 1.0}, claim="a b c d e f", document=" ".join(words[:n])) for n in range(2, 7)]
    blank = [Row(1, {E: None}, claim="a b c", document=text) for text in ("", " ", "\n", "", "")]
    without, with_blank = table_of(found), table_of(found + blank)
    similarity = similarities(with_blank)
    assert similarity[:5].tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert np.isnan(similarity[5:]).all()
    alone, whole = (surface_bias(table, E, similarities(table))[-1] for table in (without, with_blank))
    assert [one.n_attributable for one in whole.bins] == [1] * 5
    assert whole.bins == alone.bins
    assert (whole.n, whole.n_no_similarity, whole.n_no_document, whole.n_unscored) == (5, 0, 5, 0)
