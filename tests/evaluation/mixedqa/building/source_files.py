"""The files of MixedQA's sources in the layouts that their authors publish, with questions of one's own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Asked = Sequence[tuple[str, Sequence[str]]]
"""Questions, each with its reference answers."""


def natural_questions(path: Path, asked: Asked) -> None:
    lines = (json.dumps({"question": question, "answer": list(answers)}) for question, answers in asked)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def webquestions(path: Path, asked: Asked) -> None:
    rows = [
        {"url": "http://freebase.test/x", "utterance": question, "targetValue": _target(answers)}
        for question, answers in asked
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")


def _target(answers: Sequence[str]) -> str:
    parts = []
    for answer in answers:
        escaped = answer.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f'(description "{escaped}")' if " " in answer or '"' in answer else f"(description {answer})")
    return f"(list {' '.join(parts)})"


def triviaqa(path: Path, asked: Asked) -> None:
    items = [
        {
            "Question": question,
            "QuestionId": f"tc_{place}",
            "Answer": {"Value": answers[0], "Aliases": list(answers), "NormalizedAliases": []},
        }
        for place, (question, answers) in enumerate(asked)
    ]
    path.write_text(json.dumps({"Data": items, "Domain": "Web", "VerifiedEval": False}, indent=4), encoding="utf-8")


def hotpotqa(path: Path, asked: Asked, comparisons: Asked = ()) -> None:
    rows = [
        {"_id": f"h{place}", "question": question, "answer": answers[0], "type": kind, "context": [["T", ["S."]]]}
        for kind, given in (("bridge", asked), ("comparison", comparisons))
        for place, (question, answers) in enumerate(given, len(asked) if kind == "comparison" else 0)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")


def popqa(path: Path, asked: Asked) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, dialect="excel-tab", lineterminator="\n")
        table.writerow(["id", "subj", "prop", "question", "possible_answers", "s_pop"])
        for place, (question, answers) in enumerate(asked):
            table.writerow([str(4_000 + place), "x", "capital", question, json.dumps(list(answers)), "12"])


WRITERS: Mapping[str, tuple[str, Callable[[Path, Asked], None]]] = {
    "NaturalQuestions": ("NQ-open.dev.jsonl", natural_questions),
    "WebQuestions": ("webquestions.examples.test.json", webquestions),
    "TriviaQA": ("unfiltered-web-dev.json", triviaqa),
    "HotpotQA": ("hotpot_dev_distractor_v1.json", hotpotqa),
    "PopQA": ("popQA.tsv", popqa),
}


def write_sources(folder: Path, asked: Mapping[str, Asked]) -> list[str]:
    """Writes a file for each source; gives the flags that name them."""
    flags = []
    for source, questions in asked.items():
        name, write = WRITERS[source]
        write(folder / name, questions)
        flags += ["--source", f"{source}={folder / name}"]
    return flags
