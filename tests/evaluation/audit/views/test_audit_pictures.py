"""Each picture of an audit shows the numbers of its record, and survives what a record may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from lxml import etree
from markupsafe import Markup

from factloop.core.figure import Undefined
from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.chunking import Changes, ChunkingBias
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.quantification import EvaluatorBias, SystemBias
from factloop.evaluation.audit.ranking import Order, OrderCell, Ranking, SystemRates
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.surface import SimilarityBin, SurfaceBias
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.pictures.agreement import draw_agreement
from factloop.evaluation.audit.views.pictures.bias import draw_headroom, draw_mean_bias, draw_system_bias
from factloop.evaluation.audit.views.pictures.chunking import draw_chunking
from factloop.evaluation.audit.views.pictures.marks import LONGEST_NAME, MARKERS, Mark, short
from factloop.evaluation.audit.views.pictures.ranking import WrongPairs, draw_orders, draw_wrong_pairs
from factloop.evaluation.audit.views.pictures.rates import draw_rates
from factloop.evaluation.audit.views.pictures.similarity import draw_similarity
from factloop.evaluation.statistics.correlation import kendall, pearson
from factloop.evaluation.statistics.significance import PValueAdjustment
from factloop.reports.pictures import SERIES

ALL = Group(kind="all")
MARKS = {name: Mark(number, name) for number, name in enumerate(("one", "two"))}


def known(value: float, low: float | None = None, high: float | None = None) -> AuditFigure:
    return AuditFigure(value=value, n=40, n_clusters=10, low=low, high=high)


UNKNOWN = AuditFigure(value=None, undefined=Undefined.NOTHING_SCORED, n=0, n_clusters=0)


def rates_of(evaluator: str, tpr: AuditFigure, tnr: AuditFigure) -> EvaluatorRates:
    rest = dict.fromkeys(("balanced_accuracy", "fpr", "fnr", "gap"), UNKNOWN)
    return EvaluatorRates(
        evaluator=evaluator,
        level=Level.CLAIM,
        group=ALL,
        tpr=tpr,
        tnr=tnr,
        n_attributable=40,
        n_unattributable=40,
        n_unscored=0,
        **rest,
    )


def pair_of(evaluator: str, other: str | None, value: AuditFigure) -> PairAgreement:
    return PairAgreement(
        evaluator=evaluator, other=other, group=ALL, unattributable=value, attributable=value, n_left_out=0
    )


def bias_of(evaluator: str, mean: AuditFigure, headroom: AuditFigure) -> EvaluatorBias:
    return EvaluatorBias(
        evaluator=evaluator,
        level=Level.CLAIM,
        group=ALL,
        mean_absolute=mean,
        worst_absolute=mean,
        worst_system=None,
        headroom_labelled=headroom,
        headroom_predicted=headroom,
        headroom_bias=headroom,
        headroom_absolute=headroom,
        n_systems=3,
    )


def system_of(evaluator: str, system: str, labelled: AuditFigure, predicted: AuditFigure) -> SystemBias:
    return SystemBias(
        evaluator=evaluator,
        level=Level.CLAIM,
        dataset="d",
        system=system,
        labelled=labelled,
        predicted=predicted,
        bias=UNKNOWN,
        n_unscored=0,
    )


def ranking_of(evaluator: str, rates: Sequence[tuple[str, float, float]]) -> Ranking:
    labelled, predicted = [each[1] for each in rates], [each[2] for each in rates]
    return Ranking(
        dataset="d",
        evaluator=evaluator,
        level=Level.CLAIM,
        threshold=0.5,
        alpha=0.05,
        p_adjustment=PValueAdjustment.NONE,
        systems=tuple(SystemRates(system=name, n=9, labelled=one, predicted=other) for name, one, other in rates),
        pairs=(),
        cells=tuple(OrderCell(labelled=one, predicted=other, n_pairs=0) for one in Order for other in Order),
        n_pairs=0,
        n_wrong=0,
        n_reversed=0,
        share_wrong=None,
        share_reversed=None,
        kendall=kendall(labelled, predicted),
        pearson=pearson(labelled, predicted),
        n_left_out=0,
    )


def surface_of(evaluator: str, tprs: Sequence[float | None]) -> SurfaceBias:
    bins = tuple(
        SimilarityBin(low=0.1, high=0.2, n_attributable=int(tpr is not None), n_unattributable=1, tpr=tpr, tnr=0.5)
        for tpr in tprs
    )
    return SurfaceBias(group=ALL, evaluator=evaluator, threshold=0.5, bins=bins, n=9, n_no_similarity=0, n_unscored=0)


def changes(n: int, lost: int, gained: int) -> Changes:
    shares = [part / n if n else None for part in (lost, gained, lost + gained)]
    return Changes(
        n=n, n_lost=lost, n_gained=gained, share_lost=shares[0], share_gained=shares[1], share_changed=shares[2]
    )


def chunking_of(within: Changes, across: Changes) -> ChunkingBias:
    return ChunkingBias(
        group=ALL,
        evaluator="one",
        chunked="one@9",
        n_words=9,
        threshold=0.5,
        within=within,
        across=across,
        n_short=0,
        n_no_similarity=0,
        n_unscored=0,
    )


def texts(picture: Markup | None) -> list[str]:
    assert picture is not None
    return ["".join(map(str, one.itertext())).strip() for one in etree.fromstring(picture).iter("{*}text")]


def uses(picture: Markup | None, series: int) -> list[tuple[float, float]]:
    """The places of an evaluator's markers, in points from the top left."""
    assert picture is not None
    found = []
    for group in etree.fromstring(picture).iter("{*}g"):
        if group.get("data-series") == str(series):
            found += [(float(str(use.get("x"))), float(str(use.get("y")))) for use in group.iter("{*}use")]
    return found


