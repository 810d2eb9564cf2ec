"""The TrustScore agent as LangGraph state machines: one for each kind of consistency, and one that combines them.

    answer ─┬─▶ consistency ─┬─▶ combine
            └─▶ factual ─────┘

`answer` asks the subject for a response if none is supplied. TrustBC is unscored (`no_source`) if there is no subject,
and TrustFC if there is no search tool.

TrustBC (paper, section 2.1): does the subject stick to its response?

    distract ─▶ ask ─▶ decide ─▶ conclude
                 ▲        │
                 └────────┘

All questions are planned first, and their answers count in the planned order. Up to `window` of them are asked
concurrently. A wider window may ask more questions than the score requires, but the result is the same.

TrustFC (appendix A.5.2): do documents support the answer?

    retrieve ─▶ entail
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Mapping, Sequence
from typing import Literal, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.nodes import Node, Update
from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.choices import DISTRACTORS_A_CHECK, plan_checks
from factloop.agents.trustscore.records import (
    NOT_ANSWERED,
    ConsistencyCheck,
    DistractorSet,
    Option,
    Relation,
    TrustBC,
    TrustFC,
    TrustOV,
)
from factloop.agents.trustscore.stages import Distract, Judge, Subject
from factloop.agents.trustscore.state import (
    ConsistencyInput,
    ConsistencyOutput,
    ConsistencyState,
    FactualInput,
    FactualOutput,
    FactualState,
    Graph,
    TrustContext,
    TrustInput,
    TrustOutput,
    TrustState,
)
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Evidence, UnscoredReason
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.search.gateway import SearchAnswer, SearchGateway

ANSWER, CONSISTENCY, FACTUAL, COMBINE = "answer", "consistency", "factual", "combine"
DISTRACT, ASK, CONCLUDE = "distract", "ask", "conclude"
RETRIEVE, ENTAIL = "retrieve", "entail"
SEARCH = "search"
"""Name of TrustFC's search stage in usage reports."""
NO_SUBJECT, NO_CORPUS = "No subject model was given.", "No corpus was given."
LEAST_MASS = 0.5
"""Minimum total probability of the five letters for a graded score."""
LONGEST_SHOWN_REPLY = 2_000
FACTUAL_VALUE: Mapping[Relation, float] = {Relation.SUPPORT: 1.0, Relation.NEUTRAL: 0.5, Relation.CONTRADICT: 0.0}
"""TrustFC as a number. The paper correlates it with human labels without saying which numbers it used."""
OVERALL: Mapping[tuple[Literal[0, 1], Relation], float] = {
    (1, Relation.SUPPORT): 1.0,
    (0, Relation.SUPPORT): 0.8,
    (1, Relation.NEUTRAL): 0.6,
    (0, Relation.NEUTRAL): 0.4,
    (1, Relation.CONTRADICT): 0.2,
    (0, Relation.CONTRADICT): 0.0,
}
"""TrustOV for each pair of TrustBC and TrustFC (appendix A.5.3, table 3)."""
Outcome = TypeVar("Outcome")


def build_trust_graph(*, subject: Subject | None, consistency: Graph | None, factual: Graph, max_checks: int) -> Graph:
    """Builds the graph that takes `{question, response}` and returns three scores. All answers in a run share it."""

    async def answer(state: TrustState, runtime: Runtime[TrustContext]) -> Update:
        if state.get("response") is not None:
            return {"answered_by": None, "unanswered": False}
        if subject is None:
            raise ConfigError("there is no response to score; supply one, or a subject model (`--subject-model`)")
        response = await _tried(subject.answer(state["question"], meter=_meter_of(runtime)))
        if not isinstance(response, FactloopError):
            return {"response": response, "answered_by": subject.name, "unanswered": False}
        reason, said = reason_of(response), f"{NOT_ANSWERED}: {response}"
        return {
            "response": "",
            "answered_by": subject.name,
            "unanswered": True,
            "trust_bc": TrustBC(unscored_reason=reason, rationale=said, max_checks=max_checks, n_planned=0),
            "trust_fc": TrustFC(unscored_reason=reason, rationale=said),
        }

    async def without_subject(state: TrustState) -> Update:  # noqa: ARG001 - nothing to read
        reason = UnscoredReason.NO_SOURCE
        return {"trust_bc": TrustBC(unscored_reason=reason, rationale=NO_SUBJECT, max_checks=max_checks, n_planned=0)}

    async def parts(state: TrustState) -> list[str] | str:
        return COMBINE if state["unanswered"] else [CONSISTENCY, FACTUAL]

    async def combine(state: TrustState) -> Update:
        return {"trust_ov": overall(state["trust_bc"], state["trust_fc"])}

    graph = StateGraph(TrustState, context_schema=TrustContext, input_schema=TrustInput, output_schema=TrustOutput)
    graph.add_node(ANSWER, answer)
    if consistency is None:
        graph.add_node(CONSISTENCY, without_subject)
    else:
        graph.add_node(CONSISTENCY, consistency)
    graph.add_node(FACTUAL, factual)
    graph.add_node(COMBINE, combine)
    graph.add_edge(START, ANSWER)
    graph.add_conditional_edges(ANSWER, parts, [CONSISTENCY, FACTUAL, COMBINE])
    graph.add_edge(CONSISTENCY, COMBINE)
    graph.add_edge(FACTUAL, COMBINE)
    graph.add_edge(COMBINE, END)
    return graph.compile(name="trustscore")


