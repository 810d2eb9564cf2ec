"""Records of generation: rows of files, and the report of a run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from factloop.core.files.rows import NotBlank
from factloop.core.records import Count, NonNegative, Record, UnscoredReason, Usage
from factloop.tools.models.chat import ChatModel

Kind = Literal["objects", "concepts"]
"""What LongFact's prompts ask about: single things (people, places, events, works), or ideas."""


class GeneratedBy(Record):
    """The model that wrote a row, as far as its words depend on it."""

    model: str
    base_url: str | None = None
    sampling: Mapping[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, chat: ChatModel) -> GeneratedBy:
        sampling = {name: value for name, value in chat.identity.items() if name not in {"model", "base_url"}}
        return cls(model=chat.name, base_url=chat.identity.get("base_url"), sampling=sampling)


class GeneratedResponse(Record):
    """A row of a file of responses, as `factloop eval` reads them."""

    id: str
    system: str
    """The name that the writer of the response has in tables."""
    prompt_id: str
    topic: str | None
    prompt: NotBlank
    """The prompt as asked: with the postamble, if there was one."""
    response: NotBlank
    cut_off: bool = False
    """It ended because it reached the token limit."""
    generated_by: GeneratedBy


class UnansweredPrompt(Record):
    """A prompt that has no response yet, and why."""

    prompt_id: str
    reason: UnscoredReason
    said: str


class ResponsesReport(Record):
    """The outcome of one start of a generation of responses."""

    schema_version: Literal["2.0"] = "2.0"
    out: str
    data: str
    """The file that the prompts are from."""
    system: str
    generated_by: GeneratedBy
    n_prompts: Count
    """Prompts drawn, each once."""
    n_answered: Count
    """Those of them that the file answers at the end."""
    n_earlier: Count
    """Those of them that the file answered before."""
    n_cut_off: Count
    """Answers cut off at the token limit."""
    unanswered: tuple[UnansweredPrompt, ...]
    """The others, in the order of their ids. They are asked again at the next start."""
    usage: Usage
    created_at: datetime


class GeneratedPrompt(Record):
    """A row of a file of prompts, as LongFact's loader reads them."""

    id: str
    topic: NotBlank
    prompt: NotBlank
    kind: Kind
    generated_by: GeneratedBy


class TopicReport(Record):
    """The outcome of one topic."""

    topic: str
    n_wanted: Count
    n_kept: Count
    n_repeated: Count
    """Prompts dropped, as word for word the same was kept before, on this topic or one before it."""
    n_alike: Count
    """Prompts dropped, as one kept before asks about the same in other words."""
    n_unusable: Count
    """Prompts dropped, as blank, of several lines, or not of the length of a question."""
    n_rounds: Count
    """Times that the model was asked."""
    failures: tuple[str, ...]
    """Failures of rounds that brought nothing because the call failed."""


class PromptsReport(Record):
    """The outcome of a generation of prompts."""

    schema_version: Literal["1.0"] = "1.0"
    out: str
    kind: Kind
    seed: int
    generated_by: GeneratedBy
    topics: tuple[TopicReport, ...]
    prompts: Mapping[str, str]
    """SHA-256 of each prompt file used."""
    usage: Usage
    created_at: datetime


class GenerationEstimate(Record):
    """An upper bound of what a generation costs. Retries are not in it."""

    most_calls: Count
    most_prompt_tokens: Count
    most_completion_tokens: Count | None
    """None where the length of replies is left to the server."""
    most_usd: NonNegative | None
    """None where the price or the length is unknown."""
