from __future__ import annotations

import json
import random
from pathlib import Path

import jsonschema
import pytest

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
from factloop.schemas import json_schema
from tests.cli.command import Command
from tests.simulator import MODEL, Faults, QaPair, Simulator

SUBJECT = ("--subject-model", MODEL)


@pytest.fixture
def known(sim: Simulator) -> QaPair:
    return next(pair for pair in sim.world.questions if sim.subject.knowledge(pair.topic) == "known")


@pytest.fixture
def answers(known: QaPair, home: Path) -> Path:
    rows = [
        {"id": "true", "question": known.question, "response": known.answer},
        {"id": "false", "question": known.question, "response": known.wrong(random.Random(1))},
    ]
    path = home / "qa.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def corpus(sim: Simulator, home: Path) -> Path:
    path = home / "passages.tsv"
    rows = (f"{number}\t{passage.text}\t{passage.title}" for number, passage in enumerate(sim.world.passages[:500], 1))
    path.write_text("id\ttext\ttitle\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_json_on_standard_output_is_alone_there_and_follows_its_schema(
    factloop: Command, answers: Path, corpus: Path, home: Path
) -> None:
    flags = (*SUBJECT, "--judge-model", MODEL, "--corpus", corpus)
    result = factloop("trust", answers, *flags, "--json", "-", "--html", home / "run.html")
    jsonschema.validate(json.loads(result.out), json_schema("trust_run"))
    run = TrustRun.model_validate_json(result.out)
    assert (result.code, result.err) == (0, "")
    assert [(report.id, report.trust_bc.value) for report in run.reports] == [("true", 1), ("false", 0)]
    assert all(report.trust_ov.value is not None for report in run.reports)
    assert (home / "run.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_one_answer_is_shown_with_every_question(factloop: Command, known: QaPair) -> None:
    flags = ("--question", known.question, "--response", known.answer, *SUBJECT)
    shown = factloop("trust", *flags)
    assert (shown.code, "None of the above." in shown.out, "simulated" in shown.out) == (0, True, False)  # the key
    report = factloop("trust", *flags, "--json", "-").out
    jsonschema.validate(json.loads(report), json_schema("trust_report"))
    assert TrustReport.model_validate_json(report).trust_bc.value == 1


def test_the_subject_is_asked_for_its_answer_where_that_is_wished(
    factloop: Command, sim: Simulator, known: QaPair, home: Path
) -> None:
    result = factloop("trust", "--question", known.question, "--answer", *SUBJECT, "--json", "-")
    assert json.loads(result.out)["response"] == known.answer
    (home / "mixed.csv").write_text(f'id,question,response\n1,{known.question},\n2,{known.question},"x, 1848"\n')
    run = json.loads(factloop("trust", "mixed.csv", "--answer", *SUBJECT, "--json", "-").out)
    assert [(report["response"], report["answered_by"]) for report in run["reports"]] == [
        (known.answer, "openai:sim"),
        ("x, 1848", None),
    ]
    assert sim.stats().stages["ClosedBookAnswer"].requests == 1  # the second is in the cache


@pytest.fixture
def long_form(sim: Simulator, home: Path) -> tuple[object, ...]:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "answer.md").write_text(response.text, encoding="utf-8")
    asked = ("--question", response.prompt, *SUBJECT, "--judge-model", MODEL)
    return ("trust", "answer.md", "--long-form", *asked, "--max-checks", 2)


def test_the_long_form(factloop: Command, long_form: tuple[object, ...], corpus: Path, home: Path) -> None:
    result = factloop(*long_form, "--search", "serper", "--json", "-", "--run-dir", "run")
    jsonschema.validate(json.loads(result.out), json_schema("long_form_trust_report"))
    report = LongFormTrustReport.model_validate_json(result.out)
    assert len(report.claims) == len(report.factuality.claims) > 0
    shown = factloop(*long_form, "--corpus", corpus, "--html", "page.html")
    assert (shown.code, "insisted" in shown.out or "wavering" in shown.out) == (0, True)
    assert (home / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("max_calls", [0, 3, 60])
def test_the_long_form_has_one_budget_for_both_parts(
    factloop: Command, sim: Simulator, long_form: tuple[object, ...], home: Path, max_calls: int
) -> None:
    flags = ("--search", "serper", "--no-cache", "--max-calls", max_calls, "--quiet", "--json", "out.json")
    assert factloop(*long_form, *flags).code == 0
    assert sim.stats().model.requests <= max_calls
    assert json.loads((home / "out.json").read_text())["claims"]


@pytest.mark.parametrize(
    ("flags", "fails", "code", "complaint"),
    [
        (("--fail-under", 0.5, "--fail-if-unscored"), False, 0, None),
        (("--fail-under", 0.6), False, 1, "mean TrustBC 0.500 of 2 answers is below 0.6 (--fail-under)"),
        ((), True, 0, None),
        (("--fail-if-unscored",), True, 3, "2 scores missing (--fail-if-unscored)"),
        (("--fail-under", 0), True, 1, "mean TrustBC undefined of 0 answers is below 0 (--fail-under)"),
    ],
)
def test_exit_codes(
    factloop: Command, sim: Simulator, answers: Path, flags: tuple[object, ...], fails: bool, code: int,
    complaint: str | None,
) -> None:  # fmt: skip
    sim.set(faults=Faults(refusal=float(fails)))
    result = factloop("trust", answers, *SUBJECT, "--quiet", *flags)
    assert (result.code, result.out) == (code, "")
    assert result.err == ("" if complaint is None else f"factloop: {complaint}\n")


def test_a_dry_run_spends_nothing_and_needs_no_key(
    factloop: Command, sim: Simulator, answers: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    flags = ("trust", answers, *SUBJECT, "--judge-model", MODEL, "--corpus", corpus, "--dry-run")
    shown = factloop(*flags)
    assert (shown.code, "price unknown: set --price-in and --price-out" in shown.out) == (0, True)
    assert "Upper bound for 2 answers:\n  at most 22 model calls, 2 searches\n" in shown.out
    assert "at most about 0.0" in factloop(*flags, "--price-in", 1, "--price-out", 1).out
    estimate = json.loads(factloop(*flags, "--json", "-").out)
    jsonschema.validate(estimate, json_schema("trust_estimate"))
    assert (estimate["most_calls"], estimate["most_usd"], sim.stats().stages) == (22, None, {})
