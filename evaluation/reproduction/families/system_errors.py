"""Error rates of systems by label and by evaluator ("Verify with Caution", appendix A.4, and Figures 3, 6 and 7).

The column `labels` comes out of labelled data alone, the others of predictions. A bias is predicted minus labelled, and
the headroom the lowest rate of a data set: both are held against the paper's own rates, too, where nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from factloop.evaluation.audit.quantification import Quantification, quantification
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.audit.units import Level
from factloop.evaluation.datasets.benchmark import benchmark_dataset
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compare_table
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import (
    EVALUATORS,
    HEADROOM,
    LABELS,
    Names,
    PublishedTable,
    published_table,
)
from factloop.evaluation.reproduction.records import Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import evaluators_of, labels_table, results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFIERS, VERIFY

UNIT = "% of claims or responses, bias in points"
BIAS = "{} bias"
TABLES: dict[int, tuple[tuple[str, ...], Level]] = {
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
    27: (("RAGTruth-CNN/DM", "RAGTruth-News", "RAGTruth-MARCO", "RAGTruth-Yelp"), Level.CLAIM),
    29: (("RAGTruth-CNN/DM", "RAGTruth-News", "RAGTruth-MARCO", "RAGTruth-Yelp"), Level.RESPONSE),
}
"""Number of a table to its data sets and its level."""
FIGURES = {3: (11, 13, 14, 16), 6: (27,), 7: (29,)}
"""Number of a figure to the tables that have what it shows."""
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_errors(numbers: tuple[int, ...], title: str, entry: str, inputs: Inputs) -> Reproduction:
    """The tables of these numbers, under each other; of several the rows say which level they are of."""
    figures = []
    for number in numbers:
        level = () if len(numbers) == 1 else (f"{TABLES[number][1].value}s",)
        found = compare_table(published_table(number), _ours(number, inputs))
        figures += [one.model_copy(update={"names": (*one.names, *level)}) for one in found]
    return Reproduction(
        entry=entry,
        title=title,
        unit=UNIT,
        figures=tuple(figures),
        notes=(*inputs.missing(_parts(numbers)), *_notes(numbers, inputs)),
    )


def _ours(number: int, inputs: Inputs) -> Ours:
    """What predictions give, else what labels give, else what follows from the printed rates."""
    datasets, level = TABLES[number]
    found = printed_biases(published_table(number))
    for table, origin in ((labels_table(inputs, datasets), Origin.LABELS), (results_table(inputs), Origin.RESULTS)):
        if table is not None:
            found |= dict(_rates(table, datasets, level, origin, has_systems=number != 8))
    return found


def printed_biases(table: PublishedTable) -> Ours:
    """Bias of each evaluator on each system, and the headroom of each column, from the printed rates alone."""
    found: Ours = {}
    for dataset in table.datasets:
        systems = [names for names in table.rows if names[0] == dataset and names[1] != HEADROOM]
        for names in systems:
            for evaluator in _evaluators(table):
                found[names, BIAS.format(evaluator)] = _difference(table, names, evaluator)
        headroom = (dataset, HEADROOM)
        if headroom in table.rows:
            lowest = {one: min(table.value(names, one) for names in systems) for one in (LABELS, *_evaluators(table))}
            for column, value in lowest.items():
                found[headroom, column] = OurFigure(value, Origin.PRINTED)
                if column != LABELS:
                    bias = value - lowest[LABELS]
                    found[headroom, BIAS.format(column)] = OurFigure(bias, Origin.PRINTED, slack=2 * ROUNDED)
    return found


def _difference(table: PublishedTable, names: Names, evaluator: str) -> OurFigure:
    bias = table.value(names, evaluator) - table.value(names, LABELS)
    return OurFigure(bias, Origin.PRINTED, slack=2 * ROUNDED)


def _evaluators(table: PublishedTable) -> list[str]:
    return [one for one in EVALUATORS if one in table.columns]


def _rates(
    table: PredictionTable, datasets: tuple[str, ...], level: Level, origin: Origin, *, has_systems: bool
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Rates of systems and of their best, in per cent; of one system all claims of the data set are one row."""
    found = quantification(count(table), levels=(level,))
    for error in found.errors:
        if error.dataset in datasets:
            names = (error.dataset, error.system) if has_systems else (error.dataset, "all")
            yield (names, LABELS), _share(error.error_rate.value, error.error_rate.n, origin)
    for one in found.systems:
        if one.dataset in datasets and one.evaluator != LABELS:
            names = (one.dataset, one.system) if has_systems else (one.dataset, "all")
            yield (names, one.evaluator), _share(one.predicted.value, one.predicted.n, origin)
            yield (names, BIAS.format(one.evaluator)), _share(one.bias.value, one.bias.n, origin)
    if has_systems:
        yield from _headrooms(found, table, datasets, origin)


