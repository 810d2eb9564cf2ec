"""Measures how far an evaluator misjudges whole systems (Godbole & Jia, 3.3 and 3.4; tables in appendix A.4).

    error rate of a system = proportion of its claims (or responses) that are unattributable, by label or by prediction
    bias = predicted error rate - labelled error rate, in [-1, 1], best at 0; a negative bias means missed errors
    headroom = lowest error rate of any system in the data set

A response is attributable if all of its claims are. Figures for task groups and for all data sets are unweighted means
over data sets. Claims without a score, and responses that contain such a claim, are excluded from both of the
evaluator's rates, and their number is reported. Only `errors` covers all claims. Headroom requires at least two systems
with scores. Claims by unknown systems (`UNKNOWN_SYSTEM`) count only in `datasets`.

Departures: the paper defines bias as labelled minus predicted, but its tables show predicted minus labelled, as here.
The paper gives no intervals. The magnitude of a noisy value is biased upwards, so with resamples, the part explained by
sampling is subtracted (`magnitudes`). The paper's mean can be computed from `systems`. The minimum of noisy values is
biased downwards, more so in resamples than in the data, so a headroom may lie outside its own interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from factloop.core.figure import Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.audit.figures import AuditFigure, Figures, Floats, Group, Ints, estimates_of_groups, ratio
from factloop.evaluation.audit.rates import over_datasets
from factloop.evaluation.audit.resampling import CountTable
from factloop.evaluation.audit.table import Level
from factloop.evaluation.statistics.magnitudes import Magnitude, largest_magnitude, mean_magnitude

OfGroups = list[tuple[Group, list[int], AuditFigure]]


class SystemErrors(Record):
    level: Level
    dataset: str
    system: str
    error_rate: AuditFigure


class SystemBias(Record):
    evaluator: str
    level: Level
    dataset: str
    system: str
    labelled: AuditFigure
    predicted: AuditFigure
    bias: AuditFigure
    n_unscored: Count


class DatasetBias(Record):
    """Error rates of a whole data set, according to the evaluator and to the labels (section 6.1)."""

    evaluator: str
    level: Level
    dataset: str
    labelled: AuditFigure
    predicted: AuditFigure
    bias: AuditFigure
    """Predicted minus labelled rate. Opposite biases cancel out across systems."""


class EvaluatorBias(Record):
    """One evaluator's biases on the systems in a data set, or their means over data sets."""

    evaluator: str
    level: Level
    group: Group
    mean_absolute: AuditFigure
    """With resamples, the part explained by sampling is subtracted from all magnitudes (see `magnitudes`)."""
    worst_absolute: AuditFigure
    worst_system: str | None
    """The system with the largest bias. None for several data sets."""
    headroom_labelled: AuditFigure
    headroom_predicted: AuditFigure
    headroom_bias: AuditFigure
    headroom_absolute: AuditFigure
    """Magnitude of `headroom_bias`. Magnitudes do not cancel out across data sets."""
    n_systems: Count


class Quantification(Record):
    errors: tuple[SystemErrors, ...]
    systems: tuple[SystemBias, ...]
    evaluators: tuple[EvaluatorBias, ...]
    datasets: tuple[DatasetBias, ...]


def quantification(counted: CountTable, *, levels: Iterable[Level] = tuple(Level)) -> Quantification:
    levels = tuple(levels)
    places = [(level, place) for level in levels for place in range(len(counted.evaluators))]
    return Quantification(
        errors=tuple(found for level in levels for found in _errors(counted, level)),
        systems=tuple(found for level, place in places for found in _systems(counted, level, place)),
        evaluators=tuple(found for level, place in places for found in _evaluator(counted, level, place)),
        datasets=tuple(found for level, place in places for found in _datasets(counted, level, place)),
    )


def _errors(counted: CountTable, level: Level) -> list[SystemErrors]:
    tally = counted.tally(level)
    rates = ratio(tally.labels[:, :, 0], tally.labels.sum(axis=2))
    error_rates = _estimates(counted, rates, tally.n_labels.sum(axis=1), tally.cell_clusters[-1])
    return [
        SystemErrors(level=level, dataset=dataset, system=system, error_rate=error_rate)
        for (dataset, system), error_rate, is_known in zip(
            _names(counted), error_rates, counted.is_of_known_system.tolist(), strict=True
        )
        if is_known
    ]


