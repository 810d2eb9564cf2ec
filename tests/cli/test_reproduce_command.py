"""`factloop reproduce`: the list, tables theirs beside ours, and what the simulator stands in for a model in."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from factloop.evaluation.mixedqa.published import SYSTEMS
from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.reproduction.records import ComparedFigure, EntryList, Reproduction
from factloop.evaluation.runs.records import RunSummary
from tests.cli.command import Command
from tests.cli.test_factscore_command import row as labelled_response
from tests.evaluation.datasets.dataset_files import jsonl
from tests.evaluation.verification.world_pairs import world_rows
from tests.simulator import Simulator

TOFU = "tofueval_mediasum_dev.jsonl"


def reproduced(factloop: Command, *flags: object) -> Reproduction:
    """The record that goes to standard output, alone there."""
    result = factloop("reproduce", *flags, "--json", "-")
    assert (result.code, result.err) == (0, "")
    return Reproduction.model_validate_json(result.out)


def places(found: Reproduction) -> Mapping[tuple[str, ...], ComparedFigure]:
    return {(*one.names, one.column): one for one in found.figures}


def sentences(*labels: int) -> list[dict[str, object]]:
    """Sentences of two systems, two a summary: of `model_A` the first four labels, of `model_B` the others."""
    return [
        {
            "id": f"s{place}",
            "doc_id": f"d{place // 2 % 2}",
            "topic": "t",
            "system": "model_A" if place < 4 else "model_B",
            "sent_idx": place % 2 + 1,
            "sentence": f"Sentence {place} is here.",
            "label": label,
        }
        for place, label in enumerate(labels)
    ]


def test_the_list_names_all_with_what_they_need(factloop: Command, home: Path) -> None:
    result = factloop("reproduce", "list", "--csv", "list.csv", "--html", "list.html")
    assert (result.code, result.err) == (0, "")
    assert "trustscore:table-3" in result.out
    rows = list(csv.DictReader(io.StringIO((home / "list.csv").read_text(encoding="utf-8"))))
    needs = {row["Entry"]: row for row in rows}
    assert len(rows) == len(needs) >= 48
    assert needs["safe:agreement"]["Key beside the model's"] == "one for the model, and one for Serper"
    assert needs["vwc:table-11"]["Data"] == "tofueval:mediasum-dev"
    assert needs["trustscore:table-2"]["Status"] == "cannot"
    assert "vwc:figure-10" in (home / "list.html").read_text(encoding="utf-8")
    listing = EntryList.model_validate_json(factloop("reproduce", "list", "--json", "-").out)
    assert [one.id for one in listing.entries] == list(needs)


def test_theirs_stand_beside_ours_with_the_difference(factloop: Command, home: Path) -> None:
    """`model_A` errs in 1 of 4 sentences and 1 of 2 summaries, `model_B` in 2 of 4 and 1 of 2."""
    jsonl(home / "data" / TOFU, *sentences(1, 0, 1, 1, 0, 0, 1, 1))
    result = factloop("reproduce", "vwc:table-11", "--data", "data", "--csv", "t.csv", "--html", "t.html")
    assert (result.code, result.err) == (0, "")
    assert re.search(r" labels +19\.7 +25\.0 +\+5\.30 +labels +4\n", result.out)
    rows = {
        (row["Row"], row["Column"]): row
        for row in csv.DictReader(io.StringIO((home / "t.csv").read_text(encoding="utf-8")))
    }
    found = rows["TofuEval-MediaS, model_A", "labels"]
    assert (found["Paper"], found["Ours"], found["From"], found["n"]) == ("19.7", "25.0", "labels", "4")
    assert float(found["Difference"]) == pytest.approx(5.3)
    assert rows["TofuEval-MediaS, Headroom, 2 systems", "labels"]["Ours"] == "25.0"
    assert rows["TofuEval-MediaS, Headroom, 2 systems", "labels"]["Paper"] == ""
    assert rows["TofuEval-MediaS, model_C", "labels"]["Ours"] == ""
    assert "25.0" in (home / "t.html").read_text(encoding="utf-8")
    responses = places(reproduced(factloop, "vwc:table-13", "--data", "data"))
    assert [responses["TofuEval-MediaS", f"model_{one}", "labels"].ours for one in "AB"] == [50.0, 50.0]


@pytest.mark.parametrize(("n_datasets", "ours"), [(14, [1.0, 2.0]), (3, [None, None])])
def test_how_many_data_sets_are_below_a_bound_is_held_against_the_text(
    factloop: Command, home: Path, n_datasets: int, ours: list[float | None]
) -> None:
    """Of the claims that either flags both flag 1 of 3 on the first data set, 3 of 5 on the second, all on others."""
    marks = {0: "00 01 10", 1: "00 00 00 01 10"}
    rows = [
        {
            "dataset": f"d{dataset}",
            "system": "s",
            "response_id": f"r{place}",
            "claim_id": f"{dataset}-{place}",
            "label": 1,
            "evaluators": {"Bespoke-7B": float(mark[0]), "gpt-4-turbo": float(mark[1])},
        }
        for dataset in range(n_datasets)
        for place, mark in enumerate(marks.get(dataset, "00 11").split())
    ]
    jsonl(home / "predictions.jsonl", *rows)
    for entry in ("vwc:figure-1", "vwc:figure-8"):
        table = reproduced(factloop, entry, "--results", "predictions.jsonl")
        found = places(table)
        said = [found["Bespoke-7B", "gpt-4-turbo", f"data sets below {bound} %, of 14"] for bound in (50, 65)]
        assert [one.published for one in said] == [5.0, 9.0]
        assert [one.ours for one in said] == ours
        assert any("the paper's counts are of 14" in note for note in table.notes) == (n_datasets != 14)


def test_predictions_fill_the_columns_of_evaluators(factloop: Command, home: Path) -> None:
    """By hand: of `model_A` 1 of 4 is wrong and 3 flagged, of `model_B` 2 and 1; the least is 1 by both."""
    rows = []
    for system, marks in {"model_A": "11 10 10 00", "model_B": "11 11 01 00"}.items():
        for place, mark in enumerate(marks.split()):
            rows.append(
                {
                    "dataset": "tofueval:mediasum-dev",
                    "system": system,
                    "response_id": f"r{place // 2}",
                    "claim_id": f"{system}-{place}",
                    "label": int(mark[0]),
                    "evaluators": {"mini": float(mark[1])},
                }
            )
    jsonl(home / "predictions.jsonl", *rows)
    flags = ("--results", "predictions.jsonl", "--evaluator", "Bespoke-7B=mini")
    found = places(reproduced(factloop, "vwc:table-11", *flags))
    of_a = found["TofuEval-MediaS", "model_A", "Bespoke-7B"], found["TofuEval-MediaS", "model_A", "Bespoke-7B bias"]
    assert [(one.published, one.ours, one.n) for one in of_a] == [(18.2, 75.0, 4), (-1.5, 50.0, 4)]
    assert of_a[0].difference == pytest.approx(56.8)
    best = found["TofuEval-MediaS", "Headroom, 2 systems", "Bespoke-7B bias"]
    assert (best.published, best.ours) == (None, 0.0)
    rates = places(reproduced(factloop, "vwc:table-4", *flags))
    assert rates["Bespoke-7B", "TofuEval-MediaS"].ours == pytest.approx(100 / 3)
    ranks = places(reproduced(factloop, "vwc:table-12", *flags))
    assert ranks["TofuEval-MediaS, 1 pair", "= as =", "Bespoke-7B"].ours == 1.0


def test_a_model_is_audited_against_the_simulator(factloop: Command, home: Path, sim: Simulator) -> None:
    """The column of a chat model, from verify to the table; the simulator reads the request's text and nothing else."""
    jsonl(home / "pairs.jsonl", *({**one, "dataset": "Wice"} for one in world_rows(sim.world, 20)))
    verified = factloop("verify", "pairs.jsonl", "--verifier", "llm:openai:sim", "--out", "p.jsonl", "--quiet")
    assert verified.code == 0
    rows = [json.loads(line) for line in (home / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    right: dict[int, list[bool]] = {0: [], 1: []}
    for one in rows:
        (score,) = one["evaluators"].values()
        right[one["label"]].append((score >= 0.5) == (one["label"] == 1))
    flags = ("--results", "p.jsonl", "--evaluator", f"gpt-4-turbo={next(iter(rows[0]['evaluators']))}")
    found = places(reproduced(factloop, "vwc:table-3", *flags))["gpt-4-turbo", "Wice"]
    assert (found.published, found.n) == (79.8, 20)
    assert found.ours == pytest.approx(50 * sum(sum(of_label) / len(of_label) for of_label in right.values()))


@pytest.mark.statistical
def test_agreement_is_read_from_a_run_against_the_simulator(factloop: Command, home: Path, sim: Simulator) -> None:
    """The simulator judges its own world, whose labels are the truth: the share is that of the run, the model its."""
    written = sim.world.twenty_responses[0]
    jsonl(home / "bio.jsonl", labelled_response("one", written))
    run = ("--data", "bio.jsonl", "--plan", "paper", "--model", "openai:sim", "--search", "serper", "--quiet")
    judged = factloop("eval", "factscore", *run, "--json", "summary.json")
    assert judged.code == 0
    found = reproduced(factloop, "safe:agreement", "--data", "bio.jsonl", "--results", "summary.json")
    agreement = places(found)["SAFE and people", "agreement, %"]
    summary = RunSummary.model_validate_json((home / "summary.json").read_bytes())
    assert summary.agreement is not None
    assert (agreement.published, agreement.origin) == (72.0, "results")
    assert agreement.ours == pytest.approx(100 * (summary.agreement.overall.agreement.value or 0))
    assert agreement.n == summary.agreement.overall.agreement.n == len({fact.text for fact in written.facts})
    assert "The verdicts are those of openai:sim." in found.notes


def test_correlations_are_read_from_a_run_against_the_simulator(factloop: Command, home: Path, sim: Simulator) -> None:
    """TrustBC of the simulated subject, which stands by every answer: it has one value, so no correlation."""
    answers = [("Mercury", 1, "x"), ("Mars", 0, "y"), ("Venus", 1, "z")]
    rows = [
        {
            "question": f"Which planet is number {place}?",
            "reference_answers": [text],
            "source": "test",
            "responses": [{"system": "llama-7b", "text": f"The planet is {text}.", "human_correct": label}],
        }
        for place, (text, label, _) in enumerate(answers)
    ]
    jsonl(home / "mixedqa.jsonl", *rows)
    run = ("--data", "mixedqa.jsonl", "--subject-model", "openai:sim", "--metric", "bleu-1", "--max-checks", "1")
    scored = factloop("eval", "mixedqa", *run, "--json", "result.json", "--quiet")
    assert (scored.code, scored.err) == (0, "")
    assert sim.stats().model.requests
    flags = ("--data", "mixedqa.jsonl", "--results", "result.json")
    found = reproduced(factloop, "trustscore:table-1", *flags)
    result = MixedQaResult.model_validate_json((home / "result.json").read_bytes())
    trust_bc = next(one for one in result.of("llama-7b") if one.name == "TrustBC")
    assert trust_bc.correlation.value is None
    ours = places(found).get(("TrustBC", "llama-7b"))
    assert ours is not None
    assert (ours.published, ours.ours, ours.is_equal) == (0.133, "undefined", False)
    assert places(found)["BLEU-1", "llama-7b"].n == 3
    assert "openai:sim was asked about the responses of every system" in " ".join(found.notes)


def test_table_1_and_its_ablation_come_from_one_run_with_a_subject_for_each_system(
    factloop: Command, home: Path, sim: Simulator
) -> None:
    """Against the simulator: it knows some answers and insists on some wrong ones; documents hold the right ones."""
    sim.set(models=("sim", "sim-a", "sim-b"))
    rows = []
    for number, pair in enumerate(sim.world.questions[:12]):
        wrong = pair.wrong(random.Random(number))
        texts = [(pair.answer, 1) if number % 3 != place else (wrong, 0) for place in range(len(SYSTEMS))]
        said = [
            {"system": system, "text": text, "human_correct": label}
            for system, (text, label) in zip(SYSTEMS, texts, strict=True)
        ]
        known = {"question": pair.question, "reference_answers": [pair.answer]}
        rows.append({**known, "source": "test", "responses": said})
    jsonl(home / "mixedqa.jsonl", *rows)
    (home / "pages").mkdir()
    (home / "pages" / "all.md").write_text("\n\n".join(pair.answer for pair in sim.world.questions[:9]))
    own = [
        flag
        for system, model in zip(SYSTEMS, ("sim", "sim-a", "sim-b"), strict=True)
        for flag in ("--subject", f"{system}=openai:{model}")
    ]
    run = ("--data", "mixedqa.jsonl", *own, "--judge-model", "openai:sim", "--corpus", "pages", "--max-checks", "2")
    scored = factloop("eval", "mixedqa", *run, "--metric", "lexical", "--json", "result.json", "--html", "page.html")
    assert (scored.code, scored.err) == (0, "")
    result = MixedQaResult.model_validate_json((home / "result.json").read_bytes())
    assert {one.system for one in result.subjects} == set(SYSTEMS)
    table = reproduced(factloop, "trustscore:table-1", "--data", "mixedqa.jsonl", "--results", "result.json")
    for metric in ("TrustBC", "TrustFC", "TrustOV"):
        for system in SYSTEMS:
            (ours,) = (one.correlation for one in result.of(system) if one.name == metric)
            assert places(table)[metric, system].ours == ours.value
    assert (
        "Each system was asked about its own responses, as in the paper: openai:sim for flan-t5-xxl" in table.notes[0]
    )
    ablation = places(reproduced(factloop, "trustscore:section-4", "--results", "result.json"))
    of_fc = ablation["TrustOV less TrustFC", "flan-t5-xxl"]
    assert of_fc.published == pytest.approx(0.613 - 0.593)
    assert of_fc.n == 12
    both = [places(table)[metric, "flan-t5-xxl"].ours for metric in ("TrustOV", "TrustFC")]
    assert of_fc.ours == pytest.approx(float(both[0] or 0) - float(both[1] or 0))
    assert "What each half of TrustOV adds" in scored.out
    assert "What each half of TrustOV adds" in (home / "page.html").read_text(encoding="utf-8")


@pytest.mark.statistical
def test_lengths_of_one_model_are_read_from_one_run_against_the_simulator(
    factloop: Command, home: Path, sim: Simulator
) -> None:
    """The simulator answers alike whatever length is asked for: both rows have the same figures."""
    jsonl(home / "asked.jsonl", *({"prompt": one.prompt} for one in sim.world.responses[:2]))
    lengths = ("--postamble-text", "short=Answer in one sentence.", "--postamble-text", "long=Say all you know.")
    asked = ("--model", "openai:sim", "--data", "asked.jsonl", "--n", "2", "--system", "mini", "--quiet")
    assert factloop("generate", "longfact", *asked, *lengths, "--out", "answers.jsonl").code == 0
    judge = ("--model", "openai:sim", "--search", "serper", "--quiet")
    assert factloop("eval", "answers.jsonl", *judge, "--run-dir", "run").code == 0
    found = places(reproduced(factloop, "safe:length", "--results", "run"))
    assert {names[0] for names in found} == {"mini, short", "mini, long"}
    summary = RunSummary.model_validate_json((home / "run" / "summary.json").read_bytes())
    (of_short,) = (one for one in summary.scores.systems if one.system == "mini, short")
    assert found["mini, short", "precision, %"].ours == pytest.approx(100 * (of_short.precision.value or 0))
    assert found["mini, short", "F1@64, %"].ours == found["mini, long", "F1@64, %"].ours
    models = places(reproduced(factloop, "safe:f1-at-k", "--results", "run/summary.json"))
    assert models["mini, short", "F1@64, %"].ours == found["mini, short", "F1@64, %"].ours


@pytest.mark.statistical
def test_numbers_of_searches_are_compared_over_runs_against_the_simulator(
    factloop: Command, home: Path, sim: Simulator
) -> None:
    jsonl(home / "bio.jsonl", labelled_response("one", sim.world.twenty_responses[0]))
    judge = ("--data", "bio.jsonl", "--plan", "paper", "--model", "openai:sim", "--search", "serper", "--quiet")
    for searches, results in ((1, 1), (3, 3)):
        variant = ("--max-searches", searches, "--results-per-search", results, "--run-dir", f"run-{searches}")
        assert factloop("eval", "factscore", *judge, *variant).code == 0
    found = reproduced(factloop, "safe:search-ablation", "--results", "run-1", "--results", "run-3")
    one, three = "1 search, 1 result each", "3 searches, 3 results each"
    for name, folder in ((one, "run-1"), (three, "run-3")):
        summary = RunSummary.model_validate_json((home / folder / "summary.json").read_bytes())
        assert summary.agreement is not None
        agreement = summary.agreement.overall.agreement
        ours = places(found)[name, "people", "agreement, %"]
        assert ours.ours == pytest.approx(100 * (agreement.value or 0))
        assert ours.n == agreement.n
    assert places(found)[one, three, "agreement, %"].n


def test_chunked_columns_fill_table_30(factloop: Command, home: Path) -> None:
    long = "The red house stands here. A dog barks loud. A cat sleeps now."
    rows = [
        {
            "dataset": "Wice",
            "system": "people",
            "response_id": f"c{place}",
            "claim_id": f"c{place}",
            "claim": "the red house and a cat",
            "document": long,
            "label": label,
            "evaluators": {"Bespoke-7B": whole, "Bespoke-7B@5": cut},
        }
        for place, (label, whole, cut) in enumerate([(1, 1.0, 0.0), (1, 1.0, 1.0), (0, 1.0, 0.0), (0, 0.0, 0.0)])
    ]
    jsonl(home / "p.jsonl", *rows)
    found = places(reproduced(factloop, "vwc:table-30", "--results", "p.jsonl"))
    assert [found["Wice", "Bespoke-7B", one].ours for one in ("BAcc", "PPR", "TPR", "TNR")] == [75.0, 75.0, 100.0, 50.0]
    assert [found["Wice", "Bespoke-7B@5", one].ours for one in ("TPR", "TNR")] == [50.0, 100.0]
    changes = places(reproduced(factloop, "vwc:figure-5", "--results", "p.jsonl"))
    assert changes["Wice", "Bespoke-7B@5", "no chunk has it: lost"].ours == 50.0


def test_a_dry_run_says_what_would_be_asked(factloop: Command, home: Path) -> None:
    jsonl(home / "data" / TOFU, *sentences(1, 0, 1, 1))
    result = factloop("reproduce", "vwc:table-11", "--data", "data", "--dry-run", "--price-in", "1000000")
    assert (result.code, result.err) == (0, "")
    said = " ".join(result.out.split())
    assert "Labelled claims 4" in said
    assert "Estimated calls 4" in said
    assert "about 20" in said  # four sentences of 20 characters with the space before their document, five tokens each
    unknown = factloop("reproduce", "vwc:table-27", "--dry-run")
    assert "unknown" in unknown.out
    listed = factloop("reproduce", "list", "--dry-run", "--data", "data", "--csv", "-")
    calls = {row["Entry"]: row["Estimated calls"] for row in csv.DictReader(io.StringIO(listed.out))}
    assert (calls["vwc:table-11"], calls["vwc:table-13"], calls["trustscore:table-3"]) == ("4", "4", "0")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("vwc:table-99",), "there is nothing named 'vwc:table-99' to reproduce"),
        (("vwc:table-11", "--data", "nowhere"), "nowhere: no such file or folder"),
        (("vwc:table-11", "--results", "rows.jsonl", "--evaluator", "mini"), "--evaluator mini: it is PAPER=OURS"),
        (("vwc:table-11", "--results", "rows.jsonl", "--evaluator", "A=b"), "no scores of b; there are those of mini"),
        (
            ("vwc:table-11", "--results", "rows.jsonl", "--evaluator", "nobody=mini"),
            "the paper has no evaluator 'nobody'; it has gpt-4-turbo, Bespoke-7B,",
        ),
        (("vwc:table-11", "--evaluator", "Bespoke-7B=mini"), "--evaluator: it names evaluators of --results"),
        (("trustscore:table-3", "--results", "rows.jsonl"), "trustscore:table-3 reads the output of no other command"),
        (("vwc:section-3.5", "--results", "nowhere.jsonl"), "vwc:section-3.5 reads the output of no other command"),
        (("safe:agreement", "--results", "rows.jsonl"), "rows.jsonl: is no RunSummary"),
        (("trustscore:table-1", "--results", "absent.json"), "absent.json: cannot be read"),
        (("vwc:figure-3", "--data", "rows.jsonl"), "a folder is needed here"),
        (("list", "--csv", "-", "--html", "-"), "two outputs go to standard output"),
    ],
)
def test_wrong_input_is_answered_with_one_line(
    factloop: Command, home: Path, flags: tuple[str, ...], said: str
) -> None:
    row = {"dataset": "d", "system": "s", "response_id": "r", "claim_id": "c", "label": 1, "evaluators": {"mini": 1.0}}
    jsonl(home / "rows.jsonl", row)
    result = factloop("reproduce", *flags)
    assert (result.code, result.out) == (2, "")
    assert said in result.complaint


def test_what_the_list_was_made_of_is_in_json(factloop: Command) -> None:
    found = json.loads(factloop("reproduce", "trustscore:table-3", "--json", "-").out)
    assert found["schema_version"] == "1.1"
    assert found["figures"][0] == {
        "names": ["Consistent", "Support"],
        "column": "TrustOV",
        "published": 1.0,
        "decimals": 1,
        "ours": 1.0,
        "origin": "our rule",
        "n": None,
        "slack": 0.0,
    }
