"""The differences that demands on a comparison are about: of systems their figures, of evaluators their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.demands import FLAG, Demand, DemandedDifference, refuse_margin_of_share
from factloop.evaluation.comparing.records import ComparisonKind
from factloop.evaluation.comparing.words import points
from factloop.evaluation.statistics.stratified_means import StratifiedMean
from factloop.reports.figures import plural


def demanded(
    demands: Sequence[Demand], gains: Mapping[str, StratifiedMean], kind: ComparisonKind
) -> Iterator[DemandedDifference]:
    """Each demand with its difference, B minus A; `f1` without a K is F1 at every K that is compared.

    Raises ConfigError for a metric that such a comparison has not: of systems, precision and F1@K; of evaluators, for
    whom neither is better, agreement with people's labels and balanced accuracy. All are shares; so it does for a
    margin that no loss in one can reach.
    """
    for demand in demands:
        names = [name for name in gains if name == demand.name or (demand.k is None and _is_at_k(name, demand.metric))]
        if not names:
            what = "systems" if kind is ComparisonKind.SYSTEMS else "evaluators"
            there = ", ".join(gains) or "nothing, as no claim has a label"
            raise ConfigError(f"{FLAG} {demand.name}: of {what} there is {there}")
        refuse_margin_of_share(demand)
        for name in names:
            gain = gains[name]
            noun = "response" if kind is ComparisonKind.SYSTEMS else "claim"
            basis = f"n = {plural(gain.n, noun)} to {plural(gain.n_clusters, 'prompt')}"
            at_k = int(name.partition("@")[2]) if "@" in name else None
            of_k = Demand(demand.metric, at_k, demand.margin)
            yield DemandedDifference(of_k, "A", "B", gain, name.replace("_", " "), _points, basis)


def _is_at_k(name: str, metric: str) -> bool:
    return name.partition("@")[0] == metric


def _points(value: float) -> str:
    return f"{points(value)} points"
