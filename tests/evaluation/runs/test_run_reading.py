"""Reading the folder of a run, and folders that hold no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.core.records import Judgement, UnscoredReason, Verdict, Vote
from factloop.evaluation.runs.reading import predictions_of, read_run
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.summary import Scoring, summarise
from tests.evaluation.runs.finished_runs import fingerprint, judged

RESPONSES = [judged("p1", "ssn"), judged("p2", "si"), judged("p1", "nn", system="two")]


@pytest.fixture
def summary() -> RunSummary:
    return summarise(RESPONSES, kind="responses", data="x", scoring=Scoring(resamples=0))


@pytest.fixture
def folder(tmp_path: Path, summary: RunSummary) -> Path:
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "summary.json").write_text(to_json(summary), encoding="utf-8")
    lines = [one.model_dump_json() + "\n" for one in RESPONSES]
    (tmp_path / "reports.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_a_run_is_read_one_response_at_a_time(folder: Path, summary: RunSummary) -> None:
    run = read_run(folder)
    assert run.summary == summary
    assert list(run.responses()) == RESPONSES
    with (folder / "reports.jsonl").open("ab") as file:
        file.write(b"broken\n")
    responses = run.responses()
    assert [next(responses) for _ in RESPONSES] == RESPONSES
    with pytest.raises(DataError, match=r"reports\.jsonl:4: "):
        next(responses)


def test_a_missing_report_is_named(folder: Path) -> None:
    lines = (folder / "reports.jsonl").read_text().splitlines(keepends=True)
    (folder / "reports.jsonl").write_text("".join(lines[:2]))
    with pytest.raises(DataError, match="has no report on 'two/p1'"):
        list(read_run(folder).responses())
    (folder / "reports.jsonl").unlink()
    with pytest.raises(DataError, match=r"reports\.jsonl: cannot be read"):
        list(read_run(folder).responses())


def test_what_is_no_finished_run_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "summary.json").unlink()
    with pytest.raises(ConfigError, match="has not finished; run the same command"):
        read_run(folder)
    (folder / "report.json").write_text("{}")
    with pytest.raises(ConfigError, match="the run of a single text"):
        read_run(folder)
    for place in (tmp_path / "nowhere", folder / "run.json"):
        with pytest.raises(ConfigError, match="is not a run; name the --run-dir"):
            read_run(place)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": "2.0"}, "written in the format '2.0', but this version of factloop reads '1.4'"),
        ({"kind": "other"}, r"field 'kind': .*; start the run again"),
        ({"schema_version": None}, "field 'schema_version'"),
    ],
)
def test_a_summary_of_another_kind_is_named(folder: Path, change: dict[str, Any], said: str) -> None:
    path = folder / "summary.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(DataError, match=said):
        read_run(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", "[" * 100_000])
def test_a_broken_summary_is_one_clear_error(folder: Path, text: str) -> None:
    (folder / "summary.json").write_text(text)
    with pytest.raises(DataError, match=r"summary\.json: "):
        read_run(folder)


def test_a_report_of_another_version_is_named(folder: Path) -> None:
    path = folder / "reports.jsonl"
    path.write_text(path.read_text().replace('"schema_version":"1.5"', '"schema_version":"3.1"', 1))
    with pytest.raises(DataError, match=r"reports\.jsonl:1: was written in the format '3\.1'"):
        list(read_run(folder).responses())


def test_a_folder_of_an_experiment_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"experiment": "claims"}')
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ConfigError, match="the run of an experiment, not of factloop eval"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("7")
    with pytest.raises(ConfigError, match="has not finished"):
        read_run(tmp_path)


UNSCORED = Judgement(unscored_reason=UnscoredReason.BUDGET)


def row(**changes: Any) -> dict[str, Any]:
    facts = [{"text": "Ada lived.", "label": "S"}, {"text": "Ada sang.", "label": "NS"}]
    named = {"id": "r1", "system": "A", "topic": "Ada", "prompt": "Who?", "response": "Ada lived and sang. Hello."}
    said = [{"text": "Ada lived and sang.", "atomic_facts": facts}, {"text": "Hello.", "atomic_facts": None}]
    return {**named, "sentences": said, **changes}


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def test_the_models_of_a_jury_are_evaluators_of_their_own() -> None:
    made_by = fingerprint().model_copy(update={"settings": {"jury": ["sim:b"]}})
    one = judged("p", "s", labels="S", made_by=made_by)
    (only,) = one.report.claims
    votes = (
        Vote(judged_by="sim:judge", verdict=Verdict.SUPPORTED),
        Vote(judged_by="sim:b", unscored_reason=UnscoredReason.REFUSAL),
    )
    claim = only.model_copy(update={"judgement": only.judgement.model_copy(update={"votes": votes})})
    one = one.model_copy(update={"report": one.report.model_copy(update={"claims": (claim,)})})
    (row_,) = read(predictions_of([one], dataset="bio"))
    assert row_["evaluators"] == {"sim:judge + sim:b (fused)": 1, "sim:judge": 1, "sim:b": None}
    assert made_by.judge == "a jury of sim:judge, sim:b (majority), fused plan"


def test_predictions_are_the_verdicts_on_claims_labelled_supported_or_not() -> None:
    rows = read(predictions_of([judged("p", "snisn", labels="SNSI")], dataset="bio"))
    assert [(one["claim_id"], one["label"], one["evaluators"]) for one in rows] == [
        ("c0", 1, {"sim:judge (fused)": 1}),
        ("c1", 0, {"sim:judge (fused)": 0}),
        ("c2", 1, {"sim:judge (fused)": None}),  # found irrelevant: neither
    ]
    assert {(one["dataset"], one["system"], one["response_id"], one["prompt_id"]) for one in rows} == {
        ("bio", "one", "one/p", "p")
    }
