"""Measures checks against a provider that fails: how long they take, what they lose, whether verdicts hold."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.rows import Row, compared
from benchmarks.safe_plans import lost_row
from benchmarks.safe_runs import Plan, Run, check_all
from factloop.core.records import UnscoredReason
from tests.simulator import SEARCH, Faults, RunningSimulator, SimulatorSettings

HANG_TIMEOUT_S = 5.0
RATE = 5.0
SLOWEST = 2.0
MOST_REFUSED = 0.05
N_LIMITED_RESPONSES = 4
"""Under the rate limit, so that the row takes a minute, not five."""

PATIENCE_S = 10.0
DEFAULT_TIMEOUT_S = 60.0
N_OUTAGE_RESPONSES = 4
OUTAGES: Mapping[str, Faults | None] = {
    "429": Faults(error_429=1.0),
    "500": Faults(error_500=1.0),
    "hanging": Faults(hang=1.0, hang_s=1_000.0),
    "refused connections": None,
}

USUAL = {"error_500": 0.10, "malformed": 0.05}
MIXES: Mapping[str, Mapping[str, Any]] = {
    "8 % truncated, 4 % refused": {"faults": Faults(truncated=0.08, refusal=0.04)},
    "30 % 500s everywhere": {"faults": Faults(error_500=0.30)},
    "all malformed": {"faults": Faults(malformed=1.0)},
    "search: 20 % 500s, 10 % malformed": {"stage_faults": {SEARCH: Faults(error_500=0.2, malformed=0.1)}},
    "splitting: 60 % malformed": {
        "stage_faults": {title: Faults(malformed=0.6) for title in ("SentenceFacts", "WindowFacts", "AtomicFacts")}
    },
    "dies after 60 requests": {"dies_after": 60},
}


def fault_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """The usual mix on twenty responses against the same without faults, then every other mix on one."""
    twenty = simulator.world.twenty_responses
    _only(simulator)
    clean = check_all(simulator, twenty, plan)
    _only(simulator, faults=Faults(**USUAL))
    faulty = check_all(simulator, twenty, plan)
    group = f"{plan}, 10 % 500s and 5 % malformed"
    yield compared(group, "time, times the fault-free", faulty.wall_s / clean.wall_s, "at most", SLOWEST, "{:.2f}")
    yield from _kept(group, faulty)
    for name, settings in MIXES.items():
        _only(simulator, **settings)
        run = check_all(simulator, [simulator.world.one_response(43)], plan)
        yield Row(f"{plan}, {name}", "time", "", f"{run.wall_s:.1f} s", None)
        yield from _kept(f"{plan}, {name}", run)
    _only(simulator)


def limit_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """A model that takes five requests a second and says in Retry-After when to come back."""
    _only(simulator, requests_per_s=RATE)
    run = check_all(simulator, simulator.world.twenty_responses[:N_LIMITED_RESPONSES], plan)
    _only(simulator)
    group = f"{plan}, {RATE:g} requests/s"
    share = f"{run.stats.model.limited} of {run.stats.model.requests} requests refused"
    yield compared(group, share, run.share_limited, "at most", MOST_REFUSED, "{:.3f}")
    best_s = (run.stats.model.answered - RATE) / RATE
    yield Row(group, "time, times the least possible", "", f"{run.wall_s / best_s:.2f} ({run.wall_s:.0f} s)", None)
    yield from _kept(group, run)


def hang_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """Measures while every twentieth request hangs for 100 s: the timeout must fire, and the claim be asked again."""
    _only(simulator, faults=Faults(hang=0.05, hang_s=100.0))
    run = check_all(simulator, [simulator.world.one_response(43)], plan, timeout_s=HANG_TIMEOUT_S)
    _only(simulator)
    group = f"{plan}, 5 % hang for 100 s, timeout {HANG_TIMEOUT_S:g} s"
    yield compared(group, "time", run.wall_s, "at most", 10 * HANG_TIMEOUT_S, "{:.1f} s")
    yield Row(group, "requests given up", "", f"{run.stats.model.abandoned + run.stats.search.abandoned}", None)
    yield compared(group, "claims unscored", run.score.n_unscored + run.score.n_failed, "at most", 0, "{:.0f}")
    yield from _kept(group, run)


def outage_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """A search that is dead from the first request on: the run ends soon, and every claim that needed it says so."""
    responses = simulator.world.twenty_responses[:N_OUTAGE_RESPONSES]
    for name, faults in OUTAGES.items():
        _only(simulator, stage_faults={} if faults is None else {SEARCH: faults}, retry_after="none")
        nowhere = None if faults is not None else f"http://127.0.0.1:{_closed_port()}"
        run = check_all(simulator, responses, plan, search_url=nowhere, patience_s=PATIENCE_S)
        group = f"{plan}, search dead by {name}, patience {PATIENCE_S:g} s"
        yield compared(group, "time", run.wall_s, "at most", PATIENCE_S + DEFAULT_TIMEOUT_S, "{:.1f} s")
        others = sum(count for reason, count in run.reasons.items() if reason is not UnscoredReason.TOOL_FAILURE)
        yield compared(group, "claims unscored for another reason", others, "at most", 0, "{:.0f}")
        yield Row(group, "model calls; searches refused", "", _spent(run), None)
        yield from _kept(group, run)
    _only(simulator)


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return int(closed.getsockname()[1])


def _spent(run: Run) -> str:
    return f"{run.stats.model.answered}; {run.stats.search.requests - run.stats.search.answered}"


def _kept(group: str, run: Run) -> Iterator[Row]:
    """Checks of what may never happen: a fact lost, a failure shown as a verdict."""
    yield lost_row(group, "facts lost", run)
    score = run.score
    n_wrong = score.n_matched - score.n_equal - score.n_unscored
    yield compared(group, "wrong verdicts", n_wrong, "at most", round(0.015 * score.n_facts), "{:.0f}")
    yield Row(group, "facts unscored", "", f"{score.n_unscored + score.n_failed} of {score.n_facts}", None)


def _only(simulator: RunningSimulator, **changes: Any) -> None:
    """The usual conditions with these changes and no others."""
    defaults = {name: value for name, value in vars(SimulatorSettings()).items() if name not in changes}
    simulator.set(**defaults, **changes)
