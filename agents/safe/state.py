"""The state of the SAFE graphs: records as they are, so that checkpoints keep them, and the pure steps between them.

A checkpoint restores a tuple as a list. Nothing here may rely on which of the two a sequence is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from langgraph.channels import UntrackedValue

from factloop.core import records
from factloop.core.factuality import sameness
from factloop.core.records import (
    Claim,
    Evidence,
    Judgement,
    NoClaim,
    UnscoredReason,
    Verdict,
)
from factloop.tools.text.markup import plain_text
from factloop.tools.text.silence import states_nothing

FactStatus = Literal["open", "settled"]
Stage = Literal["cheap", "model"]
"""A stage of a cascade."""


@dataclass(frozen=True)
class SentenceTask:
    """One sentence of the response under check, a row of a table, or code.

    `response[start:end] == sentence`, unless facts were given for a sentence that the response does not hold: there
    `start == end`.
    """

    sentence: str
    start: int
    end: int
    above: str = ""
    """What it is to be read under, a line each: headings, then the lead of its list or the head of its table."""
    number: int = 0
    """Its place in the check, from 0."""
    is_code: bool = False
    given: Sequence[str] | None = None
    """Its facts, if the caller split it; None if the plan has to split it."""
    is_apart: bool = False
    """Whether unread sentences stand between it and the one before."""
    silent: str | None = None
    """Why it is not read (`records.NoClaim`); None for a sentence that is read."""


@dataclass(frozen=True)
class Fact:
    """A fact of one sentence: to be checked, or already settled without any search."""

    sentence: int
    """The number of its sentence."""
    number: int
    """Its place in the sentence, from 0."""
    text: str
    self_contained: str
    status: FactStatus
    query: str = ""
    """First query, where the plan finds one along with the fact."""
    relevant: bool | None = None
    judgement: Judgement | None = None
    """Given for a settled fact, and for one that is to be looked at again: its first judgement."""
    evidence: Sequence[Evidence] = ()
    """The passages that this judgement rests on."""
    is_whole: bool = False
    """Whether it is its whole sentence, as no facts that say the same could be had."""
    is_final: bool = False
    """Whether another look would bring nothing: the passages have all that it names, or no other is near."""

    @property
    def id(self) -> str:
        """`c3.2`: second fact of the third sentence."""
        return f"c{self.sentence + 1}.{self.number + 1}"

    @property
    def place(self) -> tuple[int, int]:
        """Orders facts as the response states them."""
        return self.sentence, self.number


@dataclass(frozen=True)
class NextQueries:
    """A wish to search, for one thing or several at once."""

    queries: Sequence[str]
    missing: str = ""
    """What the evidence lacks so far."""
    tool: str | None = None
    """None for the default tool."""


CHECKPOINT_TYPES: tuple[type, ...] = (
    SentenceTask, Fact, NextQueries, Claim, Evidence, Judgement, records.Sentence, records.Abstention,
    records.GivenFacts, Verdict, UnscoredReason, NoClaim,
)  # fmt: skip
"""What checkpoints of these graphs hold: `JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES)` reads them."""


def gather(left: list[Any], right: list[Any]) -> list[Any]:
    """Concatenation. Branches end in any order, so readers sort the result by place."""
    return [*left, *right]


class SafeInput(TypedDict):
    """Input of the response graph, whose text is in its context."""

    facts: NotRequired[Sequence[records.GivenFacts] | None]
    """Where the response is split already: its sentences in order."""
    spans: NotRequired[Sequence[tuple[int, int]] | None]
    """Start and end of the sentences that are to be judged, in order, where these are not all."""


class SafeOutput(TypedDict):
    """Output of the response graph: all claims in the order of the response, each judged or unscored.

    Checkpoints hold the claims as `settled`, and not once more: a thread that has ended gives them by `get_state`.
    """

    claims: Annotated[list[Claim], UntrackedValue]
    sentences_read: Annotated[list[records.Sentence], UntrackedValue]
    """All sentences, each with its claims or the reason why it has none."""


class TextInput(TypedDict):
    """Input of a graph that makes the context itself, in JSON."""

    prompt: NotRequired[str | None]
    response: str
    facts: NotRequired[list[dict[str, Any]] | None]
    """Where the response is split already: its sentences in order (`GivenFacts`)."""
    spans: NotRequired[list[tuple[int, int]] | None]
    """Start and end of the sentences that are to be judged, in order, where these are not all."""


class TextOutput(TypedDict):
    """Output of such a graph: as `SafeOutput`, in JSON."""

    claims: list[dict[str, Any]]
    sentences_read: list[dict[str, Any]]


class TextState(TextInput, TextOutput):
    """State of such a graph."""


class ResponseState(SafeInput, SafeOutput):
    """State of the graph of one response."""

    sentences: list[SentenceTask]
    found: Annotated[list[Fact], gather]
    open: list[str]
    """Ids of the facts to be searched for: without repeats, and without those already settled."""
    repeats: dict[str, str]
    """Id of each repeated claim to the id of the claim it repeats."""
    settled: Annotated[list[Claim], gather]
    abstentions: Annotated[list[tuple[int, records.Abstention]], gather]
    """The number of each sentence that was judged as an abstention, and what came of it."""


class WindowState(TypedDict):
    """Input of the branch that reads some sentences together."""

    sentences: list[SentenceTask]


class FactOutput(TypedDict):
    """Output of one claim's branch: reduced keys only, since many branches write at once."""

    settled: Annotated[list[Claim], gather]


