"""Reproduces tables, figures and statements from "Verify with Caution" (Godbole and Jia 2025).

Figures about labels come from labelled data, and those of evaluators from predictions. A figure that follows from other
printed figures is computed from these, to compare our formulas with the paper's. Figures across all systems (the lowest
rate, orders of pairs, correlations) get separate rows if our systems differ from the paper's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import fmean

from factloop.core.figure import Figure
from factloop.evaluation.audit.adjustment import AdjustmentMethod, adjust
from factloop.evaluation.audit.chunking import ChunkingBias, chunked_evaluators, chunking_bias, r2_differences
from factloop.evaluation.audit.quantification import quantification
from factloop.evaluation.audit.ranking import Order, PairTest, rank_systems
from factloop.evaluation.audit.rates import rates
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.table import Level, PredictionTable
from factloop.evaluation.datasets.benchmark import BENCHMARK, NAMES, benchmark_dataset
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import (
    AVERAGE,
    EVALUATORS,
    HEADROOM,
    LABELS,
    Names,
    PublishedTable,
    published_table,
    published_words,
)
from factloop.evaluation.reproduction.records import (
    ROUNDED,
    ComparedFigure,
    Origin,
    OurFigure,
    Ours,
    compare_table,
    compared,
    percent,
)
from factloop.evaluation.statistics.correlation import Method, correlate
from factloop.reports.figures import plural

Findings = tuple[Iterable[ComparedFigure], Iterable[str]]
"""The figures of an entry, and notes on what was read, what is missing and how to interpret the figures."""
PREDICTIONS = (
    "No model was used; pass the predictions of `factloop research verify` with `--results`, and match the "
    "evaluators with `--evaluator PAPER=OURS`"
)
RAGTRUTH = ("RAGTruth-CNN/DM", "RAGTruth-News", "RAGTruth-MARCO", "RAGTruth-Yelp")
ERRORS: Mapping[int, tuple[tuple[str, ...], Level]] = {
    8: (("Wice", "FactCheck-GPT"), Level.CLAIM),
    9: (("AggreFact-CNN",), Level.CLAIM),
    10: (("AggreFact-XSum",), Level.CLAIM),
    11: (("TofuEval-MediaS",), Level.CLAIM),
    13: (("TofuEval-MediaS",), Level.RESPONSE),
    14: (("TofuEval-MeetB",), Level.CLAIM),
    16: (("TofuEval-MeetB",), Level.RESPONSE),
    17: (("Reveal",), Level.CLAIM),
    18: (("Reveal",), Level.RESPONSE),
    19: (("ClaimVerify",), Level.CLAIM),
    20: (("ClaimVerify",), Level.RESPONSE),
    21: (("ExpertQA",), Level.CLAIM),
    23: (("ExpertQA",), Level.RESPONSE),
    24: (("Lfqa",), Level.CLAIM),
    26: (("Lfqa",), Level.RESPONSE),
    27: (RAGTRUTH, Level.CLAIM),
    29: (RAGTRUTH, Level.RESPONSE),
}
"""The data sets and level of each table of error rates, by its number."""
ORDERS = {12: ("TofuEval-MediaS",), 15: ("TofuEval-MeetB",), 22: ("ExpertQA",), 25: ("Lfqa",), 28: RAGTRUTH}
"""The data sets of each table of ordered system pairs, by its number."""
CORRELATIONS = {6: ((21, 24, 27), Level.CLAIM), 7: ((23, 26, 29), Level.RESPONSE)}
"""For each table of correlations, by its number: the tables whose rates it correlates, and its level."""
BIAS, WORST = "{} bias", "{} worst"
WRONG, REVERSED = "%Err", "%Maj. Err"


def labelled_parts(datasets: Iterable[str]) -> tuple[str, ...]:
    return tuple(part for name in dict.fromkeys(datasets) if (part := benchmark_dataset(name).part) is not None)


def _unless_given(inputs: Inputs, note: str = PREDICTIONS) -> tuple[str, ...]:
    return () if inputs.results else (note,)


def _own_row(row: str, dataset: str, ours: set[str], notes: list[str]) -> str:
    """Returns the paper's row if our systems are the same. Otherwise, adds a note and returns a new row."""
    theirs = {
        names[1]
        for number, (datasets, _) in ERRORS.items()
        if dataset in datasets
        for names in published_table(number).systems(dataset)
    }
    if ours == theirs:
        return row
    notes.append(
        f"{dataset}: our {plural(len(ours), 'system')} and the paper's {len(theirs):,} have only "
        f"{plural(len(ours & theirs), 'name')} in common, so figures over all systems are not compared"
    )
    return f"{row}, {plural(len(ours), 'system')}"


