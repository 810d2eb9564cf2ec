"""Reads the complete responses behind LLM-AggreFact, with their systems, which the benchmark omits.

Each loader yields responses with system, prompt and text. `joining` finds the benchmark's sentences in the text.

| kind | layout |
|---|---|
| `tofueval-mediasum`, `tofueval-meetingbank` | sentences as loaded by `tofueval`, reassembled by summary |
| `expertqa` | claims as loaded by `expertqa`, reassembled by answer |
| `responses` | rows with `dataset` (a name in the benchmark), `system`, `response`, and `response_id`, `prompt_id`, `document` |

We could not obtain the files of the other data sets. For those, use `responses`.
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.rows import Identifier, NotBlank
from factloop.core.files.tables import TableItem, read_rows
from factloop.evaluation.datasets.benchmark import benchmark_dataset
from factloop.evaluation.datasets.expertqa import load_expertqa
from factloop.evaluation.datasets.tofueval import load_tofueval


class UpstreamResponse(TableItem):
    """The id is unique within its data set."""

    dataset: NotBlank
    system: NotBlank
    response_id: Identifier
    prompt_id: Identifier
    response: str
    """The complete text, or its sentences joined together."""
    document: str | None = None


def load_upstream(kind: str, place: str | Path) -> Iterator[UpstreamResponse]:
    """Raises ConfigError for an unknown layout, and DataError during iteration if a row is malformed."""
    if kind not in KINDS:
        raise ConfigError(f"unknown layout {kind!r}; choose one of {', '.join(KINDS)}")
    return KINDS[kind](place)


def _tofueval(dataset: str) -> Callable[[str | Path], Iterator[UpstreamResponse]]:
    def load(place: str | Path) -> Iterator[UpstreamResponse]:
        sentences = sorted(load_tofueval(place), key=lambda one: (*one.response, one.sent_idx))
        for (document, topic, system), found in groupby(sentences, key=lambda one: one.response):
            text = "\n".join(one.sentence for one in found)
            yield _response(dataset, system, f"{document}/{topic}/{system}", f"{document}/{topic}", text)

    return load


def _expertqa(place: str | Path) -> Iterator[UpstreamResponse]:
    answers: dict[tuple[str, str, str], list[str]] = {}
    for claim in load_expertqa(place):
        answers.setdefault((claim.answer_id, claim.system, claim.question), []).append(claim.claim)
    for (answer, system, question), claims in answers.items():
        yield _response("ExpertQA", system, answer, question, "\n".join(claims))


def _response(dataset: str, system: str, name: str, prompt: str, text: str) -> UpstreamResponse:
    return UpstreamResponse(id=name, dataset=dataset, system=system, response_id=name, prompt_id=prompt, response=text)


def _responses(place: str | Path) -> Iterator[UpstreamResponse]:
    for row in read_rows(place):
        numbered = row.numbered()
        given = {name: value for name, value in numbered.fields.items() if value != ""}
        own = {"response_id": given.get("id"), "prompt_id": given.get("id"), **given}
        found = numbered.renamed(own, {}).read_as(UpstreamResponse)
        try:
            yield found.model_copy(update={"dataset": benchmark_dataset(found.dataset).name})
        except ConfigError as error:
            raise DataError(str(error), path=row.path, line=row.line, field="dataset") from error


KINDS: Mapping[str, Callable[[str | Path], Iterator[UpstreamResponse]]] = {
    "tofueval-mediasum": _tofueval("TofuEval-MediaS"),
    "tofueval-meetingbank": _tofueval("TofuEval-MeetB"),
    "expertqa": _expertqa,
    "responses": _responses,
}
