"""Pure steps around the graph: naming claims, finding repeats, putting the report's claims together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from factloop.agents.safe.given import unread
from factloop.agents.safe.stages import Case, NextQueries, SentenceTask
from factloop.agents.safe.state import ClaimDict, FactState, Place, PlacedClaim, PlacedFact, SentenceState
from factloop.core.records import Claim, Evidence, Judgement, NoClaim, Sentence
from factloop.core.sameness import sameness
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.silence import states_nothing


def claim_id(place: Place) -> str:
    """`c3.2`: second fact of the third sentence."""
    return f"c{place['sentence'] + 1}.{place['fact'] + 1}"


def order(item: PlacedFact | PlacedClaim) -> tuple[int, int]:
    return item["place"]["sentence"], item["place"]["fact"]


def unsplit(sentence: SentenceState, judgement: Judgement) -> list[PlacedFact]:
    """The unscored claims of a sentence that could not be read: one, or one for each fact that was given."""
    given = sentence["given"]
    return unread(sentence, judgement, enumerate([sentence["text"]] if given is None else given))


def distinct(found: Iterable[PlacedFact]) -> tuple[list[PlacedFact], dict[str, str]]:
    """The open facts in the order of the response without repeats; and the repeats, their id to the id of the first.

    What was judged by evidence as it was found can be repeated, too; what could not be read cannot. The words alone
    make no repeat: *It closed in 1900* may be said of two mills.
    """
    first: dict[str, str] = {}
    kept: list[PlacedFact] = []
    repeats: dict[str, str] = {}
    for fact in sorted(found, key=order):
        name, original = claim_id(fact["place"]), None
        if fact["status"] == "open" or fact["evidence"]:
            original = first.setdefault(sameness(fact["self_contained"]), name)
        if original not in (None, name):
            repeats[name] = original
        elif fact["status"] == "open":
            kept.append(fact)
    return kept, repeats


def unmerged(found: Iterable[PlacedFact]) -> list[PlacedFact]:
    """The open facts in the order of the response, those that say the same as another included."""
    return [fact for fact in sorted(found, key=order) if fact["status"] == "open"]


def reopened(fact: PlacedFact) -> PlacedFact:
    """A fact that was judged by evidence as it was found, open again; any other as it is."""
    is_judged = fact["judgement"] is not None and bool(fact["evidence"])
    return {**fact, "status": "open"} if is_judged else fact


def open_case(fact: PlacedFact, task: SentenceState, stage: Literal["model"] | None = None) -> FactState:
    """The state in which a claim's branch starts. A fact without a query is searched by its `self_contained` text."""
    return FactState(
        task=task,
        fact=fact,
        settled=[],
        pending=asdict(NextQueries((fact["query"].strip() or fact["self_contained"],))),
        queries=[],
        tools=[],
        fruitless=[],
        rounds=0,
        is_barren=False,
        missing=[],
        evidence=fact["evidence"],
        failure=None,
        last_search=None,
        relevant=fact["relevant"],
        stage=stage,
    )


def case_of(state: FactState, task: SentenceTask, *, searches_left: int) -> Case:
    """The part of a claim's state that a stage sees."""
    return Case(
        claim=state["fact"]["self_contained"],
        task=task,
        queries=tuple(state["queries"]),
        evidence=tuple(Evidence.model_validate(item) for item in state["evidence"]),
        searches_left=max(0, searches_left),
        fruitless=tuple(state["fruitless"]),
    )


def settle(fact: PlacedFact, judgement: Judgement, state: FactState | None = None) -> PlacedClaim:
    """The claim with its judgement and what it was judged by: from `state`, what its search brought."""
    gathered: dict[str, Any] = {"evidence": fact["evidence"]}
    if state is not None:
        gathered = {
            "queries": state["queries"],
            "missing": state["missing"],
            "evidence": state["evidence"],
            "relevant": state["relevant"],
        }
    claim = Claim.model_validate(
        {
            "id": claim_id(fact["place"]),
            "sentence": fact["sentence"],
            "span": fact["span"],
            "text": fact["text"],
            "self_contained": fact["self_contained"],
            "relevant": fact["relevant"],
            **gathered,
            "judgement": judgement,
        }
    )
    return PlacedClaim(place=fact["place"], claim=claim.model_dump(mode="json"))


def repeated(fact: PlacedFact, of: ClaimDict) -> ClaimDict:
    """A claim that repeats another: it points there, and that judgement stands for both."""
    judgement = {**of["judgement"], "cited": []}
    own = settle({**fact, "evidence": []}, Judgement.model_validate(judgement))["claim"]
    return {**own, "duplicate_of": of["id"], "relevant": of["relevant"]}


def in_order(found: Sequence[PlacedFact], settled: Sequence[PlacedClaim], repeats: dict[str, str]) -> list[ClaimDict]:
    """One claim for every fact found, in the order of the response. Raises ValueError if one is missing."""
    judged = {item["claim"]["id"]: item["claim"] for item in settled}
    claims: list[ClaimDict] = []
    for fact in sorted(found, key=order):
        name = claim_id(fact["place"])
        if name in repeats:
            claims.append(repeated(fact, judged[repeats[name]]))
        elif name in judged:
            claims.append(judged[name])
        else:
            raise ValueError(f"claim {name} was found and never settled")
    return claims


def sentences_read(sentences: Sequence[SentenceState], found: Sequence[PlacedFact]) -> list[dict[str, Any]]:
    """The sentences to be read, in the order of the response, each with its claims or the reason why it has none."""
    ids: defaultdict[int, list[str]] = defaultdict(list)
    for fact in sorted(found, key=order):
        ids[fact["place"]["sentence"]].append(claim_id(fact["place"]))
    return [
        Sentence(
            span=(sentence["start"], sentence["end"]),
            claims=tuple(ids[sentence["number"]]),
            no_claim=None if ids[sentence["number"]] else _silence_reason(sentence),
        ).model_dump(mode="json")
        for sentence in sorted(sentences, key=lambda one: (one["start"], one["number"]))
    ]


def _silence_reason(sentence: SentenceState) -> NoClaim:
    """Why a sentence has no claim. One that was read should have had some, unless it is surely opinion or talk."""
    if sentence["silent"] is not None:
        return NoClaim(sentence["silent"])
    is_silent = not sentence["is_code"] and states_nothing(plain_text(sentence["text"]))
    return NoClaim.NO_STATEMENT if is_silent else NoClaim.NO_CLAIM
