"""State of the SAFE graphs: plain dictionaries, as checkpoints keep them, with named reducers where branches meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from factloop.core.records import Evidence, Judgement
from factloop.tools.linguistics.outline import Part

ClaimDict = dict[str, Any]
"""A `factloop.core.records.Claim` as `model_dump(mode="json")` gives it."""
EvidenceDict = dict[str, Any]


def gather(left: list[Any], right: list[Any]) -> list[Any]:
    """Concatenation. Branches end in any order, so readers sort the result by `place`."""
    return [*left, *right]


class Place(TypedDict):
    """The place of a fact in the response; orders facts and names them."""

    sentence: int
    fact: int


class SentenceState(TypedDict):
    """Input of one sentence's branch."""

    number: int
    text: str
    start: int
    end: int
    is_code: bool
    above: str
    """What it is to be read under (`stages.SentenceTask`)."""
    given: list[str] | None
    """Its facts, if the caller split it; None if the plan has to split it."""
    is_apart: bool
    """Whether sentences that are not read this time stand between it and the one before."""
    silent: str | None
    """Why it is not read (`records.NoClaim`); None for those that are."""


def sentence_state(number: int, part: Part, *, is_apart: bool = False, silent: str | None = None) -> SentenceState:
    """A part of the response as the input of its branch, its facts not yet known."""
    return SentenceState(
        number=number,
        text=part.text,
        start=part.start,
        end=part.end,
        is_code=part.kind == "code",
        above=part.above,
        given=None,
        is_apart=is_apart,
        silent=silent,
    )


class WindowState(TypedDict):
    """Input of the branch that reads some sentences together."""

    sentences: list[SentenceState]


class PlacedFact(TypedDict):
    """A fact of one sentence: to be checked, or already settled without any search."""

    place: Place
    sentence: str
    span: tuple[int, int]
    text: str
    self_contained: str
    status: Literal["open", "settled"]
    query: str
    """First query, where the plan finds one along with the fact."""
    relevant: bool | None
    judgement: dict[str, Any] | None
    """Given where the status is `settled`, and for a fact that is to be looked at again: as it was judged at first."""
    evidence: list[EvidenceDict]
    """What it was judged by, where that was done as it was found."""


def place_fact(
    sentence: SentenceState,
    number: int,
    text: str,
    *,
    self_contained: str | None = None,
    status: Literal["open", "settled"] | None = None,
    query: str = "",
    relevant: bool | None = None,
    judgement: Judgement | None = None,
    evidence: Sequence[Evidence] = (),
) -> PlacedFact:
    """Fact `number` of a sentence, from 0: settled where it has a judgement, unless `status` says otherwise."""
    return PlacedFact(
        place=Place(sentence=sentence["number"], fact=number),
        sentence=sentence["text"],
        span=(sentence["start"], sentence["end"]),
        text=text,
        self_contained=text if self_contained is None else self_contained,
        status=status or ("open" if judgement is None else "settled"),
        query=query,
        relevant=relevant,
        judgement=None if judgement is None else judgement.model_dump(mode="json"),
        evidence=[item.model_dump(mode="json") for item in evidence],
    )


class PlacedClaim(TypedDict):
    """A claim with its judgement."""

    place: Place
    claim: ClaimDict


class SafeInput(TypedDict):
    """Input of the response graph, whose text is in its context."""

    facts: NotRequired[list[dict[str, Any]] | None]
    """Where the response is split already: its sentences in order, each `{sentence, facts}` (`records.GivenFacts`)."""
    spans: NotRequired[list[tuple[int, int]] | None]
    """Start and end of the sentences that are to be judged, in order, where these are not all."""


class SafeOutput(TypedDict):
    """Output of the response graph: the claims in the order of the response, each judged or unscored; and all its
    sentences, each with its claims or the reason why it has none."""

    claims: list[ClaimDict]
    sentences_read: list[dict[str, Any]]
    """All that was to be read, as `records.Sentence` in JSON."""


class TextInput(SafeInput):
    """Input of a graph that is given no context, and makes it of the text."""

    prompt: NotRequired[str | None]
    response: str


class TextState(TextInput, SafeOutput):
    """State of such a graph."""


class ResponseState(SafeInput, SafeOutput):
    """State of the graph of one response."""

    sentences: list[SentenceState]
    found: Annotated[list[PlacedFact], gather]
    open: list[PlacedFact]
    """Facts to be searched for: without repeats, and without those already settled."""
    repeats: dict[str, str]
    """Id of each repeated claim to the id of the claim it repeats."""
    settled: Annotated[list[PlacedClaim], gather]


class BatchState(TypedDict):
    """Input of the branch that looks at some claims again, together."""

    sentences: list[SentenceState]
    """Sentences of each claim, in the same order."""
    facts: list[PlacedFact]


class FactOutput(TypedDict):
    """Output of one claim's branch: reduced keys only, since many branches write at once."""

    settled: Annotated[list[PlacedClaim], gather]


class FactState(FactOutput):
    """Input and state of one claim's branch."""

    task: SentenceState
    fact: PlacedFact
    pending: dict[str, Any] | None
    """The next queries (`stages.NextQueries`); None until the first."""
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
    evidence: list[EvidenceDict]
    failure: dict[str, Any] | None
    """Unscored judgement of a search that failed; it stands unless the rest of the evidence settles the claim."""
    last_search: Literal["answered", "exhausted", "failed", "given_up"] | None
    """`failed` where no tool answered it, `given_up` where none will be asked again, `exhausted` where all that there
    is to find was found."""
    relevant: bool | None
    stage: Literal["model"] | None
    """The stage of a cascade that judges from here on; None without a cascade."""


def updated(state: FactState, update: Mapping[str, Any]) -> FactState:
    """A claim's state after a step that is called, not run by a graph."""
    return cast("FactState", {**state, **update})


class BunchState(FactOutput):
    """Input and state of a branch that judges several claims."""

    cases: list[FactState]