def _systems(counted: CountTable, level: Level, evaluator: int) -> list[SystemBias]:
    tally = counted.tally(level)
    labelled, predicted, n = _error_rates(counted, level, evaluator)
    figures = _biases(counted, labelled, predicted, n, tally.cell_clusters[evaluator])
    n_unscored = (tally.n_labels.sum(axis=1) - n).tolist()
    return [
        SystemBias(
            evaluator=counted.evaluators[evaluator],
            level=level,
            dataset=dataset,
            system=system,
            **found,
            n_unscored=unscored,
        )
        for (dataset, system), found, unscored, is_known in zip(
            _names(counted), figures, n_unscored, counted.is_of_known_system.tolist(), strict=True
        )
        if is_known
    ]


def _datasets(counted: CountTable, level: Level, evaluator: int) -> list[DatasetBias]:
    tally = counted.tally(level)
    confusion = over_datasets(counted, tally.confusion[:, evaluator])
    n = confusion.sum(axis=(2, 3))
    labelled, predicted = ratio(confusion[:, :, 0].sum(axis=2), n), ratio(confusion[:, :, :, 0].sum(axis=2), n)
    n_units = over_datasets(counted, tally.n_confusion[None, evaluator])[0].sum(axis=(1, 2))
    figures = _biases(counted, labelled, predicted, n_units, tally.dataset_clusters[evaluator])
    return [
        DatasetBias(evaluator=counted.evaluators[evaluator], level=level, dataset=dataset, **found)
        for dataset, found in zip(counted.datasets, figures, strict=True)
    ]


def _biases(
    counted: CountTable, labelled: Floats, predicted: Floats, n: Floats | Ints, n_clusters: Ints
) -> list[dict[str, AuditFigure]]:
    columns = [_estimates(counted, one, n, n_clusters) for one in (labelled, predicted, predicted - labelled)]
    return [dict(zip(("labelled", "predicted", "bias"), row, strict=True)) for row in zip(*columns, strict=True)]


def _evaluator(counted: CountTable, level: Level, evaluator: int) -> list[EvaluatorBias]:
    labelled, predicted, n = _of_known_systems(counted, *_error_rates(counted, level, evaluator))
    bias = predicted - labelled
    low_labelled, low_predicted = (_over_systems(counted, rates, np.min, 2) for rates in (labelled, predicted))
    headroom_bias = low_predicted - low_labelled
    measures = {
        "mean_absolute": _over_systems(counted, np.abs(bias), np.mean, 1),
        "worst_absolute": _over_systems(counted, np.abs(bias), np.max, 1),
        "headroom_labelled": low_labelled,
        "headroom_predicted": low_predicted,
        "headroom_bias": headroom_bias,
        "headroom_absolute": np.abs(headroom_bias),
    }
    n_of_dataset = np.bincount(counted.cell_dataset, n, len(counted.datasets)).astype(np.int64)
    n_systems = np.bincount(counted.cell_dataset[n > 0], minlength=len(counted.datasets))
    why = [Undefined.ONE_SYSTEM if count else Undefined.NOTHING_SCORED for count in n_systems.tolist()]
    n_clusters = counted.tally(level).known_clusters[evaluator]
    columns = {
        name: estimates_of_groups(counted, Figures(values, n_of_dataset, n_clusters), why)
        for name, values in measures.items()
    }
    columns |= _magnitudes(counted, columns, bias, headroom_bias)
    return [
        EvaluatorBias(
            evaluator=counted.evaluators[evaluator],
            level=level,
            group=row[0][0],
            worst_system=_worst(counted, bias[0], row[0][1][0]) if row[0][0].kind == "dataset" else None,
            n_systems=int(n_systems[row[0][1]].sum()),
            **{name: estimate for name, (_, _, estimate) in zip(columns, row, strict=True)},
        )
        for row in zip(*columns.values(), strict=True)
    ]


def _error_rates(counted: CountTable, level: Level, evaluator: int) -> tuple[Floats, Floats, Ints]:
    """Returns error rates by label and by prediction (1 + n_resamples, n_cells), and numbers of units (n_cells,)."""
    tally = counted.tally(level)
    confusion = tally.confusion[:, evaluator]
    seen, missed, alarm = confusion[:, :, 0, 0], confusion[:, :, 0, 1], confusion[:, :, 1, 0]
    n = seen + missed + alarm + confusion[:, :, 1, 1]
    return ratio(seen + missed, n), ratio(seen + alarm, n), tally.n_confusion[evaluator].sum(axis=(1, 2))


