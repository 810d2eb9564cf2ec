"""Requests of other programs, over HTTP and MCP alike: the same names, limits and refusals, said once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from factloop.core.old_names import with_new_names
from factloop.core.records import refuse_unknown
from factloop.setup.sources import SourceMode

LONGEST_TEXT = 200_000
"""Characters of a response."""
LONGEST_PROMPT = 20_000
LONGEST_DOCUMENT = 2_000_000
MOST_DOCUMENTS = 1_000

Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")]
Prompt = Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)]
Question = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PROMPT, pattern=r"\S")]
DocumentText = Annotated[str, StringConstraints(max_length=LONGEST_DOCUMENT)]


class RequestModel(BaseModel):
    """Base of requests: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _names_known_fields(cls, data: Any) -> Any:
        if isinstance(data, dict):
            data = with_new_names(data, cls.model_fields)
        refuse_unknown(cls, data)
        return data


class GivenDocument(RequestModel):
    """A document to check the answer against; a text alone is one, too."""

    text: DocumentText
    """Also taken as `page_content` or `content`."""
    title: Annotated[str, StringConstraints(max_length=1_000)] = ""
    source: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """The name that evidence gives it, such as its address; nothing is fetched from there."""
    id: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    """How the response may cite it; evidence has it, too."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """What evidence from it is to have, such as `page` or `chunk_id`."""

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_text(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"text": data}
        other = [name for name in ("page_content", "content") if isinstance(data, dict) and name in data]
        return {**{k: v for k, v in data.items() if k != other[0]}, "text": data[other[0]]} if len(other) == 1 else data

    def as_document(self) -> Document:
        named = {"source": self.source, "title": self.title}
        metadata = {**self.metadata, **{name: value for name, value in named.items() if value}}
        return Document(self.text, id=self.id, metadata=metadata)


NO_SUBJECT = "give the response: no subject model is set up to ask"
NOTHING_TO_SCORE_BY = "there is nothing to score by: give documents"
NOTHING_TO_SEARCH = "there is nothing to check against: give documents; nothing else is searched here"
NOTHING_FAITHFUL = "there is nothing to be faithful to: give documents, or the mode 'factuality'"
NO_TEXT = "there is nothing to check against: the documents hold no text"


def hold_text(documents: str | Sequence[str | GivenDocument]) -> bool:
    """Whether there is anything to read in the documents; the operator's, which have a name, were read at the start."""
    if isinstance(documents, str):
        return True
    return any((one if isinstance(one, str) else one.text).strip() for one in documents)


def nothing_to_judge_by(
    documents: str | Sequence[str | GivenDocument] | None, mode: SourceMode | None, *, can_search: bool
) -> str | None:
    """Says why a check would have nothing to judge by; None where it has something.

    In the mode `faithfulness` that is the text of the documents, in the mode `factuality` also what is searched here.
    Without a mode it is the documents where there are any, else what is searched.
    """
    if documents is not None and hold_text(documents):
        return None
    if can_search and (mode == "factuality" or (mode is None and documents is None)):
        return None
    if documents is not None:
        return NO_TEXT
    return NOTHING_FAITHFUL if mode == "faithfulness" and can_search else NOTHING_TO_SEARCH