class FactState(FactOutput):
    """Input and state of one claim's branch."""

    task: SentenceTask
    fact: Fact
    pending: NextQueries | None
    """The next queries; None until the first."""
    queries: list[str]
    tools: list[str]
    """The tool that each query was put to, the first that was."""
    fruitless: list[str]
    """Queries that brought nothing new."""
    rounds: int
    """Number of searches so far."""
    is_barren: bool
    """Whether the last round brought nothing new."""
    missing: list[str]
    evidence: Sequence[Evidence]
    failure: Judgement | None
    """Unscored judgement of a search that failed; it stands unless the rest of the evidence settles the claim."""
    last_search: Literal["answered", "exhausted", "failed", "given_up"] | None
    """`failed` where no tool answered it, `given_up` where none will be asked again, `exhausted` where all that there
    is to find was found."""
    relevant: bool | None
    stage: Stage | None
    """The stage of a cascade that judges from here on; None without a cascade."""


class BunchState(FactOutput):
    """Input and state of a branch that judges several claims."""

    cases: list[FactState]


def updated(state: FactState, update: Mapping[str, Any]) -> FactState:
    """A claim's state after a step that is called, not run by a graph."""
    return cast("FactState", {**state, **update})


def open_case(fact: Fact, task: SentenceTask, stage: Stage | None = None) -> FactState:
    """The state in which a claim's branch starts. A fact without a query is searched by its `self_contained` text."""
    return FactState(
        task=task,
        fact=replace(fact, evidence=()),  # which stands in `evidence`
        settled=[],
        pending=NextQueries((fact.query.strip() or fact.self_contained,)),
        queries=[],
        tools=[],
        fruitless=[],
        rounds=0,
        is_barren=False,
        missing=[],
        evidence=fact.evidence,
        failure=None,
        last_search=None,
        relevant=fact.relevant,
        stage=stage,
    )


def settled_fact(task: SentenceTask, number: int, text: str, judgement: Judgement) -> Fact:
    """A fact with its judgement, which it has without any search."""
    return Fact(task.number, number, text, text, "settled", judgement=judgement)


def unsplit(task: SentenceTask, judgement: Judgement) -> list[Fact]:
    """The unscored facts of a sentence that could not be read: one, or one for each fact that was given."""
    given = [task.sentence] if task.given is None else task.given
    return [settled_fact(task, number, text, judgement) for number, text in enumerate(given)]


def whole(task: SentenceTask) -> Fact:
    """A sentence as its own only fact."""
    return Fact(task.number, 0, task.sentence, task.sentence, "open", is_whole=True)


