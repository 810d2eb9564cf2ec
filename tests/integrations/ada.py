from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool

from factloop import FactChecker
from factloop.integrations.langchain import FactCheckRunnable

QUESTION = "Who was Ada Lovelace?"
TRUE = "Ada Lovelace was born in London."
WRONG = "Ada Lovelace was born on 10 December 1825."
"""The passage has another year."""
UNPROVEN = "Charles Babbage kept bees."
"""A search of the passage finds nothing on it."""
ANSWER = f"{TRUE} {WRONG}"
PASSAGE = "Ada Lovelace was born in London on 10 December 1815."
ADA = Document(PASSAGE, metadata={"source": "https://example.org/ada", "title": "Ada", "date": "2020"})
OTHER = Document("Charles Babbage designed the Analytical Engine.", metadata={"source": "babbage.txt"})
CALL: Any = {"name": "factcheck", "args": {"response": ANSWER, "question": QUESTION}, "id": "1", "type": "tool_call"}
ASKS: Any = {"messages": [HumanMessage(QUESTION)]}
ASKED: dict[str, Any] = {"question": QUESTION, "response": ANSWER, "documents": [OTHER, ADA]}


class Shelf(BaseRetriever):
    """Has the same documents for every query."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 - the base class has them
        return self.documents


@tool
def tell(query: str) -> str:  # noqa: ARG001 - a tool takes its query
    """Tells what it knows."""
    return PASSAGE


def offline(**settings: Any) -> FactCheckRunnable:
    return FactCheckRunnable(FactChecker(cache=False), **settings)


def verdicts(report: Any) -> list[str | None]:
    claims = report["claims"] if isinstance(report, dict) else report.model_dump(mode="json")["claims"]
    return [claim["judgement"]["verdict"] for claim in claims]