def _headrooms(
    found: Quantification, table: PredictionTable, datasets: tuple[str, ...], origin: Origin
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    for one in found.evaluators:
        if one.group.kind == "dataset" and one.group.name in datasets and one.headroom_labelled.value is not None:
            names, n = (one.group.name, HEADROOM), one.headroom_labelled.n
            yield (names, LABELS), _share(one.headroom_labelled.value, n, origin)
            if one.evaluator in evaluators_of(table):
                yield (names, one.evaluator), _share(one.headroom_predicted.value, n, origin)
                yield (names, BIAS.format(one.evaluator)), _share(one.headroom_bias.value, n, origin)


def _share(value: float | None, n: int, origin: Origin) -> OurFigure:
    return OurFigure(None if value is None else 100 * value, origin, n)


def _parts(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """The data sets with labels that the tables take, as far as factloop loads them."""
    datasets = dict.fromkeys(name for number in numbers for name in TABLES[number][0])
    return tuple(part for name in datasets if (part := benchmark_dataset(name).part) is not None)


def _notes(numbers: tuple[int, ...], inputs: Inputs) -> Iterator[str]:
    without = [
        name
        for name in dict.fromkeys(name for number in numbers for name in TABLES[number][0])
        if benchmark_dataset(name).part is None
    ]
    if without and inputs.results is None:
        yield f"{', '.join(without)}: no labels with systems are at hand, so rates come from --results alone"
    if inputs.results is None:
        yield PREDICTIONS
    if {21, 23}.intersection(numbers):
        yield EXPERTQA


EXPERTQA = (
    "ExpertQA: a claim without cited evidence is no pair and is left out. The paper's rates rest on some 949 responses "
    "(their decimals give 169, 51, 196, 190, 203 and 140), another sample than the file at hand. Of gpt4 and bing_chat "
    "upstream has addresses without passages: the benchmark fetched pages and dropped claims whose page was gone, so "
    "gpt4's rates cannot be reproduced"
)
_LABELS_EQUAL = "All labels come out as printed; the evaluators' columns need models."
_OTHER_SAMPLE = "Labels of five systems agree within two standard errors of another sample; of gpt4 the pages are gone."
_OF_LABELS: dict[int, str] = {
    8: "WiCE's labels give 67.0 as printed; Factcheck-GPT's stances are of another unit than the benchmark's pairs.",
    11: _LABELS_EQUAL,
    13: _LABELS_EQUAL,
    21: _OTHER_SAMPLE,
    23: _OTHER_SAMPLE,
}
_ALONE = "Biases and headroom follow from the printed rates; the rates need predictions with systems."
FIGURE = "The figures of its tables; the page of `factloop audit` draws them."


def _entry(kind: str, number: int, numbers: tuple[int, ...]) -> Entry:
    datasets = dict.fromkeys(name for one in numbers for name in TABLES[one][0])
    levels = dict.fromkeys(TABLES[one][1].value for one in numbers)
    title = f"Error rates and bias by system: {', '.join(datasets)} ({' and '.join(levels)} level)"
    has_labels = any(one in _OF_LABELS for one in numbers)
    name = f"vwc:{kind}-{number}"
    return Entry(
        id=name,
        title=title,
        status=Status.IN_PART if has_labels else Status.NEEDS_MODEL,
        why=_OF_LABELS.get(number, _ALONE) if kind == "table" else FIGURE,
        data=_parts(numbers),
        model=VERIFIERS,
        command=VERIFY,
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_errors, numbers, title, name),
    )


ENTRIES = (
    *(_entry("table", number, (number,)) for number in TABLES),
    *(_entry("figure", number, numbers) for number, numbers in FIGURES.items()),
)
