"""Agreement with people's labels as sheets: the figures of each system, and the table behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from factloop.core.records import Counts
from factloop.evaluation.runs.label_agreement import LabelAgreement, SystemAgreement
from factloop.evaluation.runs.views.words import AGREEMENTS, share
from factloop.reports.figures import plural
from factloop.reports.sheet.table import (
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_of,
)

ALL = "All systems"
_VERDICTS = ("Supported", "Not supported", "Irrelevant", "Unscored")
"""In the order of `_counted`."""


def _shown(found: LabelAgreement) -> Iterator[SystemAgreement]:
    """Each system, and all together where there are several."""
    yield from found.systems
    if len(found.systems) != 1:
        yield found.overall


def agreement(found: LabelAgreement) -> Sheet:
    def figure(field: str) -> Callable[[SystemAgreement], Cell]:
        return lambda one: figure_cell(getattr(one, field), share)

    columns: tuple[ColumnOf[SystemAgreement], ...] = (
        (name("System"), lambda one: one.system or ALL),
        *((Column(words, is_strong=True), figure(field)) for field, words in AGREEMENTS.items()),
        (page_only("Responses"), lambda one: one.n_responses),
        (page_only("Facts"), lambda one: one.table.n_facts),
        (page_only("Unscored"), lambda one: one.n_unscored),
    )
    return sheet_of("Agreement with people's labels", columns, _shown(found), is_total=lambda one: one.system is None)


def verdicts(found: LabelAgreement) -> Sheet:
    """For each system a line for each label."""

    def counted(place: int) -> Callable[[tuple[SystemAgreement, int]], Cell]:
        return lambda row: replace(count_cell(_by_verdict(_by_label(row[0])[row[1]])[place]), is_marked=row[1] == place)

    columns: tuple[ColumnOf[tuple[SystemAgreement, int]], ...] = (
        (name("System"), lambda row: row[0].system or ALL),
        (name("Label"), lambda row: _VERDICTS[row[1]].lower()),
        *((Column(words), counted(place)) for place, words in enumerate(_VERDICTS)),
    )
    rows = [(one, label) for one in _shown(found) for label in range(3)]
    return sheet_of(f"Labels and verdicts: {basis(found.overall)}", columns, rows)


def _by_label(one: SystemAgreement) -> tuple[Counts, ...]:
    return one.table.supported, one.table.not_supported, one.table.irrelevant


def _by_verdict(counts: Counts) -> tuple[int, ...]:
    return counts.supported, counts.not_supported, counts.irrelevant, counts.unscored


def basis(overall: SystemAgreement) -> str:
    """`16,011 facts of 496 responses`, and what is not among them."""
    table = overall.table
    said = f"{plural(table.n_facts, 'fact')} of {plural(overall.n_responses, 'response')}"
    n_repeats = table.repeated.total
    repeated = f", {plural(n_repeats, 'repeated fact')} left out of agreement, as in the paper" if n_repeats else ""
    unscored = f", {overall.n_unscored:,} of them unscored" if overall.n_unscored else ""
    return f"{said}{repeated}{unscored}"
