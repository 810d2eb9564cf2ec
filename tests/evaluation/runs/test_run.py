from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop import FactChecker
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.core.records import Counts, UnscoredReason, Verdict, Vote
from factloop.evaluation.datasets.responses import OwnDocument
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.reading import predictions_of, read_run
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.run import arun
from factloop.evaluation.runs.summary import Scoring, summarise
from factloop.tools.calls.budget import Budget
from tests.checking.simulated import simulated_checker
from tests.evaluation.running.short_responses import short_facts, short_items
from tests.evaluation.runs.finished_runs import fingerprint, judged, write_run
from tests.simulator import MODEL, Simulator


async def run(sim: Simulator, items: list[RunItem], **options: Any) -> RunSummary:
    settings = options.pop("settings", {})
    async with simulated_checker(sim, **settings) as checker:
        return await arun(checker, iter(items), data="short", **options)


def stable(summary: RunSummary) -> Any:
    return summary.model_dump(mode="json", exclude={"usage", "created_at"})


@pytest.fixture
def items(sim: Simulator) -> list[RunItem]:
    return list(short_items(sim.world, 8))


async def test_the_summary_is_of_what_was_judged_and_kept(sim: Simulator, items: list[RunItem], tmp_path: Path) -> None:
    summary = await run(sim, items, run_dir=tmp_path / "run", scoring=Scoring(ks=(2, "median")))
    kept = read_run(tmp_path / "run")
    assert kept.summary == summary
    judged = {one.id: one for one in kept}
    assert set(judged) == {item.id for item in items}
    for item in items:
        _, gold = short_facts(sim.world)[item.response]
        supported = sum(fact.label == "supported" for fact in gold)
        assert judged[item.id].report.counts.supported == supported
        assert judged[item.id].report.prompt == item.prompt
    assert summary.usage.calls == sim.stats().model.answered
    assert summary.usage.searches == sim.stats().search.answered
    assert summary.scores.systems[0].n_responses == 4


