"""Reads the items of an experiment: labelled claims, or responses with or without labelled facts.

- claims: rows with `claim` and optionally `label` (0, 1), `document`, `response_id` and `group`, as
  `factloop research verify` and `factloop research audit` read them;
- labelled responses: FActScore's layouts, as `factloop eval factscore` reads them;
- responses: rows with `prompt` and `response`, optionally with `documents`, as `factloop eval FILE` reads them.

Groups are ordered by a hash of their names. The same groups are therefore always held out, and an early look is
unbiased even if the file is sorted by label.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from factloop.core.errors import DataError
from factloop.core.files.lines import name_of_data
from factloop.core.files.tables import read_rows
from factloop.core.given_text import check_whole
from factloop.core.records import GivenFacts
from factloop.evaluation.datasets.factscore import FactLabel, load_factscore
from factloop.evaluation.datasets.responses import OwnDocument, load_responses
from factloop.evaluation.runs.items import RunItem, labelled_item, response_items
from factloop.evaluation.verification.pairs import PlacedRow, load_dataset_pairs, load_pairs
from factloop.evaluation.verification.records import PairRow

Kind = Literal["claims", "responses"]

_BINARY = {1: FactLabel.SUPPORTED, 0: FactLabel.NOT_SUPPORTED}
_GOLD = {FactLabel.SUPPORTED: True, FactLabel.NOT_SUPPORTED: False, FactLabel.IRRELEVANT: None}


@dataclass(frozen=True)
class Item:
    run: RunItem
    """A claim is treated as a response with a single fact."""
    group: str
    """Groups are resampled as a whole. Claims are grouped by `group`, response or document."""

    @property
    def gold(self) -> tuple[bool | None, ...]:
        """The human labels of the supplied facts, in order. None stands for `irrelevant` or no label."""
        labels = tuple(_GOLD[label] for of_sentence in self.run.labels for label in of_sentence)
        return labels or (None,) * sum(len(given.facts) for given in self.run.facts or ())


@dataclass(frozen=True)
class Data:
    name: str
    """The name of the file or data set, with a hash."""
    kind: Kind
    items: tuple[Item, ...]

    @property
    def groups(self) -> list[str]:
        """The groups of claims, or the prompts of responses, ordered by a hash of each name."""
        names = {self.group_of(item) for item in self.items}
        return sorted(names, key=lambda name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())

    def group_of(self, item: Item) -> str:
        return item.group if self.kind == "claims" else item.run.prompt_id

    def of_groups(self, groups: Iterable[str], part: str = "") -> Data:
        """Keeps the items in these groups. `part` is appended to the data's name."""
        wanted = {*groups}
        items = tuple(one for one in self.items if self.group_of(one) in wanted)
        return replace(self, name=self.name + part, items=items)


def load_data(path: Path, dataset: str | None = None) -> Data:
    """Loads a file, or a labelled data set (`NAME:PART`) that is available locally. Raises DataError, with file, line
    and field, if a row is malformed or the layout is unknown."""
    if dataset is not None:
        name, _, of = dataset.partition(":")
        items = tuple(_claims(list(load_dataset_pairs(name, of, path)), path))
        digest = hashlib.sha256(repr(items).encode("utf-8", "surrogatepass")).hexdigest()
        return Data(f"{dataset} (sha256 {digest[:12]})", "claims", items)
    first = next(read_rows(path))
    if "claim" in first.fields:
        kind: Kind = "claims"
        items = tuple(_claims(list(load_pairs(path)), path))
    else:
        kind = "responses"
        items = tuple(Item(item, item.id) for item in _responses(path, set(first.fields)))
    for item in items:
        check_whole(f"{path}: {item.run.id!r}", item.run.response)
    return Data(name_of_data(path), kind, items)


def _claims(rows: list[PlacedRow], path: Path) -> Iterator[Item]:
    lines: dict[tuple[str, ...], int | None] = {}
    for line, row in rows:
        key = _key(row)
        if key in lines:
            message = f"{key[-1]!r} is already used in line {lines[key]}; use unique ids in a response"
            raise DataError(message, path=str(path), line=line, field="claim_id")
        lines[key] = line
    short = {key[-1] for key in lines}
    for _, row in rows:
        key = _key(row)
        name = key[-1] if len(short) == len(lines) else "/".join(part for part in key if part)
        yield _claim(row, name)


def _key(row: PairRow) -> tuple[str, str, str, str]:
    return row.dataset, row.system, row.response_id or "", row.claim_id or row.id


def _claim(row: PairRow, name: str) -> Item:
    document = row.document if row.document and row.document.strip() else None
    if row.group is not None:
        group = f"group {row.group}"
    elif row.response_id is not None:
        group = "/".join(part for part in (row.dataset, row.system, row.response_id) if part)
    elif document is not None:
        group = f"document {hashlib.sha256(document.encode()).hexdigest()[:16]}"
    else:
        group = name
    run = RunItem(
        id=name,
        system=row.system,
        prompt_id=row.prompt_id or group,
        prompt=None,
        response=row.claim,
        facts=(GivenFacts(sentence=row.claim, facts=(row.claim,)),),
        labels=() if row.label is None else ((_BINARY[row.label],),),
        documents=None if document is None else (OwnDocument(text=document),),
    )
    return Item(run, group)


def _responses(path: Path, fields: set[str]) -> Iterator[RunItem]:
    if fields & {"sentences", "annotations"}:
        return (labelled_item(response) for response in load_factscore(path))
    if "response" in fields:
        return response_items(load_responses(path))
    said = "each row needs `claim`, or `prompt` and `response`, or FActScore's `sentences` or `annotations`"
    raise DataError(f"{said}; this row has {', '.join(sorted(fields))[:80] or 'none'}", path=str(path), line=1)
