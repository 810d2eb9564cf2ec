"""Requests from other programs. The fields, limits and errors are the same for HTTP and MCP."""

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
MOST_METADATA = 100  # maximum number of keys in a document's metadata
LONGEST_METADATA = 4_000  # maximum size of a document's metadata in bytes of JSON; reports repeat it for each passage
_LEVELS_AROUND = 100
"""JSON levels around metadata in a request or report. The parser accepts 200 levels in total."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")]
Prompt = Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)]
Question = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PROMPT, pattern=r"\S")]
DocumentText = Annotated[str, StringConstraints(max_length=LONGEST_DOCUMENT)]


class RequestModel(BaseModel):
    """Base class for requests. Unknown fields are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _names_known_fields(cls, data: Any) -> Any:
        refuse_unknown(cls, data)
        return data


class GivenDocument(RequestModel):
    """A document to check the answer against. You can pass a plain string instead."""

    text: DocumentText
    """The text. The field can also be called `page_content` or `content`."""
    title: Annotated[str, StringConstraints(max_length=1_000)] = ""
    source: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """The source to show with evidence, such as the document's URL. URLs are never fetched."""
    id: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    """The id with which the response can cite the document. The id is also shown with evidence."""
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=MOST_METADATA)
    """Metadata to show with evidence from the document, such as `page` or `chunk_id`."""

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
            text = to_json(metadata)
            from_json(b"[" * _LEVELS_AROUND + text + b"]" * _LEVELS_AROUND)
        except ValueError as error:  # a lone surrogate, hundreds of nested brackets, or a number with too many digits
            message = "a value contains invalid Unicode, is nested too deeply, or is a number with too many digits"
            raise PydanticCustomError("unsaveable", message) from error
        if len(text) > LONGEST_METADATA:
            raise PydanticCustomError("too_long", f"a document's metadata exceeds {LONGEST_METADATA:,} bytes")
        return metadata

    def as_document(self) -> Document:
        named = {"source": self.source, "title": self.title}
        metadata = {**self.metadata, **{name: value for name, value in named.items() if value}}
        return Document(self.text, id=self.id, metadata=metadata)


NO_SUBJECT = "the response is missing, and no subject model is configured to write one: pass a response"
NOTHING_TO_SCORE_BY = "there is nothing to score the response by: pass documents"
NOTHING_TO_SEARCH = "there is nothing to check against: pass documents, because this server has no other sources"
NOTHING_FAITHFUL = "faithfulness needs documents: pass documents, or use the 'factuality' mode"
NO_TEXT = "there is nothing to check against: the documents contain no text; pass documents with text"


def hold_text(documents: str | Sequence[str | GivenDocument]) -> bool:
    """Whether any document has text. Documents registered by the operator always do (checked at startup)."""
    if isinstance(documents, str):
        return True
    return any((one if isinstance(one, str) else one.text).strip() for one in documents)


def nothing_to_judge_by(
    documents: str | Sequence[str | GivenDocument] | None, mode: SourceMode | None, *, can_search: bool
) -> str | None:
    """Why a check has nothing to judge by. Without a `mode`, the server's own sources replace missing documents."""
    if documents is not None and hold_text(documents):
        return None
    if can_search and (mode == "factuality" or (mode is None and documents is None)):
        return None
    if documents is not None:
        return NO_TEXT
    return NOTHING_FAITHFUL if mode == "faithfulness" and can_search else NOTHING_TO_SEARCH
