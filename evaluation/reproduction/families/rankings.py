"""Orders of pairs of systems, and rank correlations ("Verify with Caution", section 3.5 and appendix A.3).

A row `= as <` counts pairs that do not differ by label and of which the evaluator calls the first better. How many
pairs differ by label, and how many do not, comes out of labelled data alone; the shares of errors follow from the
counts, and the correlations from the rates of Tables 21 to 29.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from statistics import fmean

from factloop.evaluation.audit.pair_tests import PairTest
from factloop.evaluation.audit.ranking import Order, Ranking, rank_systems
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.audit.units import Level
from factloop.evaluation.datasets.benchmark import benchmark_dataset
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compare_table, compared
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import (
    AVERAGE,
    EVALUATORS,
    HEADROOM,
    LABELS,
    Names,
    PublishedTable,
    published_table,
)
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import evaluators_of, labels_table, results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFIERS, VERIFY_JOINED, verify_command
from factloop.evaluation.statistics.correlation import kendall, pearson
from factloop.reports.figures import plural

TABLES = {
    12: ("TofuEval-MediaS",),
    15: ("TofuEval-MeetB",),
    22: ("ExpertQA",),
    25: ("Lfqa",),
    28: ("RAGTruth-CNN/DM", "RAGTruth-News", "RAGTruth-MARCO", "RAGTruth-Yelp"),
}
CORRELATIONS = {6: ((21, 24, 27), Level.CLAIM), 7: ((23, 26, 29), Level.RESPONSE)}
"""Number of a table to the tables whose rates it correlates, and its level."""
SIGNS = {Order.BETTER: "<", Order.SAME: "=", Order.WORSE: ">"}
WRONG, REVERSED = "%Err", "%Maj. Err"
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_orders(number: int, title: str, inputs: Inputs) -> Reproduction:
    """The pairs of systems by label and by prediction, and how many the labels tell apart."""
    datasets, table = TABLES[number], published_table(number)
    found = printed_errors(table)
    results = results_table(inputs)
    fewer: list[str] = []
    if results is not None:
        for dataset in datasets:
            if dataset in results.dataset.names:
                found |= dict(_orders(results, dataset, table, fewer))
    labels = labels_table(inputs, datasets)
    return Reproduction(
        entry=f"vwc:table-{number}",
        title=title,
        unit="pairs; % of pairs",
        figures=(*_labelled(table, labels), *compare_table(table, found)),
        notes=(
            *inputs.missing(_parts(datasets)),
            "The paper names no test. Here: paired sign flips over shared prompts, else two proportions of claims "
            "taken for independent, at 0.05; `factloop audit` compares by whole responses instead.",
            *dict.fromkeys(fewer),
            *(() if inputs.results else (PREDICTIONS,)),
        ),
    )


def printed_errors(table: PublishedTable) -> Ours:
    """The shares of wrong and of reversed pairs, from the counts that are printed above them."""
    found: Ours = {}
    for dataset in table.datasets:
        for evaluator in table.columns:
            cells = {
                (by_label, by_prediction): table.value((dataset, f"{by_label} as {by_prediction}"), evaluator)
                for by_label in "=<"
                for by_prediction in ">=<"
            }
            n = sum(cells.values())
            wrong = sum(pairs for (label, predicted), pairs in cells.items() if label != predicted)
            found[(dataset, WRONG), evaluator] = OurFigure(100 * wrong / n, Origin.PRINTED, int(n))
            found[(dataset, REVERSED), evaluator] = OurFigure(100 * cells["<", ">"] / n, Origin.PRINTED, int(n))
    return found


def _labelled(table: PublishedTable, labels: PredictionTable | None) -> Iterator[ComparedFigure]:
    """How many pairs do not differ by label, and how many do: theirs are the sums of a row of the printed table."""
    for dataset in table.datasets:
        ranking = None
        if labels is not None and dataset in labels.dataset.names:
            ranking = rank_systems(labels, LABELS, dataset, unpaired=PairTest.TWO_PROPORTIONS)
        for sign, order in (("=", Order.SAME), ("<", Order.BETTER)):
            cells = [table.rows[dataset, f"{sign} as {other}"][table.columns[0]] for other in ">=<"]
            printed = sum(cells, Decimal(0))
            n_pairs = None if ranking is None else float(sum(pair.labelled is order for pair in ranking.pairs))
            ours = None if n_pairs is None else OurFigure(n_pairs, Origin.LABELS, labels.n_rows if labels else None)
            yield compared((dataset, f"{sign} in all"), LABELS, printed, ours)


def _orders(
    table: PredictionTable, dataset: str, published: PublishedTable, fewer: list[str]
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Counts of other systems than the paper's are rows of their own: 2 of 6 pairs are no 5 of 15, though both a third.

    Says in `fewer` of how many.
    """
    cells = [row for row in published.rows if row[0] == dataset and " as " in row[1]]
    n_printed = int(sum(published.value(row, published.columns[0]) for row in cells))
    for evaluator in evaluators_of(table):
        ranking = rank_systems(table, evaluator, dataset, unpaired=PairTest.TWO_PROPORTIONS)
        name = dataset
        if ranking.n_pairs != n_printed:
            name = f"{dataset}, {plural(ranking.n_pairs, 'pair')}"
            fewer.append(
                f"{dataset}: the predictions have {plural(len(ranking.systems), 'system')}, which make "
                f"{plural(ranking.n_pairs, 'pair')}; the paper has {n_printed:,}, so that nothing is compared"
            )
        yield from _of_ranking(ranking, name)


