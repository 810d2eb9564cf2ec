"""An agent whose answer streams sentence by sentence, each once it is checked: `python examples/rag/streamed.py`.

It needs no key and no network. The retriever and the model are stand-ins; put yours in their place, and a model into
`FactChecker()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk

from factloop import FactChecker
from factloop.guarding import GuardEvent
from factloop.integrations.langchain import FactCheckStreamGuard

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"
ANSWER = "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887."
agent: Any = create_agent(GenericFakeChatModel(messages=iter([AIMessage(ANSWER)])))


def retrieve(question: str) -> list[Document]:  # noqa: ARG001 - yours: retriever.invoke(question)
    return [Document(path.read_text(encoding="utf-8"), metadata={"source": path.name}) for path in SOURCES.glob("*.*")]


def answered(question: str) -> Iterator[dict[str, Any]]:
    """What the guard needs, as it comes: first the question and the documents, then the answer token by token."""
    yield {"question": question, "documents": retrieve(question)}
    for message, _ in agent.stream({"messages": [("user", question)]}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            yield {"response": message}


def log(event: GuardEvent) -> None:
    if event.type == "sentence_guarded" and event.treatment != "passed":
        print(f"({event.treatment}: {', '.join(event.findings)})")  # noqa: T201 - this is what the example shows


guard = FactCheckStreamGuard(FactChecker(), "replace", on_event=log)

if __name__ == "__main__":
    for text in guard.transform(answered("When was Smeaton's Tower lit, and how long was it in use?")):
        print(text)  # noqa: T201 - this is what the example shows
