"""An agent whose answer streams sentence by sentence, each once it is checked: `python examples/rag/streamed.py`.

It needs no key and no network. The model and what the tool finds are stand-ins; put yours in their place, and a model
into `FactChecker()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.tools import tool

from factloop import FactChecker
from factloop.integrations.langchain import FactCheckStreamGuard

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"
CALL = {"id": "1", "index": 0, "function": {"name": "search", "arguments": '{"query": "Smeaton"}'}}
ANSWER = "Smeaton's Tower was lit on 16 October 1759. Smeaton's Tower remained in use until 1887."
SCRIPT = [AIMessage("Let me look that up.", additional_kwargs={"tool_calls": [CALL]}), AIMessage(ANSWER)]


class FakeModel(GenericFakeChatModel):
    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - it calls a tool anyway
        return self


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001 - yours: retriever.invoke(query)
    """Searches the documents."""
    found = [Document(path.read_text("utf-8"), metadata={"source": path.name}) for path in SOURCES.glob("*.*")]
    return "\n\n".join(one.page_content for one in found), found


agent: Any = create_agent(FakeModel(messages=iter(SCRIPT)), [search])


def answered(question: str) -> Iterator[dict[str, Any]]:
    """What the guard needs, as it comes: the question, the answer token by token, and what each search found."""
    yield {"question": question}
    for message, _ in agent.stream({"messages": [("user", question)]}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):
            yield {"response": message}
        elif isinstance(message, ToolMessage):
            yield {"documents": message.artifact}


guard = FactCheckStreamGuard(FactChecker(), "replace")

if __name__ == "__main__":
    for text in guard.transform(answered("When was Smeaton's Tower lit, and how long was it in use?")):
        print(text, end="")  # noqa: T201 - this is what the example shows
