"""Whether evaluators name the same claims, and whether they follow wording ("Verify with Caution", Figures 1, 4, 8-10).

The paper prints no numbers in these figures: ours stand alone, but for two that its text says of Figures 1 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial

from factloop.evaluation.audit.agreement import agreement
from factloop.evaluation.audit.resampling import count
from factloop.evaluation.audit.surface import similarities, surface_bias
from factloop.evaluation.audit.table import PredictionTable
from factloop.evaluation.reproduction.comparing import OurFigure, compared
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.published import Names
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.tables import results_table
from factloop.evaluation.reproduction.words import PREDICTIONS, VERIFIERS, VERIFY_JOINED
from factloop.reports.figures import plural

PAIR = ("Bespoke-7B", "gpt-4-turbo")
SAID = ((50, Decimal(5)), (65, Decimal(9)))
"""What section 3.1 says of the pair: on how many of 14 data sets its intersection over union is below so many %."""
N_DATASETS = 14
NO_NUMBERS = "The figure prints no numbers that could be read"


def reproduce_agreement(entry: str, title: str, pair: Names, sides: Names, inputs: Inputs) -> Reproduction:
    """Intersection over union of the claims that two evaluators call unattributable, or attributable."""
    table = results_table(inputs)
    figures = [] if table is None else [*_overlaps(table, pair, sides)]
    notes = [f"{NO_NUMBERS}{'; section 3.1 says two of them in words' if pair else ''}."]
    if pair:
        shares = [one.ours for one in figures if isinstance(one.ours, float)]
        figures += _said(pair, shares)
        if 0 < len(shares) != N_DATASETS:
            notes.append(f"Ours are of {plural(len(shares), 'data set')}: the paper's counts are of {N_DATASETS}.")
    return Reproduction(
        entry=entry,
        title=title,
        unit="% of the claims that either names",
        figures=tuple(figures),
        notes=(*notes, *(() if inputs.results else (PREDICTIONS,))),
    )


def _said(pair: Names, shares: Sequence[float]) -> Iterator[ComparedFigure]:
    """How many data sets lie below each bound; ours only where they are as many as the paper's."""
    for bound, printed in SAID:
        n_below = float(sum(one < bound for one in shares))
        ours = OurFigure(n_below, Origin.RESULTS, len(shares)) if len(shares) == N_DATASETS else None
        yield compared(pair, f"data sets below {bound} %, of {N_DATASETS}", printed, ours)


def _overlaps(table: PredictionTable, pair: Names, sides: Names) -> Iterator[ComparedFigure]:
    for one in agreement(count(table)).pairs:
        if one.other is None or one.group.kind != "dataset":
            continue
        if pair and {one.evaluator, one.other} != set(pair):
            continue
        for side in sides:
            figure = getattr(one, side)
            value = None if figure.value is None else 100 * figure.value
            names = (one.group.name, f"{one.evaluator}, {one.other}")
            yield compared(names, side, None, OurFigure(value, Origin.RESULTS, figure.n))


def reproduce_wording(title: str, inputs: Inputs) -> Reproduction:
    """Figure 4 as numbers: TPR and TNR by how much wording the claim shares with the document, by task group."""
    table = results_table(inputs)
    figures: list[ComparedFigure] = []
    if table is not None and table.claim_text is not None and table.document is not None:
        similarity = similarities(table)
        for evaluator in table.scores:
            for bias in surface_bias(table, evaluator, similarity):
                for place, one in enumerate(bias.bins, 1) if bias.group.kind == "task" else ():
                    names = (bias.group.name, evaluator, f"fifth {place} of 5")
                    rates = (("TPR", one.tpr, one.n_attributable), ("TNR", one.tnr, one.n_unattributable))
                    for column, rate, n in rates:
                        ours = OurFigure(None if rate is None else 100 * rate, Origin.RESULTS, n)
                        figures.append(compared(names, column, None, ours))
    return Reproduction(
        entry="vwc:figure-4",
        title=title,
        unit="%",
        figures=tuple(figures),
        notes=(f"{NO_NUMBERS}.", *(() if inputs.results else (PREDICTIONS,))),
    )


def _entry(number: int, title: str, pair: Names = (), sides: Names = ("unattributable",)) -> Entry:
    name = f"vwc:figure-{number}"
    return Entry(
        id=name,
        title=title,
        status=Status.NEEDS_MODEL,
        why=(
            "Section 3.1 counts its data sets below 50 and 65 %; the page of `factloop audit` draws it."
            if pair
            else "The figure has no numbers to hold ours against; the page of `factloop audit` draws it."
        ),
        data=("llm-aggrefact:dev",),
        model=VERIFIERS,
        command=VERIFY_JOINED,
        calls="a call a claim and model",
        calls_per_claim=1.0,
        run=partial(reproduce_agreement, name, title, pair, sides)
        if number != 4
        else partial(reproduce_wording, title),
    )


ENTRIES = (
    _entry(1, "Claims that both of two evaluators call unattributable, by data set", PAIR),
    _entry(4, "TPR and TNR by wording that the claim shares with the document, by task group"),
    _entry(8, "Claims that both of two evaluators call unattributable, by data set, with the labels", PAIR),
    _entry(9, "Agreement of every pair of evaluators on attributable claims", sides=("attributable",)),
    _entry(10, "Agreement of every pair of evaluators on unattributable claims"),
)
