from __future__ import annotations

import json
import shutil
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
    assert asking_usd(batched["usage"]) == pytest.approx(asking_usd(live["usage"]) / 2)


def asking_usd(usage: dict[str, Any]) -> float:
    return sum(float(stage["cost_usd"]) for name, stage in usage["stages"].items() if name != "search")


def test_what_fails_in_a_batch_is_in_the_next_and_the_wait_is_shown(
    factloop: Command, sim: Simulator, home: Path, data: Path
) -> None:
    """The batch arrives in pieces, partly expires and partly fails, and a status request fails too."""
    flags = (data, "--model", MODEL, "--search", "serper", "--run-dir")
    assert factloop("eval", *flags, "live").code == 0
    sim.set(batch_s=1.0, batch_expires=2, batch_errors=1, batch_looks_fail=2)
    sim.reset()
    result = factloop("eval", *flags, "batched", *QUICKLY)
    assert result.code == 0
    assert verdicts(home / "batched") == verdicts(home / "live")
    stats = sim.stats()
    assert (stats.live, stats.repeated) == (0, 0)
    first = sim.batches()[0]
    again = {name for batch in sim.batches()[1:] for name in batch} & set(first)
    assert (len(first), len(again)) == (6, 3)  # a window of each response; those that expired or failed
    shown = [line for line in result.err.splitlines() if "in batches since" in line]
    assert shown[0].startswith("factloop: openai:sim: 6 requests in batches since ")
    assert "(in_progress, " in shown[0]


def test_a_provider_that_takes_less_at_a_time_gets_less(
    factloop: Command, sim: Simulator, home: Path, data: Path
) -> None:
    sim.set(batch_most=2)
    result = factloop("eval", data, "--model", MODEL, "--search", "serper", "--run-dir", "run", "--quiet", *QUICKLY)
    assert (result.code, result.err) == (0, "")
    assert max(len(batch) for batch in sim.batches()[2:]) <= 2
    assert (sim.stats().live, sim.stats().repeated) == (0, 0)
    assert all(reason is None for found in verdicts(home / "run").values() for *_, reason in found)


def test_pairs_and_plans_go_in_batches_too(factloop: Command, sim: Simulator, home: Path) -> None:
    claims = [("Ada Lovelace was born in London.", "Ada Lovelace was born in London."), ("Ada paints.", "Ada swims.")]
    pairs = [{"claim": claim, "document": document, "label": 1, "system": "s"} for claim, document in claims]
    given = (write_rows(home / "pairs.jsonl", pairs), "--verifier", f"llm:{MODEL}", "--quiet", "--out")
    for out, more in (("live.jsonl", ()), ("batched.jsonl", QUICKLY)):
        sim.reset()
        assert factloop("research", "verify", *given, out, *more).code == 0
    assert read_rows(home / "batched.jsonl") == read_rows(home / "live.jsonl")
    assert (sim.stats().live, len(sim.batches())) == (0, 1)

    write_claims(home / "claims.jsonl", facts_of(sim.world, 4))
    write_variant(home / "strict")
    plan = home / "plan.yaml"
    variants = "variants: {packaged: {}, strict: {prompts: strict}}"
    plan.write_text(f'name: small\ndata: claims.jsonl\nrepeats: 2\nsettings: {{model: "{MODEL}"}}\n{variants}\n')
    found = []
    for run_dir, more in (("live", ()), ("batched", QUICKLY)):
        sim.reset()
        result = factloop("research", "experiment", plan, "--run-dir", run_dir, *more, "--quiet", "--json", "-")
        report = json.loads(result.out)
        found.append((report["variants"], report["paid"]["calls"], sim.stats().model.answered))
    assert found[0][1:] == found[1][1:]
    assert [one["figures"] for one in found[0][0]] == [one["figures"] for one in found[1][0]]
    assert sim.stats().live == 0
    names = [name for batch in sim.batches() for name in batch]
    assert len(set(names)) == len(names)  # a repeat is another draw from the model


@pytest.mark.parametrize("lost", [False, True], ids=["while a batch is in progress", "before its id is known"])
def test_a_killed_run_submits_nothing_twice(
    factloop: Command,
    sim: Simulator,
    home: Path,
    data: Path,
    start: Start,
    lost: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    given = (data, "--model", MODEL, "--search", "serper", "--quiet", "--json", "-", *PRICED, *QUICKLY)
    flags = ("eval", *given, "--run-dir", "run")
    sim.set(batch_s=3600.0, batch_answers_lost=lost)
    process = start(*flags)
    wait_until(lambda: len(sim.batches()) == 1, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=WITHIN_S)
    memory = home / "run" / "batches.jsonl"
    assert memory.stat().st_mode & 0o077 == 0
    shutil.copytree(memory.parent, home / "live")
    sim.set(batch_s=0.0, batch_answers_lost=False)
    resumed = factloop(*flags)
    assert resumed.code == 0
    names = [name for batch in sim.batches() for name in batch]
    assert (len(set(names)), sim.stats().live, sim.stats().repeated) == (len(names), 0, 0)
    factloop("eval", data, "--model", MODEL, "--search", "serper", "--run-dir", "live", "--json", "-")
    assert caplog.text.count("live/batches.jsonl: earlier attempts used --batch") == 1
    assert all(reason is None for found in verdicts(home / "run").values() for *_, reason in found)
    usage, undisturbed = (
        {name: json.loads(one.out)["usage"][name] for name in ("calls", "failed_calls", "cost_usd")}
        for one in (resumed, factloop("eval", *given, "--run-dir", "undisturbed"))
    )
    assert usage == pytest.approx(undisturbed)


def test_what_cannot_be_batched_is_one_line(factloop: Command, sim: Simulator, data: Path) -> None:
    flags = ("eval", data, "--model", MODEL, "--search", "serper", *QUICKLY)
    sim.set(has_batches=False)
    for more, said in (
        ((), "factloop: --batch: also set a run directory (--run-dir)"),
        (("--run-dir", "a", "--deadline", 60), "factloop: --batch and --deadline"),
        (("--run-dir", "b", "--workers", 2), "factloop: --batch and --workers"),
        (("--run-dir", "c"), "factloop: openai:sim: HTTP 404 at /files: 404: Not Found; the server may not"),
    ):
        result = factloop(*flags, *more)
        assert (result.code, result.complaint[: len(said)]) == (2, said)
    assert sim.stats().live == 0
