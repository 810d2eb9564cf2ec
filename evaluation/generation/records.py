"""The rows of generated files, and the reports on the runs that generate them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from factloop.core.files.rows import NotBlank
from factloop.core.records import Count, NonNegative, Record, UnscoredReason, Usage
from factloop.evaluation.datasets.responses import OwnDocument
from factloop.tools.models.chat import ChatModel

Kind = Literal["objects", "concepts"]
"""Whether LongFact's prompts ask about specific things (people, places, events, works) or about ideas."""


class GeneratedBy(Record):
    """The model that wrote a row, with all settings that affect its wording."""

    model: str
    base_url: str | None = None
    sampling: Mapping[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, chat: ChatModel) -> GeneratedBy:
        sampling = {name: value for name, value in chat.identity.items() if name not in {"model", "base_url"}}
        return cls(model=chat.name, base_url=chat.identity.get("base_url"), sampling=sampling)


class GeneratedResponse(Record):
    """A row in a file of responses that `factloop eval` can read."""

    id: str
    system: str
    prompt_id: str
    topic: str | None
    prompt: NotBlank
    """The prompt as sent, including any postamble but not the data set's document."""
    response: NotBlank
    documents: tuple[OwnDocument, ...] | None = None
    cut_off: bool = False
    """Whether the response was cut off at the token limit."""
    generated_by: GeneratedBy


class UnansweredPrompt(Record):
    prompt_id: str
    reason: UnscoredReason
    said: str


class ResponsesReport(Record):
    schema_version: Literal["2.0"] = "2.0"
    out: str
    data: str
    system: str
    generated_by: GeneratedBy
    n_prompts: Count
    n_answered: Count
    """Prompts that have an answer in the file at the end."""
    n_earlier: Count
    """Prompts that already had an answer in the file."""
    n_cut_off: Count
    """Answers cut off at the token limit."""
    unanswered: tuple[UnansweredPrompt, ...]
    """Sorted by id. They are sent again in the next attempt."""
    usage: Usage
    created_at: datetime


class GeneratedPrompt(Record):
    """A row in a file of prompts that LongFact's loader can read."""

    id: str
    topic: NotBlank
    prompt: NotBlank
    kind: Kind
    generated_by: GeneratedBy


class TopicReport(Record):
    topic: str
    n_wanted: Count
    n_kept: Count
    n_repeated: Count
    """Prompts dropped because an identical one was kept earlier, on this or an earlier topic."""
    n_alike: Count
    """Prompts dropped because an earlier one asks the same question in different words."""
    n_unusable: Count
    """Prompts dropped because they are blank, span several lines, or are too short or long for a question."""
    n_rounds: Count
    failures: tuple[str, ...]
    """The errors from rounds that returned nothing because the call failed."""


class PromptsReport(Record):
    schema_version: Literal["1.0"] = "1.0"
    out: str
    kind: Kind
    seed: int
    generated_by: GeneratedBy
    topics: tuple[TopicReport, ...]
    prompts: Mapping[str, str]
    usage: Usage
    created_at: datetime


class GenerationEstimate(Record):
    """An upper bound on the cost of generation, without retries."""

    most_calls: Count
    most_prompt_tokens: Count
    most_completion_tokens: Count | None
    """None if the length of replies is up to the server."""
    most_usd: NonNegative | None
    """None if the price or the length is unknown."""
