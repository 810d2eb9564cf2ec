"""`factloop trust`: what it writes where, its exit codes, and what it refuses before anything is spent."""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
from factloop.schemas import json_schema
from tests.cli.command import Command
from tests.simulator import MODEL, Faults, QaPair, Simulator

SUBJECT = ("--subject-model", MODEL)
ONE = ("--question", "Who built Rome?", "--response", "Romulus built Rome in 1848.")


@pytest.fixture
def known(sim: Simulator) -> QaPair:
    subject = sim.subject
    return next(pair for pair in sim.world.questions if subject.knowledge(pair.topic) == "known")


@pytest.fixture
def answers(known: QaPair, home: Path) -> Path:
    """A true and a false answer to a question that the subject knows."""
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


def test_a_file_of_answers_is_scored(factloop: Command, answers: Path) -> None:
    result = factloop("trust", answers, *SUBJECT)
    assert (result.code, result.err) == (0, "")
    assert "TrustBC" in result.out
    assert "simulated" not in result.out  # the key


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
    assert shown.code == 0
    assert "None of the above." in shown.out
    report = factloop("trust", *flags, "--json", "-").out
    jsonschema.validate(json.loads(report), json_schema("trust_report"))
    assert TrustReport.model_validate_json(report).trust_bc.value == 1


def test_the_subject_is_asked_for_its_answer_where_that_is_wished(
    factloop: Command, sim: Simulator, known: QaPair, home: Path
) -> None:
    result = factloop("trust", "--question", known.question, "--answer", *SUBJECT, "--json", "-")
    assert json.loads(result.out)["response"] == known.answer
    (home / "mixed.csv").write_text(f'id,question,response\n1,{known.question},\n2,{known.question},"x, 1848"\n')
    assert factloop("trust", "mixed.csv", *SUBJECT).complaint.startswith("factloop: mixed.csv:2: field 'response'")
    run = json.loads(factloop("trust", "mixed.csv", "--answer", *SUBJECT, "--json", "-").out)
    assert [report["response"] for report in run["reports"]] == [known.answer, "x, 1848"]
    assert [report["answered_by"] for report in run["reports"]] == ["openai:sim", None]
    assert sim.stats().stages["ClosedBookAnswer"].requests == 1  # the second is in the cache


def test_answers_may_come_by_standard_input(factloop: Command, answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(answers.read_bytes())))
    run = json.loads(factloop("trust", "-", *SUBJECT, "--json", "-").out)
    assert [report["id"] for report in run["reports"]] == ["true", "false"]


def test_the_long_form(factloop: Command, sim: Simulator, corpus: Path, home: Path) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "answer.md").write_text(response.text, encoding="utf-8")
    flags = ("answer.md", "--long-form", "--question", response.prompt, *SUBJECT, "--judge-model", MODEL)
    result = factloop("trust", *flags, "--search", "serper", "--json", "-", "--max-checks", 2, "--run-dir", "run")
    jsonschema.validate(json.loads(result.out), json_schema("long_form_trust_report"))
    report = LongFormTrustReport.model_validate_json(result.out)
    assert len(report.claims) == len(report.factuality.claims) >= len(response.facts)
    shown = factloop("trust", *flags, "--corpus", corpus, "--max-checks", 2, "--html", "page.html")
    assert shown.code == 0
    assert "insisted" in shown.out or "wavering" in shown.out
    assert (home / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("max_calls", [0, 3, 60])
def test_the_long_form_has_one_budget_for_both_parts(
    factloop: Command, sim: Simulator, home: Path, max_calls: int
) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "answer.md").write_text(response.text, encoding="utf-8")
    flags = (
        "answer.md",
        "--long-form",
        *SUBJECT,
        "--judge-model",
        MODEL,
        "--search",
        "serper",
        "--quiet",
        "--no-cache",
    )
    result = factloop("trust", *flags, "--max-calls", max_calls, "--json", "out.json")
    assert result.code == 0
    assert sim.stats().model.requests <= max_calls
    assert json.loads((home / "out.json").read_text())["claims"]


