"""The checker as a tool, as a node of a user's graph, and as the guard of an agent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from factloop import FactChecker, FactualityReport
from factloop.core.errors import DataError
from factloop.core.records import SourceDocument
from factloop.integrations.langchain import FactCheckMiddleware, build_factcheck_node, factcheck_tool
from factloop.integrations.langchain.inputs import brought_by
from factloop.integrations.langchain.middleware import BLOCKED, AnswerAction
from factloop.tools.search.base import SearchHit
from tests.integrations.ada import (
    ADA,
    ANSWER,
    ASKED,
    CALL,
    OTHER,
    PASSAGE,
    QUESTION,
    WRONG,
    Shelf,
    offline,
    verdicts,
)
from tests.integrations.scripted import ScriptedModel

RIGHT = ["supported", "not_supported"]


@tool(response_format="content_and_artifact")
def look_up(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001 - a tool takes its query
    """Looks something up."""
    return "one document", [ADA]


@tool
def tell(query: str) -> str:  # noqa: ARG001 - a tool takes its query
    """Tells what it knows."""
    return PASSAGE


def asks(name: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": {"query": "Ada"}, "id": "1"}])


def run_agent(guard: FactCheckMiddleware, *script: AIMessage, **more: Any) -> dict[str, Any]:
    agent: Any = create_agent(ScriptedModel(script=list(script)), [look_up, tell], middleware=[guard], **more)
    found: dict[str, Any] = agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"configurable": {"thread_id": "1"}})
    return found


async def test_a_tool_says_it_in_a_few_lines_and_hands_over_the_report() -> None:
    checking = factcheck_tool(offline(), documents=[PASSAGE])
    for message in (checking.invoke(CALL), await checking.ainvoke(CALL)):
        assert isinstance(message.artifact, FactualityReport)
        assert verdicts(message.artifact) == RIGHT
        assert message.artifact.prompt == QUESTION
        assert message.content.startswith("1 of 2 judged claims are supported by the sources.\n- ")
        assert WRONG in message.content


def test_a_tool_tells_the_agent_of_a_text_that_cannot_be_checked() -> None:
    message = factcheck_tool(offline(), documents=[PASSAGE]).invoke({**CALL, "args": {"response": "\ud83d"}})
    assert message.content.startswith("Not checked: response: half a character")
    assert message.artifact is None


class Plain(TypedDict, total=False):
    asked: str
    draft: str
    found: list[Any]
    check: dict[str, Any]


def plain_graph(saver: Any = None) -> Any:
    graph = StateGraph(Plain)
    node = build_factcheck_node(offline(), question="asked", response="draft", documents="found", report="check")
    graph.add_node("check", node)
    graph.add_edge(START, "check")
    graph.add_edge("check", END)
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_a_node_in_a_graph_with_keys_of_its_own_and_a_checkpointer(durability: Any) -> None:
    saver = InMemorySaver()
    graph = plain_graph(saver)
    state = {"asked": QUESTION, "draft": ANSWER, "found": [OTHER, ADA]}
    for number in range(2):
        config = {"configurable": {"thread_id": str(number)}}
        run = await graph.ainvoke(state, config, durability=durability)
        again = graph.invoke(state, config, durability=durability)
        assert verdicts(run["check"]) == verdicts(again["check"]) == RIGHT
        assert FactualityReport.model_validate(run["check"]).prompt == QUESTION
    kept = [item async for item in saver.alist(None)]
    assert {item.config["configurable"]["checkpoint_ns"] for item in kept} == {""}
    assert {item.config["configurable"]["thread_id"] for item in kept} == {"0", "1"}


async def test_the_bare_checker_in_a_node_keeps_out_of_its_checkpoints_too() -> None:
    saver = InMemorySaver()

    async def twice(state: Plain) -> Plain:
        async with FactChecker(search=Shelf(documents=[ADA]), cache=False) as checker:
            reports = await asyncio.gather(*(checker.acheck(state["draft"]) for _ in range(3)))
        return {"check": reports[0].model_dump(mode="json")}

    graph: Any = StateGraph(Plain).add_node("check", twice).add_edge(START, "check").compile(checkpointer=saver)
    found = await graph.ainvoke({"draft": ANSWER}, {"configurable": {"thread_id": "1"}})
    assert verdicts(found["check"]) == RIGHT
    assert {item.config["configurable"]["checkpoint_ns"] for item in saver.list(None)} == {""}


def test_a_node_reads_messages() -> None:
    node = build_factcheck_node(
        offline(retriever=Shelf(documents=[ADA])), response="messages", question="messages", documents=None
    )

    class Mine(MessagesState, total=False):
        report: dict[str, Any]

    graph: Any = StateGraph(Mine).add_node("check", node).add_edge(START, "check").compile()
    found = graph.invoke({"messages": [HumanMessage(QUESTION), AIMessage(ANSWER), HumanMessage("Sure?")]})
    asked = found["report"]["prompt"]
    assert (QUESTION in asked, asked.endswith("Sure?")) == (True, True)  # with the conversation before it
    assert verdicts(found["report"]) == RIGHT


@dataclass
class AsDataclass:
    response: str
    documents: list[Any] = field(default_factory=list)


class AsModel(BaseModel):
    response: str
    documents: list[Any] = []


@pytest.mark.parametrize("state", [AsDataclass(ANSWER, [ADA]), AsModel(response=ANSWER, documents=[ADA]), ASKED])
def test_a_node_reads_states_of_any_kind(state: Any) -> None:
    assert verdicts(build_factcheck_node(offline()).invoke(state)["report"]) == RIGHT


def test_a_state_without_an_answer_is_named() -> None:
    with pytest.raises(DataError, match="the state has no 'draft' to check"):
        plain_graph().invoke({"asked": QUESTION})


@pytest.mark.parametrize("source", ["look_up", "tell"])
@pytest.mark.parametrize("action", ["annotate", "block", "record"])
def test_an_agents_answer_is_held_against_what_its_tools_brought(source: str, action: AnswerAction) -> None:
    found = run_agent(FactCheckMiddleware(offline(), action=action), asks(source), AIMessage(ANSWER))
    said = found["messages"][-1].text
    assert len(found["messages"]) == 4
    assert verdicts(found["factcheck"]) == RIGHT
    assert found["factcheck"]["prompt"] == QUESTION
    match action:
        case "annotate":
            assert said.startswith(f"{ANSWER}\n\nFact check: 1 of 2 judged claims are supported")
        case "block":
            assert said == BLOCKED
        case "record":
            assert said == ANSWER


def test_an_answer_that_nothing_was_retrieved_for_is_blocked_and_small_talk_is_not() -> None:
    guard = FactCheckMiddleware(offline(), action="block", message="No.")
    assert run_agent(guard, AIMessage(ANSWER))["messages"][-1].text == "No."
    assert run_agent(guard, AIMessage("Could you tell me more?"))["messages"][-1].text == "Could you tell me more?"


async def test_an_agent_run_asynchronously_with_a_checkpointer() -> None:
    saver = InMemorySaver()
    script = [asks("look_up"), AIMessage(ANSWER), AIMessage("")]
    agent: Any = create_agent(
        ScriptedModel(script=script), [look_up, tell], middleware=[FactCheckMiddleware(offline())], checkpointer=saver
    )
    config = {"configurable": {"thread_id": "1"}}
    first = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]}, config)
    assert "Fact check:" in first["messages"][-1].text
    second = await agent.ainvoke({"messages": [HumanMessage("And?")]}, config)
    assert second["factcheck"]["response"] == ""  # the report on the answer before does not stand for it
    assert second["messages"][-1].text == "Fact check: the answer is empty, so nothing was checked."
    assert {item.config["configurable"]["checkpoint_ns"] for item in saver.list(None)} == {""}


def test_what_counts_as_retrieved() -> None:
    status: Literal["error"] = "error"
    report = offline().invoke(ASKED)
    said = SourceDocument(id="7", metadata={"page": 3})
    hit = SearchHit(source="s", title="t", passage="hit", document=said)
    messages = [
        ToolMessage("documents", tool_call_id="1", artifact=[ADA, OTHER]),
        ToolMessage("hits", tool_call_id="2", artifact=[hit]),
        ToolMessage("plain", tool_call_id="3", name="tell", artifact={"any": "thing"}),
        ToolMessage("broken", tool_call_id="4", status=status),
        ToolMessage("our own", tool_call_id="5", artifact=report),
    ]
    found = [document for message in messages for document in brought_by(message)]
    assert [document.page_content for document in found] == [PASSAGE, OTHER.page_content, "hit", "plain"]
    assert [document.metadata["source"] for document in found[2:]] == ["s", "tell"]
    assert (found[2].id, found[2].metadata["page"]) == ("7", 3)
