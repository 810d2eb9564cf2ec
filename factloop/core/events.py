"""The events that `FactChecker.astream` yields while a response is being checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Claim, Evidence, FactualityReport, Record, Usage


class ResponseSplit(Record):
    """The response was cut into sentences; nothing has been spent yet."""

    type: Literal["response_split"] = "response_split"
    n_sentences: int


class ClaimFound(Record):
    """A sentence yielded one atomic fact."""

    type: Literal["claim_found"] = "claim_found"
    claim_id: str
    sentence: str
    span: tuple[int, int]
    self_contained: str


class ClaimSearched(Record):
    """One query of one claim was answered.

    The claim may turn out to repeat another (`duplicate_of`), and then has no queries in the report.
    """

    type: Literal["claim_searched"] = "claim_searched"
    claim_id: str
    query: str
    evidence: tuple[Evidence, ...]


class ClaimJudged(Record):
    """A claim got its verdict, or the reason why it has none. `usage` is what the run has cost so far."""

    type: Literal["claim_judged"] = "claim_judged"
    claim: Claim
    usage: Usage


class ServerWait(Record):
    """A wait for a server: one that has accepted no request for a while, or one that works on batches of requests."""

    type: Literal["waiting"] = "waiting"
    server: str
    """`serper`, for example, or the model by its name."""
    waited_s: float
    patience_s: float
    """After so many seconds factloop stops waiting, and claims that need the server stay unscored."""
    cause: str
    """The outcome of the last request: `status 429`, for example; of batches their state."""
    n_requests: int | None = None
    """Requests in the batches that it works on."""


class CheckFinished(Record):
    """The report; always the last event."""

    type: Literal["check_finished"] = "check_finished"
    report: FactualityReport


Event = Annotated[
    ResponseSplit | ClaimFound | ClaimSearched | ClaimJudged | ServerWait | CheckFinished, Field(discriminator="type")
]
