"""A run in numbers: worked by hand, whatever the order, and never more than its counts kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.core.records import Counts
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.summary import Scoring, summarise
from tests.evaluation.runs.finished_runs import fingerprint, judged

OF_ONE = [judged("p1", "ssn"), judged("p2", "si?"), judged("p3", "")]
OF_TWO = [judged("p1", "nn", system="two"), judged("p2", "??", system="two")]
RESPONSES = [*OF_ONE, *OF_TWO]


def summary_of(responses: Sequence[JudgedResponse], **scoring: Any) -> RunSummary:
    chosen = Scoring(**{"ks": (2, "median", "maximum"), "resamples": 200, **scoring})
    return summarise(responses, kind="responses", data="x", scoring=chosen)


def stable(summary: RunSummary) -> Any:
    return summary.model_dump(mode="json", exclude={"usage", "created_at"})


def test_scores_as_worked_by_hand() -> None:
    scores = summary_of(RESPONSES).scores
    one, two = scores.systems
    # p1: precision 2/3, recall min(2/2, 1) = 1, F1 = 2 * 2/3 / (5/3) = 0.8
    # p2: precision 1, recall 1/2, F1 = 2 * 1/2 / (3/2) = 2/3;   p3 claims nothing: 0 under `zero`
    assert one.at_k[0].f1.value == pytest.approx((0.8 + 2 / 3 + 0) / 3)
    assert (one.at_k[0].f1.n, one.n_abstained) == (3, 1)
    assert one.precision.value == pytest.approx((2 / 3 + 1) / 2)
    assert one.counts == Counts(supported=3, not_supported=1, irrelevant=1, unscored=1)
    # p2 of two has no verdict: it is in no mean, and counted
    assert (two.at_k[0].f1.value, two.at_k[0].f1.n, two.n_unscored_responses) == (0.0, 1, 1)
    # supported claims of the rated answers: 2, 1, 0, 0; median 0.5, rounded up to 1; maximum 2 is the K given
    assert [(choice.k, choice.rule.value) for choice in scores.ks] == [(2, "given"), (1, "median")]
    excluded = summary_of(RESPONSES, abstention=AbstentionPolicy.EXCLUDE).scores
    assert excluded.systems[0].at_k[0].f1.value == pytest.approx((0.8 + 2 / 3) / 2)
    assert excluded.systems[0].at_k[0].f1.n == 2


def test_labels_give_the_same_scores_by_people_for_the_same_k() -> None:
    summary = summary_of([judged("p1", "snn", labels="SSN"), judged("p2", "i", labels="I"), judged("p3", "")])
    assert summary.labelled is not None
    assert [choice.k for choice in summary.labelled.ks] == [choice.k for choice in summary.scores.ks]
    (system,) = summary.labelled.systems
    assert system.counts == Counts(supported=2, not_supported=1, irrelevant=1)
    assert system.at_k[0].f1.value == pytest.approx((0.8 + 0 + 0) / 3)
    assert (system.n_responses, system.n_abstained) == (3, 1)
    assert summary.agreement is not None
    assert summary.agreement.overall.agreement.value == pytest.approx(3 / 4)
    assert summary_of(RESPONSES).labelled is None


def test_warnings_are_of_the_run_and_not_of_each_response() -> None:
    offline = fingerprint(engine="offline", search_tools=("documents",), versions={"spacy": "1"})
    newer = fingerprint(engine="offline", search_tools=("documents",), versions={"spacy": "2"})
    responses = [judged(f"p{number}", "s??", made_by=offline) for number in range(50)]
    summary = summary_of([*responses, judged("p99", "s", made_by=newer)])
    assert len(summary.warnings) == 3
    assert "without a model" in summary.warnings[0]
    assert summary.warnings[1] == "100 of 151 claims have no verdict: 100 × no answer in time"
    assert summary.warnings[2].startswith("Not all responses were judged alike: versions changed")
    assert summary.fingerprint == offline
    without = summary_of([judged("p1", "", made_by=fingerprint())])
    assert without.warnings == ()
    assert "nothing to check against" in summary_of([judged("p1", "s", made_by=fingerprint())]).warnings[0]


def test_no_response_and_two_of_one_are_refused() -> None:
    with pytest.raises(DataError, match="x: there is no response to score"):
        summary_of([])
    with pytest.raises(DataError, match="two responses have the id 'one/p1'"):
        summary_of([OF_ONE[0], OF_ONE[0]])
    with pytest.raises(DataError, match="answers the prompt 'p1' twice"):
        summary_of([OF_ONE[0], OF_ONE[0].model_copy(update={"id": "again"})])


def test_repeats_count_once_in_every_figure_alike() -> None:
    """Three facts, two of them said twice: by the judge s s s n n, by people S S S N N. K = 2.

    Each: S 3, N 2, P 3/5, R 1, F1 3/4. Once: S 2 of 3 texts (a, b), N 1: P 2/3, R 1, F1 4/5; people's the same.
    """
    texts = ("Fact a.", "fact A", "Fact b.", "Fact c.", "Fact c.")
    for policy, counts, f1 in (
        ("each", Counts(supported=3, not_supported=2), 3 / 4),
        ("once", Counts(supported=2, not_supported=1, repeated=2), 4 / 5),
    ):
        made_by = fingerprint(repeats=policy)
        summary = summary_of([judged("p1", "sssnn", labels="SSSNN", texts=texts, made_by=made_by)], ks=(2,))
        (system,) = summary.scores.systems
        assert system.counts == counts
        assert system.at_k[0].f1.value == pytest.approx(f1)
        assert summary.labelled is not None
        people = summary.labelled.systems[0]
        assert people.at_k[0].f1.value == pytest.approx(f1)
        assert people.counts == counts
        assert summary.fingerprint.repeats == policy