def describe_datasets(inputs: Inputs) -> Findings:
    """Compares each data set's task group, and whether its claims are parts of longer responses (Table 2)."""
    table = inputs.labels(NAMES)
    figures: list[ComparedFigure] = []
    for name, printed in published_words(2).items():
        known = benchmark_dataset(name)
        task = OurFigure(known.task.casefold(), Origin.RULE)
        figures.append(compared((name,), "task group", printed["Task"].casefold(), task))
        has_responses = OurFigure("Y" if known.has_responses else "N", Origin.RULE)
        if table is not None and name in table.dataset.names:
            responses = table.response.codes[table.dataset.codes == table.dataset.names.index(name)]
            n_claims = len(responses)
            has_responses = OurFigure("Y" if len(set(responses.tolist())) < n_claims else "N", Origin.LABELS, n_claims)
        figures.append(compared((name,), "long responses", printed["Long responses"], has_responses))
    note = "Our rules are in factloop.evaluation.datasets.benchmark; figures from labels are counted in the data."
    return figures, (note, *inputs.missing(labelled_parts(one.name for one in BENCHMARK)))


def error_rates(inputs: Inputs, number: int) -> Findings:
    """Compares error rates by label and by evaluator (appendix A.4). A bias is the predicted rate minus the labelled
    rate, and the headroom is the lowest rate in a data set."""
    datasets, level = ERRORS[number]
    notes = [*inputs.missing(labelled_parts(datasets))]
    table = published_table(number)
    found = _printed_biases(table)
    for rows, origin in ((inputs.labels(datasets), Origin.LABELS), (inputs.predictions(), Origin.RESULTS)):
        if rows is not None:
            found |= _measured_errors(rows, table, level, origin, notes)
    unlabelled = [name for name in datasets if benchmark_dataset(name).part is None]
    if unlabelled and inputs.results is None:
        notes.append(
            f"{', '.join(unlabelled)}: claims are not labelled by system, so rates can only come from `--results`"
        )
    notes += (*_unless_given(inputs), *((_EXPERTQA,) if number in (21, 23) else ()))
    return compare_table(table, found), dict.fromkeys(notes)


_EXPERTQA = (
    "ExpertQA: claims without cited evidence are left out. The paper's rates are based on about 949 responses (their "
    "decimals suggest 169, 51, 196, 190, 203 and 140), not on the sample in this file. For gpt4 and bing_chat, the "
    "original data have addresses without passages. The benchmark fetched the pages and dropped claims whose page was "
    "gone, so gpt4's rates cannot be reproduced. Partial support is treated as no support. If it were treated as "
    "support, the rates of claims would fit nearly as well: only bing_chat distinguishes the two (9.8 against 16.7, "
    "z = -2.1)"
)


def _printed_biases(table: PublishedTable) -> Ours:
    """Calculates evaluators' biases on each system, and each column's headroom, from the printed rates alone."""
    found: Ours = {}
    for dataset in table.datasets:
        systems = table.systems(dataset)
        rows = {names: table.rows[names] for names in systems}
        best = (dataset, HEADROOM)
        if best in table.rows:
            columns = (LABELS, *table.evaluators)
            lowest = {column: min(rows[names][column] for names in systems) for column in columns}
            found |= {(best, column): OurFigure(float(rate), Origin.PRINTED) for column, rate in lowest.items()}
            rows[best] = lowest
        for names, cells in rows.items():
            for one in table.evaluators:
                bias = float(cells[one] - cells[LABELS])
                found[names, BIAS.format(one)] = OurFigure(bias, Origin.PRINTED, slack=2 * ROUNDED)
    return found