def _magnitudes(
    counted: CountTable, columns: Mapping[str, OfGroups], bias: Floats, headroom_bias: Floats
) -> dict[str, OfGroups]:
    level, defined = counted.basis.level, ~np.isnan(bias[0])
    cells = [np.flatnonzero((counted.cell_dataset == place) & defined) for place in range(len(counted.datasets))]
    of_members: dict[str, Callable[[list[int]], Magnitude]] = {
        "mean_absolute": lambda members: _mean_bias(bias, [cells[one] for one in members], level),
        "worst_absolute": lambda members: _worst_bias(bias, [cells[one] for one in members], level),
        "headroom_absolute": lambda members: _mean_headroom(headroom_bias[:, members], level),
    }
    return {
        name: [(group, members, _less_noise(plain, of, members)) for group, members, plain in columns[name]]
        for name, of in of_members.items()
    }


def _less_noise(plain: AuditFigure, of: Callable[[list[int]], Magnitude], members: list[int]) -> AuditFigure:
    if plain.value is None:
        return plain
    found = of(members)
    low, high = None, None
    if found.low is not None and found.high is not None and plain.n_clusters >= 2:
        low, high = found.low, min(1.0, found.high)
    return plain.model_copy(update={"value": found.value, "low": low, "high": high})


def _mean_bias(bias: Floats, cells: Sequence[Ints], level: float) -> Magnitude:
    cells = [own for own in cells if len(own)]
    weights = np.concatenate([np.full(len(own), 1.0 / len(own) / len(cells)) for own in cells])
    return mean_magnitude(bias[:, np.concatenate(cells)], weights, level)


def _worst_bias(bias: Floats, cells: Sequence[Ints], level: float) -> Magnitude:
    groups = np.concatenate([np.full(len(own), place) for place, own in enumerate(cells)])
    return largest_magnitude(bias[:, np.concatenate(cells)], groups, level)


def _mean_headroom(headroom_bias: Floats, level: float) -> Magnitude:
    defined = headroom_bias[:, ~np.isnan(headroom_bias[0])]
    return mean_magnitude(defined, np.full(defined.shape[1], 1.0 / defined.shape[1]), level)


def _of_known_systems(counted: CountTable, labelled: Floats, predicted: Floats, n: Ints) -> tuple[Floats, Floats, Ints]:
    is_known = counted.is_of_known_system
    return np.where(is_known, labelled, np.nan), np.where(is_known, predicted, np.nan), np.where(is_known, n, 0)


def _over_systems(counted: CountTable, values: Floats, reduce: Callable[..., Floats], fewest: int) -> Floats:
    """Reduces `values` over the systems that have a value, or returns NaN for fewer than `fewest` such systems. The
    result has shape (1 + n_resamples, n_datasets). A resample is NaN if any of these systems has no value in it."""
    found = np.full((len(values), len(counted.datasets)), np.nan)
    is_defined = ~np.isnan(values[0])
    for dataset in range(len(counted.datasets)):
        systems = (counted.cell_dataset == dataset) & is_defined
        if systems.sum() >= fewest:
            found[:, dataset] = reduce(values[:, systems], axis=1)
    return found


def _worst(counted: CountTable, bias: Floats, dataset: int) -> str | None:
    cells = np.flatnonzero((counted.cell_dataset == dataset) & ~np.isnan(bias))
    if not len(cells):
        return None
    return counted.systems[int(counted.cell_system[cells[np.argmax(np.abs(bias[cells]))]])]


def _estimates(counted: CountTable, values: Floats, n: Floats | Ints, n_clusters: Ints) -> list[AuditFigure]:
    figures = Figures(values, n.astype(np.int64), n_clusters)
    return figures.estimates([Undefined.NOTHING_SCORED] * values.shape[1], counted.basis.level)


def _names(counted: CountTable) -> list[tuple[str, str]]:

    cells = zip(counted.cell_dataset.tolist(), counted.cell_system.tolist(), strict=True)
    return [(counted.datasets[dataset], counted.systems[system]) for dataset, system in cells]
