"""Measures fault-free checks: calls, searches, tokens, time and CPU for each plan, and whether verdicts are true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.prefixes import CACHED_FROM
from benchmarks.rows import Row, compared
from benchmarks.safe_runs import Plan, Run, check_all
from tests.simulator import RunningSimulator


@dataclass(frozen=True)
class Targets:
    """Upper bounds, but for `agreement` and `shared_share`."""

    calls: float
    searches: float
    prompt_tokens: float
    completion_tokens: float
    one_response_s: float
    many_responses_s: float
    cpu_ms: float
    n_responses: int = 20
    agreement: float = 0.985
    shared_share: float = 0.0
    lost_share: float = 0.0
    passed_false: int | None = None
    """False claims that a guard that blocks may let pass, where the documents are given."""


TARGETS: dict[Plan, Targets] = {
    "safe": Targets(7.7, 5.0, 5000, 340, 10.0, 60.0, 50.0, agreement=0.85, lost_share=0.05),
    "paper": Targets(7.7, 5.0, 5000, 340, 10.0, 60.0, 50.0),
    "fused": Targets(1.4, 1.2, 1_000, 95, 5.0, 15.0, 10.0, shared_share=0.3),
    "grounded": Targets(0.2, 0.0, 350, 45, 4.0, 10.0, 10.0, n_responses=5, passed_false=0),
}


def plan_rows(simulator: RunningSimulator, plan: Plan) -> Iterator[Row]:
    """The rows of one plan: one response first, which also loads what is loaded once, then several."""
    targets, world = TARGETS[plan], simulator.world
    one = check_all(simulator, [world.one_response(43)], plan)
    several = world.twenty_responses[: targets.n_responses]
    many = check_all(simulator, several, plan)
    n_facts, total = many.score.n_facts, one.score + many.score
    cpu_ms = 1000 * many.cpu_s / n_facts
    group = f"{plan}, world {world.seed}"

    def bound(name: str, value: float | None, most: float, form: str) -> Row:
        return compared(group, name, value, "at most", most, form)

    yield bound("model calls per fact", many.calls_per_fact, targets.calls, "{:.2f}")
    yield bound("searches per fact", many.searches_per_fact, targets.searches, "{:.2f}")
    yield bound("prompt tokens per fact", many.prompt_tokens_per_fact, targets.prompt_tokens, "{:.0f}")
    yield bound("completion tokens per fact", many.completion_tokens_per_fact, targets.completion_tokens, "{:.0f}")
    yield compared(
        group, "prompt tokens in shared prefixes", many.shared_share, "at least", targets.shared_share, "{:.0%}"
    )
    yield Row(group, f"in shared prefixes of {CACHED_FROM:,} tokens or more", "", f"{many.cached_share:.0%}", None)
    yield bound("one response of 43 facts", one.wall_s, targets.one_response_s, "{:.1f} s")
    many_name = f"{targets.n_responses} responses, {n_facts} facts"
    yield bound(many_name, many.wall_s, targets.many_responses_s, "{:.1f} s")
    yield bound("own CPU per fact", cpu_ms, targets.cpu_ms, "{:.1f} ms")
    yield compared(group, "verdicts equal to the truth", total.agreement, "at least", targets.agreement, "{:.3f}")
    yield bound("facts given to another", total.n_misattributed, 0, "{:.0f}")
    yield bound("false facts called irrelevant", total.n_hidden_false, 0, "{:.0f}")
    n_false = sum(not fact.is_true for response in (world.one_response(43), *several) for fact in response.facts)
    name, passed = f"false facts called supported, of {n_false}", total.n_passed_false
    if targets.passed_false is None:
        yield Row(group, name, "", f"{passed}", None)
    else:
        yield bound(name, passed, targets.passed_false, "{:.0f}")
    yield lost_row(group, "facts lost", one, many, most=round(targets.lost_share * total.n_facts))
    yield Row(group, "CPU of the simulator per fact", "", f"{1000 * many.stats.cpu_s / n_facts:.1f} ms", None)
    yield Row(group, "requests in flight at most", "", f"{many.stats.max_in_flight}", None)


def lost_row(group: str, name: str, *runs: Run, most: int = 0) -> Row:
    """Facts that no claim of the report stands for. Only `safe`, which splits sentences without context, has any."""
    return compared(group, name, sum(run.score.n_lost for run in runs), "at most", most, "{:.0f}")
