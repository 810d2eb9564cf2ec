"""The items of a run over a data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import TypeAdapter

from factloop.core.errors import DataError
from factloop.core.given_text import check_whole
from factloop.core.records import GivenFacts
from factloop.evaluation.datasets.factscore import FactLabel, FactScoreResponse
from factloop.evaluation.datasets.responses import GivenResponse, OwnDocument
from factloop.evaluation.running.run import Spool
from factloop.evaluation.runs.records import JudgedResponse


@dataclass(frozen=True)
class RunItem:
    id: str
    system: str
    prompt_id: str
    prompt: str | None
    response: str
    facts: tuple[GivenFacts, ...] | None = None
    """None if the checker must split the response into facts itself."""
    labels: tuple[tuple[FactLabel, ...], ...] = ()
    """The human label of each supplied fact, sentence by sentence."""
    documents: tuple[OwnDocument, ...] | None = None
    """The only documents to judge against, or None if the checker searches for evidence."""
    is_evidence: bool = False
    """Whether the documents are passages that an earlier run found by searching."""


def response_items(responses: Iterable[GivenResponse]) -> Iterator[RunItem]:
    for one in responses:
        yield RunItem(
            id=one.id,
            system=one.system,
            prompt_id=one.prompt_id,
            prompt=one.prompt,
            response=one.response,
            documents=one.documents,
        )


def replayed_items(responses: Iterable[JudgedResponse], *, by_evidence: bool) -> Iterator[RunItem]:
    """Converts the responses of a finished run to items that will be split and judged again. With `by_evidence`, each
    response is judged against all the evidence the run found for it."""
    for one in responses:
        evidence = (item for claim in one.report.claims for item in claim.evidence) if by_evidence else ()
        found = {
            item.passage: OwnDocument(text=item.passage, title=item.title, source=item.source) for item in evidence
        }
        yield RunItem(
            id=one.id,
            system=one.system,
            prompt_id=one.prompt_id,
            prompt=one.report.prompt,
            response=one.report.response,
            documents=tuple(found.values()) if by_evidence else None,
            is_evidence=by_evidence,
        )


def labelled_item(response: FactScoreResponse) -> RunItem:
    sentences = response.sentences or ()
    facts = [sentence.atomic_facts or () for sentence in sentences]
    return RunItem(
        id=response.id,
        system=response.system,
        prompt_id=response.prompt or response.topic,
        prompt=response.prompt,
        response=response.response,
        facts=tuple(
            GivenFacts(sentence=sentence.text, facts=tuple(fact.text for fact in of_sentence))
            for sentence, of_sentence in zip(sentences, facts, strict=True)
        ),
        labels=tuple(tuple(fact.label for fact in of_sentence) for of_sentence in facts),
    )


_ITEM: TypeAdapter[RunItem] = TypeAdapter(RunItem)


def spooled(items: Iterable[RunItem], *, limit: int | None = None) -> Spool[RunItem]:
    """Saves the items to disk, at most `limit` of them. Raises DataError if an id is repeated or a system answers a
    prompt twice, and ConfigError if the disk is full."""
    return Spool(_checked(items), dump=_dump, load=_ITEM.validate_json, limit=limit)


def _dump(item: RunItem) -> bytes:
    """Omits unset document fields, so that lines are the same as in older runs, which can then be resumed."""
    absent = {"documents"} if item.documents is None else set()
    return _ITEM.dump_json(item, exclude=absent | (set() if item.is_evidence else {"is_evidence"})) + b"\n"


def _checked(items: Iterable[RunItem]) -> Iterator[RunItem]:
    ids: set[str] = set()
    answers: dict[tuple[str, str], str] = {}
    for item in items:
        if item.id in ids:
            raise DataError(f"two responses have the id {item.id!r}; use unique ids")
        ids.add(item.id)
        first = answers.setdefault((item.system, item.prompt_id), item.id)
        if first != item.id:
            raise DataError(
                f"{item.system!r} answers the prompt {item.prompt_id!r} twice, in {first!r} and {item.id!r}; "
                "use a different system name for each sample"
            )
        check_whole(f"response {item.id!r}", item.response)
        check_whole(f"prompt of {item.id!r}", item.prompt or "")
        yield item
