"""The events that `FactChecker.astream` yields while a response is being checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Claim, Evidence, FactualityReport, Record, Usage


class ResponseSplit(Record):
    """The response was split into sentences. No calls have been made yet."""

    type: Literal["response_split"] = "response_split"
    n_sentences: int


class ClaimFound(Record):
    """An atomic fact was found in a sentence."""

    type: Literal["claim_found"] = "claim_found"
    claim_id: str
    sentence: str
    span: tuple[int, int]
    self_contained: str


class ClaimSearched(Record):
    """A search for a claim has finished. If the claim repeats an earlier one, the report lists no queries for it."""

    type: Literal["claim_searched"] = "claim_searched"
    claim_id: str
    query: str
    evidence: tuple[Evidence, ...]


class ClaimJudged(Record):
    """A claim received a verdict or was left unscored. `usage` is the total usage so far."""

    type: Literal["claim_judged"] = "claim_judged"
    claim: Claim
    usage: Usage


class ServerWait(Record):
    """The check is waiting for a server that is processing batches or refusing requests."""

    type: Literal["waiting"] = "waiting"
    server: str
    """A search, such as `serper`, or the name of the model."""
    waited_s: float
    patience_s: float
    """How long factloop waits in total. After that, claims that need the server stay unscored."""
    cause: str
    """The outcome of the last request, such as `status 429`, or the state of the batches."""
    n_requests: int | None = None


class CheckFinished(Record):
    """The check has finished. This is always the last event."""

    type: Literal["check_finished"] = "check_finished"
    report: FactualityReport


Event = Annotated[
    ResponseSplit | ClaimFound | ClaimSearched | ClaimJudged | ServerWait | CheckFinished, Field(discriminator="type")
]
