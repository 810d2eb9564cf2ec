"""`factloop compare`: two finished runs, or two systems of one, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from factloop.cli.exits import messages_console, stopped_with
from factloop.cli.fail_if_worse import demands_exit_code
from factloop.cli.ks import wanted_ks
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.evaluation.comparing.compare import ALPHA, ComparedRun, compare
from factloop.evaluation.comparing.demands import read_demand
from factloop.evaluation.comparing.views.html import render_comparison_html
from factloop.evaluation.comparing.views.terminal import print_comparison
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.reading import FinishedRun, read_run
from factloop.evaluation.runs.records import JudgedResponse

T = TypeVar("T")


@dataclass(frozen=True)
class CompareAsk:
    """Arguments of the command."""

    runs: tuple[str, ...]
    """One or two folders."""
    systems: tuple[str, ...]
    ks: tuple[str, ...]
    abstention: Literal["zero", "exclude"] | None
    alpha: float | None
    level: float | None
    """One minus alpha; either says both."""
    resamples: int
    seed: int
    json: str | None
    html: str | None
    quiet: bool
    fail_if_worse: tuple[str, ...] = ()


def run_compare(ask: CompareAsk) -> int:
    """Compares and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    ks = wanted_ks(ask.ks, ())
    abstention = None if ask.abstention is None else AbstentionPolicy(ask.abstention)
    alpha = _alpha(ask)
    demands = [read_demand(one) for one in ask.fail_if_worse]
    try_outputs((ask.json, ask.html), ask.runs)
    with stopped_with("Nothing was written; run the command again.", messages):
        first, second = _sides(ask)
        comparison = compare(
            first, second, ks=ks, abstention=abstention, alpha=alpha, resamples=ask.resamples, seed=ask.seed,
            demands=demands,
        )  # fmt: skip
        write_files({ask.json: partial(to_json, comparison), ask.html: partial(render_comparison_html, comparison)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_comparison(comparison, Terminal()))
    return demands_exit_code(comparison.demands, messages)


@dataclass(frozen=True)
class _Reports(Iterable[JudgedResponse]):
    """The reports of a run, read from its folder at every pass."""

    run: FinishedRun

    def __iter__(self) -> Iterator[JudgedResponse]:
        return self.run.responses()


def _sides(ask: CompareAsk) -> tuple[ComparedRun, ComparedRun]:
    """Both sides: the two runs, each with its system where two are named, or the two systems of a single run."""
    if len(ask.runs) > 2 or len(ask.systems) > 2:
        raise ConfigError("two runs are compared, or two systems of one: name no more")
    runs = [read_run(folder) for folder in ask.runs]
    systems = _named_systems(ask.runs, runs, ask.systems)
    first, second = (
        ComparedRun(folder, run.summary, _Reports(run), system)
        for folder, run, system in zip(_twice(ask.runs), _twice(runs), systems, strict=True)
    )
    return first, second


def _named_systems(
    folders: Sequence[str], runs: Sequence[FinishedRun], systems: Sequence[str]
) -> tuple[str | None, str | None]:
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(runs) == 2:
        return (systems[0], systems[0]) if systems else (None, None)
    there = sorted({line.system for line in runs[0].summary.responses})
    if len(there) == 2 and not systems:
        return there[0], there[1]
    held = ", ".join(there) or "none"
    raise ConfigError(f"{folders[0]}: name a second run, or two systems of this one with --system; it holds {held}")


def _twice(items: Sequence[T]) -> tuple[T, T]:
    return items[0], items[-1]


def _alpha(ask: CompareAsk) -> float:
    for flag, value in (("--alpha", ask.alpha), ("--level", ask.level)):
        if value is not None and not 0.0 < value < 1.0:
            raise ConfigError(f"{flag}: {value:g} is not between 0 and 1")
    if ask.level is None:
        return ALPHA if ask.alpha is None else ask.alpha
    if ask.alpha is not None and abs(1.0 - ask.alpha - ask.level) > 1e-9:
        said = f"--alpha {ask.alpha:g} and --level {ask.level:g}"
        raise ConfigError(f"{said}: intervals are at one minus alpha, as tests and intervals would disagree; give one")
    return round(1.0 - ask.level, 12) if ask.alpha is None else ask.alpha
