"""The figures that lead a result stand beside it in the list, each with what it rests on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from factloop.core.records import Record
from factloop.service.result_kinds import KINDS
from factloop.service.shapes import HeadlineFigure
from tests.evaluation.audit.views.audit_sample import bare_audit, sample_audit
from tests.evaluation.experiments.views.experiment_samples import of_nothing, ordinary
from tests.evaluation.runs.views.run_samples import (
    empty_run,
    labelled_run,
    nothing_to_compare,
    plain_run,
    two_evaluators,
)
from tests.reports.sample import make_report, sample_report
from tests.trust.views.trust_sample import firm, long_form, mixed_run, trust_run


def figures_of(record: Record) -> list[HeadlineFigure]:
    kind = next(kind for kind in KINDS if kind.record is type(record))
    return list(kind.figures(record))


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (sample_report, ["Precision"]),
        (firm, ["TrustOV"]),
        (mixed_run, ["TrustOV", "TrustBC", "TrustFC"]),
        (long_form, ["Precision"]),
        (plain_run, ["F1@64", "Precision"]),
        (sample_audit, ["strict", "strict@5", "mild"]),
    ],
)
def test_each_kind_of_result_leads_with_its_figures(make: Callable[[], Record], names: list[str]) -> None:
    found = figures_of(make())
    assert [figure.name for figure in found] == names
    assert all(figure.value != "–" and figure.basis for figure in found if figure.name != "TrustOV")


def test_figures_are_those_of_the_report() -> None:
    audit = sample_audit()
    best = max(
        (rates for rates in audit.at[0].rates.rates if (rates.group.kind, rates.level) == ("all", "claim")),
        key=lambda rates: rates.balanced_accuracy.value or 0.0,
    )
    first = figures_of(audit)[0]
    assert (first.name, first.value) == (best.evaluator, f"{best.balanced_accuracy.value:.2f}")
    run = labelled_run()
    ranked = run.scores.rankings[0]
    score = next(one for one in run.scores.systems if one.system == ranked.systems[0]).at_k[0]
    assert figures_of(run)[0].value == f"{score.f1.value:.2f}"
    assert ranked.systems[0] in figures_of(run)[0].basis
    experiment = ordinary()
    assert figures_of(experiment)[0].name.startswith(f"{experiment.variants[0].variant.name}: ")
    comparison = two_evaluators()
    assert len(figures_of(comparison)) == len(comparison.differences)
    assert "pairs" in figures_of(comparison)[0].basis


@pytest.mark.parametrize(
    "make",
    [
        empty_run,
        nothing_to_compare,
        of_nothing,
        bare_audit,
        lambda: trust_run(()),
        lambda: make_report("", (), prompt=None),
    ],
)
def test_without_a_value_there_is_a_dash_and_a_reason(make: Callable[[], Record]) -> None:
    assert all(figure.value != "None" and (figure.value != "–" or figure.basis) for figure in figures_of(make()))
