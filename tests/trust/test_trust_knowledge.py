"""TrustBC against a subject whose knowledge is known: however it is asked, and whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factloop import TrustReport, TrustRun, UnscoredReason
from tests.checking.simulated import simulated_scorer
from tests.simulator import Faults, Simulator
from tests.trust.trust_items import both_answers, expected, known_to, timeless, values

N_PAIRS = 2


async def score(sim: Simulator, n: int = N_PAIRS, **settings: Any) -> TrustRun:
    """The true and a false answer to `n` questions that the subject knows, and to as many that it does not."""
    items = both_answers(known_to(sim, "known", n) + known_to(sim, "unknown", n))
    async with simulated_scorer(sim, **settings) as scorer:
        return await scorer.ascore_many(items)


def truth(sim: Simulator, run: TrustRun) -> list[int | None]:
    n = len(run.reports) // 4
    return expected(sim, both_answers(known_to(sim, "known", n) + known_to(sim, "unknown", n)))


@pytest.mark.parametrize("letter_bias", [None, "A", "B", "C", "D", "E"])
async def test_it_is_what_the_subject_knows_whatever_its_letter_bias(sim: Simulator, letter_bias: str | None) -> None:
    sim.set(letter_bias=letter_bias)
    run = await score(sim, window=4)
    assert values(run) == truth(sim, run)
    assert {1, 0} == set(values(run))


MODES: list[dict[str, Any]] = [
    {"plain_letters": True},
    {"supports_logprobs": False},
    {"supports_json_schema": False},
    {"supports_json_schema": False, "supports_json_object": False},
    {"supports_json_schema": False, "supports_json_object": False, "supports_tools": False},
    {"supports_temperature": False},
    {"plain_letters": True, "supports_logprobs": False, "supports_json_schema": False},
]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: " ".join(mode))
async def test_it_does_not_depend_on_what_the_server_can(sim: Simulator, mode: dict[str, Any]) -> None:
    sim.set(**mode)
    run = await score(sim, n=1)
    assert values(run) == truth(sim, run)
    graded = [report.trust_bc.graded for report in run.reports]
    assert (None in graded) == (not mode.get("supports_logprobs", True))


def counted(report: TrustReport) -> Any:
    bc = report.trust_bc
    return bc.value, bc.graded, bc.n_consistent, bc.n_inconsistent, [check for check in bc.checks if check.counted]


async def test_the_window_changes_the_number_of_calls_and_no_result(sim: Simulator) -> None:
    by_window = {window: await score(sim, window=window) for window in (1, 3, 10)}
    first = [counted(report) for report in by_window[1].reports]
    for run in by_window.values():
        assert [counted(report) for report in run.reports] == first
    calls = [run.usage.calls for run in by_window.values()]
    assert calls == sorted(calls)
    assert calls[0] < calls[-1]
    assert all(report.trust_bc.n_asked == 10 for report in by_window[10].reports)


async def test_one_seed_gives_one_report(sim: Simulator) -> None:
    first, again, other = [await score(sim, n=1, seed=seed, concurrency=c) for seed, c in ((5, 0), (5, 3), (6, 0))]
    assert timeless(again) == timeless(first)
    assert timeless(other) != timeless(first)
    asked = [[check.options for check in run.reports[0].trust_bc.checks] for run in (first, other)]
    assert asked[0] != asked[1]


async def test_no_failure_becomes_an_inconsistency(sim: Simulator) -> None:
    sim.set(faults=Faults(error_500=0.1, malformed=0.05, truncated=0.05, refusal=0.05))
    run = await score(sim, n=6, window=3)
    assert sim.stats().model.failed > 0
    for report, wanted in zip(run.reports, truth(sim, run), strict=True):
        bc = report.trust_bc
        if bc.value is None:
            assert bc.unscored_reason in {
                UnscoredReason.PARSE_FAILURE, UnscoredReason.REFUSAL, UnscoredReason.TOO_FEW_DISTRACTORS
            }  # fmt: skip
            assert bc.n_inconsistent == 0
        else:
            assert bc.value == wanted
    assert sum(value is not None for value in values(run)) > len(values(run)) / 2


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (Faults(refusal=1.0), UnscoredReason.REFUSAL),
        (Faults(truncated=1.0), UnscoredReason.PARSE_FAILURE),
    ],
    ids=["refusal", "truncated"],
)
async def test_a_subject_that_always_fails_has_no_score(sim: Simulator, faults: Faults, reason: UnscoredReason) -> None:
    sim.set(faults=faults)
    run = await score(sim, n=1)
    assert {report.trust_bc.unscored_reason for report in run.reports} == {reason}
    assert set(values(run)) == {None}
    assert (run.summary.trust_bc.mean, run.summary.trust_bc.n_unscored) == (None, len(run.reports))


@pytest.mark.parametrize("max_calls", [0, 1, 12])
async def test_a_budget_is_never_passed_and_leaves_the_rest_unscored(sim: Simulator, max_calls: int) -> None:
    run = await score(sim, n=1, max_calls=max_calls)
    assert sim.stats().model.requests == run.usage.calls == max_calls
    assert UnscoredReason.BUDGET in {report.trust_bc.unscored_reason for report in run.reports}
    for report, wanted in zip(run.reports, truth(sim, run), strict=True):
        assert report.trust_bc.value in (wanted, None)


async def test_concurrent_calls_share_what_they_ask(sim: Simulator) -> None:
    (pair,) = known_to(sim, "known", 1)
    async with simulated_scorer(sim) as scorer:
        reports = await asyncio.gather(*(scorer.ascore(pair.question, pair.answer) for _ in range(4)))
    assert [report.trust_bc.value for report in reports] == [1] * 4
    assert all(report.trust_bc == reports[0].trust_bc for report in reports)
    assert sim.stats().model.requests == 10
