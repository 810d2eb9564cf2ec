"""Whole responses of the data sets that LLM-AggreFact was made of, with what the benchmark leaves out: their systems.

Each loader yields responses with system, prompt and text; `joining` finds in them the sentences that the benchmark has.

| kind | layout |
|---|---|
| `ragtruth` | a folder with `response.jsonl` (`id`, `source_id`, `model`, `response`) and `source_info.jsonl` (`source_id`, `source`) |
| `tofueval-mediasum`, `tofueval-meetingbank` | sentences as `tofueval` loads them, put together again by summary |
| `expertqa` | claims as `expertqa` loads them, put together again by answer |
| `aggrefact` | CSV with `origin` (cnndm, xsum), `id`, `model_name`, `summary`, `doc` |
| `reveal` | CSV with `question_id`, `answer_model`, `question`, `full_answer` |
| `responses` | rows with `dataset` (a name of the benchmark), `system`, `response`, and `response_id`, `prompt_id`, `document` |

The files of TofuEval and ExpertQA have been read. Those of RAGTruth, AggreFact and Reveal were written from what their
authors say of them and never run on the true files; LFQA's and ClaimVerify's layout was not known, so they go through
`responses`.
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import TableItem, read_rows
from factloop.evaluation.datasets.benchmark import benchmark_dataset
from factloop.evaluation.datasets.expertqa import load_expertqa
from factloop.evaluation.datasets.tofueval import TofuEvalSentence, load_tofueval

_RAGTRUTH_SOURCES = {
    "CNN/DM": "RAGTruth-CNN/DM",
    "Recent News": "RAGTruth-News",
    "MARCO": "RAGTruth-MARCO",
    "Yelp": "RAGTruth-Yelp",
}
_AGGREFACT_ORIGINS = {"cnndm": "AggreFact-CNN", "xsum": "AggreFact-XSum"}


class UpstreamResponse(TableItem):
    """A response of one system. Its id is told apart within its data set."""

    dataset: NotBlank
    """A name of the benchmark, such as RAGTruth-Yelp."""
    system: NotBlank
    response_id: Identifier
    prompt_id: Identifier
    response: str
    """Its whole text, or its sentences one after another."""
    document: str | None = None


def load_upstream(kind: str, place: str | Path) -> Iterator[UpstreamResponse]:
    """The responses of one data set. Raises ConfigError for an unknown kind, and DataError for a malformed row."""
    if kind not in KINDS:
        raise ConfigError(f"there is no layout {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[kind](place)


def _ragtruth(place: str | Path) -> Iterator[UpstreamResponse]:
    """Both files are needed: the sources tell the four subsets apart."""
    folder = Path(place)
    source_of: dict[str, Row] = {}
    for row in read_rows(folder / "source_info.jsonl"):
        source_of[str(row.fields.get("source_id"))] = row
    for row in read_rows(folder / "response.jsonl"):
        source = source_of.get(str(row.fields.get("source_id")))
        if source is None:
            raise row.error("source_info.jsonl has no such source", "source_id")
        name = source.fields.get("source")
        if name not in _RAGTRUTH_SOURCES:
            raise source.error(f"the sources are {', '.join(_RAGTRUTH_SOURCES)}, not {str(name)[:40]!r}", "source")
        fields = {
            "id": row.fields.get("id"),
            "dataset": _RAGTRUTH_SOURCES[name],
            "system": row.fields.get("model"),
            "response_id": row.fields.get("id"),
            "prompt_id": row.fields.get("source_id"),
            "response": row.fields.get("response"),
        }
        yield row.renamed(fields, {"system": "model"}).read_as(UpstreamResponse)


def _tofueval(dataset: str) -> Callable[[str | Path], Iterator[UpstreamResponse]]:
    def load(place: str | Path) -> Iterator[UpstreamResponse]:
        sentences = sorted(load_tofueval(place), key=lambda one: (*one.response, one.sent_idx))
        for (document, topic, system), found in groupby(sentences, key=lambda one: one.response):
            yield _of_sentences(dataset, system, f"{document}/{topic}", found)

    return load


def _of_sentences(dataset: str, system: str, prompt: str, found: Iterable[TofuEvalSentence]) -> UpstreamResponse:
    response = f"{prompt}/{system}"
    return UpstreamResponse(
        id=response,
        dataset=dataset,
        system=system,
        response_id=response,
        prompt_id=prompt,
        response="\n".join(one.sentence for one in found),
    )


def _expertqa(place: str | Path) -> Iterator[UpstreamResponse]:
    answers: dict[tuple[str, str, str], list[str]] = {}
    for claim in load_expertqa(place):
        answers.setdefault((claim.answer_id, claim.system, claim.question), []).append(claim.claim)
    for (answer, system, question), claims in answers.items():
        yield UpstreamResponse(
            id=answer,
            dataset="ExpertQA",
            system=system,
            response_id=answer,
            prompt_id=question,
            response="\n".join(claims),
        )


def _aggrefact(place: str | Path) -> Iterator[UpstreamResponse]:
    for row in read_rows(place):
        origin = str(row.fields.get("origin")).casefold()
        if origin not in _AGGREFACT_ORIGINS:
            raise row.error(f"the origins are {', '.join(_AGGREFACT_ORIGINS)}, not {origin[:40]!r}", "origin")
        document, system = row.fields.get("id"), row.fields.get("model_name")
        fields = {
            "id": str(row.line),
            "dataset": _AGGREFACT_ORIGINS[origin],
            "system": system,
            "response_id": f"{document}/{system}",
            "prompt_id": document,
            "response": row.fields.get("summary"),
            "document": row.fields.get("doc"),
        }
        yield row.renamed(fields, {"system": "model_name", "response": "summary"}).read_as(UpstreamResponse)


def _reveal(place: str | Path) -> Iterator[UpstreamResponse]:
    """The published file has a row a step and evidence; of one answer all rows give one response."""
    seen: set[tuple[Any, Any]] = set()
    for row in read_rows(place):
        question, system = row.fields.get("question_id"), row.fields.get("answer_model")
        if (question, system) not in seen:
            seen.add((question, system))
            fields = {
                "id": f"{question}/{system}",
                "dataset": "Reveal",
                "system": system,
                "response_id": f"{question}/{system}",
                "prompt_id": question,
                "response": row.fields.get("full_answer"),
            }
            names = {"system": "answer_model", "response": "full_answer"}
            yield row.renamed(fields, names).read_as(UpstreamResponse)


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
    "ragtruth": _ragtruth,
    "tofueval-mediasum": _tofueval("TofuEval-MediaS"),
    "tofueval-meetingbank": _tofueval("TofuEval-MeetB"),
    "expertqa": _expertqa,
    "aggrefact": _aggrefact,
    "reveal": _reveal,
    "responses": _responses,
}
"""Name of a layout to its loader."""