def _of_ranking(ranking: Ranking, dataset: str) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Pairs that a paired test calls worse by label than all claims together do count with their signs turned."""
    for by_label in (Order.SAME, Order.BETTER):
        for by_prediction in Order:
            wanted = (by_label, by_prediction)
            n = sum(cell.n_pairs for cell in ranking.cells if _turned(cell.labelled, cell.predicted) == wanted)
            names = (dataset, f"{SIGNS[by_label]} as {SIGNS[by_prediction]}")
            yield (names, ranking.evaluator), OurFigure(float(n), Origin.RESULTS, ranking.n_pairs)
    for name, share in ((WRONG, ranking.share_wrong), (REVERSED, ranking.share_reversed)):
        if share is not None:
            figure = OurFigure(100 * share, Origin.RESULTS, ranking.n_pairs)
            yield ((dataset, name), ranking.evaluator), figure


def _turned(by_label: Order, by_prediction: Order) -> tuple[Order, Order]:
    other = {Order.BETTER: Order.WORSE, Order.WORSE: Order.BETTER, Order.SAME: Order.SAME}
    return (Order.BETTER, other[by_prediction]) if by_label is Order.WORSE else (by_label, by_prediction)


def reproduce_correlations(number: int, title: str, inputs: Inputs) -> Reproduction:
    """Kendall's and Pearson's coefficients of labelled with predicted rates, over the systems of a data set."""
    table, (sources, level) = published_table(number), CORRELATIONS[number]
    found: Ours = {}
    theirs: dict[str, set[str]] = {}
    others: list[str] = []
    for source in sources:
        found |= _correlated(published_table(source))
        for dataset, system in published_table(source).rows:
            if system != HEADROOM:
                theirs.setdefault(dataset, set()).add(system)
    for kind in ("Kendall", "Pearson"):
        rows = [names for names in table.rows if names[0] == kind and names[1] != AVERAGE]
        for evaluator in table.columns:
            mean = fmean(table.value(names, evaluator) for names in rows)
            found[(kind, AVERAGE), evaluator] = OurFigure(mean, Origin.PRINTED, len(rows), slack=0.005)
    results = results_table(inputs)
    if results is not None:
        found |= dict(_of_results(results, theirs, level, others))
    return Reproduction(
        entry=f"vwc:table-{number}",
        title=title,
        unit="coefficient",
        figures=compare_table(table, found),
        notes=(
            "From rates printed with one decimal: where two systems have the same printed rate, between 0 and 100, "
            "they may differ, so that Kendall's coefficient is not known, and left out.",
            *dict.fromkeys(others),
            *(() if inputs.results else (PREDICTIONS,)),
        ),
    )


def _correlated(rates: PublishedTable) -> Ours:
    found: Ours = {}
    for dataset in rates.datasets:
        systems = [names for names in rates.rows if names[0] == dataset and names[1] != HEADROOM]
        labelled = [rates.value(names, LABELS) for names in systems]
        for evaluator in EVALUATORS:
            predicted = [rates.value(names, evaluator) for names in systems]
            n = len(systems)
            if not _may_hide_an_order(labelled) and not _may_hide_an_order(predicted):
                value = kendall(labelled, predicted).value
                found[("Kendall", dataset), evaluator] = OurFigure(value, Origin.PRINTED, n)
            value = pearson(labelled, predicted).value
            found[("Pearson", dataset), evaluator] = OurFigure(value, Origin.PRINTED, n, slack=0.005)
    return found


def _may_hide_an_order(rates: Sequence[float]) -> bool:
    """Whether two rates are alike as printed that may differ: at 0 and at 100 no decimal is left to differ in."""
    return any(rates.count(rate) > 1 for rate in rates if 0.0 < rate < 100.0)


def _of_results(
    table: PredictionTable, theirs: Mapping[str, set[str]], level: Level, others: list[str]
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Over other systems than the paper's a coefficient is a row of its own; says so in `others`."""
    for dataset in [name for name in theirs if name in table.dataset.names]:
        for evaluator in evaluators_of(table):
            ranking = rank_systems(table, evaluator, dataset, level=level)
            place, ours = dataset, {one.system for one in ranking.systems}
            if ours != theirs[dataset]:
                place = f"{dataset}, {plural(len(ours), 'system')}"
                others.append(f"{dataset}: the systems are not the paper's, so that its coefficients are not compared")
            for kind, one in (("Kendall", ranking.kendall), ("Pearson", ranking.pearson)):
                yield ((kind, place), evaluator), OurFigure(one.value, Origin.RESULTS, one.n)


