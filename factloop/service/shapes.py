"""The requests and responses of the HTTP API. Reports are the records that the Python API returns."""

from __future__ import annotations

import binascii
import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Base64Encoder, EncodedBytes, Field, StringConstraints
from pydantic_core import PydanticCustomError

from factloop.agents.trustscore.records import ClaimStanding
from factloop.core.records import Count, Counts, Record, Share, Usage
from factloop.entrance.asks import (
    LONGEST_DOCUMENT,
    LONGEST_PROMPT,
    LONGEST_TEXT,
    MOST_DOCUMENTS,
    GivenDocument,
    Prompt,
    Question,
    RequestModel,
    Text,
)
from factloop.reports.labels import LONGEST_COMMENT, GivenLabel, PersonLabel
from factloop.setup.limits import Limits
from factloop.setup.sources import SourceMode

MOST_ROWS = 100_000
MOST_KS = 20
TICKET_PAGES = r"/v1/(results/[A-Za-z0-9][A-Za-z0-9._-]{0,63}/page\.html|jobs/[0-9a-f]{32}/(?:report\.html|events))"
"""Browsers request these pages and event streams without a key."""

Kind = Literal["check", "trust", "long_form", "audit"]
Status = Literal["queued", "running", "done", "failed", "cancelled"]

Outcome = Literal["problems", "contradicted", "no_evidence", "unscored", "no_problems"]
"""`problems` means that claims are contradicted or lack evidence."""

Registered = Annotated[str, StringConstraints(min_length=1, max_length=64)]

K = Annotated[int, Field(ge=1, le=1_000_000)]
# Sequences fail fast, because errors for each of a million invalid items would block the event loop and fill memory.
Documents = Registered | Annotated[tuple[GivenDocument, ...], Field(max_length=MOST_DOCUMENTS, fail_fast=True)]
"""The name of documents registered by the operator, or the documents themselves."""


class StrictBase64(Base64Encoder):
    """Decodes base64 with line breaks. Rejects other characters, which Python would skip."""

    @classmethod
    def decode(cls, data: bytes) -> bytes:
        try:
            return binascii.a2b_base64(data.translate(None, string.whitespace.encode()), strict_mode=True)
        except binascii.Error as error:
            raise PydanticCustomError("base64_decode", "must be base64") from error


class FileAsk(RequestModel):
    """A file, such as a PDF, to convert to documents."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    content: Annotated[bytes, EncodedBytes(encoder=StrictBase64)]
    """The bytes of the file in base64."""


class FileText(Record):
    """A file's text as documents for a check, with one document per page or section."""

    documents: tuple[GivenDocument, ...]


class CheckAsk(RequestModel):
    """A response to check."""

    response: Text
    question: Prompt | None = None
    documents: Documents | None = None
    mode: SourceMode = "faithfulness"
    """Judge only against the documents (faithfulness), or also against the service's own sources (factuality)."""
    k: Annotated[tuple[K, ...], Field(min_length=1, max_length=MOST_KS, fail_fast=True)] | None = None
    """The values of K for F1@K. Default: the service's values."""
    limits: Limits | None = None
    """Limits for this check, within the service's limits. Claims that are left at the deadline stay unscored."""


class TrustAsk(RequestModel):
    """An answer to score with TrustScore. If it is missing, the subject model is asked for its own answer."""

    question: Question
    response: Text | None = None
    documents: Documents | None = None


class LongFormAsk(RequestModel):
    """A long answer. Each of its claims is checked, and is presented to the subject model among distractors."""

    response: Text
    question: Prompt | None = None
    documents: Documents | None = None
    """The documents to check the claims against. Default: the service's own sources."""
    limits: Limits | None = None
    """Limits for checking the answer, within the service's limits for each check."""


class AuditAsk(RequestModel):
    """Labelled claims with scores: the rows that `factloop research audit` reads."""

    rows: Annotated[tuple[dict[str, Any], ...], Field(min_length=1, max_length=MOST_ROWS, fail_fast=True)]


Ask = CheckAsk | TrustAsk | LongFormAsk | AuditAsk


class TicketAsk(RequestModel):
    """The page that a browser should open."""

    page: Annotated[str, StringConstraints(max_length=200, pattern=f"^{TICKET_PAGES}$")]


class Ticket(Record):
    address: str
    """Valid for 12 hours without a key. Only a path and query if `public_url` is not set."""


class LabelAsk(RequestModel):
    label: PersonLabel
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] = ""
    blind: bool = False
    """Whether the verdict was hidden from the person until they chose the label."""


class LabelTakenBack(Record):
    """The result of removing a label."""

    label: GivenLabel | None
    """Null if there was none."""


class ErrorWords(Record):
    type: str
    message: str
    field: str | None = None


class ErrorBody(Record):
    """The body of every unsuccessful response."""

    error: ErrorWords
    request_id: str = ""
    """The request's `X-Request-ID`, which is also in the service's log."""


class Progress(Record):
    n_claims_found: Count = 0
    n_claims_judged: Count = 0
    usage: Usage | None = None
    """The cost so far, in this process. For a stopped or failed check, the total cost."""
    earlier_calls: Count = 0
    earlier_cost_usd: float = 0.0
    """The part of `usage` that earlier attempts at this job spent. Known only when this attempt ends."""