def overall(consistency: TrustBC, factual: TrustFC) -> TrustOV:
    if consistency.value is not None and factual.relation is not None:
        return TrustOV(value=OVERALL[consistency.value, factual.relation])
    missing: dict[str, list[str]] = {}
    for name, part in (("TrustBC", consistency), ("TrustFC", factual)):
        if part.unscored_reason is not None:
            missing.setdefault(part.rationale or part.unscored_reason, []).append(name)
    return TrustOV(missing=" and ".join(f"{' and '.join(names)} ({why})" for why, names in missing.items()))


async def _tried(call: Awaitable[Outcome]) -> Outcome | FactloopError:
    """Returns the result of a call, or its error. Raises ConfigError."""
    try:
        return await call
    except ConfigError:
        raise
    except FactloopError as error:
        return error


def _meter_of(runtime: Runtime[TrustContext]) -> UsageMeter:
    return runtime.context.meter if runtime.context else UsageMeter()


def build_consistency_graph(subject: Subject, distract: Distract, *, max_checks: int, window: int, seed: int) -> Graph:
    """Builds the graph that takes `{question, response}` and returns `{trust_bc}`. All answers in a run share it."""

    async def plan(state: ConsistencyState, runtime: Runtime[TrustContext]) -> Update:
        question, response = state["question"], state["response"]
        references = state.get("references", ())
        found = await distract(question, response, references=references, meter=_meter_of(runtime))
        rng = random.Random(f"{seed}\n{question}\n{response}\nchecks")
        texts = [item.text for item in found.distractors]
        planned = plan_checks(response, texts, max_checks=max_checks, rng=rng)
        return {"distractor_set": found, "planned": planned, "asked": []}

    async def ask(state: ConsistencyState, runtime: Runtime[TrustContext]) -> Update:
        done = len(state["asked"])
        batch = enumerate(state["planned"][done : done + window], start=done + 1)
        fresh = await together(_ask_one(subject, state, *each, _meter_of(runtime)) for each in batch)
        return {"asked": [*state["asked"], *fresh]}

    async def decide(state: ConsistencyState) -> str:
        is_over = len(state["asked"]) == len(state["planned"]) or any(one.consistent is False for one in state["asked"])
        return CONCLUDE if is_over else ASK

    async def conclude(state: ConsistencyState) -> Update:
        n_planned = len(state["planned"])
        return {"trust_bc": conclusion(state["distractor_set"], state["asked"], n_planned, max_checks)}

    graph = StateGraph(
        ConsistencyState, context_schema=TrustContext, input_schema=ConsistencyInput, output_schema=ConsistencyOutput
    )
    graph.add_node(DISTRACT, plan)
    graph.add_node(ASK, ask)
    graph.add_node(CONCLUDE, conclude)
    graph.add_edge(START, DISTRACT)
    graph.add_conditional_edges(DISTRACT, decide, [ASK, CONCLUDE])
    graph.add_conditional_edges(ASK, decide, [ASK, CONCLUDE])
    graph.add_edge(CONCLUDE, END)
    return graph.compile(name="trust_bc")


async def _ask_one(
    subject: Subject, state: ConsistencyState, number: int, options: tuple[Option, ...], meter: UsageMeter
) -> ConsistencyCheck:
    is_statement = state.get("statements", False)
    choice = await _tried(subject.choose(state["question"], options, statements=is_statement, meter=meter))
    if isinstance(choice, FactloopError):
        reply = str(getattr(choice, "reply", "") or choice)[:LONGEST_SHOWN_REPLY]
        return ConsistencyCheck(number=number, options=options, unscored_reason=reason_of(choice), reply=reply)
    return ConsistencyCheck(
        number=number, options=options, chosen=choice.letter, letter_probabilities=choice.probabilities
    )