def distinct(found: Iterable[Fact]) -> tuple[list[Fact], dict[str, str]]:
    """The open facts in the order of the response without repeats; and the repeats, their id to the id of the first.

    A fact that was judged by evidence as it was found can be repeated, too; one that could not be read cannot. Equal
    words alone make no repeat: *It closed in 1900* may be said of two mills.
    """
    first: dict[str, str] = {}
    kept: list[Fact] = []
    repeats: dict[str, str] = {}
    for fact in sorted(found, key=lambda one: one.place):
        original = fact.id
        if fact.status == "open" or fact.evidence:
            original = first.setdefault(sameness(fact.self_contained), fact.id)
        if original != fact.id:
            repeats[fact.id] = original
        elif fact.status == "open":
            kept.append(fact)
    return kept, repeats


def reopened(fact: Fact) -> Fact:
    """A fact that was judged by evidence as it was found, open again; any other as it is."""
    return replace(fact, status="open") if fact.judgement is not None and fact.evidence else fact


def settle(fact: Fact, task: SentenceTask, judgement: Judgement, state: FactState | None = None) -> Claim:
    """The claim with its judgement and what it was judged by: from `state`, what its search brought."""
    gathered: dict[str, Any] = {"evidence": fact.evidence, "relevant": fact.relevant}
    if state is not None:
        gathered = {name: cast("Any", state)[name] for name in ("queries", "missing", "evidence", "relevant")}
    return Claim(
        id=fact.id,
        sentence=task.sentence,
        span=(task.start, task.end),
        text=fact.text,
        self_contained=fact.self_contained,
        judgement=judgement,
        **gathered,
    )


def with_stage(judgement: Judgement, stage: Stage | None) -> Judgement:
    """A verdict with the stage that gave it, in a cascade."""
    is_open = judgement.verdict is not None and judgement.stage is None and stage is not None
    return judgement.model_copy(update={"stage": stage}) if is_open else judgement


def in_order(
    found: Iterable[Fact], sentences: Sequence[SentenceTask], settled: Iterable[Claim], repeats: Mapping[str, str]
) -> list[Claim]:
    """One claim for every fact found, in the order of the response. Raises ValueError if one is missing.

    A claim that repeats another points there, and that judgement stands for both.
    """
    judged = {claim.id: claim for claim in settled}
    claims: list[Claim] = []
    for fact in sorted(found, key=lambda one: one.place):
        if fact.id in repeats:
            first = judged[repeats[fact.id]]
            judgement = first.judgement.model_copy(update={"cited": ()})
            own = settle(replace(fact, evidence=()), sentences[fact.sentence], judgement)
            claims.append(own.model_copy(update={"duplicate_of": first.id, "relevant": first.relevant}))
        elif fact.id in judged:
            claims.append(judged[fact.id])
        else:
            raise ValueError(f"claim {fact.id} was found and never settled")
    return claims


def sentences_read(
    tasks: Iterable[SentenceTask], found: Iterable[Fact], abstentions: Mapping[int, records.Abstention]
) -> list[records.Sentence]:
    """The sentences in the order of the response, each with its claims or the reason why it has none."""
    ids: defaultdict[int, list[str]] = defaultdict(list)
    whole: set[int] = set()
    for fact in sorted(found, key=lambda one: one.place):
        ids[fact.sentence].append(fact.id)
        if fact.is_whole:
            whole.add(fact.sentence)
    return [
        records.Sentence(
            span=(task.start, task.end),
            claims=tuple(ids[task.number]),
            no_claim=None if ids[task.number] else _silence_reason(task),
            is_whole=task.number in whole,
            abstention=abstentions.get(task.number),
        )
        for task in sorted(tasks, key=lambda one: (one.start, one.number))
    ]


def _silence_reason(task: SentenceTask) -> NoClaim:
    """Why a sentence has no claim. One that was read should have had some, unless it is surely opinion or talk."""
    if task.silent is not None:
        return NoClaim(task.silent)
    is_silent = not task.is_code and states_nothing(plain_text(task.sentence))
    return NoClaim.NO_STATEMENT if is_silent else NoClaim.NO_CLAIM
