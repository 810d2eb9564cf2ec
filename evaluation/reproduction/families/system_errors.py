"""Error rates of systems by label and by evaluator ("Verify with Caution", appendix A.4, and Figures 3, 6 and 7).

The column `labels` comes out of labelled data alone, the others of predictions. A bias is predicted minus labelled, and
the headroom the lowest rate of a data set: both are held against the paper's own rates, too, where nothing is read. The
lowest of other systems is no figure of the paper's: then the headroom is a row of its own, beside none of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from factloop.evaluation.audit.quantification import EvaluatorBias, Quantification, quantification
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
from factloop.evaluation.reproduction.tables import labels_table, results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFIERS, verify_command
from factloop.reports.figures import plural

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
POOLED = 8
"""The table of data sets with one system: all their claims are one row."""
FIGURES = {3: (11, 13, 14, 16), 6: (27,), 7: (29,)}
"""Number of a figure to the tables that have what it shows."""
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_errors(numbers: tuple[int, ...], title: str, entry: str, inputs: Inputs) -> Reproduction:
    """The tables of these numbers, under each other; of several the rows say which level they are of."""
    figures = []
    others: list[str] = []
    for number in numbers:
        level = () if len(numbers) == 1 else (f"{TABLES[number][1].value}s",)
        found = compare_table(published_table(number), _ours(number, inputs, others))
        figures += [one.model_copy(update={"names": (*one.names, *level)}) for one in found]
    return Reproduction(
        entry=entry,
        title=title,
        unit=UNIT,
        figures=tuple(figures),
        notes=(*inputs.missing(_parts(numbers)), *dict.fromkeys(others), *_notes(numbers, inputs)),
    )


def _ours(number: int, inputs: Inputs, others: list[str]) -> Ours:
    """What predictions give, else what labels give, else what follows from the printed rates.

    Says in `others` where the systems are not those of the paper.
    """
    datasets, level = TABLES[number]
    found = printed_biases(published_table(number))
    for table, origin in ((labels_table(inputs, datasets), Origin.LABELS), (results_table(inputs), Origin.RESULTS)):
        if table is not None:
            if number == POOLED:
                found |= dict(_pooled(table, datasets, level, origin))
            else:
                found |= dict(_rates(table, published_table(number), level, origin, others))
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


def _pooled(
    table: PredictionTable, datasets: tuple[str, ...], level: Level, origin: Origin
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Rates of all claims of a data set, in per cent."""
    for one in quantification(count(table), levels=(level,)).datasets:
        if one.dataset in datasets:
            names = (one.dataset, "all")
            yield (names, LABELS), _share(one.labelled.value, one.labelled.n, origin)
            if one.evaluator != LABELS:
                yield (names, one.evaluator), _share(one.predicted.value, one.predicted.n, origin)
                yield (names, BIAS.format(one.evaluator)), _share(one.bias.value, one.bias.n, origin)


def _rates(
    table: PredictionTable, published: PublishedTable, level: Level, origin: Origin, others: list[str]
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    """Rates of systems and of their best, in per cent."""
    datasets = published.datasets
    found = quantification(count(table), levels=(level,))
    for error in found.errors:
        if error.dataset in datasets:
            yield ((error.dataset, error.system), LABELS), _share(error.error_rate.value, error.error_rate.n, origin)
    for one in found.systems:
        if one.dataset in datasets and one.evaluator != LABELS:
            names = (one.dataset, one.system)
            yield (names, one.evaluator), _share(one.predicted.value, one.predicted.n, origin)
            yield (names, BIAS.format(one.evaluator)), _share(one.bias.value, one.bias.n, origin)
    yield from _headrooms(found, published, origin, others)


def _headrooms(
    found: Quantification, published: PublishedTable, origin: Origin, others: list[str]
) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    for one in found.evaluators:
        if one.group.kind != "dataset" or one.group.name not in published.datasets:
            continue
        if one.headroom_labelled.value is None:
            continue
        names, n = (one.group.name, _headroom_row(found, one, published, others)), one.headroom_labelled.n
        yield (names, LABELS), _share(one.headroom_labelled.value, n, origin)
        if one.evaluator != LABELS:
            yield (names, one.evaluator), _share(one.headroom_predicted.value, n, origin)
            yield (names, BIAS.format(one.evaluator)), _share(one.headroom_bias.value, n, origin)


def _headroom_row(found: Quantification, one: EvaluatorBias, published: PublishedTable, others: list[str]) -> str:
    """The paper's row where the systems are the paper's, else another."""
    dataset = one.group.name
    ours = {
        (bias.dataset, bias.system)
        for bias in found.systems
        if (bias.evaluator, bias.dataset) == (one.evaluator, dataset) and bias.bias.value is not None
    }
    theirs = {names for names in published.rows if names[0] == dataset and names[1] != HEADROOM}
    if ours == theirs:
        return HEADROOM
    n_same = len(ours & theirs)
    others.append(
        f"{dataset}: {n_same:,} of our {plural(len(ours), 'system')} and of the paper's {len(theirs):,} are the same "
        "by name, so that our headroom is a row of its own"
    )
    return f"{HEADROOM}, {plural(len(ours), 'system')}"


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
    "gpt4's rates cannot be reproduced. Partial support counts as none: with it as support the rates of claims fit "
    "nearly as well, and bing_chat alone tells the two apart (9.8 against 16.7, z = -2.1)"
)
_LABELS_EQUAL = "All labels come out as printed; the evaluators' columns need models."
_OTHER_SAMPLE = (
    "Labels of five systems agree with the paper's, of another sample, within two standard errors by responses as "
    "clusters; of gpt4 the pages are gone."
)
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
        command=verify_command(datasets),
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_errors, numbers, title, name),
    )


ENTRIES = (
    *(_entry("table", number, (number,)) for number in TABLES),
    *(_entry("figure", number, numbers) for number, numbers in FIGURES.items()),
)
