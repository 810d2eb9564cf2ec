"""Agreement between verdicts on supplied facts and human labels (Wei et al. 2024, section 4).

The paper reports the fraction of facts whose verdict equals the label. Verdicts and labels have three classes each. On
16,011 facts in 496 of FActScore's biographies, this fraction is 72.0%. If most facts belong to one class, a judge that
always answers with that class scores high. This module therefore also reports Cohen's kappa and, for supported versus
not supported facts, TPR, TNR and balanced accuracy.

Departures: a fact without a verdict is counted separately, neither as agreement nor as disagreement. Each figure has a
percentile bootstrap interval that resamples whole prompts. The labels themselves contain errors: where SAFE and the
annotators disagreed, the authors found SAFE right on 76 of 100 facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from factloop.core.factuality import claims_that_count, count_verdicts
from factloop.core.figure import Undefined, ends
from factloop.core.records import Claim, Count, Counts, Record, Repeats
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.longform import PromptFigure
from factloop.evaluation.statistics.bootstrap import percentile_interval, sample_and_draws
from factloop.evaluation.statistics.kappa import kappas

Floats = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95
ROWS = (FactLabel.SUPPORTED, FactLabel.NOT_SUPPORTED, FactLabel.IRRELEVANT)
_NAMES = dict(zip(ROWS, ("supported", "not_supported", "irrelevant"), strict=True))


class LabelTable(Record):
    """Counts of facts by human label (rows) and verdict (columns). A text repeated in a response counts once."""

    supported: Counts
    not_supported: Counts
    irrelevant: Counts
    repeated: Counts = Counts()
    """By label, the number of facts that repeat an earlier fact of the response verbatim. The rows exclude them."""

    @property
    def n_facts(self) -> int:
        return self.supported.total + self.not_supported.total + self.irrelevant.total

    @property
    def labels(self) -> Counts:
        return Counts(
            supported=self.supported.total + self.repeated.supported,
            not_supported=self.not_supported.total + self.repeated.not_supported,
            irrelevant=self.irrelevant.total + self.repeated.irrelevant,
        )


@dataclass(frozen=True)
class TabledResponse:
    system: str
    prompt_id: str
    table: LabelTable


class SystemAgreement(Record):
    """Agreement for one system, or for all of them. Higher is better for every figure."""

    system: str | None
    table: LabelTable
    n_responses: Count
    n_unscored: Count
    agreement: PromptFigure
    """Fraction in [0, 1] of scored facts whose verdict equals the label."""
    kappa: PromptFigure
    """Cohen's kappa over the three classes, in [-1, 1]. 0 means no better than chance."""
    tpr: PromptFigure
    """Fraction of facts labelled supported that are judged supported, excluding facts labelled or judged irrelevant."""
    tnr: PromptFigure
    """Fraction of facts labelled not supported that are judged not supported, with the same exclusions."""
    balanced_accuracy: PromptFigure
    """Mean of TPR and TNR, where 0.5 is chance."""


class LabelAgreement(Record):
    overall: SystemAgreement
    systems: tuple[SystemAgreement, ...]
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    n_resamples: Count


def table_of(claims: Iterable[Claim], labels: Mapping[str, FactLabel]) -> LabelTable:
    """Tabulates one report's claims. `labels` maps claim ids to labels, and claims without a label are skipped."""
    by_label: dict[FactLabel, list[Claim]] = {label: [] for label in ROWS}
    repeated: list[FactLabel] = []
    texts: set[str] = set()
    for claim in claims:
        if claim.id not in labels:
            continue
        if claim.text in texts:
            repeated.append(labels[claim.id])
            continue
        texts.add(claim.text)
        by_label[labels[claim.id]].append(claim)
    supported, not_supported, irrelevant = (count_verdicts(by_label[label]) for label in ROWS)
    return LabelTable(
        supported=supported,
        not_supported=not_supported,
        irrelevant=irrelevant,
        repeated=Counts(**{_NAMES[label]: repeated.count(label) for label in ROWS}),
    )


def count_labels(claims: Sequence[Claim], labels: Mapping[str, FactLabel], repeats: Repeats) -> Counts:
    labelled = [claim for claim in claims if claim.id in labels]
    counting = [labels[claim.id] for claim in claims_that_count(labelled, repeats)]
    found = {_NAMES[label]: counting.count(label) for label in ROWS}
    return Counts(**found, repeated=len(labelled) - len(counting))


