"""The data sets of the benchmark, and headroom of small and large systems ("Verify with Caution", Table 2, 3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from factloop.evaluation.datasets.benchmark import BENCHMARK
from factloop.evaluation.reproduction.comparing import ROUNDED, OurFigure, compared
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import HEADROOM, LABELS, published_table, published_words
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import labels_table

SMALL = ("llama-2-7b-chat", "mistral-7B-instruct")
LARGE = ("gpt-3.5-turbo-0613", "gpt-4-0613")


def describe_datasets(title: str, inputs: Inputs) -> Reproduction:
    """Table 2: task group, sources of the claims, and whether they are parts of longer responses."""
    table = labels_table(inputs, [one.name for one in BENCHMARK])
    known = {one.name: one for one in BENCHMARK}
    figures: list[ComparedFigure] = []
    for name, printed in published_words(2).items():
        theirs, ours = printed["Task"].casefold(), known[name].task.casefold()
        figures.append(compared((name,), "task group", theirs, OurFigure(ours, Origin.RULE)))
        if table is not None and name in table.dataset.names:
            rows = table.dataset.codes == table.dataset.names.index(name)
            n_claims = int(rows.sum())
            has_responses = len(set(table.response.codes[rows].tolist())) < n_claims
            seen = OurFigure("Y" if has_responses else "N", Origin.LABELS, n_claims)
            figures.append(compared((name,), "long responses", printed["Long responses"], seen))
        else:
            seen = OurFigure("Y" if known[name].has_responses else "N", Origin.RULE)
            figures.append(compared((name,), "long responses", printed["Long responses"], seen))
    data = tuple(one.part for one in BENCHMARK if one.part is not None)
    return Reproduction(
        entry="vwc:table-2",
        title=title,
        unit="",
        figures=tuple(figures),
        notes=(
            "Ours from a rule is what factloop.evaluation.datasets.benchmark says; from labels, what the data show.",
            *inputs.missing(data),
        ),
    )


_STATED = (
    (11, "TofuEval-MediaS", "gpt-4-turbo", "-12.3"),
    (11, "TofuEval-MediaS", "MiniCheck-Rbta", "11.2"),
    (13, "TofuEval-MediaS", "gpt-4-turbo", "-18.3"),
    (13, "TofuEval-MediaS", "MiniCheck-Rbta", "21.2"),
)


def reproduce_headroom(title: str, inputs: Inputs) -> Reproduction:
    """Section 3.4: how far headroom is misjudged, for all systems and for small against large ones."""
    del inputs
    return Reproduction(
        entry="vwc:section-3.4", title=title, unit="points", figures=(*_all_systems(), *_small_and_large())
    )


def _all_systems() -> Iterator[ComparedFigure]:
    for number, dataset, evaluator, stated in _STATED:
        table = published_table(number)
        systems = [names for names in table.rows if names[1] != HEADROOM]
        low, predicted = (min(table.value(names, column) for names in systems) for column in (LABELS, evaluator))
        ours = OurFigure(predicted - low, Origin.PRINTED, len(systems), slack=2 * ROUNDED)
        level = "claims" if number == 11 else "responses"
        printed = table.rows[dataset, HEADROOM][f"{evaluator} bias"]
        yield compared((dataset, f"all systems, {level}"), evaluator, printed if str(printed) == stated else None, ours)


def _small_and_large() -> Iterator[ComparedFigure]:
    rates, dataset = published_table(27), "RAGTruth-News"
    for kind, systems, stated in (("small systems", SMALL, "7.3"), ("large systems", LARGE, "0.8")):
        lows = [min(rates.value((dataset, system), column) for system in systems) for column in (LABELS, "gpt-4-turbo")]
        ours = OurFigure(lows[1] - lows[0], Origin.PRINTED, len(systems), slack=2 * ROUNDED)
        yield compared((dataset, kind), "gpt-4-turbo", Decimal(stated), ours)


_DESCRIBED = "The fourteen data sets: task groups, sources of claims, long responses"
_HEADROOM = "Headroom misjudged: all systems of TofuEval-MediaS, small against large of RAGTruth-News"
ENTRIES = (
    Entry(
        id="vwc:table-2",
        title=_DESCRIBED,
        status=Status.REPRODUCED,
        why="Named in the registry of the benchmark; held against labels where they are found.",
        data=tuple(one.part for one in BENCHMARK if one.part is not None),
        run=partial(describe_datasets, _DESCRIBED),
    ),
    Entry(
        id="vwc:section-3.4",
        title=_HEADROOM,
        status=Status.PRINTED,
        why="All six follow from Tables 11, 13 and 27.",
        run=partial(reproduce_headroom, _HEADROOM),
    ),
)
