"""Balanced accuracy and the rates in it ("Verify with Caution", Tables 3 to 5, Figure 2 and section 3.2).

Balanced accuracy is the mean of 1 - FPR and 1 - FNR, and the average that of the fourteen data sets: so Table 3 follows
from Tables 4 and 5, and Figure 2, whose axes are TPR and TNR, shows the same numbers. The average of fewer data sets
stands beside the mean of what the paper prints for the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from statistics import fmean

from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.rates import EvaluatorRates, rates
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.audit.units import Level
from factloop.evaluation.datasets.benchmark import NAMES
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compare_table, compared
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import AVERAGE, Names, PublishedTable, published_table
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFIERS, VERIFY_JOINED
from factloop.reports.figures import plural

MEASURES = {3: "balanced_accuracy", 4: "fpr", 5: "fnr"}
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_rates(number: int, title: str, inputs: Inputs) -> Reproduction:
    """Table 3, 4 or 5: a row an evaluator, a column a data set."""
    found, published = _printed(number), published_table(number)
    table = results_table(inputs)
    averages: list[ComparedFigure] = []
    if table is not None:
        of_datasets: dict[str, dict[str, OurFigure]] = {}
        for one in rates(count(table), levels=(Level.CLAIM,)).rates:
            if one.group.kind == "dataset":
                figure = found[(one.evaluator,), one.group.name] = _figure(one, MEASURES[number])
                of_datasets.setdefault(one.evaluator, {})[one.group.name] = figure
        for evaluator, figures in of_datasets.items():
            averages += _averages(evaluator, figures, published, found)
    return Reproduction(
        entry=f"vwc:table-{number}",
        title=title,
        unit="%",
        figures=(*compare_table(published, found), *averages),
        notes=(*_strangers(table), *(() if inputs.results else (PREDICTIONS,))),
    )


def _averages(
    evaluator: str, figures: Mapping[str, OurFigure], published: PublishedTable, found: Ours
) -> Iterator[ComparedFigure]:
    """Our average over all data sets of the paper goes into `found`; that over fewer has a place of its own."""
    values = {name: float(one.value) for name, one in figures.items() if name in NAMES and one.value is not None}
    if not values:
        return
    n = sum(figures[name].n or 0 for name in values)
    ours = OurFigure(fmean(values.values()), Origin.RESULTS, n, slack=ROUNDED)
    if len(values) == len(NAMES):
        found[(evaluator,), AVERAGE] = OurFigure(ours.value, Origin.RESULTS, n)
        return
    theirs = None
    if (evaluator,) in published.rows:
        mean = fmean(published.value((evaluator,), name) for name in values)
        theirs = Decimal(mean).quantize(Decimal("0.1"))
    yield compared((evaluator,), f"{AVERAGE} of {plural(len(values), 'data set')}", theirs, ours)


def _strangers(table: PredictionTable | None) -> Iterator[str]:
    names = [] if table is None else [name for name in table.dataset.names if name not in NAMES]
    if names:
        yield f"{', '.join(names)}: not among the paper's data sets, and so left out of the average"


def _printed(number: int) -> Ours:
    """The averages of each table, and all of Table 3, from the rates that the paper prints."""
    table = published_table(number)
    found: Ours = {
        (names, AVERAGE): OurFigure(fmean(table.value(names, one) for one in NAMES), Origin.PRINTED, slack=ROUNDED)
        for names in table.rows
    }
    if number == 3:
        false_positive, false_negative = published_table(4), published_table(5)
        for names in table.rows:
            for dataset in NAMES:
                wrong = false_positive.value(names, dataset) + false_negative.value(names, dataset)
                found[names, dataset] = OurFigure(100 - wrong / 2, Origin.PRINTED, slack=ROUNDED)
    return found


def _figure(one: EvaluatorRates, measure: str) -> OurFigure:
    figure = getattr(one, measure)
    return OurFigure(None if figure.value is None else 100 * figure.value, Origin.RESULTS, figure.n)


def reproduce_trade_off(title: str, inputs: Inputs) -> Reproduction:
    """Figure 2 as numbers: TPR and TNR of each evaluator on each data set."""
    false_positive, false_negative = published_table(4), published_table(5)
    table = results_table(inputs)
    ours = None if table is None else rates(count(table), levels=(Level.CLAIM,))
    figures = []
    for names in false_positive.rows:
        for dataset in NAMES:
            for column, printed in (("TPR", false_negative), ("TNR", false_positive)):
                theirs = 100 - printed.rows[names][dataset]
                found = None
                if (
                    ours is not None
                    and table is not None
                    and names[0] in table.scores
                    and dataset in table.dataset.names
                ):
                    found = _figure(ours.find(names[0], Group(kind="dataset", name=dataset)), column.lower())
                figures.append(compared((dataset, *names), column, theirs, found))
    return Reproduction(
        entry="vwc:figure-2",
        title=title,
        unit="%",
        figures=tuple(figures),
        notes=("Theirs are 100 less the rates of Tables 4 and 5.", *(() if inputs.results else (PREDICTIONS,))),
    )


def reproduce_gaps(title: str, inputs: Inputs) -> Reproduction:
    """Section 3.2: on how many data sets TPR and TNR lie far apart, counted in Tables 4 and 5."""
    del inputs
    counts = [
        (("gpt-4-turbo",), "gap above 20 points", "7", _n_far(("gpt-4-turbo",), 20, both_ways=True)),
        (("Bespoke-7B",), "gap above 20 points", "7", _n_far(("Bespoke-7B",), 20, both_ways=True)),
        (("Bespoke-7B",), "TNR behind by more than 10", "9", _n_far(("Bespoke-7B",), 10, both_ways=False)),
        (("gpt-4-turbo",), "TNR behind by more than 10", "9", _n_far(("gpt-4-turbo",), 10, both_ways=False)),
    ]
    return Reproduction(
        entry="vwc:section-3.2",
        title=title,
        unit="data sets of 14",
        figures=tuple(
            compared(names, column, stated, OurFigure(str(found), Origin.PRINTED, 14))
            for names, column, stated, found in counts
        ),
        notes=(
            "The text does not say of which evaluator TNR lags behind on 9 data sets; of none of the five it does.",
        ),
    )


def _n_far(names: Names, points: float, *, both_ways: bool) -> int:
    gaps = list(_gaps(names, published_table(4), published_table(5)))
    return sum((abs(gap) if both_ways else gap) > points for gap in gaps)


def _gaps(names: Names, false_positive: PublishedTable, false_negative: PublishedTable) -> Iterator[float]:
    """TPR less TNR of each data set."""
    for dataset in NAMES:
        yield false_positive.value(names, dataset) - false_negative.value(names, dataset)


def _entry(number: int, title: str, why: str) -> Entry:
    return Entry(
        id=f"vwc:table-{number}",
        title=title,
        status=Status.NEEDS_MODEL,
        why=why,
        data=("llm-aggrefact:dev",),
        model=VERIFIERS,
        command=VERIFY_JOINED,
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_rates, number, title),
    )


_AVERAGES = "Its averages follow from its rows."
ENTRIES = (
    _entry(3, "Balanced accuracy by data set", "It follows from Tables 4 and 5, but for what the notes name."),
    _entry(4, "False positive rate by data set", _AVERAGES),
    _entry(5, "False negative rate by data set", _AVERAGES),
    Entry(
        id="vwc:figure-2",
        title="TPR against TNR on each data set",
        status=Status.NEEDS_MODEL,
        why="The numbers of Tables 4 and 5; the page of `factloop audit` draws them, a panel a data set.",
        data=("llm-aggrefact:dev",),
        model=VERIFIERS,
        command=VERIFY_JOINED,
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_trade_off, "TPR against TNR on each data set"),
    ),
    Entry(
        id="vwc:section-3.2",
        title="Data sets on which TPR and TNR lie far apart",
        status=Status.PRINTED,
        why="Both counts of wide gaps come out of Tables 4 and 5; that of TNR behind TPR does for none of the five.",
        run=partial(reproduce_gaps, "Data sets on which TPR and TNR lie far apart"),
    ),
)
