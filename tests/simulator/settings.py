"""Speed, limits and faults of the simulator. A running simulator replaces the frozen settings as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(ge=0.0)]
Letter = Literal["A", "B", "C", "D", "E"]

SEARCH = "search"  # the stage that searches are counted under; the stages of the model are the titles of its schemas
CHAT = "chat"  # the stage of a request to the model without a schema


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Faults:
    """Shares of the requests that go wrong, each in its way. They exclude one another and may add up to 1 at most."""

    error_500: Share = 0.0
    error_429: Share = 0.0
    """Refused for its rate, whatever that is."""
    malformed: Share = 0.0
    """The answer is cut, wrapped in prose, or has a wrong field; a search answers with half a JSON document."""
    truncated: Share = 0.0
    """The answer ends in the middle with finish_reason `length`."""
    refusal: Share = 0.0
    hang: Share = 0.0
    """The answer comes after `hang_s` seconds."""
    hang_s: Seconds = 100.0

    def __post_init__(self) -> None:
        shares = (self.error_500, self.error_429, self.malformed, self.truncated, self.refusal, self.hang)
        if sum(shares) > 1.0:
            raise ValueError("the shares of faults add up to more than 1")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class SimulatorSettings:
    """All switches. The defaults are the conditions under which speed is measured, without faults."""

    seed: int = 20
    """Of the faults, and of what the subject knows and guesses."""
    llm_latency_s: Seconds = 0.3
    token_latency_s: Seconds = 0.01
    """Added for each completion token."""
    search_latency_s: Seconds = 0.1
    missing_hits: Share = 0.15
    """Share of queries that lose their top three hits; the same queries every time."""
    faults: Faults = field(default_factory=Faults)
    stage_faults: Mapping[str, Faults] = field(default_factory=dict)
    """Faults of single stages (schema titles, `chat`, `search`) in place of `faults`."""
    requests_per_s: Annotated[float, Field(gt=0.0)] | None = None
    """Rate limit of the model; a bucket of that size, refilled at that rate. What it cannot take gets 429."""
    retry_after: Literal["seconds", "none"] = "seconds"
    """How a 429 says when to come back."""
    dies_after: Annotated[int, Field(ge=0)] | None = None
    """Requests (of model and search together) after which every further one fails."""
    dies_by: Literal["hang", "error"] = "error"
    """What hangs is answered once the settings are changed."""
    models: tuple[str, ...] = ("sim",)
    """Names the model answers to, besides those in `reads_by_words`; others get 404. Empty: any."""
    api_key: str | None = None
    """The only key accepted, by model and search; None: any."""
    supports_tools: bool = True
    supports_json_schema: bool = True
    supports_json_object: bool = True
    supports_temperature: bool = True
    supports_logprobs: bool = True
    gives_logprobs: bool = True
    """False: it takes the fields that ask for log-probabilities, and gives none."""
    has_batches: bool = True
    batch_s: Seconds = 0.0
    """Seconds that a batch takes."""
    batch_most: Annotated[int, Field(ge=1)] | None = None
    """Requests under way at a time; a batch with more is refused for the limit of enqueued tokens."""
    batch_expires: Annotated[int, Field(ge=0)] = 0
    """Lines of the first batch that expire."""
    batch_errors: Annotated[int, Field(ge=0)] = 0
    """Lines of the first batch after those that get a 500."""
    batch_looks_fail: Annotated[int, Field(ge=0)] = 0
    """Looks at each batch that get a 500."""
    batch_answers_lost: bool = False
    """The connection ends when a batch was taken, before its id is told."""
    known_share: Share = 0.5
    """Share of the topics that the subject of TrustScore knows by heart."""
    half_known_share: Share = 0.2
    """Share of the topics that it knows in every other question; of the rest it knows nothing."""
    letter_bias: Letter | None = None
    """The letter that the subject chooses where it does not know; None: it guesses among all."""
    plain_letters: bool = False
    """The subject answers multiple-choice questions in words, whatever format is asked for."""
    reads_by_words: Mapping[str, Share] = field(default_factory=dict)
    """Models that judge by words (`tests.simulator.reading`), and the share of a claim's words that each one wants."""

    def __post_init__(self) -> None:
        if self.known_share + self.half_known_share > 1.0:
            raise ValueError("the shares of what is known and half-known add up to more than 1")
