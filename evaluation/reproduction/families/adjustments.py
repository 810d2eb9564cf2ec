"""Error rates adjusted by one labelled system ("Verify with Caution", section 5, Table 1 and Table 31).

Every method is calibrated on one system of RAGTruth and tested on the other five; a figure is the mean, or the
worst, magnitude of the bias that is left. Table 1 averages Table 31 over the calibration systems, and what Table 31 has
without adjustment follows from Bespoke-7B's biases in Table 27.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import fmean

from factloop.evaluation.audit.adjustment import adjust
from factloop.evaluation.audit.adjustment_records import AdjustmentMethod
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compare_table
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import HEADROOM, LABELS, Names, published_table
from factloop.evaluation.reproduction.records import Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFY_JOINED

EVALUATOR = "Bespoke-7B"
CROSS_VALIDATED = "Cross-Validated"
WORST = "{} worst"
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_adjustments(number: int, title: str, inputs: Inputs) -> Reproduction:
    """Table 1 or Table 31."""
    found = _means() if number == 1 else _unadjusted()
    table = results_table(inputs)
    if table is not None and EVALUATOR in table.scores:
        found |= dict(_adjusted(table, number))
    return Reproduction(
        entry=f"vwc:table-{number}",
        title=title,
        unit="points",
        figures=compare_table(published_table(number), found),
        notes=() if inputs.results else (PREDICTIONS,),
    )


def _means() -> Ours:
    """Table 1 from Table 31."""
    whole = published_table(31)
    found: Ours = {}
    for names in published_table(1).rows:
        calibration, dataset = names
        rows = [row for row in whole.rows if row[0] == dataset]
        for column in published_table(1).columns:
            if calibration == CROSS_VALIDATED:
                mean = fmean(whole.value(row, column) for row in rows)
                found[names, column] = OurFigure(mean, Origin.PRINTED, len(rows), slack=ROUNDED)
            else:
                found[names, column] = OurFigure(whole.value((dataset, calibration), column), Origin.PRINTED, 1)
    return found


def _unadjusted() -> Ours:
    """The labelled rates of Table 31, and its biases without adjustment, from Table 27."""
    rates = published_table(27)
    found: Ours = {}
    for names in published_table(31).rows:
        dataset, calibration = names
        others = [row for row in rates.rows if row[0] == dataset and row[1] not in (calibration, HEADROOM)]
        sizes = [abs(rates.value(row, f"{EVALUATOR} bias")) for row in others]
        found[names, LABELS] = OurFigure(rates.value(names, LABELS), Origin.PRINTED, 1)
        plain = AdjustmentMethod.UNADJUSTED
        found[names, plain.value] = OurFigure(fmean(sizes), Origin.PRINTED, len(sizes), slack=ROUNDED)
        found[names, WORST.format(plain.value)] = OurFigure(max(sizes), Origin.PRINTED, len(sizes), slack=ROUNDED)
    return found


def _adjusted(table: PredictionTable, number: int) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    for dataset in table.dataset.names:
        report = adjust(table, EVALUATOR, dataset)
        if number == 1:
            for mean in report.methods:
                names, n = (CROSS_VALIDATED, dataset), mean.n_calibrations
                yield (names, mean.method.value), _points(mean.mean_bias, n)
                yield (names, WORST.format(mean.method.value)), _points(mean.worst_bias, n)
        for one in report.calibrations:
            names = (dataset, one.system) if number == 31 else (one.system, dataset)
            if number == 31:
                yield (names, LABELS), _points(one.labelled, one.n_errors + one.n_attributable)
            elif names not in published_table(1).rows:
                continue
            for found in one.adjustments:
                n = len(found.estimates)
                yield (names, found.method.value), _points(found.mean_bias, n)
                yield (names, WORST.format(found.method.value)), _points(found.worst_bias, n)


def _points(share: float | None, n: int) -> OurFigure:
    return OurFigure(None if share is None else 100 * share, Origin.RESULTS, n)


def _entry(number: int, title: str, status: Status, why: str) -> Entry:
    return Entry(
        id=f"vwc:table-{number}",
        title=title,
        status=status,
        why=why,
        model=f"{EVALUATOR} (open weights), its scores on RAGTruth with systems",
        command=VERIFY_JOINED,
        calls="a call a claim",
        calls_per_claim=1.0,
        run=partial(reproduce_adjustments, number, title),
    )


ENTRIES = (
    _entry(
        1,
        "Bias after adjustment, over calibration systems",
        Status.PRINTED,
        "It follows from Table 31; the adjustments themselves need Bespoke-7B's scores.",
    ),
    _entry(
        31,
        "Bias after adjustment by each calibration system",
        Status.PRINTED,
        "Labels and biases without adjustment follow from Table 27; the methods need Bespoke-7B's scores.",
    ),
)
