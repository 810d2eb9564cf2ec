from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from factloop.evaluation.mixedqa.scores import SYSTEMS, MixedQaResult
from factloop.evaluation.reproduction.records import ComparedFigure, EntryList, Reproduction
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl
from tests.simulator import Simulator

TOFU = "tofueval_mediasum_dev.jsonl"


def reproduced(factloop: Command, *flags: object) -> Reproduction:
    result = factloop("research", "reproduce", *flags, "--json", "-")
    assert (result.code, result.err) == (0, "")
    return Reproduction.model_validate_json(result.out)


def places(found: Reproduction) -> Mapping[tuple[str, ...], ComparedFigure]:
    return {(*one.names, one.column): one for one in found.figures}


def sentences(*labels: int) -> list[dict[str, object]]:
    """Two systems, two sentences a summary: the first four labels are `model_A`'s, the others `model_B`'s."""
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
    result = factloop("research", "reproduce", "list", "--tables", "list.csv", "--html", "list.html")
    assert (result.code, result.err) == (0, "")
    assert "trustscore:table-3" in result.out
    rows = list(csv.DictReader(io.StringIO((home / "list.csv").read_text(encoding="utf-8"))))
    needs = {row["Entry"]: row for row in rows}
    assert len(rows) == len(needs) >= 38
    assert needs["safe:agreement"]["Keys"] == "one for the model, and one for Serper"
    assert needs["vwc:table-11"]["Data"] == "tofueval:mediasum-dev"
    assert needs["trustscore:table-2"]["Status"] == "cannot"
    assert "vwc:table-31" in (home / "list.html").read_text(encoding="utf-8")
    listing = EntryList.model_validate_json(factloop("research", "reproduce", "list", "--json", "-").out)
    assert [one.id for one in listing.entries] == list(needs)


def test_theirs_stand_beside_ours_with_the_difference(factloop: Command, home: Path) -> None:
    """`model_A` errs in 1 of 4 sentences and 1 of 2 summaries, `model_B` in 2 of 4 and 1 of 2."""
    jsonl(home / "data" / TOFU, *sentences(1, 0, 1, 1, 0, 0, 1, 1))
    result = factloop(
        "research", "reproduce", "vwc:table-11", "--data", "data", "--tables", "t.csv", "--html", "t.html"
    )
    assert (result.code, result.err) == (0, "")
    assert re.search(r" labels +19\.7 +25\.0 +\+5\.30 +labels +4\n", result.out)
    rows = {
        (row["Row"], row["Column"]): row
        for row in csv.DictReader(io.StringIO((home / "t.csv").read_text(encoding="utf-8")))
    }
    found = rows["TofuEval-MediaS, model_A", "labels"]
    assert (found["Paper"], found["Ours"], found["From"], found["n"]) == ("19.7", "25.0", "labels", "4")
    assert float(found["Difference"]) == pytest.approx(5.3)
    assert rows["TofuEval-MediaS, model_C", "labels"]["Ours"] == ""
    assert "25.0" in (home / "t.html").read_text(encoding="utf-8")
    responses = places(reproduced(factloop, "vwc:table-13", "--data", "data"))
    assert [responses["TofuEval-MediaS", f"model_{one}", "labels"].ours for one in "AB"] == [50.0, 50.0]


def test_table_1_and_its_ablation_come_from_one_run_with_a_subject_for_each_system(
    factloop: Command, home: Path, sim: Simulator
) -> None:
    """The simulator knows some answers and insists on some wrong ones; the documents hold the right ones."""
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
    assert (of_fc.n or 0) >= 8  # of some answers no distractor can be made
    assert "What each component of TrustOV adds" in scored.out
    assert "What each component of TrustOV adds" in (home / "page.html").read_text(encoding="utf-8")
