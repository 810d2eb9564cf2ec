"""Extracts the question, the answer and the documents from the inputs of chains, graphs and agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from factloop.agents.safe.conversation import question_of
from factloop.core.errors import DataError
from factloop.core.records import FactualityReport, SourceDocument
from factloop.tools.search.base import SearchHit
from factloop.tools.search.handed_over import Documents, documents_of

REQUEST = "factloop_request"  # marks a message as factloop's request to revise an answer


@dataclass(frozen=True)
class AnswerInput:
    response: str
    question: str | None
    documents: Documents | None
    """None if no documents were passed, or an empty tuple if a search found none."""
    names_documents: bool = False
    """Whether the input contains the key for documents, even if the value is None."""


@dataclass(frozen=True)
class Keys:
    """The keys of the answer, the question and the documents in a chain's input."""

    response: str = "response"
    question: str = "question"
    documents: str = "documents"

    def read(self, given: object) -> AnswerInput:
        """Reads the answer from a mapping and ignores other keys. Raises DataError."""
        if not isinstance(given, Mapping):
            assign = f"; in a chain, put RunnablePassthrough.assign({self.response}=...) before this step"
            hint = assign if isinstance(given, str | BaseMessage) else ""
            raise DataError(f"the input must be a mapping with {self.response!r}, not {type(given).__name__}{hint}")
        return AnswerInput(
            response=text_at(self.response, given.get(self.response), AIMessage),
            question=question_at(self.question, given.get(self.question)),
            documents=documents_at(self.documents, given.get(self.documents), found=True),
            names_documents=self.documents in given,
        )

    def write(
        self, response: object, question: object, documents: object, *, names_documents: bool = False
    ) -> dict[str, Any]:
        """Returns a mapping for `read`. By default, the key for documents is left out if `documents` is None."""
        written = {self.response: response, self.question: question}
        return {**written, self.documents: documents} if documents is not None or names_documents else written


def has_key(record: object, key: str | None) -> bool:
    if key is None:
        return False
    return key in record if isinstance(record, Mapping) else hasattr(record, key)


def value_at(record: object, key: str | None) -> Any:
    """Returns None if there is no such key."""
    if key is None:
        return None
    return record.get(key) if isinstance(record, Mapping) else getattr(record, key, None)


def question_at(name: str, value: Any) -> str | None:
    """Returns the question with the conversation before it, without factloop's own requests. Raises DataError."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = [one for one in value if not (isinstance(one, BaseMessage) and is_revision_request(one))]
    if value is not None and not isinstance(value, str | BaseMessage | Sequence):
        raise DataError(f"`{name}` must be a string or a message, not {type(value).__name__}")
    return question_of(value)


def documents_at(name: str, value: Any, *, found: bool = False) -> Documents | None:
    """Returns the documents, or a source to search. If an earlier step `found` the documents, texts in a list are not
    treated as paths. Raises ConfigError or DataError."""
    if isinstance(value, BaseRetriever | VectorStore):
        return value
    return documents_of(name, value, found=found and not isinstance(value, str))


def text_at(name: str, value: object, speaker: type[BaseMessage]) -> str:
    """Returns the text of a string or message or, for a list, of the speaker's last message. Raises DataError."""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, Sequence):
        spoken = [message for message in value if isinstance(message, speaker)]
        if spoken:
            return str(spoken[-1].text)
    raise DataError(f"`{name}` must be a string or a message, not {type(value).__name__}")


def is_revision_request(message: BaseMessage) -> bool:
    """Whether factloop, rather than a person, wrote the message to request a revision."""
    return isinstance(message, HumanMessage) and bool(message.additional_kwargs.get(REQUEST))


def is_persons(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not is_revision_request(message)


def brought_by(answer: ToolMessage) -> list[Document]:
    """Returns the documents in a tool's result, or its text if it contains none. Messages from failed tools and
    factloop's own reports are not evidence."""
    found: Any = answer.artifact
    if answer.status == "error" or isinstance(found, FactualityReport):
        return []
    if isinstance(found, list) and found and all(isinstance(item, Document | SearchHit) for item in found):
        return [item if isinstance(item, Document) else _as_document(item) for item in found]
    return [Document(str(answer.text), metadata={"source": answer.name or "tool"})]


def _as_document(hit: SearchHit) -> Document:
    kept = hit.document or SourceDocument()
    metadata = {**kept.metadata, "source": hit.source, "title": hit.title, "date": hit.published}
    return Document(hit.passage, id=kept.id, metadata=metadata)
