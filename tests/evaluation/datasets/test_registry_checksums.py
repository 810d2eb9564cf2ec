"""The registry's checksums are those of the labelled data, written again in the layout in which they were published."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from factloop.evaluation.datasets.registry import find_dataset
from tests.evaluation.datasets.dataset_files import published

MIXEDQA_SYSTEMS = {"flan-t5-xxl": "flan", "llama-7b": "llama", "gpt-3.5-turbo": "gpt"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in published(name).read_text(encoding="utf-8").splitlines() if line]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of_lines(values: Iterable[object]) -> str:
    return sha256("".join(json.dumps(value) + "\n" for value in values))


def known(name: str, part: str) -> dict[str, str | None]:
    return {file.path: file.sha256 for file in find_dataset(name).part(part).files}


def test_longfact() -> None:
    mark = re.search(r"`(BENCHMARK DATA [^`]*)`", published("README.md").read_text(encoding="utf-8"))
    assert mark is not None
    for task in ("objects", "concepts"):
        topics = defaultdict(list)
        for row in rows(f"longfact_{task}.jsonl"):
            topics[row["topic"]].append({"prompt": row["prompt"], "canary": mark[1]})
        assert known("longfact", task) == {
            f"longfact-{task}_{topic}.jsonl": sha256_of_lines(prompts) for topic, prompts in topics.items()
        }


def test_factscore() -> None:
    systems = defaultdict(list)
    for row in rows("factscore_bio.jsonl"):
        annotations = [
            {
                "text": sentence["text"],
                "is-relevant": sentence["is_relevant"],
                "model-atomic-facts": [{"text": text} for text in sentence["model_atomic_facts"]],
                "human-atomic-facts": sentence["atomic_facts"],
            }
            for sentence in row["sentences"] or ()
        ]
        systems[row["system"]].append(
            {
                "input": row["prompt"],
                "output": row["response"],
                "topic": row["topic"],
                "cat": [row["popularity"], row["region"]],
                "annotations": None if row["sentences"] is None else annotations,
            }
        )
    assert known("factscore", "bio") == {f"{name}.jsonl": sha256_of_lines(given) for name, given in systems.items()}


def test_wice() -> None:
    claims = [
        {
            **{name: row[name] for name in ("label", "supporting_sentences", "claim", "evidence")},
            "meta": {
                "id": row["id"],
                "claim_title": row["title"],
                "claim_section": row["section"],
                "claim_context": row["context"] or "",
            },
        }
        for row in rows("wice_dev.jsonl")
    ]
    assert known("wice", "dev") == {"dev.jsonl": sha256_of_lines(claims)}


def test_mixedqa() -> None:
    questions = []
    for row in rows("mixedqa.jsonl"):
        popularity = {"s_pop": row["subject_popularity"], "o_pop": row["object_popularity"]}
        answers = {
            MIXEDQA_SYSTEMS[answer["system"]]: {"pred": answer["text"], "human_eval": str(answer["human_correct"])}
            for answer in row["responses"]
        }
        asked = {"question": row["question"], "answers": row["reference_answers"], "source": row["source"]}
        questions.append({**asked, **(popularity if row["source"] == "PopQA" else {}), **answers})
    assert known("mixedqa", "answers") == {"qa_human_check.json": sha256(json.dumps(questions, indent=4))}
