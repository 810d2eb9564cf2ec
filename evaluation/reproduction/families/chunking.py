"""What reading in chunks does to an evaluator ("Verify with Caution", section 4.2, Table 30 and Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from statistics import fmean

from factloop.evaluation.audit.chunking import ChunkingBias, chunked_evaluators, chunking_bias, r2_differences
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compare_table, compared
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import Names, published_table
from factloop.evaluation.reproduction.records import Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import results_table
from factloop.evaluation.reproduction.words import JOIN, PREDICTIONS

NUMBER = 30
WHOLE, CHUNKED = "Bespoke-7B", "Bespoke-7B@500"
COLUMNS = {"BAcc": "balanced_accuracy", "PPR": "predicted_positive_rate", "TPR": "tpr", "TNR": "tnr"}
CHUNKS = f"{PREDICTIONS}; --chunk-words 500 makes the chunked column"
Ours = dict[tuple[Names, str], OurFigure]


def reproduce_rates(title: str, inputs: Inputs) -> Reproduction:
    """Table 30: rates with and without chunks, on documents of more than 500 words."""
    table, found = published_table(NUMBER), {}
    for names in table.rows:
        mean = (table.value(names, "TPR") + table.value(names, "TNR")) / 2
        found[names, "BAcc"] = OurFigure(mean, Origin.PRINTED, slack=ROUNDED)
    results = results_table(inputs)
    if results is not None:
        found |= dict(_rates(results))
    return Reproduction(
        entry=f"vwc:table-{NUMBER}",
        title=title,
        unit="%",
        figures=compare_table(table, found),
        notes=() if inputs.results else (CHUNKS,),
    )


def reproduce_changes(title: str, inputs: Inputs) -> Reproduction:
    """Figure 5 as numbers: predictions that change with chunks, by whether one chunk has the claim's wording."""
    results = results_table(inputs)
    figures = [
        compared(names, column, None, ours) for names, column, ours in (() if results is None else _changes(results))
    ]
    return Reproduction(
        entry="vwc:figure-5",
        title=title,
        unit="% of claims",
        figures=tuple(figures),
        notes=(
            "The figure prints no numbers. Its text: of claims that no chunk carries, more than 10 % are lost on 8 of "
            "11 data sets and less than 5 % gained.",
            *(() if inputs.results else (CHUNKS,)),
        ),
    )


def reproduce_rarer(title: str, inputs: Inputs) -> Reproduction:
    """Section 4.2: how much more rarely claims are predicted attributable with chunks, over twelve data sets."""
    del inputs
    table = published_table(NUMBER)
    changes = [
        table.value((dataset, WHOLE), "PPR") - table.value((dataset, CHUNKED), "PPR") for dataset in table.datasets
    ]
    ours = OurFigure(fmean(changes), Origin.PRINTED, len(changes), slack=ROUNDED)
    return Reproduction(
        entry="vwc:section-4.2",
        title=title,
        unit="points",
        figures=(compared((WHOLE,), "more rarely attributable", Decimal(6), ours),),
    )


def _biases(table: PredictionTable) -> Iterator[ChunkingBias]:
    for whole, chunked, n_words in chunked_evaluators(table.scores):
        for bias in chunking_bias(table, whole, chunked, r2_differences(table, n_words)):
            if bias.group.kind == "dataset":
                yield bias


def _rates(table: PredictionTable) -> Iterator[tuple[tuple[Names, str], OurFigure]]:
    for bias in _biases(table):
        for evaluator, rates in ((bias.evaluator, bias.on_whole), (bias.chunked, bias.on_chunks)):
            for column, field in COLUMNS.items():
                value = None if rates is None else getattr(rates, field)
                n = 0 if rates is None else rates.n_attributable + rates.n_unattributable
                share = None if value is None else 100 * value
                yield ((bias.group.name, evaluator), column), OurFigure(share, Origin.RESULTS, n)


def _changes(table: PredictionTable) -> Iterator[tuple[Names, str, OurFigure]]:
    for bias in _biases(table):
        for where, changes in (("one chunk has it", bias.within), ("no chunk has it", bias.across)):
            for column, share in (("lost", changes.share_lost), ("gained", changes.share_gained)):
                value = None if share is None else 100 * share
                yield (bias.group.name, bias.chunked), f"{where}: {column}", OurFigure(value, Origin.RESULTS, changes.n)


_RATES = "Rates of Bespoke-7B with and without chunks on long documents"
_CHANGES = "Predictions of Bespoke-7B that change with chunks, by R2-diff"
_RARER = "How much more rarely Bespoke-7B calls a claim attributable with chunks"
_MODEL = "Bespoke-7B (open weights), whole documents and chunks of 500 words"
_COMMAND = f"{JOIN} && factloop verify JOINED --verifier bespoke:NAME --chunk-words 500 --out FILE"
_CALLS = "a call a claim, and one a chunk"
ENTRIES = (
    Entry(
        id=f"vwc:table-{NUMBER}",
        title=_RATES,
        status=Status.NEEDS_MODEL,
        why="Its balanced accuracies follow from its TPR and TNR.",
        data=("llm-aggrefact:dev",),
        model=_MODEL,
        command=_COMMAND,
        calls=_CALLS,
        calls_per_claim=2.0,
        run=partial(reproduce_rates, _RATES),
    ),
    Entry(
        id="vwc:figure-5",
        title=_CHANGES,
        status=Status.NEEDS_MODEL,
        why="The figure has no numbers to hold ours against, only two statements of the text.",
        data=("llm-aggrefact:dev",),
        model=_MODEL,
        command=_COMMAND,
        calls=_CALLS,
        calls_per_claim=2.0,
        run=partial(reproduce_changes, _CHANGES),
    ),
    Entry(
        id="vwc:section-4.2",
        title=_RARER,
        status=Status.PRINTED,
        why="The mean difference of the shares in Table 30.",
        run=partial(reproduce_rarer, _RARER),
    ),
)
