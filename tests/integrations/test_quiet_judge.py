from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph import START, MessagesState, StateGraph

from factloop import FactChecker
from factloop.integrations.langchain import FactCheckMiddleware, FactCheckRunnable, build_factcheck_node, factcheck_tool
from factloop.tools.models.wire import TAGS
from tests.integrations.ada import ADA, ANSWER, ASKS, Shelf

VERDICT = '{"facts": [], "without_fact": [1, 2], "off_topic": []}'


def writes(text: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(text)] * 9))


def check() -> FactCheckRunnable:
    return FactCheckRunnable(FactChecker(writes(VERDICT), cache=False), retriever=Shelf(documents=[ADA]))


def agent() -> Any:
    return create_agent(writes(ANSWER), [], middleware=[FactCheckMiddleware(check(), documents=[ADA])])


def graph(step: Any) -> Any:
    async def answer(state: MessagesState) -> Any:
        return {"messages": [await writes(ANSWER).ainvoke(state["messages"])]}

    class State(MessagesState, total=False):
        report: dict[str, Any]

    built = StateGraph(State).add_node("answer", answer).add_node("check", step)
    return built.add_edge(START, "answer").add_edge("answer", "check").compile()


def by_runnable(state: Any) -> Any:
    return {"report": check().invoke({"response": state["messages"]}).model_dump(mode="json")}


async def by_tool(state: Any) -> Any:
    return {"report": {"said": await factcheck_tool(check()).ainvoke({"response": state["messages"][-1].text})}}


APPLICATIONS: dict[str, Any] = {
    "middleware": agent,
    "node": lambda: graph(build_factcheck_node(check(), response="messages", question="messages", documents=None)),
    "runnable": lambda: graph(RunnableLambda(by_runnable)),
    "tool": lambda: graph(by_tool),
}


@pytest.mark.parametrize("application", APPLICATIONS)
async def test_the_judge_is_not_heard_in_a_stream_of_messages(application: str) -> None:
    options: dict[str, Any] = {"stream_mode": "messages", "subgraphs": True}
    emitted = [one.text async for _, (one, _) in APPLICATIONS[application]().astream(ASKS, **options)]
    said = "".join(emitted)
    assert said.startswith(ANSWER)
    assert "off_topic" not in said
    also = [one.text for _, (one, _) in APPLICATIONS["middleware"]().stream(ASKS, **options)]
    assert "off_topic" not in "".join(also)


@pytest.mark.parametrize("application", APPLICATIONS)
async def test_in_a_stream_of_events_the_judge_writes_no_tokens_and_is_told_by_its_tag(application: str) -> None:
    events = [one async for one in APPLICATIONS[application]().astream_events(ASKS)]
    tokens = [one["data"]["chunk"].text for one in events if one["event"] == "on_chat_model_stream"]
    assert "".join(tokens) == ANSWER
    assert [one["name"] for one in events if "factloop" in one["tags"] and one["event"] == "on_chat_model_end"]
    kept = [one["name"] async for one in APPLICATIONS[application]().astream_events(ASKS, exclude_tags=["factloop"])]
    assert {"split", "read"}.isdisjoint(kept)
    assert TAG_NOSTREAM in TAGS
    assert sum(one == "GenericFakeChatModel" for one in kept) == ANSWER.count(" ") * 2 + 3
