from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # has no type hints

from factloop.core.figure import Undefined
from factloop.evaluation.audit.chunking import (
    Changes,
    LongDocumentRates,
    chunked_evaluators,
    chunking_bias,
    r2_differences,
)
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.quantification import Quantification, quantification
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.surface import NoTextError, bigrams_of, precision, similarities, surface_bias
from factloop.evaluation.audit.table import Level
from tests.evaluation.audit.prediction_rows import Row, table_of
from tests.evaluation.audit.random_tables import ALL, dataset, error_rate, find, of_system, task


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
    """Within one chunk, 1 of 4 is lost; across chunks, 2 of 3 are lost and one is gained."""
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
    return [Row(k % 2, {E: k / 10}, dataset=dataset, task=task, response=f"r{k}") for k in range(10)]


def test_bins_by_hand() -> None:
    """Two claims to a bin: one attributable, one not. From 0.5 on a claim passes, so copied falsehood does, too."""
    found = surface_bias(table_of(ten()), E, np.arange(10) / 10)
    assert [one.group for one in found] == [
        Group(kind="dataset", name="d"),
        Group(kind="task", name="t", pooled=True),
        Group(kind="all", pooled=True),
    ]
    # similarities 0 .1 | .2 .3 | .4 .5 | .6 .7 | .8 .9, of which .1 .3 .5 .7 .9 are attributable
    assert [(one.tpr, one.tnr) for one in found[0].bins] == [(0, 1), (0, 1), (1, 1), (1, 0), (1, 0)]
    assert [(one.low, one.high) for one in found[0].bins] == [(0, 0.1), (0.2, 0.3), (0.4, 0.5), (0.6, 0.7), (0.8, 0.9)]
    assert {(one.n_attributable, one.n_unattributable) for one in found[0].bins} == {(1, 1)}
    assert (found[0].n, found[0].n_no_similarity, found[0].n_unscored) == (10, 0, 0)


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
    """With a similarity of 0, these five unscored claims would fill the first bin."""
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


def quantified(rows: list[Row]) -> Quantification:
    return quantification(count(table_of(rows)))


def made(system: str, data: str, marks: str, name: str = "t") -> list[Row]:
    return [
        Row(int(pair[0]), {"e": None if pair[1] == "." else float(pair[1])}, system, str(place), None, data, name)
        for place, word in enumerate(marks.split())
        for pair in word.split(",")
    ]


WORKED = [
    # claims: labelled 1/4, predicted 2/4; responses: labelled 1/2, predicted 2/2
    *made("a", "x", "11,10 11,00"),
    # claims: labelled 2/6, predicted 1/6, one left out; responses: labelled 2/3, predicted 0/3, one left out
    *made("b", "x", "11 01,11 01,11 1.,10"),
    # labelled 0/2, predicted 1/2, in both
    *made("c", "y", "11 10", "u"),
]


def test_error_rates_and_biases_by_hand() -> None:
    found = quantified(WORKED)
    a, b = (of_system(found, "x", system) for system in "ab")
    assert (a.labelled.value, a.predicted.value, a.bias.value, a.bias.n) == (0.25, 0.5, 0.25, 4)
    assert [b.labelled.value, b.predicted.value, b.bias.n] == pytest.approx([2 / 6, 1 / 6, 6])
    assert [b.bias.value, b.n_unscored] == pytest.approx([-1 / 6, 1])
    a, b = (of_system(found, "x", system, Level.RESPONSE) for system in "ab")
    assert (a.labelled.value, a.predicted.value, a.bias.n) == (0.5, 1.0, 2)
    assert [b.labelled.value, b.predicted.value, b.bias.n] == pytest.approx([2 / 3, 0.0, 3])
    assert [b.bias.value, b.n_unscored] == pytest.approx([-2 / 3, 1])
    # by labels alone, every claim and response counts
    assert error_rate(found, "x", "b").value == pytest.approx(2 / 7)
    assert error_rate(found, "x", "b", Level.RESPONSE).value == 0.5


