"""SAFE's tables over several runs, by hand: means a response, lengths, and searches against people and each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]  # no types

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import ComparedFigure, Reproduction
from factloop.evaluation.reproduction.registry import find_entry
from factloop.evaluation.runs.label_agreement import TabledResponse, agree_with_labels, table_of
from factloop.evaluation.runs.records import JudgedResponse
from tests.evaluation.runs.finished_runs import fingerprint, judged, summary_of


def run_of(folder: Path, responses: Sequence[JudgedResponse], **changes: object) -> Path:
    """A finished run directory."""
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    (folder / "summary.json").write_text(to_json(summary_of(responses, **changes)))  # type: ignore[arg-type]  # as named
    (folder / "reports.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in responses))
    return folder


def reproduced(entry: str, *results: Path) -> Reproduction:
    run = find_entry(entry).run
    assert run is not None
    return run(Inputs(all_results=results))


def places(found: Reproduction) -> Mapping[tuple[str, ...], ComparedFigure]:
    return {(*one.names, one.column): one for one in found.figures}


def test_means_a_response_of_each_model_over_two_runs(tmp_path: Path) -> None:
    """Model a: 3 of 4 and 1 of 2 supported, one irrelevant. Model b, of another run: all of 2; one has no verdict."""
    first = run_of(tmp_path / "one", [judged("p", "sssni", system="a"), judged("q", "sn", system="a")])
    second = run_of(tmp_path / "two", [judged("p", "ss", system="b"), judged("q", "??", system="b")])
    found = reproduced("safe:f1-at-k", first, second / "summary.json")
    ours = {place: (one.ours, one.n) for place, one in places(found).items()}
    assert ours["a", "supported"] == (2.0, 2)
    assert ours["a", "not supported"] == (1.0, 2)
    assert ours["a", "irrelevant"] == (0.5, 2)
    assert ours["a", "precision, %"] == pytest.approx((100 * (0.75 + 0.5) / 2, 2))
    assert ours["a", "recall@64, %"] == pytest.approx((100 * (3 / 64 + 1 / 64) / 2, 2))
    # F1@64: 2 * 0.75 * 3/64 / (0.75 + 3/64), and 2 * 0.5 * 1/64 / (0.5 + 1/64)
    f1 = [2 * 0.75 * (3 / 64) / (0.75 + 3 / 64), 2 * 0.5 * (1 / 64) / (0.5 + 1 / 64)]
    assert ours["a", "F1@64, %"] == pytest.approx((100 * sum(f1) / 2, 2))
    assert ours["b", "supported"] == (2.0, 1)  # what has no verdict at all is left out, and said
    assert ours["b", "F1@178, %"] == pytest.approx((100 * 2 * (2 / 178) / (1 + 2 / 178), 1))
    assert any("summary.json: 1 response without a verdict" in note for note in found.notes)


def test_a_model_in_two_runs_is_refused(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, [judged("p", "s")]) for name in ("one", "two")]
    with pytest.raises(DataError, match="'one' is in another of the results"):
        reproduced("safe:f1-at-k", *runs)


def test_lengths_stand_from_the_shortest_responses_to_the_longest(tmp_path: Path) -> None:
    run = run_of(
        tmp_path / "run",
        [
            judged("p", "ssnnss", system="m, long"),
            judged("p", "s", system="m, short"),
            judged("p", "ssn", system="m, usual"),
        ],
    )
    found = reproduced("safe:length", run)
    assert list(dict.fromkeys(one.names[0] for one in found.figures)) == ["m, short", "m, usual", "m, long"]
    assert [places(found)[name, "facts"].ours for name in ("m, short", "m, usual", "m, long")] == [1.0, 3.0, 6.0]


def search_run(folder: Path, searches: int, verdicts: str, other: str) -> Path:
    """People's labels are SNNI for both responses."""
    by = fingerprint(max_searches=searches)
    responses = [
        judged(prompt, letters, labels="SNNI", made_by=by) for prompt, letters in (("p", verdicts), ("q", other))
    ]
    tables = [TabledResponse(one.system, one.prompt_id, table_of(one.report.claims, one.labels)) for one in responses]
    return run_of(folder, responses, made_by=by, kind="factscore", agreement=agree_with_labels(tables))


def test_searches_are_held_against_people_and_each_other_over_three_labels(tmp_path: Path) -> None:
    one = search_run(tmp_path / "one", 1, "snsi", "nn?i")
    five = search_run(tmp_path / "five", 5, "snni", "snns")
    found = reproduced("safe:search-ablation", one, five)
    ours = {place: (figure.ours, figure.n) for place, figure in places(found).items()}
    first, second = "1 search, 3 results each", "5 searches, 3 results each"
    # with people: of one search s n . i and . n i alike of 7 with a verdict; of five all but the last of 8
    assert ours[first, "people", "agreement, %"] == pytest.approx((100 * 5 / 7, 7))
    assert ours[second, "people", "agreement, %"] == pytest.approx((100 * 7 / 8, 8))
    assert ours[first, "people", "facts without a verdict"] == (1.0, 1)
    # with each other, where both have a verdict: snsi and nni against snni and sns
    pairs = list("snsinni"), list("snnisns")
    assert ours[first, second, "agreement, %"] == pytest.approx((100 * 4 / 7, 7))
    assert ours[first, second, "kappa"] == pytest.approx((cohen_kappa_score(*pairs), 7))


def test_a_fact_that_a_response_states_twice_is_compared_once(tmp_path: Path) -> None:
    runs = []
    for searches, letters in ((1, "sn"), (2, "nn")):
        by = fingerprint(max_searches=searches)
        response = judged("p", letters, labels="SN", texts=["It rained.", "It rained."], made_by=by)
        table = TabledResponse("one", "p", table_of(response.report.claims, response.labels))
        folder = tmp_path / str(searches)
        runs.append(run_of(folder, [response], made_by=by, kind="factscore", agreement=agree_with_labels([table])))
    found = places(reproduced("safe:search-ablation", *runs))
    apart = found["1 search, 3 results each", "2 searches, 3 results each", "agreement, %"]
    assert (apart.ours, apart.n) == (0.0, 1)


def test_runs_by_their_summary_alone_have_no_verdicts_to_compare(tmp_path: Path) -> None:
    one = search_run(tmp_path / "one", 1, "snsi", "nn?i")
    five = search_run(tmp_path / "five", 5, "snni", "snns")
    found = reproduced("safe:search-ablation", one / "summary.json", five)
    assert {names[1] for names in (figure.names for figure in found.figures)} == {"people"}
    assert any("name the directory" in note for note in found.notes)


def test_wrong_runs_are_refused(tmp_path: Path) -> None:
    one = search_run(tmp_path / "one", 1, "snsi", "nn?i")
    again = search_run(tmp_path / "again", 1, "snsi", "nn?i")
    with pytest.raises(DataError, match="has as many searches and results as"):
        reproduced("safe:search-ablation", one, again)
    unlabelled = run_of(tmp_path / "unlabelled", [judged("p", "s")])
    with pytest.raises(DataError, match="it takes a run of factloop eval factscore"):
        reproduced("safe:search-ablation", unlabelled)
    with pytest.raises(ConfigError, match="give --results once"):
        reproduced("safe:agreement", one / "summary.json", again / "summary.json")
