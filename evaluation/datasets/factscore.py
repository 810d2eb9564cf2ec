"""Loads FActScore's labels: biographies by three systems, split into facts and judged by annotators (Min et al. 2023,
arXiv 2305.14251).

The published layout has one JSON Lines file per system (`input`, `output`, `topic`, `cat`, `annotations`). The other
layout is a single file for all systems (`system`, `prompt`, `response`, `sentences`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items
from factloop.core.records import Counts, Record
from factloop.evaluation.datasets.mapping import LabelledClaim

_FILE_NAMES = {
    "prompt": "input",
    "response": "output",
    "sentences": "annotations",
    "atomic_facts": "human-atomic-facts",
}


class FactLabel(StrEnum):
    SUPPORTED = "S"
    NOT_SUPPORTED = "NS"
    IRRELEVANT = "IR"
    """The fact is not about the person whose biography was requested."""


class AtomicFact(Record):
    text: NotBlank
    label: FactLabel


class FactScoreSentence(Record):
    model_config = ConfigDict(extra="ignore")

    text: str
    atomic_facts: tuple[AtomicFact, ...] | None
    """None if annotators found the whole sentence irrelevant and did not split it."""


class FactScoreResponse(TableItem):
    system: NotBlank
    topic: NotBlank
    prompt: str
    response: str
    sentences: tuple[FactScoreSentence, ...] | None
    """None if the system declined to answer."""

    @property
    def abstained(self) -> bool:
        return self.sentences is None

    @property
    def facts(self) -> tuple[AtomicFact, ...]:
        return tuple(fact for sentence in self.sentences or () for fact in sentence.atomic_facts or ())

    @property
    def distinct_facts(self) -> tuple[AtomicFact, ...]:
        """The facts without duplicates (16,011 of 16,040). The first label of a repeated fact counts."""
        first: dict[str, AtomicFact] = {}
        for fact in self.facts:
            first.setdefault(fact.text, fact)
        return tuple(first.values())

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """Yields the distinct facts. Irrelevant facts are left out, as in FActScore's precision."""
        for place, fact in enumerate(self.distinct_facts):
            if fact.label is not FactLabel.IRRELEVANT:
                yield LabelledClaim(
                    id=f"{self.id}/{place}",
                    system=self.system,
                    response_id=self.id,
                    prompt_id=self.topic,
                    claim=fact.text,
                    label=1 if fact.label is FactLabel.SUPPORTED else 0,
                )


def load_factscore(place: str | Path) -> Iterator[FactScoreResponse]:
    """Loads one file, or a folder with one file per system, named after the system. Raises DataError during iteration
    if a row is malformed."""
    return load_items(files_of(place, "*.jsonl"), FactScoreResponse, _rename_fields)


def count_facts(facts: Iterable[AtomicFact]) -> Counts:
    labels = [fact.label for fact in facts]
    return Counts(
        supported=labels.count(FactLabel.SUPPORTED),
        not_supported=labels.count(FactLabel.NOT_SUPPORTED),
        irrelevant=labels.count(FactLabel.IRRELEVANT),
    )


def _rename_fields(row: Row) -> tuple[Row]:
    if "annotations" not in row.fields:
        _refuse_single_claim(row)
        return (row,)
    system = Path(row.path).stem
    fields = {
        "id": f"factscore-{system}-{row.line - 1:03}",
        "system": system,
        "topic": row.fields.get("topic"),
        "prompt": row.fields.get("input"),
        "response": row.fields.get("output"),
        "sentences": _sentences(row),
    }
    return (row.renamed(fields, _FILE_NAMES),)


def _refuse_single_claim(row: Row) -> None:
    """Raises DataError if a row is a claim instead of a response. The message names the commands that accept claims."""
    if "claim" in row.fields and "sentences" not in row.fields:
        raise row.error(
            "this row is a claim, but each row must be a response with labelled facts under `sentences` "
            "(see docs/agreement.md). For claims with `label` and `verdict`, use "
            "`factloop eval RESPONSES --calibration FILE`; "
            "for claims with only `label`, `factloop research experiment`; for claims with `document`, "
            "`factloop research verify`",
            "claim",
        )


def _sentences(row: Row) -> Any:
    given = row.fields["annotations"]
    if not isinstance(given, list):
        return given
    return [
        {"text": one.get("text"), "atomic_facts": one.get("human-atomic-facts")} if isinstance(one, dict) else one
        for one in given
    ]
