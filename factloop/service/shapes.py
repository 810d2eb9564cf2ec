"""Requests and answers of the API. Reports are the records that the Python API returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

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
TITLE_LENGTH = 80
TICKET_PAGES = r"/v1/(results/[A-Za-z0-9][A-Za-z0-9._-]{0,63}/page\.html|jobs/[0-9a-f]{32}/(?:report\.html|events))"
"""Paths that a ticket opens: pages, and the events of a job, for which a browser asks by itself."""

Kind = Literal["check", "trust", "long_form", "audit"]
Status = Literal["queued", "running", "done", "failed", "cancelled"]

Outcome = Literal["problems", "contradicted", "no_evidence", "unscored", "no_problems"]
"""Checks by their verdicts: `problems` are claims that are contradicted or lack evidence."""

Registered = Annotated[str, StringConstraints(min_length=1, max_length=64)]


Documents = Registered | Annotated[tuple[GivenDocument, ...], Field(max_length=MOST_DOCUMENTS)]
"""The name of documents that the operator registered, or documents."""


class CheckAsk(RequestModel):
    """A response to be checked."""

    response: Text
    question: Prompt | None = None
    documents: Documents | None = None
    mode: SourceMode = "faithfulness"
    """Judge against the documents and nothing else, or also against what the service searches."""
    k: (
        Annotated[tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...], Field(min_length=1, max_length=MOST_KS)] | None
    ) = None
    """The Ks of F1@K; by default the service's own."""
    limits: Limits | None = None
    """Limits of this check, within what the service allows each: at its deadline it ends, partly unscored."""


class TrustAsk(RequestModel):
    """An answer to be scored by TrustScore; without one the subject model is asked for its own."""

    question: Question
    response: Text | None = None
    documents: Documents | None = None


class LongFormAsk(RequestModel):
    """A long answer, each claim of which is checked and put before the subject model among distractors."""

    response: Text
    question: Prompt | None = None
    documents: Documents | None = None
    """Its claims are checked against these; without them against what the service searches."""
    limits: Limits | None = None
    """What its check may take, within what the service allows each."""


class AuditAsk(RequestModel):
    """Labelled claims with scores: the rows that `factloop research audit` reads."""

    rows: Annotated[tuple[dict[str, Any], ...], Field(min_length=1, max_length=MOST_ROWS)]


Ask = CheckAsk | TrustAsk | LongFormAsk | AuditAsk


class TicketAsk(RequestModel):
    """The page that a browser is to open."""

    page: Annotated[str, StringConstraints(max_length=200, pattern=f"^{TICKET_PAGES}$")]


class Ticket(Record):
    """An address for a browser."""

    address: str
    """Path and query. Good for half a day, without a key."""


class LabelAsk(RequestModel):
    """A person's label of a claim."""

    label: PersonLabel
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] = ""
    blind: bool = False
    """Whether the verdict was hidden from the person until the label was given."""


class LabelTakenBack(Record):
    """What became of a label."""

    label: GivenLabel | None
    """The label that was taken back; null if there was none."""


class ErrorWords(Record):
    """An error in words."""

    type: str
    message: str
    field: str | None = None


class ErrorBody(Record):
    """The body of every answer that is not a success."""

    error: ErrorWords
    request_id: str = ""
    """The `X-Request-ID` of the request, which the service's log has as well."""


class Progress(Record):
    """The progress of a check."""

    n_claims_found: Count = 0
    n_claims_judged: Count = 0
    usage: Usage | None = None
    """Its cost so far, in this process: of a check that was stopped or failed its cost to the end."""


class _Checked(Record):
    """The outcome of a check in figures."""

    counts: Counts
    precision: Share | None
    n_contradicted: Count = 0
    judge: str = ""
    """The judge of the check and the plan, in words."""
    n_calls: Count
    cost_usd: float | None
    warnings: tuple[str, ...] = ()


class CheckSummary(_Checked):
    """The outcome of a check in figures."""

    kind: Literal["check"] = "check"


class TrustSummary(Record):
    """The outcome of a score; a part without a value is null."""

    kind: Literal["trust"] = "trust"
    trust_bc: Share | None
    trust_fc: Share | None
    trust_ov: Share | None
    judge: str = ""
    n_calls: Count
    cost_usd: float | None


