"""A run as sheets: the scores of its systems, what they rest on, and how they rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from factloop.evaluation.runs.longform_records import ChosenK, CurvePoint, KRule, LongFormScores, Mean, SystemScore
from factloop.evaluation.runs.measures import MEASURES, Measure, figures_of
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.words import mean_basis, share
from factloop.reports.figures import percent
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    figure_cell,
    name,
    sheet_of,
    value_cell,
)

_SYSTEM: ColumnOf[SystemScore] = (name("System"), lambda one: one.system)
_COUNTS: tuple[ColumnOf[SystemScore], ...] = (
    (Column("Responses"), lambda one: one.n_responses),
    (Column("Abstained"), lambda one: one.n_abstained),
    (Column("Without verdict"), lambda one: one.n_unscored_responses),
    (Column("Claims", on_page=False), lambda one: one.counts.total),
    (Column("Supported"), lambda one: one.counts.supported),
    (Column("Not supported"), lambda one: one.counts.not_supported),
    (Column("Irrelevant"), lambda one: one.counts.irrelevant),
    (Column("Unscored"), lambda one: one.counts.unscored),
)


def claims(scores: LongFormScores) -> Sheet:
    """Responses and claims of each system, by where they fell."""
    return sheet_of("Claims", (_SYSTEM, *_COUNTS), scores.systems)


def scores_of(scores: LongFormScores) -> Sheet:
    """Each measure of each system; what they rest on stands beside them on the page."""
    counts = [(replace(column, on_terminal=False), say) for column, say in _COUNTS]
    return sheet_of("Scores of each system", (_SYSTEM, *_measured(scores), *counts), scores.systems)


def turned(title: str, scores: LongFormScores) -> Sheet:
    """The leading measures under each other, as the terminal has them."""
    return scores_of(scores).turned(title, measure="Measure", value="Mean", interval=interval_head(scores.level))


def interval_head(level: float) -> str:
    return f"{percent(level)} interval"


def _measured(scores: LongFormScores) -> Iterator[ColumnOf[SystemScore]]:
    """`F1@64`, `F1@41 (median)`, `Precision`, in the order of `figures_of`."""
    for place, (measure, choice) in enumerate(_measures(scores)):
        rule = "" if choice is None or choice.rule is KRule.GIVEN else f" ({choice.rule})"
        head = f"{measure.heading(None if choice is None else choice.k)}{rule}"
        yield Column(head, is_strong=True, on_terminal=measure.leads), _mean_at(place)


def _measures(scores: LongFormScores) -> Iterator[tuple[Measure, ChosenK | None]]:
    for measure in MEASURES:
        yield from ((measure, choice) for choice in scores.ks) if measure.at_k else [(measure, None)]


def _mean_at(place: int) -> Callable[[SystemScore], Cell]:
    return lambda one: mean_cell([mean for _, _, mean in figures_of(one)][place])


def mean_cell(mean: Mean) -> Cell:
    return figure_cell(mean, share, basis=mean_basis(mean))


def by_labels(scores: LongFormScores, labelled: LongFormScores) -> Sheet:
    """The leading measures by verdicts, each beside that by people's labels."""
    people = {one.system: one for one in labelled.systems}

    def by_people(say: Callable[[SystemScore], Cell | str | int]) -> Callable[[SystemScore], Cell | str | int]:
        return lambda one: say(people[one.system]) if one.system in people else NOTHING

    columns = [_SYSTEM]
    for column, say in _measured(scores):
        if column.on_terminal:
            columns += [
                (replace(column, head=f"{column.head}, verdicts"), say),
                (replace(column, head=f"{column.head}, labels"), by_people(say)),
            ]
    return sheet_of("F1@K by verdicts and by labels", columns, scores.systems)


def curve(points: Sequence[CurvePoint], systems: Sequence[str]) -> Sheet:
    def f1_of(system: str) -> Callable[[CurvePoint], Cell]:
        return lambda point: value_cell(point.f1.get(system), share)

    columns = [
        (Column("K", is_name=True, key="k"), lambda point: count_cell(point.k)),
        *((Column(system), f1_of(system)) for system in systems),
    ]
    return sheet_of("F1@K against K", columns, points)


def ranks(summary: RunSummary) -> Sheet:
    def rank(place: int) -> Callable[[SystemScore], Cell]:
        ranked = summary.scores.rankings[place].ranks
        return lambda one: value_cell(ranked.get(one.system), "{:g}".format, "no value")

    rankings = enumerate(summary.scores.rankings)
    columns = (_SYSTEM, *((Column(f"K {one.k}"), rank(place)) for place, one in rankings))
    return sheet_of("Rank of each system at each K", columns, summary.scores.systems)