def _measured_errors(
    table: PredictionTable, published: PublishedTable, level: Level, origin: Origin, notes: list[str]
) -> Ours:
    counted = quantification(count(table), levels=(level,))
    found: Ours = {}

    def put(names: Names, evaluator: str, labelled: Figure, predicted: Figure, bias: Figure, n: int | None) -> None:
        found[names, LABELS] = percent(labelled.value, labelled.n if n is None else n, origin)
        if evaluator != LABELS:
            found[names, evaluator] = percent(predicted.value, predicted.n if n is None else n, origin)
            found[names, BIAS.format(evaluator)] = percent(bias.value, bias.n if n is None else n, origin)

    if any(names[1] == "all" for names in published.rows):
        for one in counted.datasets:
            if one.dataset in published.datasets:
                put((one.dataset, "all"), one.evaluator, one.labelled, one.predicted, one.bias, None)
        return found
    rates_of = {(error.dataset, error.system): error.error_rate for error in counted.errors}
    for names, rate in rates_of.items():
        if names[0] in published.datasets:
            found[names, LABELS] = percent(rate.value, rate.n, origin)
    for of_system in counted.systems:
        names = (of_system.dataset, of_system.system)
        if names[0] in published.datasets:
            put(names, of_system.evaluator, rates_of[names], of_system.predicted, of_system.bias, None)
    for best in counted.evaluators:
        dataset, lowest = best.group.name, best.headroom_labelled
        if best.group.kind != "dataset" or dataset not in published.datasets or lowest.value is None:
            continue
        scored = {
            one.system
            for one in counted.systems
            if (one.evaluator, one.dataset) == (best.evaluator, dataset) and one.bias.value is not None
        }
        row = (dataset, _own_row(HEADROOM, dataset, scored, notes))
        put(row, best.evaluator, lowest, best.headroom_predicted, best.headroom_bias, lowest.n)
    return found


def order_pairs(inputs: Inputs, number: int) -> Findings:
    """Compares how labels and predictions order pairs of systems (section 3.5 and appendix A.3).

    The row `= as <` counts the pairs that do not differ by label, but whose first system is better according to the
    evaluator. The number of pairs that differ by label comes from labelled data alone, and the fractions of errors
    follow from the counts.
    """
    datasets, table = ORDERS[number], published_table(number)
    found, others = _printed_orders(table), list[str]()
    results = inputs.predictions()
    for dataset in () if results is None else datasets:
        if results is not None and dataset in results.dataset.names:
            found |= _measured_orders(results, dataset, table, others)
    return (
        [*_labelled_orders(table, inputs.labels(datasets)), *compare_table(table, found)],
        (
            *inputs.missing(labelled_parts(datasets)),
            "The paper does not name its test. We use paired sign flips if prompts are shared, or else a test of two "
            "proportions of independent claims, at 0.05; `factloop research audit` compares whole responses instead.",
            *dict.fromkeys(others),
            *_unless_given(inputs),
        ),
    )


def _printed_orders(table: PublishedTable) -> Ours:
    found: Ours = {}
    for dataset in table.datasets:
        for evaluator in table.columns:
            cells = {
                (label, predicted): table.value((dataset, f"{label} as {predicted}"), evaluator)
                for label in "=<"
                for predicted in ">=<"
            }
            n = sum(cells.values())
            wrong = sum(pairs for (label, predicted), pairs in cells.items() if label != predicted)
            found[(dataset, WRONG), evaluator] = OurFigure(100 * wrong / n, Origin.PRINTED, int(n))
            found[(dataset, REVERSED), evaluator] = OurFigure(100 * cells["<", ">"] / n, Origin.PRINTED, int(n))
    return found