def test_the_bias_of_a_whole_data_set_by_hand() -> None:
    """Of x: 1 + 2 of 10 by labels, 2 + 1 of 10 by predictions, so the biases of its systems cancel out."""
    found = {(one.dataset, one.level): one for one in quantified(WORKED).datasets}
    x, y = found["x", Level.CLAIM], found["y", Level.CLAIM]
    assert (x.labelled.value, x.predicted.value, x.bias.value, x.bias.n) == (0.3, 0.3, 0.0, 10)
    assert (y.labelled.value, y.predicted.value, y.bias.value, y.bias.n) == (0.0, 0.5, 0.5, 2)
    responses = found["x", Level.RESPONSE]
    assert [responses.labelled.value, responses.predicted.value] == pytest.approx([3 / 5, 2 / 5])


def test_biases_over_systems_and_headroom_by_hand() -> None:
    found = quantified(WORKED)
    x = find(found.evaluators, "e", dataset("x"))
    assert [x.mean_absolute.value, x.worst_absolute.value] == pytest.approx([(1 / 4 + 1 / 6) / 2, 0.25])
    assert (x.worst_system, x.n_systems) == ("a", 2)
    assert [x.headroom_labelled.value, x.headroom_predicted.value] == pytest.approx([0.25, 1 / 6])
    assert [x.headroom_bias.value, x.headroom_absolute.value] == pytest.approx([-1 / 12, 1 / 12])
    assert find(found.evaluators, "e", dataset("x"), Level.RESPONSE).worst_system == "b"
    y = find(found.evaluators, "e", dataset("y"))
    assert (y.mean_absolute.value, y.worst_absolute.value, y.n_systems) == (0.5, 0.5, 1)
    for headroom in (y.headroom_labelled, y.headroom_predicted, y.headroom_bias, y.headroom_absolute):
        assert (headroom.value, headroom.undefined) == (None, Undefined.ONE_SYSTEM)
    # over both data sets: the means of 5/24 and 1/2; the headroom of one, the other being left out
    overall = find(found.evaluators, "e", ALL)
    assert overall.mean_absolute.value == pytest.approx((5 / 24 + 0.5) / 2)
    assert overall.headroom_bias.value == pytest.approx(-1 / 12)
    assert overall.worst_system is None
    assert (overall.headroom_bias.n_datasets, overall.headroom_bias.n_datasets_undefined) == (1, 1)
    assert find(found.evaluators, "e", task("u")).headroom_bias.undefined is Undefined.NO_DATASET


def test_a_system_without_scores_is_no_system_of_the_evaluator() -> None:
    found = quantified([*made("a", "x", "10 11"), *made("b", "x", "1. 0.")])
    b, x = of_system(found, "x", "b"), find(found.evaluators, "e", dataset("x"))
    assert (b.bias.value, b.bias.undefined, b.n_unscored) == (None, Undefined.NOTHING_SCORED, 2)
    assert error_rate(found, "x", "b").value == 0.5
    assert (x.mean_absolute.value, x.n_systems, x.headroom_bias.undefined) == (0.5, 1, Undefined.ONE_SYSTEM)
    silent = find(quantified(made("b", "x", "1. 0.")).evaluators, "e", dataset("x"))
    assert (silent.mean_absolute.undefined, silent.worst_system) == (Undefined.NOTHING_SCORED, None)
    assert silent.headroom_bias.undefined is Undefined.NOTHING_SCORED


def unbiased(rng: np.random.Generator, missed: float = 0.1) -> list[Row]:
    """Six systems of 20 responses of five claims, 30 % wrong.

    The evaluator passes 10 % of the wrong claims (or `missed`), and 10 % of the claims that it calls wrong are right.
    With `missed` at 10 % no system has a bias.
    """
    rows = []
    for system in "abcdef":
        for place in range(100):
            is_right = rng.random() < 0.7
            flagged = rng.random() < (0.03 / 0.7 if is_right else 1 - missed)
            rows.append(Row(int(is_right), {"e": float(not flagged)}, system, f"{system}{place // 5}"))
    return rows


def test_an_evaluator_without_bias_is_not_said_to_be_off() -> None:
    """The middle of the resamples' magnitudes left 0 out in every sample; of 150 samples 6 % do now."""
    lows = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        found = quantification(count(table_of(unbiased(rng)), rng=rng, resamples=200), levels=(Level.CLAIM,))
        bias = find(found.evaluators, "e", dataset("d"))
        lows.append(bias.mean_absolute.low)
        plain = np.mean([abs(one.bias.value or 0) for one in found.systems])
        assert (bias.mean_absolute.value or 0) < plain
        assert (bias.mean_absolute.high or 0) >= plain
    assert sum(low == 0.0 for low in lows) >= 10
