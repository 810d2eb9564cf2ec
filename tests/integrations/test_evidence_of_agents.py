"""The evidence for an agent's answer, and the words of its guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, dynamic_prompt
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from factloop import DataError, FactChecker, FactualityReport
from factloop.integrations.langchain import FactCheckMiddleware, FactCheckRunnable, has_unproven
from factloop.integrations.langchain.middleware import BLOCKED
from tests.correction.reports import report_of
from tests.integrations.ada import ADA, ANSWER, OTHER, PASSAGE, QUESTION, TRUE, offline, verdicts
from tests.integrations.scripted import ScriptedModel
from tests.integrations.test_agents_and_graphs import RIGHT, asks, run_agent, tell


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
    with pytest.raises(DataError, match="what system_message returned, item 1: a document or a text is needed"):
        run_told(FactCheckMiddleware(offline(), system_message=nonsense), AIMessage(ANSWER))


def test_what_a_tool_says_of_its_documents_is_kept() -> None:
    @tool(response_format="content_and_artifact")
    def shelf(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001 - a tool takes its query
        """Looks something up."""
        return "one document", [Document(PASSAGE, id="kb-7", metadata={"page": 3})]

    agent: Any = create_agent(
        ScriptedModel(script=[asks("shelf"), AIMessage(ANSWER)]), [shelf], middleware=[FactCheckMiddleware(offline())]
    )
    found = agent.invoke({"messages": [HumanMessage(QUESTION)]})["factcheck"]["claims"][0]["evidence"][0]["document"]
    assert (found["id"], found["metadata"]) == ("kb-7", {"page": 3})


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
    assert not has_unproven(report, passing=["irrelevant"])


def test_what_the_documents_contradict_is_blocked_whomever_the_question_names() -> None:
    """Relevance is a label where documents are given: it opens no gate for what is false."""
    answer = f"{TRUE} Charles Babbage was born in Madrid in 1850."
    documents: list[Document | str] = [ADA, "Charles Babbage was born in London in 1791."]
    guard = FactCheckMiddleware(offline(), action="block", documents=documents)
    found = run_agent(guard, AIMessage(answer))
    assert found["messages"][-1].text == BLOCKED
    assert "irrelevant" not in verdicts(found["factcheck"])