def _labelled_orders(table: PublishedTable, labels: PredictionTable | None) -> Iterator[ComparedFigure]:
    """Compares the numbers of pairs that do and do not differ by label. The paper's numbers are sums of cells."""
    for dataset in table.datasets:
        pairs = None
        if labels is not None and dataset in labels.dataset.names:
            pairs = rank_systems(labels, LABELS, dataset, unpaired=PairTest.TWO_PROPORTIONS).pairs
        for sign, order in (("=", Order.SAME), ("<", Order.BETTER)):
            cells = [table.rows[dataset, f"{sign} as {other}"][table.columns[0]] for other in ">=<"]
            ours = None
            if pairs is not None and labels is not None:
                n_pairs = float(sum(pair.labelled is order for pair in pairs))
                ours = OurFigure(n_pairs, Origin.LABELS, labels.n_rows)
            yield compared((dataset, f"{sign} in all"), LABELS, sum(cells, Decimal(0)), ours)


def _measured_orders(table: PredictionTable, dataset: str, published: PublishedTable, notes: list[str]) -> Ours:
    """Returns the number of pairs in each cell, and the fractions of wrong and reversed pairs.

    Pairs whose first system is worse by label are counted with both signs reversed. If the number of pairs differs from
    the paper's, our figures get separate rows, because 2 of 6 pairs cannot be compared with 5 of 15.
    """
    found: Ours = {}
    cells = [row for row in published.rows if row[0] == dataset and " as " in row[1]]
    n_printed = int(sum(published.value(row, published.columns[0]) for row in cells))
    signs = {Order.BETTER: "<", Order.SAME: "=", Order.WORSE: ">"}
    turned = {Order.BETTER: Order.WORSE, Order.WORSE: Order.BETTER, Order.SAME: Order.SAME}
    for evaluator in _evaluators(table):
        ranking = rank_systems(table, evaluator, dataset, unpaired=PairTest.TWO_PROPORTIONS)
        name = dataset
        if ranking.n_pairs != n_printed:
            name = f"{dataset}, {plural(ranking.n_pairs, 'pair')}"
            notes.append(
                f"{dataset}: the predictions have {plural(len(ranking.systems), 'system')} and therefore "
                f"{plural(ranking.n_pairs, 'pair')}, but the paper has {n_printed:,}, so they are not compared"
            )
        counts: dict[tuple[Order, Order], int] = defaultdict(int)
        for cell in ranking.cells:
            is_worse = cell.labelled is Order.WORSE
            order = (turned[cell.labelled], turned[cell.predicted]) if is_worse else (cell.labelled, cell.predicted)
            counts[order] += cell.n_pairs
        for by_label in (Order.SAME, Order.BETTER):
            for by_prediction in Order:
                n = float(counts[by_label, by_prediction])
                row = (name, f"{signs[by_label]} as {signs[by_prediction]}")
                found[row, evaluator] = OurFigure(n, Origin.RESULTS, ranking.n_pairs)
        for column, share in ((WRONG, ranking.share_wrong), (REVERSED, ranking.share_reversed)):
            if share is not None:
                found[(name, column), evaluator] = percent(share, ranking.n_pairs)
    return found


def _evaluators(table: PredictionTable) -> list[str]:
    return [name for name in table.scores if name != LABELS]


def correlate_rates(inputs: Inputs, number: int) -> Findings:
    """Compares Kendall's and Pearson's correlations between labelled and predicted rates over a data set's systems."""
    table, (sources, level) = published_table(number), CORRELATIONS[number]
    found, notes = Ours(), list[str]()
    for source in sources:
        found |= _printed_correlations(published_table(source))
    for kind in ("Kendall", "Pearson"):
        rows = [names for names in table.rows if names[0] == kind and names[1] != AVERAGE]
        for evaluator in table.columns:
            mean = fmean(table.value(names, evaluator) for names in rows)
            found[(kind, AVERAGE), evaluator] = OurFigure(mean, Origin.PRINTED, len(rows), slack=0.005)
    results = inputs.predictions()
    if results is not None:
        datasets = [name for source in sources for name in ERRORS[source][0] if name in results.dataset.names]
        for dataset in datasets:
            for evaluator in _evaluators(results):
                ranking = rank_systems(results, evaluator, dataset, level=level)
                row = _own_row(dataset, dataset, {one.system for one in ranking.systems}, notes)
                for kind, one in (("Kendall", ranking.kendall), ("Pearson", ranking.pearson)):
                    found[(kind, row), evaluator] = OurFigure(one.value, Origin.RESULTS, one.n)
    return compare_table(table, found), (
        "Rates are printed with one decimal. Two systems with the same printed rate between 0 and 100 may still "
        "differ, in which case Kendall's coefficient is unknown and left out.",
        *dict.fromkeys(notes),
        *_unless_given(inputs),
    )