def agree_with_labels(
    responses: Iterable[TabledResponse],
    *,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> LabelAgreement:
    """Returns the agreement of a run, without intervals if `rng` is None. The order of responses does not matter."""
    given = sorted((one for one in responses if one.table.n_facts), key=lambda one: (one.system, one.prompt_id))
    prompts = {name: number for number, name in enumerate(sorted({one.prompt_id for one in given}))}
    times = sample_and_draws(len(prompts), rng, resamples)
    names = sorted({one.system for one in given})
    of_system = {name: [one for one in given if one.system == name] for name in names}
    return LabelAgreement(
        overall=_agreement(None, given, prompts, times, level),
        systems=tuple(_agreement(name, of_system[name], prompts, times, level) for name in names),
        level=level,
        n_resamples=len(times) - 1,
    )


def _agreement(
    system: str | None, responses: Sequence[TabledResponse], prompts: Mapping[str, int], times: Floats, level: float
) -> SystemAgreement:
    """`times` has shape (1 + n_resamples, n_prompts). Its first row is all ones and stands for the sample itself."""
    cells = np.zeros((len(prompts), 3, 4))
    for one in responses:
        rows = (one.table.supported, one.table.not_supported, one.table.irrelevant)
        cells[prompts[one.prompt_id]] += [
            [row.supported, row.not_supported, row.irrelevant, row.unscored] for row in rows
        ]
    tables = np.tensordot(times, cells, axes=1)
    scored, both = tables[:, :, :3], tables[:, :2, :2]
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = np.trace(scored, axis1=1, axis2=2) / scored.sum(axis=(1, 2))
        tpr = both[:, 0, 0] / both[:, 0].sum(axis=1)
        tnr = both[:, 1, 1] / both[:, 1].sum(axis=1)
    nothing = Undefined.NOTHING_SCORED
    no_tpr, no_tnr = (Undefined.NO_SUPPORTED, Undefined.NO_UNSUPPORTED) if both[0].any() else (nothing, nothing)
    by_prompt = cells[:, :, :3].sum(axis=(1, 2))
    supported, not_supported = cells[:, 0, :2].sum(axis=1), cells[:, 1, :2].sum(axis=1)
    table = _table(tables[0], [one.table.repeated for one in responses])
    return SystemAgreement(
        system=system,
        table=table,
        n_responses=len(responses),
        n_unscored=table.supported.unscored + table.not_supported.unscored + table.irrelevant.unscored,
        agreement=_figure(agreement, nothing, [by_prompt], level),
        kappa=_figure(kappas(scored), Undefined.ONE_CLASS if scored[0].any() else nothing, [by_prompt], level),
        tpr=_figure(tpr, no_tpr, [supported], level),
        tnr=_figure(tnr, no_tnr, [not_supported], level),
        balanced_accuracy=_figure(
            (tpr + tnr) / 2.0, no_tpr if np.isnan(tpr[0]) else no_tnr, [supported, not_supported], level
        ),
    )


def _figure(values: Floats, why: Undefined, facts: Sequence[Floats], level: float) -> PromptFigure:
    """`values` starts with the sample's value, then has one per resample. `facts` has, for each denominator, the number
    of facts of each prompt."""
    of_prompt = np.array(facts)
    n, n_prompts = int(of_prompt.sum()), int(np.count_nonzero(of_prompt.sum(axis=0)))
    if np.isnan(values[0]):
        return PromptFigure(value=None, undefined=why, n=n, n_prompts=n_prompts)
    interval = percentile_interval(values[1:], level) if np.count_nonzero(of_prompt, axis=1).min() > 1 else None
    return PromptFigure(value=float(values[0]), **ends(interval), n=n, n_prompts=n_prompts)


def _table(cells: Floats, repeated: Sequence[Counts]) -> LabelTable:
    rows = [
        Counts(supported=int(row[0]), not_supported=int(row[1]), irrelevant=int(row[2]), unscored=int(row[3]))
        for row in cells
    ]
    again = {name: sum(getattr(one, name) for one in repeated) for name in _NAMES.values()}
    return LabelTable(supported=rows[0], not_supported=rows[1], irrelevant=rows[2], repeated=Counts(**again))
