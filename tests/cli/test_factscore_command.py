"""`factloop eval factscore` against the simulator, on labels of its world, and the corrections made by such a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.runs.records import RunSummary
from tests.checking.simulated import PLANS
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl
from tests.simulator import Response, Simulator

LABEL = {"supported": "S", "not_supported": "NS", "irrelevant": "IR"}
MODEL = ("--model", "openai:sim", "--search", "serper")


def sentences(response: Response) -> Iterator[dict[str, Any]]:
    for sentence in response.sentences:
        facts = [{"text": one.text, "label": LABEL[one.label]} for one in response.facts if one.sentence == sentence]
        yield {"text": sentence, "atomic_facts": facts or None}


def row(system: str, written: Response, **changes: Any) -> dict[str, Any]:
    named = {
        "id": f"{system}-{written.subject}",
        "system": system,
        "topic": written.subject,
        "prompt": written.prompt,
        "response": written.text,
        "sentences": list(sentences(written)),
    }
    return {**named, **changes}


def flipped(given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """People found the first fact of each sentence not supported, whatever it is."""
    return [
        {**one, "atomic_facts": [{**fact, "label": "NS" if place == 0 else fact["label"]}
                                 for place, fact in enumerate(one["atomic_facts"] or ())]}
        for one in given
    ]  # fmt: skip


@pytest.fixture
def data(home: Path, sim: Simulator) -> Path:
    first, second = sim.world.twenty_responses[:2]
    return jsonl(
        home / "bio.jsonl",
        row("one", first),
        row("one", second),
        row("two", first, sentences=flipped(list(sentences(first)))),
        row("two", second, sentences=None, response="I do not know."),
    )


def summary_in(path: Path) -> RunSummary:
    return RunSummary.model_validate_json(path.read_bytes())


def n_facts(data: Path) -> int:
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    return sum(len(one["atomic_facts"] or ()) for each in rows for one in each["sentences"] or ())


@pytest.mark.parametrize("plan", PLANS)
def test_verdicts_are_compared_with_labels_fact_by_fact(
    factloop: Command, sim: Simulator, data: Path, home: Path, plan: str
) -> None:
    searches = ("--max-searches", "2") if plan == "paper" else ()
    done = factloop("eval", "factscore", "--data", data, *MODEL, "--plan", plan, *searches, "--json", "a.json")
    assert (done.code, done.out.splitlines()[0][:6]) == (0, "Scores")
    summary = summary_in(home / "a.json")
    assert (summary.kind, summary.data[:9]) == ("factscore", "bio.jsonl")
    assert summary.agreement is not None
    assert summary.labelled is not None
    one, two = summary.agreement.systems
    assert one.agreement.value is not None
    assert one.agreement.value > 0.95
    assert two.agreement.value is not None
    assert two.agreement.value < 0.9
    assert summary.agreement.overall.table.labels.total == n_facts(data)
    assert [system.counts.total for system in summary.labelled.systems] == [
        system.counts.total for system in summary.scores.systems
    ]
    assert [system.n_abstained for system in summary.scores.systems] == [0, 1]
    assert summary.scores.abstention == "exclude"
    assert sim.bodies("SentenceFacts" if plan == "paper" else "SelfContainedFact") == sim.bodies("AtomicFacts") == []
    assert "Agreement with people's labels" in done.out
    assert "Cohen’s kappa" in done.out


def test_a_run_yields_predictions_for_an_audit_and_corrects_another(
    factloop: Command, sim: Simulator, data: Path, home: Path
) -> None:
    run = ("eval", "factscore", "--data", data, *MODEL, "-q", "--run-dir", "b")
    assert factloop(*run, "--out", "p.jsonl", "--json", "a.json").code == 0
    table = load_predictions(home / "p.jsonl")
    agreement = summary_in(home / "a.json").agreement
    assert agreement is not None
    labels = agreement.overall.table.labels
    assert next(iter(table.scores)) == "openai:sim (fused)"
    assert (int(table.label.sum()), table.n_rows) == (labels.supported, labels.supported + labels.not_supported)
    calls = len(sim.bodies())
    again = factloop(*run, "--out", "again.jsonl")
    assert (again.code, len(sim.bodies())) == (0, calls)
    assert (home / "again.jsonl").read_bytes() == (home / "p.jsonl").read_bytes()

    response = sim.world.twenty_responses[2]
    answers = jsonl(home / "answers.jsonl", {"prompt": response.prompt, "response": response.text, "system": "one"})
    corrected = ("eval", answers, *MODEL, "-q", "--json", "c.json", "--calibration")
    for calibration in (("b",), ("p.jsonl", "--evaluator", "openai:sim (fused)")):
        assert factloop(*corrected, *calibration, "--resamples", "50").code == 0
        summary = summary_in(home / "c.json")
        assert summary.calibration is not None
        (system,) = summary.calibration.systems
        assert system.precision.raw.value == summary.scores.systems[0].precision.value
        assert system.f1[0].corrected.value is not None
        assert any("labelled claims" in warning for warning in summary.warnings)
