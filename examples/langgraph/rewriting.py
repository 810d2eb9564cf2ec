"""A LangGraph graph that checks what it wrote, and writes anew what did not hold.

    python examples/langgraph/rewriting.py                              # offline engine: no key, no network
    MODEL=openai:gpt-4o-mini python examples/langgraph/rewriting.py     # judged by a model

`retrieve` and `write` are stand-ins; put your retriever and your model in their place. The node is the checker.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

from factloop import FactChecker, FactualityReport, Verdict
from factloop.integrations.langchain import FactCheckRunnable, build_factcheck_node

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"
DRAFTS = (
    "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887.",
    "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1877.",
)
MOST_DRAFTS = len(DRAFTS)


class State(TypedDict):
    question: str
    documents: NotRequired[list[Document]]
    response: NotRequired[str]
    report: NotRequired[dict[str, Any]]
    n_drafts: NotRequired[int]


def retrieve(state: State) -> dict[str, Any]:  # noqa: ARG001 - yours: retriever.invoke(state["question"])
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.*"))}
    return {"documents": [Document(text, metadata={"source": name}) for name, text in texts.items()]}


def write(state: State) -> dict[str, Any]:
    """Yours: a model that is told the question, the documents, and which claims of the last draft did not hold."""
    n_drafts = state.get("n_drafts", 0)
    return {"response": DRAFTS[n_drafts], "n_drafts": n_drafts + 1}


def holds(state: State) -> str:
    report = FactualityReport.model_validate(state["report"])
    for claim in report.claims:
        verdict = claim.judgement.verdict or claim.judgement.unscored_reason
        print(f"draft {state['n_drafts']}: {verdict}: {claim.self_contained}")  # noqa: T201 - what the example shows
    all_hold = all(claim.judgement.verdict is Verdict.SUPPORTED for claim in report.claims)
    return END if all_hold or state["n_drafts"] == MOST_DRAFTS else "write"


def build_graph(checker: FactChecker) -> Any:
    graph = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("write", write)
    graph.add_node("factcheck", build_factcheck_node(FactCheckRunnable(checker)))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "write")
    graph.add_edge("write", "factcheck")
    graph.add_conditional_edges("factcheck", holds, ["write", END])
    return graph.compile()


if __name__ == "__main__":
    graph = build_graph(FactChecker(os.environ.get("MODEL")))
    done = graph.invoke({"question": "When was Smeaton's Tower lit, and how long was it in use?"})
    print(done["response"])  # noqa: T201