class LongFormSummary(_Checked):
    """The outcome of a long answer: its check, and where evidence and belief put its claims.

    Calls and cost are those of both parts together.
    """

    kind: Literal["long_form"] = "long_form"
    standings: Mapping[ClaimStanding, Count]


class AuditSummary(Record):
    """The data that was audited."""

    kind: Literal["audit"] = "audit"
    n_claims: Count
    n_responses: Count
    evaluators: tuple[str, ...]


Summary = Annotated[CheckSummary | TrustSummary | LongFormSummary | AuditSummary, Field(discriminator="kind")]


class Job(Record):
    """Work that was asked for."""

    id: str
    kind: Kind
    status: Status
    title: str
    """The first words of what was given: of the question, where there is one."""
    answer: str = ""
    """The first words of the answer; empty where none was given."""
    against: str = ""
    """What the answer is held against: `handbook`, `2 documents`, `search`."""
    limits: Limits | None = None
    """The limits that hold for its check: those asked for, within what the service gave each when it was asked.

    Null for a job without a check."""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: ErrorWords | None = None
    progress: Progress = Progress()
    summary: Summary | None = None
    begun_anew: bool = False
    """Whether a service that died or was stopped had begun it, and the answers that it paid for could not be reached:
    they were paid for again, and its report says so."""
    n_deaths: Count = 0
    """How many services died while they were at work on it; at the third it fails, as it may be the cause."""
    request_id: str = ""


class JobPage(Record):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]
    next: str | None
    """Give it as `before` for the page after this one; null on the last."""


class CheckEnded(Record):
    """Event: the check is over. The report is at `/v1/jobs/{id}/result`."""

    type: Literal["check_finished"] = "check_finished"
    summary: CheckSummary


class DocumentsInfo(Record):
    """Documents that the operator registered."""

    name: str
    title: str
    n_files: Count


class LimitsInfo(Record):
    """The limits that the service allows."""

    max_body_bytes: int
    max_response_chars: int = LONGEST_TEXT
    max_prompt_chars: int = LONGEST_PROMPT
    max_documents: int = MOST_DOCUMENTS
    max_document_chars: int = LONGEST_DOCUMENT
    max_rows: int = MOST_ROWS
    max_running: int
    max_running_together: int | None = None
    max_queued: int
    budget_usd_per_day: float | None = None
    """Dollars that all jobs of 24 hours may cost together; None for no limit."""
    max_calls_per_day: int | None = None
    rate: str
    each_check: Limits
    """The most that a check may take, even if it asks for more."""


class Info(Record):
    """A description of this service."""

    version: str
    judge: str
    documents: tuple[DocumentsInfo, ...]
    can_search: bool
    limits: LimitsInfo
    needs_key: bool
    trust: bool
    """Whether a subject model or a corpus is set up; documents can be given to a score in any case."""


class Trouble(Record):
    """A reason why no job is taken."""

    what: Literal["warm_up", "database", "folder"]
    message: str


class Health(Record):
    """Whether the service is up."""

    status: Literal["ok", "stopping", "unready"]
    troubles: tuple[Trouble, ...] = ()


class Deleted(Record):
    """How many jobs were forgotten."""

    n_jobs: Count


class HeadlineFigure(Record):
    """A leading figure of a result, in words."""

    name: str
    value: str
    basis: str
    """Its interval and what it rests on, or why it is undefined."""


class ResultInfo(Record):
    """An audit, an experiment or a run that the operator registered."""

    name: str
    kind: str
    title: str
    created_at: datetime | None
    summary: str
    figures: tuple[HeadlineFigure, ...] = ()


class ResultList(Record):
    """Registered results."""

    results: tuple[ResultInfo, ...]


@dataclass(frozen=True)
class ResultKind:
    """A kind of report that the service shows: its record and page, and what a list says of it."""

    name: str
    record: type[Record]
    render: Callable[[Any], str]
    title: Callable[[Any], str]
    words: Callable[[Any], str]
    figures: Callable[[Any], Iterable[HeadlineFigure]]
    is_job: bool = False
    """Whether jobs make it, too."""


def title_of(text: str) -> str:
    """The first words, in one line."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text[: 4 * TITLE_LENGTH]).split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