def test_a_wrong_subject_is_said_before_the_long_form_costs_anything(
    factloop: Command, sim: Simulator, answer: Path
) -> None:
    flags = ("--long-form", *SUBJECT, "--judge-model", MODEL, "--search", "serper", "--kb", "nowhere.kb")
    result = factloop("trust", answer, *flags)
    assert (result.code, sim.stats().stages) == (2, {})
    assert "nowhere.kb" in result.complaint


@pytest.mark.parametrize(
    ("flags", "code", "complaint"),
    [
        ((), 0, None),
        (("--fail-under", 0.5), 0, None),
        (("--fail-under", 0.6), 1, "mean TrustBC 0.500 of 2 answers is below 0.6 (--fail-under)"),
        (("--fail-if-unscored",), 0, None),
    ],
)
def test_exit_codes(
    factloop: Command, answers: Path, flags: tuple[object, ...], code: int, complaint: str | None
) -> None:
    result = factloop("trust", answers, *SUBJECT, "--quiet", *flags)
    assert (result.code, result.out) == (code, "")
    assert result.err == ("" if complaint is None else f"factloop: {complaint}\n")


def test_missing_scores_are_fatal_only_where_asked(factloop: Command, sim: Simulator, answers: Path) -> None:
    sim.set(faults=Faults(refusal=1.0))
    assert factloop("trust", answers, *SUBJECT, "--quiet").code == 0
    strict = factloop("trust", answers, *SUBJECT, "--quiet", "--fail-if-unscored")
    assert (strict.code, strict.complaint) == (3, "factloop: 2 scores are missing (--fail-if-unscored)")
    for least in ("0.1", "0"):
        under = factloop("trust", answers, *SUBJECT, "--quiet", "--fail-under", least)
        said = f"factloop: mean TrustBC undefined of 0 answers is below {least} (--fail-under)"
        assert (under.code, under.complaint) == (1, said)


def test_a_subject_s_server_that_accepts_nothing_ends_the_run(factloop: Command, sim: Simulator, answers: Path) -> None:
    sim.set(faults=Faults(error_429=1.0), retry_after="none")
    result = factloop("trust", answers, *SUBJECT, "--quiet", "--set", "patience_s=0.3")
    said = "openai:sim: has accepted no request for 0.3 s (the last answer: status 429)"
    assert (result.code, result.complaint) == (3, f"factloop: no answer could be scored: No choice in check 1: {said}")


def test_who_failed_is_named_where_the_subject_gives_no_answer(factloop: Command, corpus: Path, sim: Simulator) -> None:
    """No choice was asked for and no passage judged: neither a choice nor a judge has failed."""
    sim.set(faults=Faults(refusal=1.0))
    asked = ("--question", "Who is it?", "--answer", *SUBJECT, "--judge-model", MODEL, "--corpus", corpus)
    said = " ".join(factloop("trust", *asked).out.split())
    assert "TrustBC ? – unscored: the subject gave no answer" in said
    assert "TrustFC ? – unscored: the subject gave no answer" in said
    assert "TrustOV – TrustBC and TrustFC (The subject gave no answer: " in said
    assert "the judge declined" not in said