def reproduce_share_wrong(title: str, inputs: Inputs) -> Reproduction:
    """Section 3.5: the mean share of pairs in the wrong order, over the eight data sets with six systems."""
    del inputs
    stated = {"gpt-4-turbo": Decimal(26), "Bespoke-7B": Decimal(20)}
    figures = []
    for evaluator, printed in stated.items():
        shares = [
            published_table(number).value((dataset, WRONG), evaluator)
            for number, datasets in TABLES.items()
            for dataset in datasets
        ]
        mean = OurFigure(fmean(shares), Origin.PRINTED, len(shares), slack=ROUNDED)
        figures.append(compared((evaluator,), "pairs in the wrong order", printed, mean))
    return Reproduction(
        entry="vwc:section-3.5",
        title=title,
        unit="% of pairs, mean over data sets",
        figures=tuple(figures),
        notes=("The paper's own tables give 23 for Bespoke-7B, where its text has 20.",),
    )


def _parts(datasets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for name in datasets if (part := benchmark_dataset(name).part) is not None)


_OF_LABELS = {
    12: "By the labels no pair of systems differs, as printed; the evaluators' columns need models.",
    22: "By the labels of another sample fewer pairs differ; the evaluators' columns need models.",
}


def _orders_entry(number: int) -> Entry:
    title = f"Pairs of systems by label and by prediction: {', '.join(TABLES[number])}"
    return Entry(
        id=f"vwc:table-{number}",
        title=title,
        status=Status.IN_PART if number in _OF_LABELS else Status.NEEDS_MODEL,
        why=_OF_LABELS.get(number, "The shares of errors follow from its counts; these need predictions with systems."),
        data=_parts(TABLES[number]),
        model=VERIFIERS,
        command=verify_command(TABLES[number]),
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_orders, number, title),
    )


_TIED = {6: 14, 7: 1}
"""Coefficients of each table that printed rates leave open."""


def _correlation_entry(number: int) -> Entry:
    title = f"Correlation of labelled with predicted error rates over systems ({CORRELATIONS[number][1].value} level)"
    return Entry(
        id=f"vwc:table-{number}",
        title=title,
        status=Status.PRINTED,
        why=(
            "Its coefficients follow from the rates of other tables, but for AlignScore's, whose rates are not "
            f"printed, and {_TIED[number]} of Kendall's, where two systems have one printed rate."
        ),
        model=VERIFIERS,
        command=VERIFY_JOINED,
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_correlations, number, title),
    )


ENTRIES = (
    *map(_correlation_entry, CORRELATIONS),
    *map(_orders_entry, TABLES),
    Entry(
        id="vwc:section-3.5",
        title="Pairs of systems in the wrong order, over eight data sets",
        status=Status.PRINTED,
        why="gpt-4-turbo's mean comes out; Bespoke-7B's is 23 by the paper's own tables and 20 in its text.",
        run=partial(reproduce_share_wrong, "Pairs of systems in the wrong order, over eight data sets"),
    ),
)