def test_rates_stand_where_their_values_are() -> None:
    """TPR 1.0 and TNR 0.5 of the first lie half the axis apart; the second has the same TNR and no TPR."""
    picture = draw_rates([rates_of("one", known(1.0), known(0.5)), rates_of("two", UNKNOWN, known(0.5))], MARKS, "d")
    (tpr, tnr), (other,) = uses(picture, 0), uses(picture, 1)
    assert tnr[0] == pytest.approx(other[0])
    assert tnr[1] < other[1]
    assert picture is not None
    ticks = {text: float(x) for x, text in re.findall(r'<text[^>]* x="([\d.]+)"[^>]*>(\d+)</text>', picture)}
    assert tpr[0] == pytest.approx(ticks["100"], abs=0.5)
    assert tnr[0] == pytest.approx((ticks["0"] + ticks["100"]) / 2, abs=0.5)


def test_agreement_is_written_into_its_cells_in_per_cent() -> None:
    found = [pair_of("one", "two", known(0.28)), pair_of("one", None, known(0.31)), pair_of("two", None, UNKNOWN)]
    shown = texts(draw_agreement(found, MARKS, "d"))
    assert [text for text in shown if text in {"28", "31", "–"}] == ["31", "–", "28"] * 2


def test_systems_above_the_diagonal_are_called_wrong_too_often() -> None:
    found = [system_of("one", "a", known(0.2), known(0.8)), system_of("one", "b", known(0.8), known(0.2))]
    high, low = uses(draw_system_bias(found, MARKS, "d"), 0)[:2]
    assert high[0] < low[0]
    assert high[1] < low[1]


def test_crossing_lines_are_pairs_turned_round() -> None:
    """By label a, b; by prediction b, a: the two lines cross."""
    found = [ranking_of("one", [("a", 0.1, 0.4), ("b", 0.2, 0.3)])]
    (a_left, a_right, b_left, b_right) = uses(draw_orders(found, MARKS, "d"), 0)
    assert a_left[1] < b_left[1]
    assert a_right[1] > b_right[1]
    assert texts(draw_orders(found, MARKS, "d"))[:4] == ["labels", "predicted", "a", "b"]


def test_a_bin_without_such_claims_has_no_marker() -> None:
    picture = draw_similarity([surface_of("one", (0.1, None, 0.3, 0.4, 0.5))], MARKS, "d")
    assert len(uses(picture, 0)) == 4 + 5  # TPR in four bins, TNR in five


def test_changes_say_how_many_claims_they_rest_on() -> None:
    shown = texts(draw_chunking([chunking_of(changes(0, 0, 0), changes(1200, 300, 60))], MARKS, "d"))
    assert "30.0 of 1,200" in shown
    assert not [text for text in shown if text.endswith("of 0")]


NOTHING_TO_DRAW: list[tuple[Callable[..., Markup | None], list[Any]]] = [
    (draw_rates, [rates_of("one", UNKNOWN, UNKNOWN)]),
    (draw_agreement, [pair_of("one", None, UNKNOWN)]),
    (draw_mean_bias, [bias_of("one", UNKNOWN, UNKNOWN)]),
    (draw_headroom, [bias_of("one", known(0.1), UNKNOWN)]),
    (draw_system_bias, [system_of("one", "a", UNKNOWN, UNKNOWN)]),
    (draw_orders, [ranking_of("one", [("a", 0.1, 0.2)])]),
    (draw_wrong_pairs, []),
    (draw_chunking, [chunking_of(changes(0, 0, 0), changes(0, 0, 0))]),
]


@pytest.mark.parametrize(("draw", "found"), NOTHING_TO_DRAW)
def test_nothing_defined_is_no_picture_and_not_an_empty_one(draw: Any, found: list[Any]) -> None:
    assert draw(found, MARKS, "d") is None
    assert draw([], MARKS, "d") is None


def test_hundreds_of_evaluators_with_odd_names_are_drawn() -> None:
    names = [f"$_{{{place}}}$ <b>{'長' * 40}" for place in range(30)]
    marks = {name: Mark(number, name) for number, name in enumerate(names)}
    picture = draw_wrong_pairs([WrongPairs(name, 0.4, 0.1) for name in names], marks, names[0])
    assert len(uses(picture, 29)) == 2


def test_sixty_four_evaluators_look_different() -> None:
    marks = [Mark(number, "") for number in range(64)]
    assert len({(mark.colour, mark.marker) for mark in marks}) == len(SERIES) * len(MARKERS) == 64


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two lines"),
        ("_private", " _private"),
        ("organisation/model-with-a-long-name-7b", "organisation…ong-name-7b"),
    ],
)
def test_a_name_fits_on_a_line_and_keeps_both_its_ends(name: str, shown: str) -> None:
    assert short(name) == shown
    assert len(short(name)) <= LONGEST_NAME + 1