def test_a_dry_run_spends_nothing_and_needs_no_key(
    factloop: Command, sim: Simulator, answers: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    flags = (*SUBJECT, "--judge-model", MODEL, "--corpus", corpus, "--dry-run")
    shown = factloop("trust", answers, *flags)
    assert shown.code == 0
    assert "Upper bound for 2 answers:\n  at most 22 model calls, 2 searches\n" in shown.out
    assert "\n  price unknown: give --price-in and --price-out\n" in shown.out
    priced = factloop("trust", *ONE, *flags, "--price-in", 1, "--price-out", 1)
    assert "Upper bound for 1 answer:" in priced.out
    assert "at most about 0.0" in priced.out
    estimate = json.loads(factloop("trust", answers, *flags, "--json", "-").out)
    jsonschema.validate(estimate, json_schema("trust_estimate"))
    assert (estimate["most_calls"], estimate["most_usd"]) == (22, None)
    assert sim.stats().stages == {}
    assert factloop("trust", answers, *SUBJECT, "--corpus", "nowhere", "--dry-run").code == 2


def test_settings_come_from_the_environment_and_the_file_shared_with_check(
    factloop: Command, home: Path, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "factloop.toml").write_text("plan = 'paper'\nmax_searches = 2\nmax_checks = 1\nseed = 7\n")
    monkeypatch.setenv("FACTLOOP_SUBJECT_MODEL", MODEL)
    monkeypatch.setenv("FACTLOOP_WINDOW", "3")
    run = json.loads(factloop("trust", answers, "--json", "-", "--max-checks", 2).out)
    fingerprint = run["reports"][0]["fingerprint"]
    assert (fingerprint["subject_model"], fingerprint["max_checks"], fingerprint["seed"]) == (MODEL, 2, 7)
    monkeypatch.setenv("FACTLOOP_WINDOW", "none")
    assert factloop("trust", answers).complaint.startswith("factloop: environment variable FACTLOOP_WINDOW: window =")
    (home / "factloop.toml").write_text("subject = 'x'\n")
    monkeypatch.delenv("FACTLOOP_WINDOW")
    assert (
        factloop("trust", answers).complaint
        == "factloop: factloop.toml: there is no setting 'subject'; is it 'subject_model'?"
    )


LONG = "n" * 300

BAD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nothing given": (SUBJECT, ("give a file of answers",)),
    "file and question": (("qa.jsonl", *ONE, *SUBJECT), ("give a file of answers",)),
    "file and response": (("qa.jsonl", "--response", "x", *SUBJECT), ("--response goes with --question",)),
    "no response": (("--question", "Who?", *SUBJECT), ("--response", "--answer")),
    "response and answer": ((*ONE, "--answer", *SUBJECT), ("--response", "--answer")),
    "blank response": (("--question", "Who?", "--response", " ", *SUBJECT), ("--response: a text is needed",)),
    "blank question": (("--question", "", "--response", "x", *SUBJECT), ("--question: a text is needed",)),
    "half a character": (("--question", "Who?", "--response", "\udcff", *SUBJECT), ("half a character",)),
    "nothing to score by": (("qa.jsonl",), ("nothing to score by", "--subject-model", "--corpus")),
    "answer without a subject": (("qa.jsonl", "--answer", "--corpus", "docs"), ("--answer asks a subject",)),
    "missing file": (("nope.jsonl", *SUBJECT), ("nope.jsonl", "No such file")),
    "folder": (("docs", *SUBJECT), ("docs", "Is a directory")),
    "NUL in the name": (("no\0pe", *SUBJECT), ("cannot be read",)),
    "malformed": (("bad.jsonl", *SUBJECT), ("bad.jsonl:2", "not JSON")),
    "wrong field": (("field.jsonl", *SUBJECT), ("field.jsonl:1: field 'question': it is missing",)),
    "same id": (("same.jsonl", *SUBJECT), ("same.jsonl:2: field 'id'", "line 1")),
    "blank in the file": (("blank.jsonl", *SUBJECT), ("blank.jsonl:1: field 'response'",)),
    "empty file": (("empty.jsonl", *SUBJECT), ("empty.jsonl", "no row")),
    "bad CSV": (("bad.csv", *SUBJECT), ("bad.csv:1", "'question'")),
    "fail-under": (("qa.jsonl", *SUBJECT, "--fail-under", "2"), ("--fail-under 2",)),
    "max checks": (("qa.jsonl", *SUBJECT, "--max-checks", "0"), ("command line: max_checks = 0",)),
    "window": (("qa.jsonl", *SUBJECT, "--set", "window=0"), ("window = '0'",)),
    "passages": (("qa.jsonl", *SUBJECT, "--set", "passages=0"), ("passages = '0'",)),
    "negative calls": (("qa.jsonl", *SUBJECT, "--max-calls", "-1"), ("max_calls = -1",)),
    "budget without a price": (("qa.jsonl", *SUBJECT, "--budget-usd", "1"), ("--price-in",)),
    "half a price": (("qa.jsonl", *SUBJECT, "--price-in", "1"), ("--price-in", "--price-out")),
    "unknown provider": (("qa.jsonl", "--subject-model", "nobody:x"), ("nobody",)),
    "base URL": (("qa.jsonl", *SUBJECT, "--base-url", "x"), ("base_url = 'x'",)),
    "judge's base URL": (("qa.jsonl", *SUBJECT, "--set", "judge_base_url=x"), ("judge_base_url = 'x'",)),
    "SPARQL URL": (("qa.jsonl", *SUBJECT, "--set", "sparql_url=x"), ("sparql_url = 'x'",)),
    "two judges": (("qa.jsonl", "--corpus", "docs", "--nli", "x", "--judge-model", MODEL), ("one judge",)),
    "missing corpus": (("qa.jsonl", *SUBJECT, "--corpus", "nowhere"), ("nowhere",)),
    "empty corpus": (("qa.jsonl", *SUBJECT, "--corpus", "void"), ("void",)),
    "empty corpus path": (("qa.jsonl", *SUBJECT, "--corpus", ""), ("an empty path",)),
    "answers among the documents": (("qa.jsonl", *SUBJECT, "--corpus", "."), ("qa.jsonl", "support itself")),
    "missing kb": (("qa.jsonl", *SUBJECT, "--kb", "nowhere.kb"), ("nowhere.kb", "factloop research kb build")),
    "kb is no table": (("qa.jsonl", *SUBJECT, "--kb", "empty.jsonl"), ("empty.jsonl", "factloop research kb build")),
    "kb is text": (("qa.jsonl", *SUBJECT, "--kb", "qa.jsonl"), ("qa.jsonl", "factloop research kb build")),
    "kb is a folder": (("qa.jsonl", *SUBJECT, "--kb", "docs"), ("docs", "factloop research kb build")),
    "missing vectors": (("qa.jsonl", *SUBJECT, "--set", "vectors=nowhere.bin"), ("nowhere.bin",)),
    "broken vectors": (("qa.jsonl", *SUBJECT, "--set", "vectors=bad.jsonl"), ("bad.jsonl",)),
    "vectors are a folder": (("qa.jsonl", *SUBJECT, "--set", "vectors=docs"), ("docs",)),
    "prompts": (("qa.jsonl", *SUBJECT, "--prompts", "nowhere"), ("nowhere",)),
    "output in no folder": (("qa.jsonl", *SUBJECT, "--json", "no/where.json"), ("does not exist",)),
    "output is the input": (("qa.jsonl", *SUBJECT, "--json", "qa.jsonl"), ("would overwrite qa.jsonl",)),
    "output is a document": (
        ("qa.jsonl", *SUBJECT, "--corpus", "docs/a.txt", "--html", "docs/a.txt"),
        ("would overwrite docs/a.txt",),
    ),
    "output is the kb": (("qa.jsonl", *SUBJECT, "--kb", "x.kb", "--json", "x.kb"), ("would overwrite x.kb",)),
    "output is the vectors": (
        ("qa.jsonl", *SUBJECT, "--set", "vectors=v.txt", "--json", "v.txt"),
        ("would overwrite",),
    ),
    "two outputs in one": (("qa.jsonl", *SUBJECT, "--json", "-", "--html", "-"), ("two outputs",)),
    "long names": (("qa.jsonl", *SUBJECT, "--json", LONG), (LONG,)),
    "long name of the kb": (("qa.jsonl", *SUBJECT, "--kb", LONG), (LONG,)),
    "long name of the run": (("qa.jsonl", *SUBJECT, "--run-dir", LONG), (LONG,)),
    "foreign run directory": (("qa.jsonl", *SUBJECT, "--run-dir", "docs"), ("not a run directory",)),
    "search without the long form": (("qa.jsonl", *SUBJECT, "--search", "serper"), ("goes with --long-form",)),
    "long form without a file": ((*ONE, "--long-form", *SUBJECT), ("--long-form takes a file",)),
    "long form without a subject": (("answer.md", "--long-form"), ("--long-form asks a subject",)),
    "long form and fail-under": (("answer.md", "--long-form", "--fail-under", "1", *SUBJECT), ("--long-form",)),
    "long form and dry run": (("answer.md", "--long-form", "--dry-run", *SUBJECT), ("--dry-run",)),
    "long form of a missing file": (("nope.md", "--long-form", *SUBJECT), ("nope.md: cannot be read (No such file",)),
}


