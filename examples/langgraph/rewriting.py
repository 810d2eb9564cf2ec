"""A LangGraph graph that checks what it wrote, and writes anew what did not hold.

    python examples/langgraph/rewriting.py                              # offline engine: no key, no network
    MODEL=openai:gpt-4o-mini python examples/langgraph/rewriting.py     # written and judged by a model

`retrieve` is a stand-in; put your retriever in its place. Without a model `write` has two drafts ready. QUESTION and
DOCS, a folder, take the place of the question and the documents.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from langchain.chat_models import init_chat_model
from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

from factloop import FactChecker, FactualityReport
from factloop.integrations.langchain import build_factcheck_node, has_unproven

MODEL = os.environ.get("MODEL")
DOCS = Path(os.environ.get("DOCS", Path(__file__).parents[1] / "lighthouse" / "sources"))
QUESTION = os.environ.get("QUESTION", "When was Smeaton's Tower lit, and how long was it in use?")
DRAFTS = (
    "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887.",
    "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1877.",
)
MOST_DRAFTS = 2


class State(TypedDict):
    question: str
    documents: NotRequired[list[Document]]
    response: NotRequired[str]
    report: NotRequired[dict[str, Any]]
    n_drafts: NotRequired[int]


def retrieve(state: State) -> dict[str, object]:  # noqa: ARG001 - yours: retriever.invoke(state["question"])
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.iterdir())}
    return {"documents": [Document(text, metadata={"source": name}) for name, text in texts.items()]}


def failing(state: State) -> list[str]:
    """The claims of the last draft that did not hold, or were not checked."""
    if "report" not in state:
        return []
    claims = FactualityReport.model_validate(state["report"]).claims
    return [claim.self_contained for claim in claims if claim.judgement.verdict != "supported"]


def write(state: State) -> dict[str, object]:
    n_drafts = state.get("n_drafts", 0)
    if MODEL is None:
        return {"response": DRAFTS[n_drafts], "n_drafts": n_drafts + 1}
    documents = "\n\n".join(document.page_content for document in state.get("documents", []))
    asked = [("system", f"Answer from these documents.\n\n{documents}"), ("user", state["question"])]
    if wrong := failing(state):
        asked.append(("user", "The documents do not bear this out; leave it out or mend it:\n" + "\n".join(wrong)))
    return {"response": init_chat_model(MODEL).invoke(asked).text, "n_drafts": n_drafts + 1}


def next_step(state: State) -> str:
    report = FactualityReport.model_validate(state.get("report"))
    for claim in report.claims:
        verdict = claim.judgement.verdict or claim.judgement.unscored_reason
        print(f"draft {state.get('n_drafts')}: {verdict}: {claim.self_contained}")  # noqa: T201 - what the example shows
    return "write" if has_unproven(report) and state.get("n_drafts", 0) < MOST_DRAFTS else END


if __name__ == "__main__":
    builder = StateGraph(State)
    builder.add_node("retrieve", retrieve)
    builder.add_node("write", write)
    builder.add_node("factcheck", build_factcheck_node(FactChecker(MODEL)))
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "write")
    builder.add_edge("write", "factcheck")
    builder.add_conditional_edges("factcheck", next_step, ["write", END])
    done = builder.compile().invoke({"question": QUESTION})
    print(done["response"])  # noqa: T201
