from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from factloop import FactChecker, FactualityReport
from factloop.core.errors import DataError
from factloop.core.records import SourceDocument
from factloop.core.report_warnings import failures
from factloop.integrations.langchain import (
    FactCheckMiddleware,
    FactCheckRunnable,
    FactCheckStreamGuard,
    build_factcheck_node,
    factcheck_tool,
    has_unproven,
    is_revision_request,
)
from factloop.integrations.langchain.inputs import brought_by
from factloop.integrations.langchain.middleware import BLOCKED, BLOCKED_EMPTY, AnswerAction
from factloop.tools.search.base import SearchHit
from tests.correction.reports import report_of
from tests.integrations.ada import (
    ADA,
    ANSWER,
    ASKED,
    ASKS,
    CALL,
    OTHER,
    PASSAGE,
    QUESTION,
    TRUE,
    WRONG,
    Shelf,
    offline,
    tell,
    verdicts,
)
from tests.integrations.scripted import ScriptedModel

RIGHT = ["supported", "not_supported"]


@tool(response_format="content_and_artifact")
def look_up(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001 - a tool takes its query
    """Looks something up."""
    return "one document", [ADA]


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
        assert message.content.startswith("2 claims (1 supported, 1 contradicted).\n- ")
        assert WRONG in message.content


def test_a_tool_tells_the_agent_of_a_text_that_cannot_be_checked() -> None:
    message = factcheck_tool(offline(), documents=[PASSAGE]).invoke({**CALL, "args": {"response": "\ud83d"}})
    assert message.content.startswith("Not checked: response contains half a character")
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
    with pytest.raises(DataError, match="the state has no value for 'draft'"):
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
            assert said.startswith(f"{ANSWER}\n\nFact check: 2 claims (1 supported, 1 contradicted")
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


@dynamic_prompt
def with_passages(request: ModelRequest[Any]) -> str:  # noqa: ARG001 - it is called with one
    """LangChain's way to answer from documents without a tool."""
    return f"Answer from these passages.\n\n{PASSAGE}"


def run_told(guard: FactCheckMiddleware, *script: AIMessage) -> dict[str, Any]:
    both: list[Any] = [with_passages, guard]
    agent: Any = create_agent(ScriptedModel(script=list(script)), [tell], middleware=both)
    found: dict[str, Any] = agent.invoke({"messages": [HumanMessage(QUESTION)]})
    return found


def test_documents_are_always_evidence() -> None:
    guard = FactCheckMiddleware(offline(), documents=[PASSAGE])
    assert verdicts(run_agent(guard, AIMessage(ANSWER))["factcheck"]) == RIGHT
    both = run_agent(FactCheckMiddleware(offline(), documents=[OTHER]), asks("tell"), AIMessage(ANSWER))
    assert verdicts(both["factcheck"]) == RIGHT


async def test_the_system_message_is_evidence_where_that_is_asked_for() -> None:
    told = run_told(FactCheckMiddleware(offline(), system_message=True), AIMessage(ANSWER))
    assert verdicts(told["factcheck"]) == RIGHT
    assert told["factcheck"]["claims"][0]["evidence"][0]["source"] == "system message"
    assert "factcheck_told" not in told
    assert verdicts(run_told(FactCheckMiddleware(offline()), AIMessage(ANSWER))["factcheck"]) == [None, None]
    both: list[Any] = [with_passages, FactCheckMiddleware(offline(), system_message=True)]
    agent: Any = create_agent(ScriptedModel(script=[AIMessage(ANSWER)]), [tell], middleware=both)
    assert verdicts((await agent.ainvoke({"messages": [HumanMessage(QUESTION)]}))["factcheck"]) == RIGHT


def test_what_of_the_system_message_is_evidence_can_be_said() -> None:
    after_the_instructions: Callable[[str], list[str]] = lambda text: text.split("\n\n")[1:]  # noqa: E731
    told = run_told(FactCheckMiddleware(offline(), system_message=after_the_instructions), AIMessage(ANSWER))
    assert {item["passage"] for claim in told["factcheck"]["claims"] for item in claim["evidence"]} == {PASSAGE}
    nonsense: Any = lambda text: [7]  # noqa: ARG005, E731
    with pytest.raises(DataError, match="item 1 of what system_message returned must be a document or a string"):
        run_told(FactCheckMiddleware(offline(), system_message=nonsense), AIMessage(ANSWER))


def test_an_extractor_stands_in_for_the_tools() -> None:
    def extract(state: Any) -> list[Document]:
        assert state["messages"][0].text == QUESTION
        return [ADA]

    guard = FactCheckMiddleware(offline(), extract=extract)
    assert verdicts(run_agent(guard, AIMessage(ANSWER))["factcheck"]) == RIGHT
    nothing = FactCheckMiddleware(offline(), extract=lambda _: [])
    assert verdicts(run_agent(nothing, asks("tell"), AIMessage(ANSWER))["factcheck"]) == [None, None]


def test_the_wording_is_the_users_choice() -> None:
    def note(report: FactualityReport) -> str:
        return f"({report.counts.supported}/{report.counts.scored})"

    said = run_agent(FactCheckMiddleware(offline(), formatter=note), asks("tell"), AIMessage(ANSWER))
    assert said["messages"][-1].text == f"{ANSWER}\n\n(1/2)"
    blocked = FactCheckMiddleware(offline(), action="block", message=note)
    assert run_agent(blocked, asks("tell"), AIMessage(ANSWER))["messages"][-1].text == "(1/2)"


@pytest.mark.parametrize(
    ("answer", "replies", "finding"),
    [
        (f"{TRUE}\n\n```python\nborn = 1852\n```", None, "unread"),
        (f"{TRUE} She died in Rome.", '{"facts": [], "without_fact": [1, 2], "off_topic": []}', "claim_free"),
    ],
)
def test_unchecked_text_is_not_let_through(answer: str, replies: str | None, finding: str) -> None:
    """This is the default; `passing` names the findings that are let through."""

    def guard(passing: tuple[str, ...] = ()) -> FactCheckMiddleware:
        model = None if replies is None else FakeListChatModel(responses=[replies])
        check = FactCheckRunnable(FactChecker(model, cache=False))
        return FactCheckMiddleware(check, action="block", passing=passing)

    blocked = run_agent(guard(), asks("tell"), AIMessage(answer))
    assert blocked["messages"][-1].text == BLOCKED
    assert blocked["factcheck"]["counts"]["not_supported"] == 0
    assert run_agent(guard((finding,)), asks("tell"), AIMessage(answer))["messages"][-1].text == answer
    annotated = FactCheckMiddleware(guard().check)
    assert "\n- not checked (" in run_agent(annotated, asks("tell"), AIMessage(answer))["messages"][-1].text


def test_an_irrelevant_claim_was_not_checked() -> None:
    report = report_of((TRUE, "s"), ("Venice stands on many islands.", "i"))
    assert has_unproven(report)
    assert not failures(report_of((TRUE, "sra")).claims)  # nor did a call fail where a claim needs reading
    assert not has_unproven(report, passing=["irrelevant"])


def test_what_the_documents_contradict_is_blocked_whomever_the_question_names() -> None:
    """With documents, relevance is only a label and lets no false claim through."""
    answer = f"{TRUE} Charles Babbage was born in Madrid in 1850."
    documents: list[Document | str] = [ADA, "Charles Babbage was born in London in 1791."]
    guard = FactCheckMiddleware(offline(), action="block", documents=documents)
    found = run_agent(guard, AIMessage(answer))
    assert found["messages"][-1].text == BLOCKED
    assert "irrelevant" not in verdicts(found["factcheck"])


STEP = "FactCheckMiddleware.after_agent"


def guarded(*answers: str, words: bool = False, **options: Any) -> Any:
    script = [AIMessage(answer) for answer in answers]
    model = GenericFakeChatModel(messages=iter(script)) if words else ScriptedModel(script=script)
    return create_agent(model, [], middleware=[FactCheckMiddleware(offline(), documents=[ADA], **options)])


async def streamed(agent: Any) -> list[tuple[str, Any]]:
    """The streamed messages, each with the step that it comes from."""
    return [(about["langgraph_node"], one) async for one, about in agent.astream(ASKS, stream_mode="messages")]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(
    ("action", "begins"),
    [("block", "No."), ("annotate", f"{ANSWER}\n\nFact check: 2 claims"), ("correct", ANSWER.replace("1825", "1815"))],
)
async def test_what_takes_the_place_of_an_answer_is_streamed(action: AnswerAction, begins: str, words: bool) -> None:
    emitted = await streamed(guarded(ANSWER, words=words, action=action, message="No."))
    assert "".join(one.text for step, one in emitted if step == "model") == ANSWER
    assert [one.text.startswith(begins) for step, one in emitted if step == STEP] == [True]
    state = guarded(ANSWER, words=words, action=action, message="No.").invoke(ASKS)
    assert [one.type for one in state["messages"]] == ["human", "ai"]
    assert state["messages"][-1].text.startswith(begins)


@pytest.mark.parametrize(("answer", "let_out"), [(ANSWER, "No."), (TRUE, TRUE)])
def test_the_step_of_the_guard_has_the_answer_that_it_lets_out(answer: str, let_out: str) -> None:
    updates = list(guarded(answer, action="block", message="No.").stream(ASKS, stream_mode="updates"))
    (written,) = [update[STEP]["messages"] for update in updates if STEP in update]
    assert [one.text for one in written if isinstance(one, AIMessage)] == [let_out]


def test_an_answer_with_the_id_of_its_draft_is_blocked_like_any_other() -> None:
    guard = FactCheckMiddleware(offline(), documents=[ADA], action="revise", message="No.")
    model = GenericFakeChatModel(messages=iter([AIMessage(ANSWER)] * 4))
    state = create_agent(model, [], middleware=[guard]).invoke(ASKS)
    assert [one.text for one in state["messages"][1:]] == ["No."]


async def test_a_request_to_revise_can_be_told_apart_in_the_stream() -> None:
    emitted = await streamed(guarded(ANSWER, TRUE, action="revise"))
    requests = [one for _, one in emitted if is_revision_request(one)]
    assert [one.text for _, one in emitted if not is_revision_request(one)] == [ANSWER, TRUE]
    assert len(requests) == 1
    assert requests[0].additional_kwargs == {"factloop_request": True}


def test_the_log_counts_what_was_held_back_or_changed_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "factloop.guarding")
    for action in ("block", "correct", "record"):
        guarded(ANSWER, action=action).invoke(ASKS)
    FactCheckStreamGuard(offline(), "drop", documents=[ADA]).invoke(ANSWER)
    half = "2 claims (1 supported, 1 contradicted)."
    assert caplog.messages == [
        f"answer blocked: {half}",
        "answer corrected: 2 claims (2 supported).",
        f"answer dropped: {half}",
    ]


