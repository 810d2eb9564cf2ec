"""The TrustScore agent: both consistencies of one answer side by side, and the two together.

    answer ─┬─▶ consistency ─┬─▶ combine
            └─▶ factual ─────┘

`answer` asks the subject for its response first, where none is given. Without a subject TrustBC is unscored:
`no_source`.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.nodes import AsyncNode, CallingNode, Graph, Update, meter_of
from factloop.agents.trustscore.overall import overall
from factloop.agents.trustscore.records import NOT_ANSWERED, TrustBC, TrustFC
from factloop.agents.trustscore.stages import Subject, TrustContext
from factloop.agents.trustscore.state import TrustInput, TrustOutput, TrustState
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import UnscoredReason

ANSWER, CONSISTENCY, FACTUAL, COMBINE = "answer", "consistency", "factual", "combine"
NO_SUBJECT = "No subject model was given."


def build_trust_graph(*, subject: Subject | None, consistency: Graph | None, factual: Graph, max_checks: int) -> Graph:
    """The compiled graph from `{question, response}` to the three scores. One for all answers of a run."""
    graph = StateGraph(TrustState, context_schema=TrustContext, input_schema=TrustInput, output_schema=TrustOutput)
    graph.add_node(ANSWER, _build_answer(subject, max_checks))
    if consistency is not None:
        graph.add_node(CONSISTENCY, consistency)
    else:
        graph.add_node(CONSISTENCY, _build_absent_consistency(max_checks))
    graph.add_node(FACTUAL, factual)
    graph.add_node(COMBINE, _combine)
    graph.add_edge(START, ANSWER)
    graph.add_conditional_edges(ANSWER, _to_parts, [CONSISTENCY, FACTUAL, COMBINE])
    graph.add_edge(CONSISTENCY, COMBINE)
    graph.add_edge(FACTUAL, COMBINE)
    graph.add_edge(COMBINE, END)
    return graph.compile(name="trustscore")


async def _to_parts(state: TrustState) -> list[str] | str:
    return COMBINE if state["unanswered"] else [CONSISTENCY, FACTUAL]


def _build_answer(subject: Subject | None, max_checks: int) -> CallingNode[TrustState]:
    async def answer(state: TrustState, *, runtime: Runtime[TrustContext]) -> Update:
        if state.get("response") is not None:
            return {"answered_by": None, "unanswered": False}
        if subject is None:
            raise ConfigError("there is no response, and no subject model to ask for one (--subject-model)")
        try:
            response = await subject.answer(state["question"], meter=meter_of(runtime))
        except ConfigError:
            raise
        except FactloopError as error:
            reason, said = reason_of(error), f"{NOT_ANSWERED}: {error}"
            consistency = TrustBC(unscored_reason=reason, rationale=said, max_checks=max_checks, n_planned=0)
            factual = TrustFC(unscored_reason=reason, rationale=said)
            return {
                "response": "",
                "answered_by": subject.name,
                "unanswered": True,
                "trust_bc": consistency.model_dump(mode="json"),
                "trust_fc": factual.model_dump(mode="json"),
            }
        return {"response": response, "answered_by": subject.name, "unanswered": False}

    return answer


def _build_absent_consistency(max_checks: int) -> AsyncNode[TrustState]:
    absent = TrustBC(
        unscored_reason=UnscoredReason.NO_SOURCE, rationale=NO_SUBJECT, max_checks=max_checks, n_planned=0
    ).model_dump(mode="json")

    async def absent_consistency(state: TrustState) -> Update:  # noqa: ARG001 - nothing to look at
        return {"trust_bc": absent}

    return absent_consistency


async def _combine(state: TrustState) -> Update:
    return {"trust_ov": overall(state["trust_bc"], state["trust_fc"]).model_dump(mode="json")}
