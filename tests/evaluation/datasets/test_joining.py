from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.datasets.benchmark import BENCHMARK, NAMES, benchmark_dataset
from factloop.evaluation.datasets.joining import UNKNOWN_TASK, Join, JoinCounts
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM, LabelledClaim
from factloop.evaluation.datasets.tofueval import load_tofueval
from factloop.evaluation.datasets.upstream import UpstreamResponse, load_upstream
from tests.evaluation.datasets.dataset_files import jsonl, published


def response(dataset: str, system: str, text: str, number: int = 0, **more: Any) -> UpstreamResponse:
    given = {"id": f"{number}", "response_id": f"r{number}", "prompt_id": f"p{number}", **more}
    return UpstreamResponse(dataset=dataset, system=system, response=text, **given)


def claim(dataset: str, text: str, number: int = 0, doc: str = "D") -> LabelledClaim:
    return LabelledClaim(id=f"c{number}", dataset=dataset, document=doc, claim=text, label=1)


def test_the_benchmark_has_fourteen_data_sets_in_five_task_groups() -> None:
    """Table 2 and section 4.1 of "Verify with Caution"; twelve have several systems, ten long responses."""
    assert len(set(NAMES)) == 14
    assert len({one.task for one in BENCHMARK}) == 5
    assert sum(one.upstream == "RAGTruth" for one in BENCHMARK) == 4
    assert sum(one.has_responses for one in BENCHMARK) == 10
    assert benchmark_dataset("ragtruth-yelp").name == "RAGTruth-Yelp"
    with pytest.raises(ConfigError, match="no data set 'RAGTruth'; choose one of AggreFact-CNN"):
        benchmark_dataset("RAGTruth")


def test_claims_are_matched_by_their_words_and_taken_apart() -> None:
    join = Join(
        [
            response("RAGTruth-Yelp", "gpt-4", "It opens at nine. The Inn serves fish, and bread!", 1),
            response("RAGTruth-MARCO", "mistral", "Tides are caused by the Moon. So it is.", 2),
            response("Reveal", "flan", "The Inn serves fish and bread every day.", 3),
        ]
    )
    claims = [
        claim("RAGTruth", "the inn serves fish and bread.", 1),
        claim("RAGTruth", "Tides are caused by the Moon.", 2),
        claim("RAGTruth", "So it is", 3),  # shorter than the words that responses are looked up by
        claim("RAGTruth", "Nobody said that at all.", 4),
        claim("Wice", "Nobody wrote that either.", 5),
        claim("RAGTruth", "...", 6),
    ]
    found = list(join.joined(claims))
    assert [(one.dataset, one.system, one.response_id, one.prompt_id) for one in found] == [
        ("RAGTruth-Yelp", "gpt-4", "r1", "p1"),
        ("RAGTruth-MARCO", "mistral", "r2", "p2"),
        ("RAGTruth-MARCO", "mistral", "r2", "p2"),
        ("RAGTruth", UNKNOWN_SYSTEM, "c4", "c4"),
        ("Wice", UNKNOWN_SYSTEM, "c5", "c5"),
        ("RAGTruth", UNKNOWN_SYSTEM, "c6", "c6"),
    ]
    assert [one.task for one in found[:2]] == ["Data2Text", "long-form QA"]
    assert (found[4].task, found[3].task) == ("Wikipedia verification", UNKNOWN_TASK)
    assert join.report.datasets == (
        JoinCounts(
            dataset="RAGTruth",
            n_responses=2,
            matched=3,
            ambiguous=0,
            unmatched=2,
            into={"RAGTruth-MARCO": 2, "RAGTruth-Yelp": 1},
        ),
        JoinCounts(dataset="Wice", n_responses=0, matched=0, ambiguous=0, unmatched=1, into={}),
    )
    assert join.report.n_claims == len(claims)


def test_what_several_responses_say_is_not_guessed_at_unless_the_document_tells() -> None:
    said = "The red house stands in the old town."
    two = [
        response("AggreFact-CNN", system, said, number, document=document)
        for number, (system, document) in enumerate([("BART", "One text."), ("T5", "Another text.")])
    ]
    join = Join(two)
    found = list(
        join.joined([claim("AggreFact-CNN", said, 1, "another TEXT"), claim("AggreFact-CNN", said, 2, "None")])
    )
    assert [one.system for one in found] == ["T5", UNKNOWN_SYSTEM]
    (counts,) = join.report.datasets
    assert (counts.matched, counts.ambiguous, counts.unmatched) == (1, 1, 0)


def test_wrong_layouts_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown layout 'lfqa'; choose one of tofueval-mediasum, .*responses"):
        list(load_upstream("lfqa", tmp_path))
    odd = jsonl(tmp_path / "o.jsonl", {"dataset": "RAGTruth", "system": "s", "response": "r"})
    with pytest.raises(DataError, match=r"o.jsonl.*no data set 'RAGTruth'"):
        list(load_upstream("responses", odd))


def test_sentences_of_tofueval_find_their_summaries() -> None:
    path = published("tofueval_mediasum_dev.jsonl")
    sentences = list(load_tofueval(path))
    join = Join(list(load_upstream("tofueval-mediasum", path)))
    claims = [claim("TofuEval-MediaS", one.sentence, place) for place, one in enumerate(sentences)]
    found = list(join.joined(claims))
    right = [
        theirs.system == ours.system
        for theirs, ours in zip(sentences, found, strict=True)
        if ours.system != UNKNOWN_SYSTEM
    ]
    (counts,) = join.report.datasets
    assert (counts.matched, counts.unmatched) == (len(right), 0)
    assert all(right)
    assert counts.matched / len(sentences) > 0.95
