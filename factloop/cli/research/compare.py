"""`factloop research compare`: two finished runs, or two systems of one, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
    from factloop.evaluation.runs.reading import FinishedRun
    from factloop.evaluation.runs.records import JudgedResponse


class FailIfWorse(Arguments):
    """Arguments of commands that compare."""

    fail_if_worse: Annotated[Texts, Mark(metavar="METRIC[:MARGIN]")] = ()
    """Exit with 1 if a loss in this metric is shown; with a margin, unless a loss that large is ruled out (one-sided).
    The margin is a share for metrics that are shares (0.05 is five points), and an amount for cost_usd and tokens.
    Also takes "tpr >= 0.8" and "flips <= 3" (claims that were right and no longer are)."""


class Compare(Tabled, Intervals, Seeded, FailIfWorse):
    """Arguments of `research compare`."""

    runs: Annotated[Texts, Mark(ARGUMENT, "RUN...")]
    """Two run directories of factloop eval, A and B; or one, to compare two of its systems."""
    system: Annotated[Texts, Mark(metavar="NAME")] = ()
    """Compare only this system. Given twice, the first in A is compared with the second in B."""
    k: Annotated[Texts, Mark(STATISTICS, "K")] = ()
    """K for F1@K: a number, median or maximum. Default: as in the runs."""
    abstention: Annotated[Literal["zero", "exclude"] | None, Mark(STATISTICS)] = None
    """Count a response without claims as F1@K 0, or leave it out. Default: as in the runs."""


@command()
def compare(given: Compare) -> int:
    """Compares and writes; returns the exit code. Raises FactloopError for wrong input."""
    require("evaluation", "factloop research compare")
    from factloop.evaluation.comparing.compare import ComparedRun
    from factloop.evaluation.comparing.compare import compare as compare_runs
    from factloop.evaluation.comparing.demands import read_demand
    from factloop.evaluation.comparing.views.html import render_comparison_html
    from factloop.evaluation.comparing.views.terminal import print_comparison
    from factloop.evaluation.runs.longform import AbstentionPolicy
    from factloop.evaluation.runs.reading import read_run

    ks = tuple(map(wanted_k, given.k))
    demands = [read_demand(one) for one in given.fail_if_worse]
    if len(given.runs) > 2 or len(given.system) > 2:
        raise ConfigError("give two runs, or two systems of one run, and no more")
    try_outputs(given.written, given.runs)
    with stopped_with("Nothing was written; run the command again."):
        runs = [read_run(folder) for folder in given.runs]
        first, second = (
            ComparedRun(given.runs[side], runs[side].summary, _Reports(runs[side]), system)
            for side, system in zip((0, -1), _named_systems(given.runs, runs, given.system), strict=True)
        )
        comparison = compare_runs(
            first,
            second,
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


@dataclass(frozen=True)
class _Reports(Iterable["JudgedResponse"]):
    """The reports of a run, read from its folder at every pass."""

    run: FinishedRun

    def __iter__(self) -> Iterator[JudgedResponse]:
        return self.run.responses()


def _named_systems(
    folders: Sequence[str], runs: Sequence[FinishedRun], systems: Sequence[str]
) -> tuple[str | None, str | None]:
    """The system of each side; None where all systems of two runs are compared."""
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(runs) == 2:
        return (systems[0], systems[0]) if systems else (None, None)
    there = sorted({line.system for line in runs[0].summary.responses})
    if len(there) == 2 and not systems:
        return there[0], there[1]
    held = ", ".join(there) or "none"
    raise ConfigError(f"{folders[0]}: name a second run, or two systems of this one with --system; it holds {held}")