@pytest.fixture
def bad_files(home: Path, answer: Path, answers: Path) -> Callable[[], dict[str, bytes]]:
    """All that the table above names; what it returns reads all files."""
    assert answer.exists()
    assert answers.exists()
    files = {
        "docs/a.txt": b"Rome is in Italy.",
        "bad.jsonl": b'{"question": "Who?", "response": "x"}\n{"question": \n',
        "field.jsonl": b'{"response": "x"}\n',
        "same.jsonl": b'{"id": "1", "question": "Who?", "response": "x"}\n' * 2,
        "blank.jsonl": b'{"question": "Who?", "response": "  "}\n',
        "empty.jsonl": b"",
        "bad.csv": b"a,b\n1,2\n",
        "x.kb": b"mine",
        "v.txt": b"mine",
    }
    for name, content in files.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(content)
    (home / "void").mkdir()
    return lambda: {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        *(pytest.param(*bad, id=name) for name, bad in BAD.items()),
        pytest.param(
            ("qa.jsonl", *SUBJECT, "--corpus", "docs", "--nli", "nowhere"),
            ("nowhere",),
            id="missing nli",
            marks=pytest.mark.torch,
        ),
    ],
)
def test_it_is_named_in_one_line_and_nothing_is_spent(
    factloop: Command,
    sim: Simulator,
    bad_files: Callable[[], dict[str, bytes]],
    arguments: tuple[str, ...],
    named: tuple[str, ...],
) -> None:
    before = bad_files()
    result = factloop("trust", *arguments)
    assert result.code == 2
    assert result.complaint.startswith("factloop: ")
    for part in named:
        assert part in result.complaint
    assert result.out == ""
    assert sim.stats().stages == {}
    assert bad_files() == before