class _Checked(Record):
    counts: Counts
    precision: Share | None
    n_contradicted: Count = 0
    judge: str = ""
    """Describes the judge and the plan."""
    n_calls: Count
    cost_usd: float | None
    warnings: tuple[str, ...] = ()


class CheckSummary(_Checked):
    """A check's metrics, for a job's summary."""

    kind: Literal["check"] = "check"


class TrustSummary(Record):
    """The components of a TrustScore. Components without a value are null."""

    kind: Literal["trust"] = "trust"
    trust_bc: Share | None
    trust_fc: Share | None
    trust_ov: Share | None
    judge: str = ""
    n_calls: Count
    cost_usd: float | None


class LongFormSummary(_Checked):
    """The result for a long answer: its check's metrics, and how many claims there are by evidence and belief."""

    kind: Literal["long_form"] = "long_form"
    standings: Mapping[ClaimStanding, Count]


class AuditSummary(Record):
    kind: Literal["audit"] = "audit"
    n_claims: Count
    n_responses: Count
    evaluators: tuple[str, ...]


Summary = Annotated[CheckSummary | TrustSummary | LongFormSummary | AuditSummary, Field(discriminator="kind")]


class Job(Record):
    """A request for work, and its state."""

    id: str
    kind: Kind
    status: Status
    title: str
    """The first words of the question or, without one, of the answer."""
    answer: str = ""
    """The first words of the answer."""
    against: str = ""
    """What the answer is checked against, such as `handbook`, `2 documents` or `search`."""
    limits: Limits | None = None
    """The requested limits, within what the service allowed at that time. Null for a job without a check."""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: ErrorWords | None = None
    progress: Progress = Progress()
    summary: Summary | None = None
    begun_anew: bool = False
    """Whether the job was restarted without the answers of an earlier attempt, which were then paid for again."""
    n_deaths: Count = 0
    """How many services died while running the job. It may be the cause, so it fails after the third."""
    request_id: str = ""


class JobPage(Record):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]
    next: str | None
    """Pass this as `before` to get the next page. Null on the last page."""


class CheckEnded(Record):
    """The event for a finished check. The report is at `/v1/jobs/{id}/result`."""

    type: Literal["check_finished"] = "check_finished"
    summary: CheckSummary


class DocumentsInfo(Record):
    name: str
    title: str
    n_files: Count


class LimitsInfo(Record):
    max_body_bytes: int
    max_kept_bytes: int
    """Maximum space that one caller's jobs may take up."""
    max_response_chars: int = LONGEST_TEXT
    max_prompt_chars: int = LONGEST_PROMPT
    max_documents: int = MOST_DOCUMENTS
    max_document_chars: int = LONGEST_DOCUMENT
    max_rows: int = MOST_ROWS
    max_running: int
    max_running_together: int | None = None
    max_queued: int
    budget_usd_per_day: float | None = None
    """Maximum cost in dollars of all jobs in any 24 hours. Null for no limit."""
    max_calls_per_day: int | None = None
    rate: str
    each_check: Limits
    """The maximum for each of the caller's checks, even if a request asks for more."""


class CallerInfo(Record):
    """The caller's own limits for 24 hours. Null if there is no limit."""

    name: str
    budget_usd_per_day: float | None
    max_calls_per_day: int | None
    left_usd: float | None
    """What remains after subtracting what running jobs may still cost. Also null if the database is unavailable."""
    left_calls: int | None


class Info(Record):
    version: str
    judge: str
    documents: tuple[DocumentsInfo, ...]
    can_search: bool
    limits: LimitsInfo
    has_results: bool
    needs_key: bool
    caller: CallerInfo | None = None
    """Null if no key is needed."""
    trust: bool
    """Whether TrustScores can be requested, which requires the `trust` extra."""
    has_subject: bool


class Trouble(Record):
    """A reason why the service accepts no jobs."""

    what: Literal["warm_up", "database", "folder"]
    message: str


class Health(Record):
    """Whether the service is running, and what, if anything, keeps it from being ready."""

    status: Literal["ok", "stopping", "unready"]
    troubles: tuple[Trouble, ...] = ()


class Deleted(Record):
    n_jobs: Count


class HeadlineFigure(Record):
    """A result's key metric as text."""

    name: str
    value: str
    basis: str
    """The interval and the data behind the figure, or the reason why it is undefined."""


class ResultInfo(Record):
    """An audit, experiment or run registered by the operator."""

    name: str
    kind: str
    title: str
    created_at: datetime | None
    summary: str
    figures: tuple[HeadlineFigure, ...] = ()
    is_comparable: bool = False
    """Whether this is a run or experiment, which can be compared with another of the same kind."""


class ResultList(Record):
    results: tuple[ResultInfo, ...]


@dataclass(frozen=True)
class ResultKind:
    """A kind of report that the service shows: its record, its page and its entry in lists."""

    name: str
    record: type[Record]
    render: Callable[[Any], str]
    title: Callable[[Any], str]
    words: Callable[[Any], str]
    figures: Callable[[Any], Iterable[HeadlineFigure]]
    is_job: bool = False
    """Whether jobs can also produce this kind of report."""
