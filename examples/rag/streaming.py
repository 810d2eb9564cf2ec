"""A RAG chain that streams, and lets no sentence out unchecked: `python examples/rag/streaming.py`. Needs no key.

The retriever and the model are stand-ins; put yours in their place, and a model into `FactChecker()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableGenerator, RunnablePassthrough

from factloop import FactChecker
from factloop.guarding import GuardEvent, GuardFinished
from factloop.integrations.langchain import FactCheckRunnable, FactCheckStreamGuard

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"
ANSWER = (
    "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887. "
    "The present tower was lit in 1882."
)


def retrieve(asked: dict[str, Any]) -> list[Document]:  # noqa: ARG001 - yours: retriever.invoke(asked["question"])
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.*"))}
    return [Document(text, metadata={"source": name}) for name, text in texts.items()]


def write(asked: Iterator[Any]) -> Iterator[str]:
    """Yours: `prompt | model | StrOutputParser()`."""
    for _ in asked:  # a chain hands over what came before, perhaps in pieces
        pass
    yield from (ANSWER[start : start + 7] for start in range(0, len(ANSWER), 7))


def show(event: GuardEvent) -> None:
    if isinstance(event, GuardFinished):
        counts = event.report.counts
        print(f"\n({counts.supported} of {counts.scored} claims supported)")  # noqa: T201


chain: Runnable[Any, Any] = RunnablePassthrough.assign(documents=retrieve) | RunnablePassthrough.assign(
    response=RunnableGenerator(write)
)
guarded = chain | FactCheckStreamGuard(FactCheckRunnable(FactChecker()), "annotate", on_event=show)  # what is added

if __name__ == "__main__":
    for text in guarded.stream({"question": "When was Smeaton's Tower lit, and how long was it in use?"}):
        print(text, end="", flush=True)  # noqa: T201 - this is what the example shows
