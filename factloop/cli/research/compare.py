"""`factloop research compare` compares two finished runs, or two systems in one run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from factloop.cli.console import stopped_with
from factloop.cli.demands import demands_exit_code
from factloop.cli.inputs import wanted_k
from factloop.cli.options import ARGUMENT, STATISTICS, Arguments, Intervals, Seeded, Tabled, Texts, command
from factloop.cli.outputs import deliver, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.setup.marks import Mark

if TYPE_CHECKING:
    from factloop.evaluation.comparing.demands import Demand
    from factloop.evaluation.runs.reading import FinishedRun


class FailIfWorse(Arguments):
    fail_if_worse: Annotated[Texts, Mark(metavar="METRIC[:MARGIN]")] = ()
    """Exit with 1 if this metric is significantly worse. With a margin, exit with 1 unless a one-sided test rules out a
    loss of that size. The margin has the unit of the metric (for fractions, 0.05 is five percentage points). You can
    also set a limit, such as "tpr >= 0.8", or "flips <= 3" for claims that are no longer judged correctly."""


class Compare(Tabled, Intervals, Seeded, FailIfWorse):
    runs: Annotated[Texts, Mark(ARGUMENT, "RUN...")]
    """Two run directories of factloop eval, A and B, or one run directory to compare two of its systems. Runs between A
    and B show whether the judge, the search or the answers cause a difference. You can also pass experiments."""
    system: Annotated[Texts, Mark(metavar="NAME")] = ()
    """Compare only this system, or variant of an experiment. If you name two, the first is in A and the second in B."""
    labels: Annotated[str | None, Mark(metavar="FILE")] = None
    """File of labels for an experiment's claims, written by research labels export."""
    k: Annotated[Texts, Mark(STATISTICS, "K")] = ()
    """K for F1@K: a number, median or maximum. Default: the K used in the runs."""
    abstention: Annotated[Literal["zero", "exclude"] | None, Mark(STATISTICS)] = None
    """Count a response without claims as an F1@K of 0 (zero), or leave it out (exclude). Default: as in the runs."""


@command()
def compare(given: Compare) -> int:
    require("evaluation", "factloop research compare")
    from factloop.evaluation.comparing.compare import ComparedRun
    from factloop.evaluation.comparing.compare import compare as compare_runs
    from factloop.evaluation.comparing.demands import read_demand
    from factloop.evaluation.comparing.views.shown import print_comparison, render_comparison_html
    from factloop.evaluation.experiments.finished import is_experiment
    from factloop.evaluation.runs.longform import AbstentionPolicy
    from factloop.evaluation.runs.reading import read_run

    ks = tuple(map(wanted_k, given.k))
    demands = [read_demand(one) for one in given.fail_if_worse]
    if len(given.system) > 2:
        raise ConfigError("--system can be used at most twice: once for A and once for B")
    try_outputs(given.written, (*given.runs, given.labels))
    if all(map(is_experiment, given.runs)):
        return _compare_experiments(given, demands)
    if given.labels is not None:
        raise ConfigError("--labels needs the run directory of an experiment: pass one, or omit --labels")
    with stopped_with("Nothing was written; run the command again."):
        runs = [read_run(folder) for folder in given.runs]
        first, second = (
            ComparedRun(given.runs[side], runs[side].summary, runs[side], system)
            for side, system in zip((0, -1), _named_systems(given.runs, runs, given.system), strict=True)
        )
        comparison = compare_runs(
            first,
            second,
            between=[
                ComparedRun(folder, run.summary, run, first.system)
                for folder, run in zip(given.runs[1:-1], runs[1:-1], strict=True)
            ],
            ks=ks,
            abstention=None if given.abstention is None else AbstentionPolicy(given.abstention),
            alpha=round(1.0 - given.level, 12),
            resamples=given.resamples,
            seed=given.seed,
            demands=demands,
        )
    show, page = partial(print_comparison, comparison), partial(render_comparison_html, comparison)
    deliver(given, comparison, show, page=page)
    return demands_exit_code(comparison.demands)


def _compare_experiments(given: Compare, demands: Sequence[Demand]) -> int:
    from factloop.evaluation.experiments.assess import assess
    from factloop.evaluation.experiments.finished import side_by_side, with_labels
    from factloop.evaluation.experiments.views.shown import print_experiment, render_experiment_html

    if len(given.runs) > 2:
        raise ConfigError("cannot compare more than two experiments: pass one or two run directories")
    if given.k or given.abstention is not None:
        raise ConfigError("--k and --abstention are for runs of `factloop eval`: set them in the experiment's plan")
    results = side_by_side(given.runs, given.system)
    if given.labels is not None:
        results = with_labels(results, given.labels)
    report = assess(results, level=given.level, resamples=given.resamples, seed=given.seed, demands=demands)
    deliver(given, report, partial(print_experiment, report), page=partial(render_experiment_html, report))
    return demands_exit_code(report.demands)


def _named_systems(
    folders: Sequence[str], runs: Sequence[FinishedRun], systems: Sequence[str]
) -> tuple[str | None, str | None]:
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(runs) > 1:
        return (systems[0], systems[0]) if systems else (None, None)
    there = sorted({line.system for line in runs[0].summary.responses})
    if len(there) == 2 and not systems:
        return there[0], there[1]
    held = ", ".join(there) or "none"
    raise ConfigError(f"{folders[0]}: also pass a second run, or select two of its systems ({held}) with --system")
