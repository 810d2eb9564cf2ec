"""TrustFC as a LangGraph state machine (paper, appendix A.5.2): do documents support the answer?

retrieve ─▶ entail

Without anything to search it is unscored: `no_source`.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.nodes import CallingNode, Graph, Update, meter_of, searching_of
from factloop.agents.trustscore.overall import FACTUAL_VALUE
from factloop.agents.trustscore.records import Relation, TrustFC
from factloop.agents.trustscore.stages import Judge, PassageJudgement, TrustContext
from factloop.agents.trustscore.state import FactualInput, FactualOutput, FactualState
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Evidence, UnscoredReason
from factloop.tools.search.gateway import SearchAnswer, SearchGateway

RETRIEVE, ENTAIL = "retrieve", "entail"
SEARCH = "search"
"""Name of the stage in the account of a run."""
NO_CORPUS = "No corpus was given."


def build_factual_graph(searching: SearchGateway, judge: Judge) -> Graph:
    """The compiled graph from `{question, response}` to `{trust_fc}`. One for all answers of a run.

    It searches the first tool of `searching`, or of what the answer's context has in its place.
    """
    graph = StateGraph(
        FactualState, context_schema=TrustContext, input_schema=FactualInput, output_schema=FactualOutput
    )
    graph.add_node(RETRIEVE, _build_retrieve(searching))
    graph.add_node(ENTAIL, _build_entail(judge))
    graph.add_edge(START, RETRIEVE)
    graph.add_conditional_edges(RETRIEVE, _to_entail, [ENTAIL, END])
    graph.add_edge(ENTAIL, END)
    return graph.compile(name="trust_fc")


def retrieval_query(question: str, answer: str) -> str:
    """The query of appendix A.5.2, which the retriever takes for a bag of words."""
    return f'"{answer}" correctly answers the question of "{question}"'


async def _to_entail(state: FactualState) -> str:
    return ENTAIL if state["passages"] else END


def _build_retrieve(searching: SearchGateway) -> CallingNode[FactualState]:
    async def retrieve(state: FactualState, *, runtime: Runtime[TrustContext]) -> Update:
        query, searched = retrieval_query(state["question"], state["response"]), searching_of(runtime, searching)
        if not searched.tools:
            absent = TrustFC(unscored_reason=UnscoredReason.NO_SOURCE, rationale=NO_CORPUS)
            return {**_done(absent), "passages": []}
        try:
            found = await searched.search(searched.tools[0], query, stage=SEARCH, meter=meter_of(runtime))
        except ConfigError:
            raise
        except FactloopError as error:
            return {**_unscored(error, query), "passages": []}
        if not found.hits:
            nothing = TrustFC(
                relation=Relation.NEUTRAL,
                value=FACTUAL_VALUE[Relation.NEUTRAL],
                rationale="The corpus was searched, and no passage was found.",
                query=query,
            )
            return {**_done(nothing), "passages": []}
        return {"query": query, "passages": [item.model_dump(mode="json") for item in _evidence(found)]}

    return retrieve


def _build_entail(judge: Judge) -> CallingNode[FactualState]:
    async def entail(state: FactualState, *, runtime: Runtime[TrustContext]) -> Update:
        passages = tuple(Evidence.model_validate(item) for item in state["passages"])
        try:
            finding = await judge.judge(state["question"], state["response"], passages, meter=meter_of(runtime))
        except ConfigError:
            raise
        except FactloopError as error:
            return _unscored(error, state["query"], passages)
        return _done(_judged(finding, state["query"], passages, judge.name))

    return entail


def _judged(finding: PassageJudgement, query: str, passages: tuple[Evidence, ...], judged_by: str) -> TrustFC:
    return TrustFC(
        relation=finding.relation,
        value=FACTUAL_VALUE[finding.relation],
        rationale=finding.rationale,
        query=query,
        passages=passages,
        cited=tuple(passages[place].id for place in finding.cited),
        judged_by=judged_by,
    )


def _unscored(error: FactloopError, query: str, passages: tuple[Evidence, ...] = ()) -> Update:
    return _done(TrustFC(unscored_reason=reason_of(error), rationale=str(error), query=query, passages=passages))


def _done(result: TrustFC) -> Update:
    return {"trust_fc": result.model_dump(mode="json")}


def _evidence(found: SearchAnswer) -> list[Evidence]:
    return [
        Evidence(
            id=f"p{rank}",
            source=hit.source,
            title=hit.title,
            section=hit.section,
            passage=hit.passage,
            query=found.query,
            rank=rank,
            published=hit.published,
            retrieved_at=found.retrieved_at,
        )
        for rank, hit in enumerate(found.hits, 1)
    ]
