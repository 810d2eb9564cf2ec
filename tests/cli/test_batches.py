"""`--batch`: the same verdicts at half the price, by batches, and nothing twice after a kill."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.cli.processes import WITHIN_S, Start, wait_until
from tests.evaluation.experiments.small_plans import facts_of, write_claims, write_variant
from tests.evaluation.running.short_responses import short_items, write_items
from tests.evaluation.verification.world_pairs import read_rows, write_rows
from tests.simulator import MODEL, Simulator

QUICKLY = ("--batch", "--set", "batch_after_s=0.2")
PRICED = ("--price-in", 1.0, "--price-out", 2.0)


def verdicts(run: Path) -> dict[str, list[Any]]:
    lines = (run / "reports.jsonl").read_text(encoding="utf-8").splitlines()
    reports = {one["id"]: one["report"] for one in map(json.loads, lines)}
    return {
        name: [
            (claim["self_contained"], claim["judgement"]["verdict"], claim["judgement"]["unscored_reason"])
            for claim in report["claims"]
        ]
        for name, report in reports.items()
    }


@pytest.fixture
def data(sim: Simulator, home: Path) -> Path:
    return write_items(home / "short.jsonl", short_items(sim.world, 6))


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_a_run_in_batches_is_the_same_at_half_the_price(
    factloop: Command, sim: Simulator, home: Path, data: Path, plan: str
) -> None:
    flags = (data, "--model", MODEL, "--search", "serper", "--plan", plan, *PRICED, "--quiet", "--json", "-")
    live = json.loads(factloop("eval", *flags, "--run-dir", "live").out)
    n_calls = sim.stats().model.answered
    sim.reset()
    batched = json.loads(factloop("eval", *flags, "--run-dir", "batched", *QUICKLY).out)
    assert verdicts(home / "batched") == verdicts(home / "live")
    stats = sim.stats()
    assert (stats.live, stats.model.answered, stats.repeated) == (0, n_calls, 0)
    assert batched["usage"]["calls"] == live["usage"]["calls"]
    assert batched["usage"]["cost_usd"] == pytest.approx(live["usage"]["cost_usd"] / 2)