def conclusion(found: DistractorSet, checks: Sequence[ConsistencyCheck], n_planned: int, max_checks: int) -> TrustBC:
    """Computes TrustBC from the checks, given in the planned order.

    The value is 0 if any choice is inconsistent. Otherwise, TrustBC is unscored if there are no checks or any of them
    has no choice. In all other cases, the value is 1.
    """
    end = next((check.number for check in checks if check.consistent is False), len(checks))
    valid = checks[:end]
    failed = [check for check in valid if check.chosen is None]
    n_inconsistent = sum(check.consistent is False for check in valid)
    value: Literal[0, 1] | None = None
    reason, notes = None, list(found.notes)
    if n_inconsistent:
        value, rationale = 0, f"Another option was chosen in check {end}."
    elif not valid:
        reason = UnscoredReason.TOO_FEW_DISTRACTORS
        rationale = f"Too few distractors ({len(found.distractors)}) were made: a question needs {DISTRACTORS_A_CHECK}."
    elif failed:
        reason, rationale = failed[0].unscored_reason, f"No choice in check {failed[0].number}: {failed[0].reply}"
    else:
        value, rationale = 1, f"The response was chosen in every check ({len(valid)})."
    if 0 < n_planned < max_checks:
        notes.append(
            f"Checks: {n_planned} instead of {max_checks}, because only {len(found.distractors)} distractors of the "
            "answer's kind were found. Fewer checks are better than options that give the answer away."
        )
    mass, graded = _mean_probabilities(valid)
    return TrustBC(
        value=value,
        unscored_reason=reason,
        rationale=rationale,
        graded=graded if mass is not None and mass >= LEAST_MASS else None,
        letters_mass=mass,
        max_checks=max_checks,
        n_planned=n_planned,
        n_asked=len(checks),
        n_consistent=sum(check.consistent is True for check in valid),
        n_inconsistent=n_inconsistent,
        n_unscored=len(failed),
        checks=tuple(check.model_copy(update={"counted": check.number <= end}) for check in checks),
        distractors=found.distractors,
        notes=tuple(notes),
    )


def _mean_probabilities(valid: Sequence[ConsistencyCheck]) -> tuple[float | None, float | None]:
    shares = [check.letter_probabilities for check in valid if check.letter_probabilities is not None]
    if not valid or len(shares) < len(valid):
        return None, None
    mass = sum(min(sum(each.values()), 1.0) for each in shares)
    own = sum(each.get(check.response_letter, 0.0) for each, check in zip(shares, valid, strict=True))
    return mass / len(valid), own / len(valid)


def build_factual_graph(searching: SearchGateway, judge: Judge) -> Graph:
    """Builds the graph that takes `{question, response}` and returns `{trust_fc}`. All answers in a run share it.

    TrustFC uses the first tool of `searching`, or of the search in the answer's context if that is set.
    """

    async def to_entail(state: FactualState) -> str:
        return ENTAIL if state["passages"] else END

    graph = StateGraph(
        FactualState, context_schema=TrustContext, input_schema=FactualInput, output_schema=FactualOutput
    )
    graph.add_node(RETRIEVE, _build_retrieve(searching))
    graph.add_node(ENTAIL, _build_entail(judge))
    graph.add_edge(START, RETRIEVE)
    graph.add_conditional_edges(RETRIEVE, to_entail, [ENTAIL, END])
    graph.add_edge(ENTAIL, END)
    return graph.compile(name="trust_fc")


def retrieval_query(question: str, answer: str) -> str:
    """Returns the query from appendix A.5.2, which a retriever treats as a bag of words."""
    return f'"{answer}" correctly answers the question of "{question}"'


def _build_retrieve(own: SearchGateway) -> Node[FactualState, TrustContext]:
    async def retrieve(state: FactualState, runtime: Runtime[TrustContext]) -> Update:
        query, given = retrieval_query(state["question"], state["response"]), runtime.context
        searching = given.searching if given and given.searching is not None else own
        if not searching.tools:
            return _done(TrustFC(unscored_reason=UnscoredReason.NO_SOURCE, rationale=NO_CORPUS))
        found = await _tried(searching.search(searching.tools[0], query, stage=SEARCH, meter=_meter_of(runtime)))
        if isinstance(found, FactloopError):
            return _done(_unscored(found, query))
        if not found.hits:
            nothing = "The corpus search found no passages."
            neutral = Relation.NEUTRAL
            return _done(TrustFC(relation=neutral, value=FACTUAL_VALUE[neutral], rationale=nothing, query=query))
        return {"query": query, "passages": _evidence(found)}

    return retrieve


def _build_entail(judge: Judge) -> Node[FactualState, TrustContext]:
    async def entail(state: FactualState, runtime: Runtime[TrustContext]) -> Update:
        passages, query = tuple(state["passages"]), state["query"]
        finding = await _tried(judge.judge(state["question"], state["response"], passages, meter=_meter_of(runtime)))
        if isinstance(finding, FactloopError):
            return {"trust_fc": _unscored(finding, query, passages)}
        relation = finding.relation
        result = TrustFC(
            relation=relation,
            value=None if relation is None else FACTUAL_VALUE[relation],
            unscored_reason=UnscoredReason.NEEDS_READING if relation is None else None,
            rationale=finding.rationale,
            query=query,
            passages=passages,
            cited=tuple(passages[place].id for place in finding.cited),
            judged_by=judge.name,
        )
        return {"trust_fc": result}

    return entail


def _done(result: TrustFC) -> Update:
    return {"trust_fc": result, "passages": ()}


def _unscored(error: FactloopError, query: str, passages: tuple[Evidence, ...] = ()) -> TrustFC:
    return TrustFC(unscored_reason=reason_of(error), rationale=str(error), query=query, passages=passages)


def _evidence(found: SearchAnswer) -> list[Evidence]:
    return [
        Evidence(**dict(hit), id=f"p{rank}", query=found.query, rank=rank, retrieved_at=found.retrieved_at)
        for rank, hit in enumerate(found.hits, 1)
    ]
