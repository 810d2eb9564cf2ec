"""The samples that are put to a model: pairs of claim and evidence, and sentences of answers, each with its label.

The texts are read from labelled data and stay there: an item is known by its id.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.evidence import wice_article
from factloop.agents.safe.answer import Answer
from factloop.agents.safe.stages import Case
from factloop.agents.safe.state import SentenceTask
from factloop.core.records import Evidence
from factloop.tools.search.base import SearchHit
from factloop.tools.search.given import GivenDocuments
from factloop.tools.text.sentences import split_sentences

Task = Literal["stance", "wice", "relevance"]

STANCE, WICE, FACTSCORE = "factcheckgpt_dev_stance.jsonl", "wice_dev.jsonl", "factscore_bio.jsonl"
WICE_PASSAGES = 6
NOW = datetime(2024, 1, 1, tzinfo=UTC)
_SHORTEST_ANSWER, _LONGEST_ANSWER = 6, 14
"""Sentences of the answers that sentences are taken from."""


@dataclass(frozen=True)
class Pair:
    """A claim with the evidence to judge it by."""

    id: str
    case: Case
    gold: bool
    """Whether people call it supported."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer: its own, or one put there from an answer on another person."""

    id: str
    answer: Answer
    task: SentenceTask
    gold: bool
    """Whether it belongs to the answer."""


def stance_pairs(folder: Path, number: int, seed: int) -> list[Pair]:
    """Half of them completely supported; of the others a quarter each partly supported and refuted, the rest silent."""
    rows = _rows(folder / STANCE)
    rng = random.Random(seed)
    shares = {
        "completely-support": number // 2,
        "partially-support": number // 8,
        "refute": number // 8,
        "irrelevant": number - number // 2 - 2 * (number // 8),
    }
    chosen = [
        row for label, size in shares.items() for row in rng.sample([r for r in rows if r["label"] == label], size)
    ]
    rng.shuffle(chosen)
    return [
        Pair(
            row["id"],
            case_of(row["claim"], [SearchHit(source="s", title="", passage=row["evidence"])], ""),
            row["label"] == "completely-support",
        )
        for row in chosen
    ]


def wice_pairs(folder: Path, number: int, seed: int) -> list[Pair]:
    """Half of them supported, each with six passages of its article, as a search for the claim finds them."""
    rng = random.Random(seed)
    rows = _rows(folder / WICE)
    supported = rng.sample([row for row in rows if row["label"] == "supported"], number // 2)
    others = rng.sample([row for row in rows if row["label"] != "supported"], number - number // 2)
    chosen = [*supported, *others]
    rng.shuffle(chosen)
    return [Pair(row["id"], _wicecase_of(row), row["label"] == "supported") for row in chosen]


def sentences(folder: Path, number: int, seed: int) -> list[Sentence]:
    """Two thirds are sentences of a biography that do not name whom it is about; one third stands in it by mistake."""
    rng = random.Random(seed)
    rows = [row for row in _rows(folder / FACTSCORE) if row.get("response") and _is_usable(row)]
    rng.shuffle(rows)
    n_strangers = number // 3
    found: list[Sentence] = []
    for row in rows:
        if len(found) == number - n_strangers:
            break
        if (own := _nameless(row, rng)) is not None:
            found.append(
                Sentence(
                    f"{row['id']}:{own[0]}",
                    Answer(row["prompt"], row["response"]),
                    _task(row["response"], own[1]),
                    True,
                )
            )
    spare = [row for row in rows if _naming(row)][-2 * n_strangers :]
    for host, other in zip(spare[:n_strangers], spare[n_strangers:], strict=True):
        answer, text = _with_stranger(host, other, rng)
        found.append(
            Sentence(f"{host['id']}+{other['id']}", Answer(host["prompt"], answer), _task(answer, text), False)
        )
    rng.shuffle(found)
    return found


def _is_usable(row: dict[str, Any]) -> bool:
    return _SHORTEST_ANSWER <= len(split_sentences(row["response"])) <= _LONGEST_ANSWER


def _nameless(row: dict[str, Any], rng: random.Random) -> tuple[int, str] | None:
    """A sentence after the second that has a name in it, and neither that of the biography nor a pronoun for it."""
    names = set(row["topic"].split())
    texts = [sentence.text for sentence in split_sentences(row["response"])]
    fit = [
        (number, text)
        for number, text in enumerate(texts)
        if number > 1 and names.isdisjoint(text.replace("'s", "").split()) and text.split()[0] not in _PRONOUNS
        and any(word[:1].isupper() for word in text.split()[1:])
    ]  # fmt: skip
    return rng.choice(fit) if fit else None


_PRONOUNS = {"He", "She", "They", "His", "Her", "It", "Their"}


def _with_stranger(host: dict[str, Any], other: dict[str, Any], rng: random.Random) -> tuple[str, str]:
    """The answer on one with a sentence from that on another in it, which names its own."""
    stranger = rng.choice(_naming(other))
    texts = [sentence.text for sentence in split_sentences(host["response"])]
    place = rng.randrange(2, len(texts))
    return " ".join([*texts[:place], stranger, *texts[place:]]), stranger


def _naming(row: dict[str, Any]) -> list[str]:
    """The sentences that say whom they are about."""
    return [one.text for one in split_sentences(row["response"]) if row["topic"].split()[-1] in one.text]


def _task(answer: str, sentence: str) -> SentenceTask:
    start = answer.find(sentence)
    return SentenceTask(sentence, start, start + len(sentence))


def _wicecase_of(row: dict[str, Any]) -> Case:
    """The claim with what a search of its article finds, as a check would show it: under title, headings and date."""
    above = "\n".join(part for part in (row["title"], row["section"]) if part)
    found = GivenDocuments([wice_article(row["evidence"])]).search(row["claim"], WICE_PASSAGES)
    return case_of(row["claim"], found, above)


def case_of(claim: str, found: Sequence[SearchHit], above: str = "") -> Case:
    """A claim, alone in its answer, with what was found for it."""
    evidence = tuple(
        Evidence(
            id=f"e{number}",
            source="s",
            title=hit.title,
            section=hit.section,
            passage=hit.passage,
            query="",
            rank=number,
            published=hit.published,
            retrieved_at=NOW,
        )
        for number, hit in enumerate(found, 1)
    )
    task = SentenceTask(claim, 0, len(claim), above)
    return Case(claim, task, (), evidence, searches_left=0)


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(_lines(path))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