def _printed_correlations(rates: PublishedTable) -> Ours:
    def may_hide_an_order(column: Sequence[float]) -> bool:
        return any(column.count(rate) > 1 for rate in column if 0.0 < rate < 100.0)

    found: Ours = {}
    for dataset in rates.datasets:
        systems = rates.systems(dataset)
        labelled = [rates.value(names, LABELS) for names in systems]
        for evaluator in EVALUATORS:
            predicted = [rates.value(names, evaluator) for names in systems]
            n = len(systems)
            if not may_hide_an_order(labelled) and not may_hide_an_order(predicted):
                found[("Kendall", dataset), evaluator] = OurFigure(
                    correlate(Method.KENDALL, labelled, predicted).value, Origin.PRINTED, n
                )
            coefficient = correlate(Method.PEARSON, labelled, predicted).value
            found[("Pearson", dataset), evaluator] = OurFigure(coefficient, Origin.PRINTED, n, slack=0.005)
    return found


def accuracies(inputs: Inputs, number: int, measure: str) -> Findings:
    """Compares Tables 3 to 5, which have a row per evaluator, a column per data set and an average over all data sets.

    Balanced accuracy is the mean of 1 - FPR and 1 - FNR, so Table 3 follows from Tables 4 and 5. If we have fewer data
    sets than the paper, our average is compared with the mean of the paper's figures for our data sets.
    """
    published, found = published_table(number), Ours()
    for names in published.rows:
        mean = fmean(published.value(names, one) for one in NAMES)
        found[names, AVERAGE] = OurFigure(mean, Origin.PRINTED, slack=ROUNDED)
        for dataset in NAMES if number == 3 else ():
            wrong = sum(published_table(other).value(names, dataset) for other in (4, 5))
            found[names, dataset] = OurFigure(100 - wrong / 2, Origin.PRINTED, slack=ROUNDED)
    table = inputs.predictions()
    averages: list[ComparedFigure] = []
    by_evaluator: dict[str, dict[str, OurFigure]] = defaultdict(dict)
    for one in () if table is None else rates(count(table), levels=(Level.CLAIM,)):
        if one.group.kind == "dataset":
            rate = getattr(one, measure)
            figure = found[(one.evaluator,), one.group.name] = percent(rate.value, rate.n)
            if one.group.name in NAMES and figure.value is not None:
                by_evaluator[one.evaluator][one.group.name] = figure
    for evaluator, figures in by_evaluator.items():
        n = sum(one.n or 0 for one in figures.values())
        is_whole = len(figures) == len(NAMES)
        mean = fmean(float(one.value or 0.0) for one in figures.values())
        ours = OurFigure(mean, Origin.RESULTS, n, slack=0.0 if is_whole else ROUNDED)
        if is_whole:
            found[(evaluator,), AVERAGE] = ours
            continue
        theirs = None
        if (evaluator,) in published.rows:
            mean = fmean(published.value((evaluator,), name) for name in figures)
            theirs = Decimal(mean).quantize(Decimal("0.1"))
        averages.append(compared((evaluator,), f"{AVERAGE} of {plural(len(figures), 'data set')}", theirs, ours))
    strangers = [] if table is None else [name for name in table.dataset.names if name not in NAMES]
    note = f"The average excludes {', '.join(strangers)}, which the paper does not use"
    return [*compare_table(published, found), *averages], (*((note,) if strangers else ()), *_unless_given(inputs))


_CHUNKS = f"{PREDICTIONS}; add the chunked column with `--chunk-words 500`"


