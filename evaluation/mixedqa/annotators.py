"""Two people judge the responses of a data set: their sheets, how far they agree, and the labelled data set.

In the paper 1,000 questions are divided between two annotators, and Cohen's kappa of their judgements is .88 to .92 by
system, .89 over all (Zheng et al. 2024, appendix A.4, Table 2). Here both judge the questions that their sheets share.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from factloop.core.extras import has_packages, missing

if not has_packages("numpy"):
    raise missing("evaluation", "the agreement of annotators")

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field

from factloop.core.errors import DataError
from factloop.core.figure import Figure
from factloop.core.files.jsonl import read_jsonl
from factloop.core.files.lines import place_name
from factloop.core.files.rows import Row
from factloop.core.files.tables import read_rows
from factloop.core.records import Count, Record
from factloop.evaluation.datasets.mixedqa import Label, MixedQaItem, MixedQaResponse
from factloop.evaluation.statistics.kappa import cohens_kappa
from factloop.reports.downloads import Cell

RESAMPLES, LEVEL = 2000, 0.95
SHEET = ("response_id", "source", "question", "reference_answers", "response", "human_correct", "comment")
"""Columns of a sheet: `human_correct` takes 1 or 0. It does not say whose response it is."""
_ID_DIGITS = 12


def _label(value: Any) -> Any:
    text = value.strip() if isinstance(value, str) else value
    if text in ("", None):
        return None
    return int(text) if text in ("0", "1") else text


class UnlabelledResponse(Record):
    """A system's answer to a question, not yet labelled right or wrong."""

    system: str
    text: str


class UnlabelledQuestion(Record):
    """A row of MixedQA without people's labels."""

    id: str
    question: str
    reference_answers: tuple[str, ...]
    source: str
    responses: Annotated[tuple[UnlabelledResponse, ...], Field(min_length=1)]


class SheetRow(Record):
    """One row of a sheet as it comes back."""

    model_config = ConfigDict(extra="ignore")

    response_id: str
    human_correct: Annotated[Literal[0, 1] | None, BeforeValidator(_label)] = None


class KappaTable(Record):
    """Responses that both annotators judged."""

    both_correct: Count
    only_first: Count
    """Those that the first alone called correct."""
    only_second: Count
    both_wrong: Count


class SystemKappa(Record):
    """The agreement of two annotators on one system's responses, or on those of all."""

    system: str | None
    """None for all systems together."""
    table: KappaTable
    kappa: Figure
    """Cohen's kappa, in [-1, 1]; 0 is agreement by chance. `n` responses were judged by both."""
    n_questions: Count