async def test_a_response_that_misses_its_request_counts_as_not_factual(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    sim.set(models=["sim", "gpt-4o"])
    given = [replace(items[0], prompt="Who was Nobody Known?"), items[1]]
    settings = {"jury": ["openai:gpt-4o"], "jury_rule": "unanimous", "eligibility": True, "plan": "grounded"}
    summary = await run(sim, given, settings=settings, run_dir=tmp_path / "run")
    missing, serving = sorted(read_run(tmp_path / "run"), key=lambda one: one.id)
    assert missing.report.eligibility is not None
    assert missing.report.eligibility.verdict is Verdict.NOT_SUPPORTED
    assert [one.judged_by for one in missing.report.eligibility.votes] == [MODEL, "openai:gpt-4o"]
    assert min(missing.report.counts.supported, serving.report.counts.supported) > 0
    none = missing.report.counts.model_copy(update={"supported": 0, "not_supported": missing.report.counts.scored})
    assert [line.counts for line in summary.responses] == [one.report.counts for one in (missing, serving)]
    assert [line.as_counted for line in summary.responses] == [none, serving.report.counts]
    assert summary.warnings[0].startswith("1 of 2 responses do not do what the prompt asks, so no claim in them c")
    assert "verifiers/eligibility" in summary.fingerprint.prompts
    with pytest.raises(ConfigError, match="cannot calibrate"):
        await run(sim, given, settings=settings, debias=lambda debiased, _: debiased)


async def test_a_higher_limit_goes_on_and_a_lower_one_leaves_out(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    few = await run(sim, items, run_dir=tmp_path / "run", limit=3)
    assert [line.id for line in few.responses] == ["r0000", "r0002", "r0001"]
    all_ = await run(sim, items, run_dir=tmp_path / "run")
    assert (len(all_.responses), sim.stats().repeated) == (8, 0)
    sim.reset()
    assert stable(await run(sim, items, run_dir=tmp_path / "run", limit=3)) == stable(few)
    assert len(list(read_run(tmp_path / "run"))) == 3
    assert sim.stats().stages == {}


@pytest.mark.parametrize(
    ("change", "named"),
    [({"items": 7}, "data"), ({"settings": {"plan": "paper"}}, "plan"), ({"kind": "factscore"}, "kind")],
)
async def test_another_run_in_the_same_place_is_refused(
    sim: Simulator, items: list[RunItem], tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    await run(sim, items[:2] if named != "data" else items, run_dir=tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    sim.reset()
    given = items[: change.pop("items", 2)]
    with pytest.raises(ConfigError, match=rf"a different configuration \(changed: .*\b{named}\b"):
        await run(sim, given, run_dir=tmp_path / "run", **change)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    assert sim.stats().stages == {}


async def test_what_a_failing_server_left_unscored_is_judged_again(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    whole = await run(sim, items)
    sim.reset()
    stopped = await run(sim, items, run_dir=tmp_path / "run", settings={"max_calls": 12})
    assert sum(one.counts.unscored for one in stopped.scores.systems) > 0
    assert "budget was used up" in stopped.warnings[0]
    finished = await run(sim, items, run_dir=tmp_path / "run", settings={"max_calls": 1000})
    assert finished.scores == whole.scores
    assert sim.stats().repeated == 0
    assert finished.usage.calls >= sim.stats().model.answered  # a call that two attempts share is counted in both


async def test_an_empty_response_is_an_abstention_and_costs_nothing(sim: Simulator) -> None:
    summary = await run(sim, [RunItem("1", "one", "p", "Who?", ""), RunItem("2", "one", "q", "Who?", " \n")])
    assert sim.stats().stages == {}
    (system,) = summary.scores.systems
    assert (system.n_abstained, system.counts.total, system.at_k[0].f1.value, system.precision.value) == (2, 0, 0, None)


async def test_a_model_object_needs_only_the_items_documents_and_keeps_the_shared_budget(sim: Simulator) -> None:
    given = RunItem("a", "s", "p", prompt="Who?", response="Ada sang.", documents=(OwnDocument(text="Ada sang."),))
    model = ChatOpenAI(model="sim", base_url=sim.base_url, api_key=SecretStr("k"))
    async with FactChecker(model, cache=False, budget=Budget(max_calls=0)) as checker:
        (system,) = (await arun(checker, [given], data="x")).scores.systems
    assert (system.counts.unscored, sim.stats().model.answered) == (1, 0)


async def test_nothing_is_spent_before_all_of_the_input_is_found_whole(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    def broken() -> Iterator[RunItem]:
        yield from items
        raise DataError("bad row", path="responses.jsonl", line=9)

    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"responses\.jsonl:9: bad row"):
            await arun(checker, broken(), data="x", run_dir=tmp_path / "run")
        with pytest.raises(DataError, match="x contains no responses to score"):
            await arun(checker, [], data="x")
    assert sim.stats().stages == {}
    assert not (tmp_path / "run").exists()


OF_ONE = [judged("p1", "ssn"), judged("p2", "si?"), judged("p3", "")]
OF_TWO = [judged("p1", "nn", system="two"), judged("p2", "??", system="two")]
RESPONSES = [*OF_ONE, *OF_TWO]


def summary_of(responses: Sequence[JudgedResponse], **scoring: Any) -> RunSummary:
    chosen = Scoring(**{"ks": (2, "median", "maximum"), "resamples": 200, **scoring})
    return summarise(responses, kind="responses", data="x", scoring=chosen)


def test_labels_give_the_same_scores_by_people_for_the_same_k() -> None:
    summary = summary_of([judged("p1", "snn", labels="SSN"), judged("p2", "i", labels="I"), judged("p3", "")])
    assert summary.labelled is not None
    assert [choice.k for choice in summary.labelled.ks] == [choice.k for choice in summary.scores.ks]
    (system,) = summary.labelled.systems
    assert system.counts == Counts(supported=2, not_supported=1, irrelevant=1)
    assert system.at_k[0].f1.value == pytest.approx((0.8 + 0 + 0) / 3)
    assert (system.n_responses, system.n_abstained) == (3, 1)
    assert summary.agreement is not None
    assert summary.agreement.overall.agreement.value == pytest.approx(3 / 4)
    assert summary_of(RESPONSES).labelled is None


def test_warnings_are_of_the_run_and_not_of_each_response() -> None:
    offline = fingerprint(engine="offline", search_tools=("documents",), versions={"spacy": "1"})
    newer = fingerprint(engine="offline", search_tools=("documents",), versions={"spacy": "2"})
    responses = [judged(f"p{number}", "s??", made_by=offline) for number in range(50)]
    summary = summary_of([*responses, judged("p99", "s", made_by=newer)])
    assert "without a model" in summary.warnings[0]
    assert summary.warnings[1] == "100 of 151 claims have no verdict: no answer in time (100)"
    assert summary.warnings[2].endswith(" the fully supported share leaves out 50 responses")
    assert summary.warnings[3].startswith("Not all responses were judged in the same way: versions changed")
    assert summary.fingerprint == offline.model_copy(update={"seed": 0})  # that of the resamples
    without = summary_of([judged("p1", "", made_by=fingerprint())])
    assert without.warnings == ()
    assert "nothing to check against" in summary_of([judged("p1", "s", made_by=fingerprint())]).warnings[0]


@pytest.mark.parametrize(
    ("second", "is_warned"), [((), False), (("a-05",), False), (("a-05", "b"), False), (("a-08",), True)]
)
def test_a_model_that_changed_under_its_name_is_warned_of(second: tuple[str, ...], is_warned: bool) -> None:
    """A response that needs fewer of a jury's models than another is judged like it."""
    made_by = [fingerprint(search_tools=("documents",), snapshots=names) for names in (("a-05",), second)]
    summary = summary_of([judged(f"p{number}", "s", made_by=one) for number, one in enumerate(made_by)])
    assert summary.fingerprint.snapshots == tuple(sorted({"a-05", *second}))
    assert any("snapshots changed" in warning for warning in summary.warnings) is is_warned
    assert "snapshots" not in summary.fingerprint.configuration


def test_no_response_and_two_of_one_are_refused() -> None:
    with pytest.raises(DataError, match="x contains no responses to score"):
        summary_of([])
    with pytest.raises(DataError, match="two responses have the id 'one/p1'"):
        summary_of([OF_ONE[0], OF_ONE[0]])
    with pytest.raises(DataError, match="answers the prompt 'p1' twice"):
        summary_of([OF_ONE[0], OF_ONE[0].model_copy(update={"id": "again"})])


def test_repeats_count_once_in_every_figure_alike() -> None:
    """Three facts, two of them said twice: by the judge s s s n n, by people S S S N N. K = 2. Each: S 3, N 2, P 3/5, R
    1, F1 3/4. Once: S 2 of 3 texts (a, b), N 1: P 2/3, R 1, F1 4/5; people's the same."""
    texts = ("Fact a.", "fact A", "Fact b.", "Fact c.", "Fact c.")
    for policy, counts, f1 in (
        ("each", Counts(supported=3, not_supported=2), 3 / 4),
        ("once", Counts(supported=2, not_supported=1, repeated=2), 4 / 5),
    ):
        made_by = fingerprint(repeats=policy)
        summary = summary_of([judged("p1", "sssnn", labels="SSSNN", texts=texts, made_by=made_by)], ks=(2,))
        (system,) = summary.scores.systems
        assert system.counts == counts
        assert system.at_k[0].f1.value == pytest.approx(f1)
        assert summary.labelled is not None
        people = summary.labelled.systems[0]
        assert people.at_k[0].f1.value == pytest.approx(f1)
        assert people.counts == counts
        assert summary.fingerprint.repeats == policy


READ_BACK = [judged("p1", "ssn"), judged("p2", "si"), judged("p1", "nn", system="two")]


@pytest.fixture
def summary() -> RunSummary:
    return summarise(READ_BACK, kind="responses", data="x", scoring=Scoring(resamples=0))


@pytest.fixture
def folder(tmp_path: Path, summary: RunSummary) -> Path:
    folder = write_run(tmp_path / "run", READ_BACK)
    (folder / "summary.json").write_text(to_json(summary), encoding="utf-8")
    return folder


def test_a_run_is_read_one_response_at_a_time(folder: Path, summary: RunSummary) -> None:
    run = read_run(folder)
    assert run.summary == summary
    assert list(run) == READ_BACK
    with (folder / "reports.jsonl").open("ab") as file:
        file.write(b"broken\n")
    responses = iter(run)
    assert [next(responses) for _ in READ_BACK] == READ_BACK
    with pytest.raises(DataError, match=r"reports\.jsonl:4: "):
        next(responses)


def test_a_missing_report_is_named(folder: Path) -> None:
    lines = (folder / "reports.jsonl").read_text().splitlines(keepends=True)
    (folder / "reports.jsonl").write_text("".join(lines[:2]))
    with pytest.raises(DataError, match="the report on 'two/p1', which summary"):
        list(read_run(folder))
    (folder / "reports.jsonl").unlink()
    with pytest.raises(DataError, match=r"reports\.jsonl: cannot be read"):
        list(read_run(folder))


def test_what_is_no_finished_run_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "summary.json").unlink()
    with pytest.raises(ConfigError, match="has not finished; run the same command"):
        read_run(folder)
    (folder / "report.json").write_text("{}")
    with pytest.raises(ConfigError, match="covers a single text"):
        read_run(folder)
    for place in (tmp_path / "nowhere", folder / "run.json"):
        with pytest.raises(ConfigError, match="is not a run; pass the `--run-dir`"):
            read_run(place)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": "1.7"}, "written in format '1.7', but this version of factloop reads only '2.0'"),
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
    path.write_text(path.read_text().replace('"schema_version":"1.2"', '"schema_version":"3.1"', 1))
    with pytest.raises(DataError, match=r"reports\.jsonl:1: was written in format '3\.1'"):
        list(read_run(folder))


def test_a_folder_of_an_experiment_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"experiment": "claims"}')
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ConfigError, match="an experiment run, not a `factloop eval` run"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("7")
    with pytest.raises(ConfigError, match="has not finished"):
        read_run(tmp_path)


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