def chunked_rates(inputs: Inputs) -> Findings:
    """Compares rates with and without chunks, on documents of more than 500 words (Table 30)."""
    table, found = published_table(30), Ours()
    for names in table.rows:
        mean = (table.value(names, "TPR") + table.value(names, "TNR")) / 2
        found[names, "BAcc"] = OurFigure(mean, Origin.PRINTED, slack=ROUNDED)
    columns = {"BAcc": "balanced_accuracy", "PPR": "predicted_positive_rate", "TPR": "tpr", "TNR": "tnr"}
    results = inputs.predictions()
    for bias in () if results is None else _chunked_biases(results):
        for evaluator, measured in ((bias.evaluator, bias.on_whole), (bias.chunked, bias.on_chunks)):
            n = 0 if measured is None else measured.n_attributable + measured.n_unattributable
            for column, field in columns.items():
                found[(bias.group.name, evaluator), column] = percent(getattr(measured, field, None), n)
    return compare_table(table, found), _unless_given(inputs, _CHUNKS)


def _chunked_biases(table: PredictionTable) -> Iterator[ChunkingBias]:
    for whole, chunked, n_words in chunked_evaluators(table.scores):
        found = chunking_bias(table, whole, chunked, r2_differences(table, n_words))
        yield from (bias for bias in found if bias.group.kind == "dataset")


ADJUSTED, CROSS_VALIDATED = "Bespoke-7B", "Cross-Validated"


def adjustments(inputs: Inputs, number: int) -> Findings:
    """Compares the biases that remain after adjusting with one labelled RAGTruth system (section 5, Tables 1 and 31).

    Each method is calibrated on one system and tested on the other five. The figures are the mean and the largest
    absolute bias. Table 1 averages Table 31 over the calibration systems. Unadjusted biases are from Table 27.
    """
    published = published_table(number)
    found = _printed_means() if number == 1 else _printed_unadjusted()
    table = inputs.predictions()
    if table is not None and ADJUSTED in table.scores:
        measured = _measured_adjustments(table, number)
        found |= {
            place: one
            for place, one in measured.items()
            if number == 31 or place[0] in published.rows or place[0][0] == CROSS_VALIDATED
        }
    return compare_table(published, found), _unless_given(inputs)


def _printed_means() -> Ours:
    whole, found = published_table(31), Ours()
    for names in published_table(1).rows:
        calibration, dataset = names
        systems = [row for row in whole.rows if row[0] == dataset and calibration in (CROSS_VALIDATED, row[1])]
        slack = ROUNDED if calibration == CROSS_VALIDATED else 0.0
        for column in published_table(1).columns:
            mean = fmean(whole.value(row, column) for row in systems)
            found[names, column] = OurFigure(mean, Origin.PRINTED, len(systems), slack)
    return found


def _printed_unadjusted() -> Ours:
    rates, found, plain = published_table(27), Ours(), AdjustmentMethod.UNADJUSTED.value
    for names in published_table(31).rows:
        sizes = [abs(rates.value(row, BIAS.format(ADJUSTED))) for row in rates.systems(names[0]) if row[1] != names[1]]
        found[names, LABELS] = OurFigure(rates.value(names, LABELS), Origin.PRINTED, 1)
        for column, size in ((plain, fmean(sizes)), (WORST.format(plain), max(sizes))):
            found[names, column] = OurFigure(size, Origin.PRINTED, len(sizes), slack=ROUNDED)
    return found


def _measured_adjustments(table: PredictionTable, number: int) -> Ours:
    found: Ours = {}
    for dataset in table.dataset.names:
        report = adjust(table, ADJUSTED, dataset)
        for mean in report.methods if number == 1 else ():
            names = (CROSS_VALIDATED, dataset)
            found[names, mean.method.value] = percent(mean.mean_bias, mean.n_calibrations)
            found[names, WORST.format(mean.method.value)] = percent(mean.worst_bias, mean.n_calibrations)
        for one in report.calibrations:
            names = (dataset, one.system) if number == 31 else (one.system, dataset)
            if number == 31:
                found[names, LABELS] = percent(one.labelled, one.n_errors + one.n_attributable)
            for method in one.adjustments:
                n = len(method.estimates)
                found[names, method.method.value] = percent(method.mean_bias, n)
                found[names, WORST.format(method.method.value)] = percent(method.worst_bias, n)
    return found