@pytest.mark.parametrize("said", ["", " \n ", [{"type": "reasoning", "reasoning": "Hm."}]])
@pytest.mark.parametrize(
    ("options", "let_out"),
    [
        ({"action": "block"}, BLOCKED_EMPTY),
        ({"action": "block", "message": "No."}, "No."),
        ({"action": "revise", "message": lambda report: f"{len(report.claims)} claims."}, "0 claims."),
        ({"action": "annotate"}, "Fact check: the answer is empty, so nothing was checked."),
        ({"action": "correct"}, "Fact check: the answer is empty, so nothing was checked."),
    ],
)
def test_an_empty_answer_is_not_taken_for_checked(said: Any, options: dict[str, Any], let_out: str) -> None:
    guard = FactCheckMiddleware(offline(), documents=[ADA], **options)
    agent: Any = create_agent(ScriptedModel(script=[AIMessage(said)]), [], middleware=[guard])
    found = agent.invoke(ASKS)
    assert found["messages"][-1].text.strip() == let_out
    assert (found["factcheck"]["claims"], found["factcheck"]["precision"]) == ([], None)


def test_an_empty_answer_is_recorded_and_the_users_own_rule_decides() -> None:
    recorded = guarded("", action="record").invoke(ASKS)
    assert (recorded["messages"][-1].text, recorded["factcheck"]["claims"]) == ("", [])
    own = guarded("", action="block", blocks=lambda report: bool(report.claims)).invoke(ASKS)
    assert own["messages"][-1].text == ""


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "url": "https://example.org/ada.png"},
        {"type": "refusal", "refusal": "I cannot help with that."},
    ],
)
def test_an_answer_without_text_that_shows_a_picture_or_refuses_is_left_alone(block: Any) -> None:
    guard = FactCheckMiddleware(offline(), action="block", documents=[ADA])
    agent: Any = create_agent(ScriptedModel(script=[AIMessage([block])]), [], middleware=[guard])
    found = agent.invoke(ASKS)
    assert (found["messages"][-1].content, found["factcheck"]) == ([block], None)
