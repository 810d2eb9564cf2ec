"""What a fault-free check costs: calls, searches, tokens, time and CPU for each plan, and whether verdicts are true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.rows import Row, compared
from benchmarks.safe_runs import Plan, Run, check_all
from tests.simulator import RunningSimulator


@dataclass(frozen=True)
class Targets:
    """Upper bounds, but for `agreement`."""

    calls: float
    searches: float
    prompt_tokens: float
    completion_tokens: float
    one_response_s: float
    twenty_responses_s: float
    cpu_ms: float
    agreement: float = 0.985


TARGETS: dict[Plan, Targets] = {
    "paper": Targets(7.7, 5.0, 4000, 340, 10.0, 60.0, 46.0),
    "fused": Targets(1.6, 1.3, 700, 90, 5.0, 15.0, 12.0),
}


def plan_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """The rows of one plan: one response first, which also loads what is loaded once, then twenty."""
    targets, world = TARGETS[plan], simulator.world
    one = check_all(simulator, [world.one_response(43)], plan)
    many = check_all(simulator, world.twenty_responses, plan)
    n_facts = many.score.n_facts
    yield compared(plan, "model calls per fact", many.calls_per_fact, "at most", targets.calls, "{:.2f}")
    yield compared(plan, "searches per fact", many.searches_per_fact, "at most", targets.searches, "{:.2f}")
    yield compared(
        plan, "prompt tokens per fact", many.prompt_tokens_per_fact, "at most", targets.prompt_tokens, "{:.0f}"
    )
    yield compared(
        plan,
        "completion tokens per fact",
        many.completion_tokens_per_fact,
        "at most",
        targets.completion_tokens,
        "{:.0f}",
    )
    yield compared(plan, "one response of 43 facts", one.wall_s, "at most", targets.one_response_s, "{:.1f} s")
    yield compared(
        plan, f"20 responses, {n_facts} facts", many.wall_s, "at most", targets.twenty_responses_s, "{:.1f} s"
    )
    cpu_ms = 1000 * many.cpu_s / n_facts
    yield compared(plan, "own CPU per fact", cpu_ms, "at most", targets.cpu_ms, "{:.1f} ms")
    agreement = (one.score + many.score).agreement
    yield compared(plan, "verdicts equal to the truth", agreement, "at least", targets.agreement, "{:.3f}")
    yield lost_row(plan, "facts lost", one, many)
    yield Row(plan, "CPU of the simulator per fact", "", f"{1000 * many.stats.cpu_s / n_facts:.1f} ms", None)
    yield Row(plan, "requests in flight at most", "", f"{many.stats.max_in_flight}", None)


def lost_row(group: str, name: str, *runs: Run) -> Row:
    """Facts that no claim of the report stands for: none may be."""
    return compared(group, name, sum(run.score.n_lost for run in runs), "at most", 0, "{:.0f}")
