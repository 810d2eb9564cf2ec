"""Chunks, R2-diff and changed predictions, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from factloop.evaluation.audit.chunking import (
    Changes,
    LongDocumentRates,
    chunked_evaluators,
    chunking_bias,
    r2_differences,
)
from factloop.evaluation.audit.figures import Group
from tests.evaluation.audit.prediction_rows import Row, table_of


def test_r2_diff_by_hand() -> None:
    document = "Ann was born in Oslo. She wrote many books. Bob lives in Rome. He paints."
    claims = [
        "ann was born in oslo",  # all in the first chunk
        "ann was born and she wrote many books",  # 2 bigrams of one chunk, 3 of the other, 7 in all
        "nothing of it at all",
        "books",
    ]
    table = table_of([Row(1, {"e": 1.0}, claim=claim, document=document) for claim in claims])
    found = r2_differences(table, 6)
    assert found.is_cut.all()
    assert found.values[:3].tolist() == pytest.approx([0.0, 5 / 7 - 3 / 7, 0.0])
    assert np.isnan(found.values[3])
    # in chunks of nine words the first two sentences stand together
    assert r2_differences(table, 9).values[1] == 0.0


def test_changed_predictions_by_hand() -> None:
    """Within one chunk 1 of 4 is lost; across chunks 2 of 3 are lost and one gained."""
    document = "A b. C d. E f."
    within, across = "a b", "a b c d"  # of its bigrams ab, bc, cd the document has three, each chunk one

    def claim(text: str, score: float | None, cut: float | None, **more: str) -> Row:
        return Row(1, {"e": score, "e@2": cut}, claim=text, document=more.get("document", document), dataset="d")

    rows = [claim(within, 0.9, 0.1), claim(within, 0.9, 0.5), claim(within, 0.1, 0.2), claim(within, 0.5, 0.9)]
    rows += [claim(across, 0.9, 0.1), claim(across, 0.5, 0.4), claim(across, 0.4, 0.5)]
    rows += [claim(across, None, 0.4), claim(across, 0.4, None), claim("a", 0.4, 0.9)]
    rows += [claim("a b", 0.9, 0.1, document="a b."), claim("a b", None, 0.1, document="a b.")]
    table = table_of(rows)
    assert chunked_evaluators(table.scores) == [("e", "e@2", 2)]
    by_dataset, whole = chunking_bias(table, "e", "e@2", r2_differences(table, 2))
    assert (by_dataset.group, whole.group) == (Group(kind="dataset", name="d"), Group(kind="all", pooled=True))
    assert whole.within == Changes(
        n=4, n_lost=1, n_gained=0, share_lost=0.25, share_gained=0.0, share_changed=0.25, n_passed=3
    )
    assert whole.across == Changes(
        n=3, n_lost=2, n_gained=1, share_lost=2 / 3, share_gained=1 / 3, share_changed=1.0, n_passed=2
    )
    assert (whole.n_short, whole.n_no_similarity, whole.n_unscored, whole.n_words) == (2, 1, 2, 2)
    assert by_dataset.across == whole.across
    strict = chunking_bias(table, "e", "e@2", r2_differences(table, 2), threshold=0.95)[-1]
    assert strict.across.n_lost == 0


def test_rates_on_long_documents_by_hand() -> None:
    """Attributable: whole 2 of 3, chunks 1 of 3. Not so: whole stops 1 of 2, chunks both. Positive: 3 of 5, 1 of 5."""
    long, short = "A b. C d. E f.", "A b."
    scores = [(1, 0.9, 0.1), (1, 0.9, 0.9), (1, 0.1, 0.2), (0, 0.9, 0.1), (0, 0.1, 0.4)]
    rows = [Row(label, {"e": e, "e@2": cut}, claim="a b", document=long) for label, e, cut in scores]
    rows += [Row(0, {"e": 1.0, "e@2": 1.0}, claim="a b", document=short)]
    rows += [Row(0, {"e": 1.0, "e@2": None}, claim="a b", document=long)]
    table = table_of(rows)
    found = chunking_bias(table, "e", "e@2", r2_differences(table, 2))[-1]
    assert found.on_whole == LongDocumentRates(
        n_attributable=3,
        n_unattributable=2,
        tpr=2 / 3,
        tnr=0.5,
        balanced_accuracy=(2 / 3 + 0.5) / 2,
        predicted_positive_rate=0.6,
    )
    assert found.on_chunks == LongDocumentRates(
        n_attributable=3,
        n_unattributable=2,
        tpr=1 / 3,
        tnr=1.0,
        balanced_accuracy=(1 / 3 + 1.0) / 2,
        predicted_positive_rate=0.2,
    )


def test_chunked_columns_are_named_after_the_whole() -> None:
    names = ["e", "e@500", "e@100", "x@500", "y", "y@0", "y@", "mail@e", "z@1", "z@1@7"]
    assert chunked_evaluators(names) == [("e", "e@500", 500), ("e", "e@100", 100), ("z@1", "z@1@7", 7)]


def test_a_claim_without_a_document_is_not_one_with_a_short_document() -> None:
    rows = [Row(1, {"e": 0.9, "e@2": 0.1}, claim="a b", document=text) for text in ("A b. C d.", "A b.", "", " ")]
    table = table_of(rows)
    found = chunking_bias(table, "e", "e@2", r2_differences(table, 2))[-1]
    assert (found.within.n, found.n_short, found.n_no_document) == (1, 1, 2)
