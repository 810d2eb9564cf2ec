"""The state of the SAFE graphs, and pure functions to update it.

Loading a checkpoint turns tuples into lists, so no code may depend on which of the two a sequence is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from langgraph.channels import UntrackedValue

from factloop.core import records
from factloop.core.factuality import sameness
from factloop.core.records import Claim, Evidence, Judgement, NoClaim, UnscoredReason, Verdict
from factloop.tools.text.markup import plain_text
from factloop.tools.text.silence import states_nothing

FactStatus = Literal["open", "settled"]
Stage = Literal["cheap", "model"]


@dataclass(frozen=True)
class SentenceTask:
    """A sentence, table row or piece of code in the response.

    `response[start:end] == sentence`, except for a sentence with supplied facts that is not in the response. In that
    case, `start == end`.
    """

    sentence: str
    start: int
    end: int
    above: str = ""
    """The sentence's context, one entry per line: headings, then the lead-in of its list or the header of its table."""
    number: int = 0
    is_code: bool = False
    given: Sequence[str] | None = None
    """The facts that the caller supplied for the sentence, or None if the plan must extract them."""
    is_apart: bool = False
    """Whether unread statements separate this sentence from the previous one."""
    silent: str | None = None
    """Why the sentence is not read (see `records.NoClaim`), or None if it is read."""


@dataclass(frozen=True)
class Fact:
    """A fact stated by one sentence. Facts that need no search are already settled."""

    sentence: int
    number: int
    """The position in the sentence, starting at 0."""
    text: str
    self_contained: str
    status: FactStatus
    query: str = ""
    """The first search query, if the plan writes it along with the fact."""
    relevant: bool | None = None
    judgement: Judgement | None = None
    """The judgement of a settled fact, or the first judgement of one that will be examined again."""
    evidence: Sequence[Evidence] = ()
    is_whole: bool = False
    """Whether the fact is the whole sentence, because the extracted facts did not match it."""
    is_final: bool = False
    """Whether the judgement stands, because other passages are unlikely to change it."""

    @property
    def id(self) -> str:
        """The fact's id, such as `c3.2` for the second fact of the third sentence."""
        return f"c{self.sentence + 1}.{self.number + 1}"

    @property
    def place(self) -> tuple[int, int]:
        """The sort key for the order of the response."""
        return self.sentence, self.number


@dataclass(frozen=True)
class NextQueries:
    queries: Sequence[str]
    missing: str = ""
    tool: str | None = None
    """The search tool to use, or None for the default."""


CHECKPOINT_TYPES: tuple[type, ...] = (
    SentenceTask, Fact, NextQueries, Claim, Evidence, Judgement, records.Sentence, records.Abstention,
    records.GivenFacts, Verdict, UnscoredReason, NoClaim,
)  # fmt: skip
"""Types stored in checkpoints, for `JsonPlusSerializer(allowed_msgpack_modules=CHECKPOINT_TYPES)`."""


def gather(left: list[Any], right: list[Any]) -> list[Any]:
    """Concatenates two lists. Branches finish in any order, so readers sort the result by position."""
    return [*left, *right]


class SafeInput(TypedDict):
    """Input of the response graph. The response itself is in the graph's context."""

    facts: NotRequired[Sequence[records.GivenFacts] | None]
    """The sentences of the response with their facts, in order, if the caller has split the response."""
    spans: NotRequired[Sequence[tuple[int, int]] | None]
    """Start and end of each sentence to judge, in order. By default, all are judged."""


class SafeOutput(TypedDict):
    """Output of the response graph: all claims in the order of the response, each judged or unscored.

    Checkpoints save the claims only under `settled`. For a finished thread, read this key from `get_state`.
    """

    claims: Annotated[list[Claim], UntrackedValue]
    sentences_read: Annotated[list[records.Sentence], UntrackedValue]


class TextInput(TypedDict):
    """JSON input of a graph that creates the context itself."""

    prompt: NotRequired[str | None]
    response: str
    facts: NotRequired[list[dict[str, Any]] | None]
    """The same as in `SafeInput`, but as JSON (`GivenFacts`)."""
    spans: NotRequired[list[tuple[int, int]] | None]
    """The same as in `SafeInput`."""


class TextOutput(TypedDict):
    """JSON output of a graph that creates the context itself, with the contents of `SafeOutput`."""

    claims: list[dict[str, Any]]
    sentences_read: list[dict[str, Any]]


