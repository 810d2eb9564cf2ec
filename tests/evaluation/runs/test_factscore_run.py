"""FActScore's labels through a run and its summary, and the verdicts of a run as an audit's input."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from factloop.cli.eval import factscore_items
from factloop.core.errors import ConfigError
from factloop.core.records import Claim, Counts, FactualityReport, Judgement, UnscoredReason, Usage
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.longform import AbstentionPolicy
from factloop.evaluation.runs.reading import predictions_of
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.summary import Scoring, summarise
from tests.evaluation.datasets.dataset_files import jsonl, published
from tests.evaluation.runs.finished_runs import WHEN, fingerprint, judged

UNSCORED = Judgement(unscored_reason=UnscoredReason.BUDGET)


def all_unscored(item: RunItem) -> JudgedResponse:
    """The item as a run without any budget leaves it."""
    facts = [fact for given in item.facts or () for fact in given.facts]
    claims = tuple(
        Claim(id=f"c{place}", sentence="", span=(0, 0), text=fact, self_contained=fact, judgement=UNSCORED)
        for place, fact in enumerate(facts)
    )
    report = FactualityReport(
        response=item.response,
        claims=claims,
        counts=Counts(unscored=len(claims)),
        precision=None,
        at_k=(),
        usage=Usage(),
        fingerprint=fingerprint(),
        created_at=WHEN,
    )
    labels = [label for of_sentence in item.labels for label in of_sentence]
    people = {claim.id: label for claim, label in zip(claims, labels, strict=True)}
    return JudgedResponse(id=item.id, system=item.system, prompt_id=item.prompt_id, report=report, labels=people)


def summed_up(items: Iterable[RunItem]) -> RunSummary:
    scoring = Scoring(ks=(32, 64), abstention=AbstentionPolicy.EXCLUDE, resamples=0)
    return summarise(map(all_unscored, items), kind="factscore", data="x", scoring=scoring)


def test_the_published_figures_come_through_a_run() -> None:
    summary = summed_up(factscore_items(published("factscore_bio.jsonl")))
    assert summary.labelled is not None
    assert summary.agreement is not None
    counts = {one.system: one.counts for one in summary.labelled.systems}
    assert {name: (c.supported, c.not_supported, c.irrelevant) for name, c in counts.items()} == {
        "InstructGPT": (2100, 1971, 655),
        "ChatGPT": (3194, 1692, 540),
        "PerplexityAI": (4812, 756, 320),
    }
    f1 = {one.system: [at.f1.value for at in one.at_k] for one in summary.labelled.systems}
    assert f1["InstructGPT"] == pytest.approx([0.397, 0.256], abs=0.0005)
    assert f1["ChatGPT"] == pytest.approx([0.610, 0.415], abs=0.0005)
    assert f1["PerplexityAI"] == pytest.approx([0.801, 0.586], abs=0.0005)
    overall = summary.agreement.overall
    assert (overall.table.n_facts, overall.table.repeated.total, overall.n_responses) == (16_011, 29, 496)
    assert overall.n_unscored == 16_011
    assert sum(one.n_abstained for one in summary.labelled.systems) == 549 - 496


def row(**changes: Any) -> dict[str, Any]:
    facts = [{"text": "Ada lived.", "label": "S"}, {"text": "Ada sang.", "label": "NS"}]
    named = {"id": "r1", "system": "A", "topic": "Ada", "prompt": "Who?", "response": "Ada lived and sang. Hello."}
    said = [{"text": "Ada lived and sang.", "atomic_facts": facts}, {"text": "Hello.", "atomic_facts": None}]
    return {**named, "sentences": said, **changes}


def test_a_response_is_an_item_with_its_facts_and_labels(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "bio.jsonl", row(), row(id="r2", system="B", sentences=None))
    first, second = factscore_items(place)
    assert (first.id, first.system, first.prompt_id, first.prompt) == ("r1", "A", "Who?", "Who?")
    assert [(given.sentence, given.facts) for given in first.facts or ()] == [
        ("Ada lived and sang.", ("Ada lived.", "Ada sang.")),
        ("Hello.", ()),
    ]
    assert first.labels == ((FactLabel.SUPPORTED, FactLabel.NOT_SUPPORTED), ())
    assert (second.facts, second.labels) == ((), ())


def test_only_the_systems_asked_for(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "bio.jsonl", row(), row(id="r2", system="B"))
    assert [item.id for item in factscore_items(place, ["B"])] == ["r2"]
    with pytest.raises(ConfigError, match="no response of C, D"):
        list(factscore_items(place, ["D", "A", "C"]))


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


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
