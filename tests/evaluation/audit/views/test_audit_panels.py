"""Small multiples: every data set has its pane or line, and the table beside them the same numbers."""

from __future__ import annotations

from lxml import etree
from markupsafe import Markup

from factloop.core.figure import Undefined
from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.quantification import SystemBias
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views import dataset_sheets
from factloop.evaluation.audit.views.dataset_sheets import best_pair
from factloop.evaluation.audit.views.html import members_of
from factloop.evaluation.audit.views.pictures.marks import Mark
from factloop.evaluation.audit.views.pictures.panels import draw_bias_panels, draw_pair, draw_trade_off
from factloop.evaluation.datasets.benchmark import NAMES
from tests.evaluation.audit.views.audit_sample import sample_audit
from tests.evaluation.audit.views.test_audit_pictures import known, rates_of

MARKS = {name: Mark(number, name) for number, name in enumerate(("one", "two"))}
EIGHTEEN = [*NAMES, *(f"data set {number}" for number in range(18 - len(NAMES)))]


def texts(picture: Markup | None) -> list[str]:
    assert picture is not None
    return ["".join(map(str, one.itertext())).strip() for one in etree.fromstring(picture).iter("{*}text")]


def n_marks(picture: Markup | None) -> int:
    """How many marks of evaluators stand in it."""
    assert picture is not None
    return sum(one.get("data-series") is not None for one in etree.fromstring(picture).iter())


def on(name: str, one: EvaluatorRates) -> EvaluatorRates:
    return one.model_copy(update={"group": Group(kind="dataset", name=name)})


def bias_of(dataset: str, system: str, labelled: float, predicted: float) -> SystemBias:
    return SystemBias(
        evaluator="one",
        level=Level.CLAIM,
        dataset=dataset,
        system=system,
        labelled=known(labelled),
        predicted=known(predicted),
        bias=known(predicted - labelled),
        n_unscored=0,
    )


def test_every_data_set_has_a_pane() -> None:
    names = EIGHTEEN
    assert len(names) == 18
    rates = [on(name, rates_of(evaluator, known(0.9), known(0.6))) for name in names for evaluator in MARKS]
    picture = draw_trade_off(rates, MARKS, "all data")
    assert set(names) <= set(texts(picture))
    assert n_marks(picture) == 2 * len(names)
    biases = [bias_of(name, system, 0.2, 0.3) for name in names for system in "ab"]
    picture = draw_bias_panels(biases, MARKS, "all data")
    assert set(names) <= set(texts(picture))
    assert n_marks(picture) == 2 * len(names)
    pairs = [
        PairAgreement(
            evaluator="one",
            other="two",
            group=Group(kind="dataset", name=name),
            unattributable=known(0.4, 0.3, 0.5),
            attributable=known(0.8),
            n_left_out=0,
        )
        for name in names
    ]
    assert set(names) <= set(texts(draw_pair(pairs, MARKS, "all data")))


def test_one_data_set_has_no_small_multiples() -> None:
    assert draw_trade_off([on("a", rates_of("one", known(0.9), known(0.6)))], MARKS, "a") is None
    assert draw_bias_panels([bias_of("a", "s", 0.2, 0.3)], MARKS, "a") is None
    assert draw_pair([], MARKS, "a") is None


def test_undefined_rates_have_no_mark() -> None:
    nothing = AuditFigure(value=None, undefined=Undefined.NOTHING_SCORED, n=0, n_clusters=0)
    rates = [on(name, rates_of("one", known(0.9), tnr)) for name, tnr in (("a", known(0.5)), ("b", nothing))]
    assert draw_trade_off(rates, MARKS, "all data") is None
    both = [*rates, on("b", rates_of("two", known(0.9), known(0.6)))]
    assert n_marks(draw_trade_off(both, MARKS, "all data")) == 2


def test_the_pair_is_that_of_the_highest_balanced_accuracy() -> None:
    report = sample_audit()
    at, everything = report.at[0], Group(kind="all")
    found = best_pair(at, everything, [one for one in at.agreement.pairs if one.group.kind == "dataset"])
    means = {
        one.evaluator: one.balanced_accuracy.value or 0.0
        for one in at.rates.rates
        if one.group == everything and one.level is Level.CLAIM
    }
    assert {found[0].evaluator, found[0].other} == set(sorted(means, key=lambda name: -means[name])[:2])
    assert [one.group.name for one in found] == list(report.data.datasets)
    sheet = dataset_sheets.pair(found)
    assert [line.cells[1].value for line in sheet.lines] == [one.unattributable.value for one in found]
    assert best_pair(at, Group(kind="task", name="nothing"), at.agreement.pairs) == []


def test_the_tables_name_every_data_set_of_the_group() -> None:
    report = sample_audit()
    assert members_of(Group(kind="all"), report.data) == {"minutes", "news", "questions"}
    assert members_of(Group(kind="task", name="summaries"), report.data) == {"minutes", "news"}
    assert members_of(Group(kind="dataset", name="news"), report.data) == frozenset()
    found = [one for one in report.at[0].quantification.datasets if one.level is Level.CLAIM]
    sheet = dataset_sheets.bias(found)
    assert len(sheet.lines) == 3 * len(report.data.evaluators)
    assert [line.cells[4].value for line in sheet.lines] == [one.bias.value for one in found]