def test_a_model_that_the_server_does_not_know(factloop: Command, answers: Path) -> None:
    result = factloop("trust", answers, "--subject-model", "openai:other")
    assert result.code == 2
    assert "`other` does not exist" in result.complaint


@pytest.mark.usefixtures("brisk")
def test_a_server_that_is_not_there(factloop: Command, answers: Path) -> None:
    result = factloop("trust", answers, *SUBJECT, "--base-url", "http://127.0.0.1:9/v1")
    assert result.code == 2
    assert "is the server running, and its URL right?" in result.complaint


def test_escapes_are_shown_and_not_obeyed(factloop: Command, sim: Simulator, home: Path) -> None:
    row = {"question": "Who\x1b[31m built \u202eRome?", "response": "\x1b]0;x\x07Romulus built Rome in 1848.\x9b2J"}
    (home / "hostile.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for arguments in (("hostile.jsonl",), ("--question", row["question"], "--response", row["response"])):
        for flags in ((), ("--json", "-")):
            shown = factloop("trust", *arguments, *SUBJECT, "--max-checks", 1, *flags)
            assert shown.code == 0
            assert not set(shown.out) & set("\x1b\x07\x9b\u202e")
    assert sim.stats().model.requests == 1


def test_a_run_in_another_configuration_is_refused_in_its_directory(
    factloop: Command, sim: Simulator, answers: Path
) -> None:
    flags = (answers, *SUBJECT, "--run-dir", "run", "--quiet", "--max-checks", 2)
    assert factloop("trust", *flags).code == 0
    paid = sim.stats().model.requests
    assert factloop("trust", *flags, "--set", "window=5").code == 0  # changes no result
    assert sim.stats().model.requests - paid <= 1  # the rest of the window of the inconsistent answer
    for change, named in (
        (("--seed", 1), "seed"),
        (("--temperature", 1), "subject_sampling"),
        (
            (
                "--set",
                "logprobs=no",
            ),
            "logprobs",
        ),
        (("--max-checks", 3), "max_checks"),
    ):
        result = factloop("trust", *flags, *change)
        assert result.code == 2
        assert f"another configuration ({named} differ" in result.complaint


def test_help_says_what_there_is(factloop: Command) -> None:
    assert "--subject-model" in factloop("trust", "--help").out
    assert factloop("trust", "--colour").code == 2
