"""The figures of a run are declared once, and everything that is declared is scored, shown and written."""

from __future__ import annotations

from factloop.core.records import Counts
from factloop.evaluation.runs.longform import score_long_form
from factloop.evaluation.runs.longform_records import (
    AbstentionPolicy,
    CountedResponse,
    Mean,
    Quantity,
    ScoreAtK,
    SystemScore,
)
from factloop.evaluation.runs.measures import F1, MEASURES, PRECISION, figures_of


def answer(**counts: int) -> CountedResponse:
    return CountedResponse(system="one", prompt_id="p", counts=Counts(**counts))


def test_each_mean_of_a_record_is_declared() -> None:
    """A field that were no measure would be in no view."""
    fields = {
        record: {name for name, field in record.model_fields.items() if field.annotation is Mean}
        for record in (SystemScore, ScoreAtK)
    }
    assert fields[SystemScore] == {one.quantity for one in MEASURES if not one.at_k}
    assert fields[ScoreAtK] == {one.quantity for one in MEASURES if one.at_k}
    assert {one.quantity for one in MEASURES} == {*Quantity}


def test_figures_stand_in_the_order_of_the_measures_with_their_k() -> None:
    given = [answer(supported=1, not_supported=1)]
    (system,) = score_long_form(given, [2, 4], abstention=AbstentionPolicy.ZERO).systems
    found = [(measure.heading(k), mean.value) for measure, k, mean in figures_of(system)]
    assert found == [("F1@2", 0.5), ("F1@4", 1 / 3), ("Precision", 0.5), ("Recall@2", 0.5), ("Recall@4", 0.25)]


def test_an_answer_that_does_not_count_has_no_value() -> None:
    abstained, unscored = answer(), answer(unscored=2)
    zero, exclude = AbstentionPolicy.ZERO, AbstentionPolicy.EXCLUDE
    assert [F1.value(abstained, 4, policy) for policy in (zero, exclude)] == [0, None]
    assert F1.value(unscored, 4, zero) is None
    assert F1.value(answer(unscored=2, irrelevant=1), 4, zero) is None, "one that is beside the question tells no more"
    assert F1.value(answer(irrelevant=1), 4, zero) == 0
    assert PRECISION.value(abstained, None, zero) is None
