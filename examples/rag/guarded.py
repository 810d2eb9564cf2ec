"""A RAG chain with a guard: `python examples/rag/guarded.py` from the top folder. Needs no key and no network.

The retriever and the model are stand-ins of one line each; put yours in their place, and a model into `FactChecker()`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnablePassthrough

from factloop import FactChecker
from factloop.integrations.langchain import FactCheckRunnable

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"


def retrieve(asked: dict[str, Any]) -> list[Document]:  # noqa: ARG001 - yours: retriever.invoke(asked["question"])
    return [Document(path.read_text(encoding="utf-8"), metadata={"source": path.name}) for path in SOURCES.glob("*.*")]


def write(asked: dict[str, Any]) -> str:  # noqa: ARG001 - yours: (prompt | model).invoke(asked)
    return "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887."


chain: Runnable[Any, Any] = RunnablePassthrough.assign(documents=retrieve) | RunnablePassthrough.assign(response=write)
guarded = chain | RunnablePassthrough.assign(report=FactCheckRunnable(FactChecker()))  # the line to add

if __name__ == "__main__":
    result = guarded.invoke({"question": "When was Smeaton's Tower lit, and how long was it in use?"})
    for claim in result["report"].claims:
        sources = sorted({item.source for item in claim.evidence if item.id in claim.judgement.cited})
        verdict = claim.judgement.verdict or claim.judgement.unscored_reason
        print(f"{verdict}: {claim.self_contained} {sources}")  # noqa: T201 - this is what the example shows