class AnnotatorAgreement(Record):
    """How far two annotators agree, and what became of their labels."""

    schema_version: Literal["1.0"] = "1.0"
    data: str
    """The data set that they judged."""
    systems: tuple[SystemKappa, ...]
    """Each system in the order of the data, then all together."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    n_resamples: Count
    n_first: Count
    """Responses that the first judged."""
    n_second: Count
    n_differing: Count
    """Responses on which the two differ, and no third decides."""
    n_unlabelled: Count
    """Responses without a label from either."""
    n_questions: Count
    """Questions of which every response has a label: those of the labelled data set."""


@dataclass(frozen=True)
class Labelled:
    """The outcome of two sheets."""

    agreement: AnnotatorAgreement
    items: tuple[MixedQaItem, ...]
    """Questions of which every response has a label."""
    undecided: tuple[str, ...]
    """Ids of responses that a third has to decide."""


def load_unlabelled(place: str | Path) -> list[UnlabelledQuestion]:
    """The rows of a file; one without an id has the number of its line, as `load_mixedqa` gives it.

    Raises DataError for a malformed row, for a question without responses, and for responses that have a label already.
    """
    found = []
    for row in read_jsonl(place):
        _refuse_labels(row)
        found.append(row.numbered().read_as(UnlabelledQuestion))
    return found


def _refuse_labels(row: Row) -> None:
    responses = row.fields.get("responses")
    for place, one in enumerate(responses if isinstance(responses, list) else ()):
        if isinstance(one, Mapping) and "human_correct" in one:
            said = "people have labelled this response already: sheets are for responses without labels"
            raise row.error(said, f"responses[{place}].human_correct")


def response_id(question: str, system: str) -> str:
    """The id of a response on a sheet: it says nothing of the system."""
    return hashlib.sha256(f"{question}\n{system}".encode()).hexdigest()[:_ID_DIGITS]


def divide(questions: Sequence[UnlabelledQuestion], shared: int | None, seed: int) -> tuple[list[str], list[str]]:
    """Ids of the questions of each of two sheets: `shared` of them, drawn, stand on both, the rest on either by turns.

    None shares all of them.
    """
    ids = sorted(one.id for one in questions)
    random.Random(seed).shuffle(ids)
    both = ids if shared is None else ids[:shared]
    rest = ids[len(both) :]
    return [*both, *rest[::2]], [*both, *rest[1::2]]


def sheet_rows(questions: Iterable[UnlabelledQuestion], only: Iterable[str], seed: int) -> Iterator[tuple[Cell, ...]]:
    """The rows of a sheet: the questions named, in the order of the data; the responses of each in a drawn order."""
    wanted = set(only)
    for one in questions:
        if one.id not in wanted:
            continue
        responses = list(one.responses)
        random.Random(f"{seed}\n{one.id}").shuffle(responses)
        for response in responses:
            key = response_id(one.id, response.system)
            yield key, one.source, one.question, " | ".join(one.reference_answers), response.text, None, None


def read_sheet(place: str | Path, known: Mapping[str, Any]) -> dict[str, Label]:
    """Response id to label. Raises DataError for a malformed row, a response that is not known or stands twice."""
    seen: set[str] = set()
    labels: dict[str, Label] = {}
    for row in read_rows(place):
        read = row.read_as(SheetRow)
        if read.response_id not in known:
            raise row.error("the data set has no such response", "response_id")
        if read.response_id in seen:
            raise row.error("this response stands here already", "response_id")
        seen.add(read.response_id)
        if read.human_correct is not None:
            labels[read.response_id] = read.human_correct
    if not labels:
        raise DataError("no row has a label: 1 (correct) or 0", path=place_name(place))
    return labels


def put_together(
    questions: Sequence[UnlabelledQuestion],
    first: Mapping[str, Label],
    second: Mapping[str, Label],
    decided: Mapping[str, Label],
    *,
    data: str,
    seed: int = 0,
) -> Labelled:
    """The agreement of two annotators, and the data set with their labels.

    A response that one of them judged has that label, one that both judged alike has theirs. Where they differ, and
    where neither judged it, it has that of `decided`, or none.
    """
    places = {response_id(one.id, by.system): (one.id, by.system) for one in questions for by in one.responses}
    labels: dict[str, Label] = {}
    undecided = []
    for key in places:
        given = {one[key] for one in (first, second) if key in one}
        if len(given) == 1:
            labels[key] = given.pop()
        elif key in decided:
            labels[key] = decided[key]
        elif given:
            undecided.append(key)
    items = tuple(_items(questions, labels))
    systems = list(dict.fromkeys(system for _, system in places.values()))
    both = [(*places[key], first[key], second[key]) for key in places if key in first and key in second]
    agreement = AnnotatorAgreement(
        data=data,
        systems=tuple(_kappa(system, both, seed) for system in (*systems, None)),
        level=LEVEL,
        n_resamples=RESAMPLES,
        n_first=len(first),
        n_second=len(second),
        n_differing=len(undecided),
        n_unlabelled=sum(key not in first and key not in second and key not in decided for key in places),
        n_questions=len(items),
    )
    return Labelled(agreement, items, tuple(undecided))


def _items(questions: Iterable[UnlabelledQuestion], labels: Mapping[str, Label]) -> Iterator[MixedQaItem]:
    for one in questions:
        keys = [response_id(one.id, response.system) for response in one.responses]
        if not all(key in labels for key in keys):
            continue
        responses = tuple(
            MixedQaResponse(system=response.system, text=response.text, human_correct=labels[key])
            for response, key in zip(one.responses, keys, strict=True)
        )
        yield MixedQaItem(**one.model_dump(exclude={"responses"}), responses=responses)


_Judged = tuple[str, str, Label, Label]
"""Question, system, and both labels of a response."""


def _kappa(system: str | None, judged: Sequence[_Judged], seed: int) -> SystemKappa:
    of_system = [one for one in judged if system in (None, one[1])]
    questions = {question: place for place, question in enumerate(sorted({one[0] for one in of_system}))}
    cells = np.zeros((len(questions), 2, 2))
    for question, _, one, other in of_system:
        cells[questions[question], one, other] += 1.0
    (wrong, only_second), (only_first, correct) = cells.sum(axis=0).astype(int).tolist()
    table = KappaTable(both_correct=correct, only_first=only_first, only_second=only_second, both_wrong=wrong)
    return SystemKappa(
        system=system,
        table=table,
        kappa=cohens_kappa(cells, np.random.default_rng(seed), RESAMPLES, LEVEL),
        n_questions=len(questions),
    )
