"""Defines the requests of other programs, with the same names, limits and rejections over HTTP and MCP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError, from_json, to_json

from factloop.core.records import refuse_unknown
from factloop.setup.sources import SourceMode

LONGEST_TEXT = 200_000  # maximum number of characters in a response
LONGEST_PROMPT = 20_000
LONGEST_DOCUMENT = 2_000_000
MOST_DOCUMENTS = 1_000
MOST_METADATA = 100  # maximum number of keys in the metadata of a document
_LEVELS_AROUND = 100
"""More than requests and reports nest around metadata. JSON is read down to 200 levels."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")]
Prompt = Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)]
Question = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PROMPT, pattern=r"\S")]
DocumentText = Annotated[str, StringConstraints(max_length=LONGEST_DOCUMENT)]


class RequestModel(BaseModel):
    """Base class of requests, which rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _names_known_fields(cls, data: Any) -> Any:
        refuse_unknown(cls, data)
        return data


class GivenDocument(RequestModel):
    """A document to check the answer against. A plain text also counts as a document."""

    text: DocumentText
    """Also accepted as `page_content` or `content`."""
    title: Annotated[str, StringConstraints(max_length=1_000)] = ""
    source: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """The name used in evidence, such as the document's URL. Nothing is fetched from there."""
    id: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    """The id by which the response can cite it; it is also included in evidence."""
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=MOST_METADATA)
    """Metadata to include in evidence from it, such as `page` or `chunk_id`."""

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_text(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"text": data}
        other = [name for name in ("page_content", "content") if isinstance(data, dict) and name in data]
        return {**{k: v for k, v in data.items() if k != other[0]}, "text": data[other[0]]} if len(other) == 1 else data

    @field_validator("metadata")
    @classmethod
    def _can_be_saved(cls, metadata: dict[str, Any]) -> dict[str, Any]:
        try:
            from_json(b"[" * _LEVELS_AROUND + to_json(metadata) + b"]" * _LEVELS_AROUND)
        except ValueError as error:  # half a character, hundreds of nested brackets, or a number too long to read
            message = "a value is not a whole text, is nested too deep, or is a number of too many digits"
            raise PydanticCustomError("unsaveable", message) from error
        return metadata

    def as_document(self) -> Document:
        named = {"source": self.source, "title": self.title}
        metadata = {**self.metadata, **{name: value for name, value in named.items() if value}}
        return Document(self.text, id=self.id, metadata=metadata)


NO_SUBJECT = "give the response: no subject model is set up to ask"
NOTHING_TO_SCORE_BY = "there is nothing to score by: give documents"
NOTHING_TO_SEARCH = "there is nothing to check against: give documents; nothing else is searched here"
NOTHING_FAITHFUL = "faithfulness needs documents: pass some, or use the mode 'factuality'"
NO_TEXT = "there is nothing to check against: the documents hold no text"


def hold_text(documents: str | Sequence[str | GivenDocument]) -> bool:
    """Whether the documents contain any text. The operator's named documents were read at startup."""
    if isinstance(documents, str):
        return True
    return any((one if isinstance(one, str) else one.text).strip() for one in documents)


def nothing_to_judge_by(
    documents: str | Sequence[str | GivenDocument] | None, mode: SourceMode | None, *, can_search: bool
) -> str | None:
    """Explains why a check has nothing to check against; None if it has something. In `faithfulness` mode, this must be
    text in the documents; in `factuality` mode, the server's own sources also count. Without a mode, the documents are
    used if there are any, otherwise the server's own sources."""
    if documents is not None and hold_text(documents):
        return None
    if can_search and (mode == "factuality" or (mode is None and documents is None)):
        return None
    if documents is not None:
        return NO_TEXT
    return NOTHING_FAITHFUL if mode == "faithfulness" and can_search else NOTHING_TO_SEARCH