class TextState(TextInput, TextOutput):
    """State of a graph that creates the context itself."""


class ResponseState(SafeInput, SafeOutput):
    sentences: list[SentenceTask]
    found: Annotated[list[Fact], gather]
    open: list[str]
    """Ids of the facts to search for, excluding repeats and settled facts."""
    repeats: dict[str, str]
    """Maps the id of each repeated claim to the id of the claim that it repeats."""
    settled: Annotated[list[Claim], gather]
    abstentions: Annotated[list[tuple[int, records.Abstention]], gather]


class WindowState(TypedDict):
    sentences: list[SentenceTask]


class FactOutput(TypedDict):
    """Output of a claim's branch. All keys have reducers, because many branches write concurrently."""

    settled: Annotated[list[Claim], gather]


class FactState(FactOutput):
    task: SentenceTask
    fact: Fact
    pending: NextQueries | None
    queries: list[str]
    tools: list[str]
    """The first tool that each query was sent to."""
    fruitless: list[str]
    rounds: int
    is_barren: bool
    missing: list[str]
    evidence: Sequence[Evidence]
    failure: Judgement | None
    """The unscored judgement of a failed search, which applies unless other evidence settles the claim."""
    last_search: Literal["answered", "exhausted", "failed", "given_up"] | None
    """`failed` if no tool answered, `given_up` if we gave up on all tools, `exhausted` if everything was found."""
    relevant: bool | None
    stage: Stage | None
    """The cascade stage that judges the claim from now on, or None without a cascade."""


class BunchState(FactOutput):
    cases: list[FactState]


def updated(state: FactState, update: Mapping[str, Any]) -> FactState:
    """Applies the update of a step that was called directly instead of by a graph."""
    return cast("FactState", {**state, **update})


def open_case(fact: Fact, task: SentenceTask, stage: Stage | None = None) -> FactState:
    """Returns the initial state of a claim's branch. A fact without a query is its own query."""
    return FactState(
        task=task,
        fact=replace(fact, evidence=()),  # the evidence is stored under its own key
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
    return Fact(task.number, number, text, text, "settled", judgement=judgement)


def unsplit(task: SentenceTask, judgement: Judgement) -> list[Fact]:
    """Returns the unscored facts of an unreadable sentence: its supplied facts or else the sentence itself."""
    given = [task.sentence] if task.given is None else task.given
    return [settled_fact(task, number, text, judgement) for number, text in enumerate(given)]


def whole(task: SentenceTask) -> Fact:
    return Fact(task.number, 0, task.sentence, task.sentence, "open", is_whole=True)


def distinct(found: Iterable[Fact]) -> tuple[list[Fact], dict[str, str]]:
    """Returns the distinct open facts in the order of the response, and a map from the id of each repeat to that of the
    original.

    Facts are compared in their self-contained form: *It closed in 1900* may be about two different mills. Facts that
    were settled without evidence never count as repeats.
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
    return replace(fact, status="open") if fact.judgement is not None and fact.evidence else fact


def settle(fact: Fact, task: SentenceTask, judgement: Judgement, state: FactState | None = None) -> Claim:
    """Returns the judged claim, with the evidence in `state` if given, otherwise that of the fact."""
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
    """Adds the cascade stage to a judgement that has a verdict but no stage yet."""
    is_open = judgement.verdict is not None and judgement.stage is None and stage is not None
    return judgement.model_copy(update={"stage": stage}) if is_open else judgement


def in_order(
    found: Iterable[Fact], sentences: Sequence[SentenceTask], settled: Iterable[Claim], repeats: Mapping[str, str]
) -> list[Claim]:
    """Returns one claim per fact, in the order of the response. Raises ValueError if a claim is missing.

    A claim that repeats another refers to it and has the same verdict.
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
            raise ValueError(f"claim {fact.id} was found but never settled")
    return claims


def sentences_read(
    tasks: Iterable[SentenceTask], found: Iterable[Fact], abstentions: Mapping[int, records.Abstention]
) -> list[records.Sentence]:
    """Returns the sentences in order, each with its claims or the reason why it has none."""
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
    """A sentence that was read should have a claim, unless it is opinion or small talk."""
    if task.silent is not None:
        return NoClaim(task.silent)
    is_silent = not task.is_code and states_nothing(plain_text(task.sentence))
    return NoClaim.NO_STATEMENT if is_silent else NoClaim.NO_CLAIM
