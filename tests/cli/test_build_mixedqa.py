"""`factloop generate mixedqa`, `labels answers` and `labels agree`: from files of sources to a labelled data set."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from factloop.evaluation.reproduction.records import Reproduction
from factloop.reports.downloads import csv_text
from factloop.schemas import FOLDER
from tests.cli.command import Command
from tests.evaluation.mixedqa.building.source_files import Asked, write_sources
from tests.simulator import MODEL, Simulator

SYSTEMS = ("--system", f"one={MODEL}", "--system", "two=openai:sim-b")


@pytest.fixture
def sources(sim: Simulator, home: Path) -> list[str]:
    """Two sources: of ten questions each the simulator answers eight, and two more are not open-ended."""
    sim.set(models=("sim", "sim-b"), admits_ignorance=True)
    pairs = sim.world.questions[:16]
    asked: dict[str, Asked] = {}
    for place, source in enumerate(("NaturalQuestions", "PopQA")):
        known = [(pair.question, [pair.answer]) for pair in pairs[8 * place : 8 * place + 8]]
        strange = [(f"What is the colour of wish {number}?", ["none"]) for number in range(2)]
        closed = [("Is Ferocactus a type of plant?", ["yes"]), ("Who was older, Ann or Bob?", ["Ann"])]
        asked[source] = [*known, *strange, *closed]
    return write_sources(home, asked)


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_questions_that_every_system_answers_are_drawn_from_each_source(
    factloop: Command, sim: Simulator, home: Path, sources: list[str]
) -> None:
    """Against the simulator, which says that it is not sure where a question is about nothing in its world."""
    asked = ("generate", "mixedqa", *sources, *SYSTEMS, "--n", 5)
    done = factloop(*asked, "--out", "built.jsonl", "--json", "report.json")
    assert (done.code, done.err) == (0, "")
    rows = rows_in(home / "built.jsonl")
    schema = json.loads((FOLDER / "mixedqa_question.schema.json").read_text(encoding="utf-8"))
    for row in rows:
        jsonschema.validate(row, schema)
    assert [row["source"] for row in rows] == ["NaturalQuestions"] * 5 + ["PopQA"] * 5
    known = {pair.question: pair for pair in sim.world.questions[:16]}
    assert {row["question"] for row in rows} <= set(known)
    for row in rows:
        assert [one["system"] for one in row["responses"]] == ["one", "two"]
        assert all(one["text"].strip() for one in row["responses"])
        assert row["reference_answers"] == [known[row["question"]].answer]
    report = json.loads((home / "report.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, json.loads((FOLDER / "mixedqa_build.schema.json").read_text(encoding="utf-8")))
    for of_source in report["sources"]:
        assert (of_source["n_read"], of_source["n_kept"]) == (12, 5)
        assert of_source["n_not_open"] == {"yes_no": 1, "comparison": 1}
        left_out = sum(of_source["n_unanswered"].get("one", {}).values())
        assert of_source["n_asked"] == 5 + left_out
    assert sim.stats().stages["ClosedBookAnswer"].answered == 2 * sum(one["n_asked"] for one in report["sources"])
    assert "1 comparison, 1 yes-no" in done.out
    again = factloop(*asked, "--out", "again.jsonl")
    assert again.code == 0
    assert (home / "again.jsonl").read_text() == (home / "built.jsonl").read_text()
    other = factloop(*asked, "--out", "other.jsonl", "--seed", 1)
    assert other.code == 0
    assert (home / "other.jsonl").read_text() != (home / "built.jsonl").read_text()


def test_fewer_than_wanted_are_said_and_unanswered_ones_left_out(
    factloop: Command, home: Path, sources: list[str]
) -> None:
    done = factloop("generate", "mixedqa", *sources, *SYSTEMS, "--n", 9, "--out", "built.jsonl", "--strict")
    assert done.code == 3
    assert "NaturalQuestions: 8, not 9 of 12 read, 10 asked" in done.out
    assert "one answers not: 2 inconclusive" in done.out
    assert len(rows_in(home / "built.jsonl")) == 16


def test_a_failed_call_leaves_its_question_undecided_and_the_run_goes_on_to_the_same(
    factloop: Command, sim: Simulator, home: Path, sources: list[str]
) -> None:
    asked = ("generate", "mixedqa", *sources, *SYSTEMS, "--n", 5)
    assert factloop(*asked, "--out", "whole.jsonl", "--no-cache").code == 0
    n_whole = sim.stats().model.requests
    sim.reset()
    flags = (*asked, "--run-dir", "run", "--no-cache")
    short = factloop(*flags, "--out", "short.jsonl", "--max-calls", 7)
    assert short.code == 0
    assert "undecided, as a call failed: the same command with another --out asks again" in short.out
    assert len(rows_in(home / "short.jsonl")) < 10
    done = factloop(*flags, "--out", "built.jsonl")
    assert (done.code, "undecided" in done.out) == (0, False)
    assert (home / "built.jsonl").read_text() == (home / "whole.jsonl").read_text()
    assert sim.stats().model.requests == n_whole  # what was paid for was not asked again
    assert factloop(*flags, "--seed", 1, "--out", "other.jsonl").code == 2  # another draw is another run


def test_questions_are_drawn_without_any_system_and_a_dry_run_spends_nothing(
    factloop: Command, sim: Simulator, home: Path, sources: list[str]
) -> None:
    estimate = factloop("generate", "mixedqa", *sources, *SYSTEMS, "--n", 5, "--out", "x.jsonl", "--dry-run")
    assert "from 20 model calls" in estimate.out
    assert "to 40 model calls" in estimate.out
    done = factloop("generate", "mixedqa", *sources, "--n", 5, "--out", "questions.jsonl")
    assert (done.code, done.err) == (0, "")
    rows = rows_in(home / "questions.jsonl")
    assert (len(rows), [row["responses"] for row in rows]) == (10, [[]] * 10)
    assert sim.stats().model.requests == 0
    refused = factloop("labels", "answers", "questions.jsonl", "--out", "a.csv", "--second", "b.csv")
    assert (refused.code, "build the data set with --system" in refused.complaint) == (2, True)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--source", "NQ=popQA.tsv"), "there is no source 'NQ'; there are NaturalQuestions"),
        (("--source", "PopQA"), "--source PopQA: it is NAME=FILE"),
        (("--source", "PopQA=absent.tsv"), "absent.tsv"),
        (("--source", "PopQA=a.tsv", "--source", "PopQA=b.tsv"), "PopQA has one already"),
        (("--source", "PopQA=popQA.tsv", "--system", "one"), "it is SYSTEM=MODEL"),
        (("--source", "PopQA=popQA.tsv", "--out", "popQA.tsv"), "would overwrite"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_spent(
    factloop: Command, sim: Simulator, sources: list[str], flags: tuple[str, ...], named: str
) -> None:
    assert sources
    out = () if "--out" in flags else ("--out", "x.jsonl")
    result = factloop("generate", "mixedqa", *flags, *out)
    assert (result.code, result.out, sim.stats().model.requests) == (2, "", 0)
    assert named in result.complaint


Judge = Callable[[Mapping[str, str]], str]


def filled(path: Path, judge: Judge) -> None:
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    heads = list(rows[0])
    path.write_text(csv_text(heads, [tuple({**row, "human_correct": judge(row)}.values()) for row in rows]))


@pytest.mark.statistical
def test_two_annotators_make_a_labelled_data_set_that_eval_reads(
    factloop: Command, home: Path, sources: list[str]
) -> None:
    """Both go by the reference answer, but for the second's first two responses; a third decides these."""
    assert factloop("generate", "mixedqa", *sources, *SYSTEMS, "--n", 6, "--out", "built.jsonl").code == 0
    made = factloop("labels", "answers", "built.jsonl", "--out", "a.csv", "--second", "b.csv")
    assert (made.code, made.err) == (0, "")
    assert "24 and 24 responses, 12 questions on both" in made.out

    def right(row: Mapping[str, str]) -> str:
        return str(int(row["response"] == row["reference_answers"]))

    seen: list[str] = []

    def other_at_first(row: Mapping[str, str]) -> str:
        seen.append(row["response_id"])
        return {"0": "1", "1": "0"}[right(row)] if len(seen) <= 2 else right(row)

    filled(home / "a.csv", right)
    filled(home / "b.csv", other_at_first)
    flags = ("labels", "agree", "a.csv", "b.csv", "--data", "built.jsonl")
    found = factloop(*flags, "--json", "agreement.json", "--undecided", "third.csv", "--out", "first.jsonl")
    assert (found.code, found.err) == (0, "")
    agreement = json.loads((home / "agreement.json").read_text(encoding="utf-8"))
    schema = json.loads((FOLDER / "annotator_agreement.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(agreement, schema)
    assert (agreement["n_differing"], agreement["n_questions"]) == (2, 11)
    filled(home / "third.csv", right)
    done = factloop(*flags, "--decided", "third.csv", "--out", "mixedqa.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "12 questions with a label for each response" in done.out
    assert "(22 of 24 responses alike)" in done.out
    scored = factloop("eval", "mixedqa", "--data", "mixedqa.jsonl", "--metric", "lexical", "--json", "-")
    assert [one["n_responses"] for one in json.loads(scored.out)["systems"]] == [12, 12]
    table = factloop("reproduce", "trustscore:table-2", "--results", "agreement.json", "--json", "-")
    figures = {one.names[0]: one for one in Reproduction.model_validate_json(table.out).figures}
    overall = next(one for one in agreement["systems"] if one["system"] is None)
    assert (figures["Overall"].published, figures["Overall"].ours) == (0.89, overall["kappa"]["value"])
    assert figures["one"].n == 12


def test_wrong_sheets_are_named(factloop: Command, home: Path, sources: list[str]) -> None:
    assert factloop("generate", "mixedqa", *sources, *SYSTEMS, "--n", 2, "--out", "built.jsonl").code == 0
    assert factloop("labels", "answers", "built.jsonl", "--out", "a.csv", "--second", "b.csv").code == 0
    refused = factloop("labels", "answers", "built.jsonl", "--out", "c.csv", "--second", "b.csv")
    assert "b.csv: is there already, and a person may have filled it in" in refused.complaint
    assert not (home / "c.csv").exists()
    flags = ("labels", "agree", "a.csv", "b.csv", "--data", "built.jsonl")
    (home / "third.csv").write_text("filled in")
    assert "third.csv: is there already, and a" in factloop(*flags, "--undecided", "third.csv").complaint
    assert "no row has a label" in factloop(*flags).complaint
    filled(home / "a.csv", lambda _: "perhaps")
    assert "a.csv:2: field 'human_correct'" in factloop(*flags).complaint
    filled(home / "a.csv", lambda _: "1")
    text = (home / "a.csv").read_text(encoding="utf-8")
    (home / "b.csv").write_text(text + text.splitlines()[1] + "\n", encoding="utf-8")
    assert "this response stands here already" in factloop(*flags).complaint
    assert "would overwrite" in factloop(*flags, "--out", "a.csv").complaint
