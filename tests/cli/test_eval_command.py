from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from factloop.evaluation.audit.rows import load_predictions
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.records import RunSummary
from factloop.schemas import json_schema
from tests.checking.simulated import PLANS
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.running.short_responses import short_items, write_items
from tests.evaluation.verification.world_pairs import write_rows
from tests.simulator import MODEL, Response, Simulator

ROWS = [
    {"prompt": "Who was Ada Lovelace?", "response": "Ada Lovelace was born in London.", "system": "one"},
    {"prompt": "Who was Ada Lovelace?", "response": "", "system": "two"},
    {"prompt": "Where did Ada Lovelace die?", "response": "Ada Lovelace died in London in 1872.", "system": "two"},
]


@pytest.fixture
def data(home: Path) -> Path:
    return write_rows(home / "responses.jsonl", ROWS)


def test_systems_are_scored_and_every_number_says_what_it_rests_on(
    factloop: Command, data: Path, docs: Path, home: Path
) -> None:
    flags = ("--k", 1, "--k", "median", "--k", "maximum", "--docs", docs, "--resamples", 20)
    result = factloop("eval", data, *flags, "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    for part in ("F1@1", "Precision", "95% interval", "a response without claims has F1@K 0", "Abstained: 1"):
        assert part in " ".join(result.out.split())
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(factloop("eval", "responses", data, *flags, "--json", "-", "--abstention", "exclude").out)
    assert (found["kind"], len(found["responses"])) == ("responses", 3)
    one, two = found["scores"]["systems"]
    assert (one["at_k"][0]["f1"]["value"], one["at_k"][0]["f1"]["n"]) == (1.0, 1)
    assert (two["at_k"][0]["f1"]["value"], two["at_k"][0]["f1"]["n"], two["n_abstained"]) == (0.0, 1, 1)
    assert found["data"].startswith("responses.jsonl (sha256 ")


def test_the_answers_of_a_run_are_judged_again_by_the_evidence_that_it_kept(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    long = next(one for one in sim.world.responses if any(fact.label == "irrelevant" for fact in one.facts))
    item = RunItem(id="1", system="one", prompt_id="p", prompt=long.prompt, response=long.text)
    data = write_items(home / "short.jsonl", iter([item]))
    judge = ("--model", MODEL, "--quiet", "--json", "-")
    first = json.loads(factloop("eval", data, *judge, "--search", "serper", "--run-dir", "a", "--plan", "paper").out)
    before = sim.stats().search.requests
    again = json.loads(factloop("eval", "a", *judge, "--no-cache").out)
    assert (sim.stats().search.requests, again["fingerprint"]["plan"]) == (before, "paper")
    assert not any("own documents" in warning for warning in again["warnings"])
    assert again["data"].startswith("answers and evidence from a, a run on short.jsonl (sha256 ")
    assert [one["counts"] for one in again["responses"]] == [one["counts"] for one in first["responses"]]
    searched = json.loads(factloop("eval", "a", *judge, "--search", "serper", "--no-cache").out)
    assert searched["data"].startswith("answers from a, ")
    assert sim.stats().search.requests > before > 0
    assert first["responses"][0]["counts"]["irrelevant"] > 0
    assert factloop("eval", "a", *judge, "--column", "prompt=q").code == 2


def test_a_model_judges_and_a_finished_run_is_scored_anew_free(factloop: Command, sim: Simulator, home: Path) -> None:
    data = write_items(home / "short.jsonl", short_items(sim.world, 6))
    flags = (data, "--model", MODEL, "--search", "serper", "--run-dir", "run", "--quiet", "--json", "-")
    first = json.loads(factloop("eval", *flags, "--limit", 4).out)
    assert first["usage"]["calls"] == sim.stats().model.answered > 0
    whole = json.loads(factloop("eval", *flags).out)
    assert (len(first["responses"]), len(whole["responses"]), sim.stats().repeated) == (4, 6, 0)
    sim.reset()
    again = json.loads(factloop("eval", *flags, "--k", 3, "--level", 0.5, "--seed", 7).out)
    assert (again["scores"]["ks"], again["scores"]["level"]) == ([{"k": 3, "rule": "given"}], 0.5)
    assert (again["fingerprint"]["seed"], again["fingerprint"]["snapshots"]) == (7, ["sim"])
    reseeded = json.loads(factloop("eval", *flags, "--k", 3, "--level", 0.5, "--seed", 8).out)
    f1s = [one["scores"]["systems"][0]["at_k"][0]["f1"] for one in (again, reseeded)]
    assert (f1s[0]["value"] == f1s[1]["value"], f1s[0] == f1s[1]) == (True, False)
    assert again["responses"] == whole["responses"]
    assert sim.stats().stages == {}


@pytest.mark.usefixtures("sim")
def test_a_dry_run_spends_nothing(factloop: Command, sim: Simulator, data: Path) -> None:
    priced = ("--price-in", 0.15, "--price-out", 0.6)  # the simulator is no server whose prices are known
    flags = ("--model", "openai:gpt-4o-mini", *priced, "--search", "serper", "--dry-run", "--run-dir", "run")
    result = factloop("eval", data, *flags)
    assert (result.code, result.err, sim.stats().stages) == (0, "", {})
    assert "Nothing was spent. Estimate for 3 responses" in result.out
    estimate = json.loads(factloop("eval", data, *flags, "--limit", 2, "--json", "-").out)
    assert (estimate["n_sentences"], estimate["cost_usd"] > 0) == (1, True)
    assert not Path("run").exists()


def test_exit_codes(factloop: Command, data: Path, docs: Path, home: Path) -> None:
    low = factloop("eval", data, "--docs", docs, "--fail-under", 0.9, "--quiet")
    assert (low.code, low.out) == (1, "")
    assert low.complaint == "factloop: precision 0.000 for two (1 response) is below 0.9 (--fail-under)"
    for flags in ((), ("--fail-if-unscored",), ("--fail-under", 0.5)):  # without documents no claim can be judged
        nothing = factloop("eval", data, "--quiet", *flags)
        assert (nothing.code, nothing.out) == (3, "")
        assert nothing.complaint == "factloop: no claim could be scored: 2 × no source to check against"
    write_rows(home / "none.jsonl", [{"prompt": "Who?", "response": ""}])
    undefined = factloop("eval", "none.jsonl", "--docs", docs, "--fail-under", 0, "--quiet")
    assert (undefined.code, undefined.complaint) == (
        1,
        "factloop: precision undefined for none (0 responses) is below 0 (--fail-under)",
    )
    empty = factloop("eval", "none.jsonl", "--docs", docs, "--quiet")
    said = "factloop: no claim could be scored: the responses make no claims that can be checked"
    assert (empty.code, empty.complaint) == (3, said)


def test_each_response_is_judged_by_its_own_documents(factloop: Command, docs: Path, home: Path) -> None:
    said = "The bridge has five arches."
    rows: list[dict[str, Any]] = [
        {"prompt": "How many?", "response": said, "system": "a", "documents": [said]},
        {
            "prompt": "How many?",
            "response": said,
            "system": "b",
            "documents": [{"text": "It has six.", "source": "b.md"}],
        },
        {"prompt": "How many?", "response": said, "system": "c", "documents": []},
        {"prompt": "Who was Ada Lovelace?", "response": "Ada Lovelace was born in London.", "system": "d"},
    ]
    data = write_rows(home / "own.jsonl", rows)
    result = factloop("eval", data, "--docs", docs, "--json", "run.json", "--run-dir", "run")
    assert result.code == 0
    run = json.loads((home / "run.json").read_text())
    counts = {one["system"]: one["counts"] for one in run["scores"]["systems"]}
    found = {name: (of["supported"], of["not_supported"], of["unscored"]) for name, of in counts.items()}
    assert found == {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 1), "d": (1, 0, 0)}
    assert "Faithfulness: 2 of 4 responses were judged only against their own documents" in " ".join(result.out.split())
    assert not any("judged in the same way" in warning for warning in run["warnings"])
    assert "1 of 4 responses could not be checked: its `documents` contain no text" in run["warnings"]
    alone = factloop("eval", data, "--quiet", "--json", "-", "--limit", 1)
    assert json.loads(alone.out)["scores"]["ks"] == [{"k": 1, "rule": "median"}]
    warnings = json.loads(alone.out)["warnings"]
    assert any("each response was judged only against its own documents" in warning for warning in warnings)
    assert not any("nothing to check against" in warning for warning in warnings)
    rows[0]["documents"] = ["The bridge has six arches."]
    write_rows(data, rows)
    other = factloop("eval", data, "--docs", docs, "--run-dir", "run")
    assert (other.code, "a different configuration (changed: data)" in other.complaint) == (2, True)


LABEL = {"supported": "S", "not_supported": "NS", "irrelevant": "IR"}
ONLINE = ("--model", "openai:sim", "--search", "serper")


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
    return [
        {**one, "atomic_facts": [{**fact, "label": "NS" if place == 0 else fact["label"]}
                                 for place, fact in enumerate(one["atomic_facts"] or ())]}
        for one in given
    ]  # fmt: skip


@pytest.fixture
def biographies(home: Path, sim: Simulator) -> Path:
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


def n_facts(biographies: Path) -> int:
    rows = [json.loads(line) for line in biographies.read_text().splitlines()]
    return sum(len(one["atomic_facts"] or ()) for each in rows for one in each["sentences"] or ())


@pytest.mark.parametrize("plan", PLANS)
def test_verdicts_are_compared_with_labels_fact_by_fact(
    factloop: Command, sim: Simulator, biographies: Path, home: Path, plan: str
) -> None:
    searches = ("--max-searches", "2") if plan == "paper" else ()
    done = factloop("eval", "factscore", "--data", biographies, *ONLINE, "--plan", plan, *searches, "--json", "a.json")
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
    assert summary.agreement.overall.table.labels.total == n_facts(biographies)
    assert [system.counts.total for system in summary.labelled.systems] == [
        system.counts.total for system in summary.scores.systems
    ]
    assert [system.n_abstained for system in summary.scores.systems] == [0, 1]
    assert summary.scores.abstention == "exclude"
    assert sim.bodies("SentenceFacts" if plan == "paper" else "SelfContainedFact") == sim.bodies("AtomicFacts") == []
    assert "Agreement with human labels" in done.out
    assert "Cohen’s kappa" in done.out


def test_a_run_yields_predictions_for_an_audit_and_corrects_another(
    factloop: Command, sim: Simulator, biographies: Path, home: Path
) -> None:
    run = ("eval", "factscore", "--data", biographies, *ONLINE, "-q", "--run-dir", "b")
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
    assert "to keep its facts and labels" in factloop("eval", "b").complaint

    response = sim.world.twenty_responses[2]
    answers = jsonl(home / "answers.jsonl", {"prompt": response.prompt, "response": response.text, "system": "one"})
    corrected = ("eval", answers, *ONLINE, "-q", "--json", "c.json", "--calibration")
    for calibration in (("b",), ("p.jsonl", "--evaluator", "openai:sim (fused)")):
        assert factloop(*corrected, *calibration, "--resamples", "50").code == 0
        summary = summary_in(home / "c.json")
        assert summary.calibration is not None
        (system,) = summary.calibration.systems
        assert system.precision.raw.value == summary.scores.systems[0].precision.value
        assert system.f1[0].corrected.value is not None
        assert any("labelled claims" in warning for warning in summary.warnings)


SUBJECT = ("--subject-model", MODEL, "--max-checks", 2)


def question_row(question: str, *responses: tuple[str, str, int], **fields: Any) -> dict[str, Any]:
    said = [{"system": system, "text": text, "human_correct": label} for system, text, label in responses]
    return {"question": question, "reference_answers": ["x"], "source": "test", "responses": said, **fields}


def write_questions(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
    return path


@pytest.fixture
def questions(sim: Simulator, home: Path) -> Path:
    subject = sim.subject
    figures = [pair for pair in sim.world.questions[:120] if any(map(str.isdigit, pair.answer))]
    pairs = [pair for pair in figures if subject.knowledge(pair.topic) == "known"][:6]
    rows = []
    for number, pair in enumerate(pairs):
        wrong = pair.wrong(random.Random(number))
        right_first = number % 2 == 0
        one, other = (pair.answer, wrong) if right_first else (wrong, pair.answer)
        rows.append(
            question_row(pair.question, ("llama-7b", one, int(right_first)), ("flan-t5", other, int(not right_first)))
        )
    return write_questions(home / "mixedqa.jsonl", rows)


def test_scores_are_correlated_with_what_people_said(factloop: Command, questions: Path, home: Path) -> None:
    result = factloop("eval", "mixedqa", "--data", questions, *SUBJECT, "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    for part in ("llama-7b", "flan-t5", "TrustBC"):
        assert part in result.out
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(factloop("eval", "mixedqa", "--data", questions, *SUBJECT, "--json", "-").out)
    schema = json_schema("mixedqa_result")
    jsonschema.validate(found, schema)
    assert found["n_questions"] == 6
    by_name = {(one["metric"], one["system"]): one["correlation"] for one in found["correlations"]}
    assert by_name["trust_bc", None]["value"] == pytest.approx(1.0)  # the subject knows all that people knew
    assert by_name["trust_bc", None]["n"] == 12
    digest = hashlib.sha256(questions.read_bytes()).hexdigest()[:12]
    assert found["data"] == f"mixedqa.jsonl (sha256 {digest})"


def test_each_system_has_a_subject_of_its_own_in_one_run(
    factloop: Command, sim: Simulator, questions: Path, home: Path
) -> None:
    sim.set(models=("sim", "sim-a"))
    own = ("--subject", f"llama-7b=openai:sim-a@{sim.base_url}", "--subject", f"flan-t5={MODEL}")
    flags = ("--data", questions, *own, "--max-checks", 2)
    result = factloop("eval", "mixedqa", *flags, "--run-dir", "run", "--json", "own.json", "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    found = json.loads((home / "own.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, json_schema("mixedqa_result"))
    assert {one["system"]: one["model"] for one in found["subjects"]} == {"llama-7b": "openai:sim-a", "flan-t5": MODEL}
    assert found["fingerprint"]["subject_model"] is None
    reports = json.loads((home / "run" / "report.json").read_text(encoding="utf-8"))["reports"]
    asked = {(report["id"].rpartition("/")[2], report["fingerprint"]["subject_model"]) for report in reports}
    assert asked == {("llama-7b", "openai:sim-a"), ("flan-t5", MODEL)}
    text = " ".join(result.out.split())
    assert "openai:sim-a about those of llama-7b" in text
    assert "Subject of llama-7b" in (home / "page.html").read_text(encoding="utf-8")
    n_paid = sim.stats().model.requests
    again = json.loads(factloop("eval", "mixedqa", *flags, "--run-dir", "run", "--json", "-").out)
    assert again["correlations"] == found["correlations"]
    assert sim.stats().model.requests == n_paid  # one run directory holds the answers of all subjects
    turned = ("--subject", f"llama-7b={MODEL}", "--subject", "flan-t5=openai:sim-a", "--max-checks", 2)
    other = factloop("eval", "mixedqa", "--data", questions, *turned, "--run-dir", "run")
    assert other.code == 2  # other subjects are another run


def test_metrics_need_neither_model_nor_documents(factloop: Command, home: Path) -> None:
    answers = [("king Solomon built it", 1), ("Herod", 0), ("a  Solomon!", 1), ("nobody", 0)]
    rows = [
        question_row(f"Who built temple {place}?", ("one", text, label), reference_answers=["Solomon"])
        for place, (text, label) in enumerate(answers)
    ]
    path = write_questions(home / "mixed.jsonl", rows)
    result = factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--metric", "rouge-l", "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    assert "TrustBC" not in result.out
    assert "ROUGE-L" in (home / "page.html").read_text(encoding="utf-8")
    found = json.loads(factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--json", "-").out)
    # exact matches 0 0 1 0 with labels 1 0 1 0: (1/4 - 1/4 * 1/2) / sqrt(3/16 * 1/4)
    of_one = found["reference"][0]
    assert (of_one["metric"], of_one["system"], of_one["correlation"]["n"]) == ("Exact Match", "one", 4)
    assert of_one["correlation"]["value"] == pytest.approx(0.125 / (3 / 64) ** 0.5)
    ranks = json.loads(
        factloop("eval", "mixedqa", "--data", path, "--metric", "em", "--method", "kendall", "--json", "-").out
    )
    assert {one["correlation"]["method"] for one in ranks["reference"]} == {"kendall"}
