"""Agents over a real llama.cpp server: LangChain's, with the checker as tool and guard, and an MCP client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolCallLimitMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop import FactChecker, FactualityReport
from factloop.integrations.langchain import FactCheckMiddleware, FactCheckRunnable, factcheck_tool
from tests.real.llama import WITH_TOOLS, is_installed, running_llama, write_model

pytestmark = [pytest.mark.real, pytest.mark.skipif(not is_installed(), reason="xllamacpp and gguf are not installed")]

NAME = "agent"
QUESTION = "Who founded the Merrow Institute?"
SOURCE = "The Merrow Institute in Arden was founded by Mira Halden in 1884."
LONGEST_REPLY = 64
NEVER_EMPTY = {"logit_bias": {"256": -100, "258": -100}}
"""Keeps the agent from a call and from an end, by their places in the vocabulary of `write_model`."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = write_model(tmp_path_factory.mktemp("models") / f"{NAME}.gguf", WITH_TOOLS)
    with running_llama(model) as address:
        yield address


class Calling(ChatOpenAI):
    """Must call a tool: left free, the toy's vocabulary has no word of its own for the beginning of a call."""

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return super().bind_tools(tools, **{**more, "tool_choice": "any"})


def model_at(address: str, kind: type[ChatOpenAI] = ChatOpenAI, **more: Any) -> ChatOpenAI:
    return kind(
        model=NAME,
        base_url=address,
        api_key=SecretStr("none"),
        temperature=1.0,
        max_completion_tokens=LONGEST_REPLY,
        **more,
    )


@pytest.fixture
def check(address: str) -> FactCheckRunnable:
    return FactCheckRunnable(
        FactChecker(model=f"openai:{NAME}", base_url=address, temperature=1.0, max_tokens=512, cache=False)
    )


def test_the_checker_guards_an_agent(address: str, check: FactCheckRunnable) -> None:
    guard = FactCheckMiddleware(check, documents=[SOURCE])
    agent: Any = create_agent(model_at(address, extra_body=NEVER_EMPTY), [], middleware=[guard])
    found = agent.invoke({"messages": [HumanMessage(QUESTION)]})
    last = found["messages"][-1]
    assert isinstance(last, AIMessage)
    assert "Fact check: " in str(last.text)
    report = FactualityReport.model_validate(found["factcheck"])
    assert report.fingerprint.model == f"openai:{NAME}"
    assert str(last.text).startswith(report.response)
    assert all(claim.judgement.verdict or claim.judgement.unscored_reason for claim in report.claims)


def test_the_checker_is_a_tool_that_the_server_calls(address: str, check: FactCheckRunnable) -> None:
    """The server's grammar enforces the tool's schema, so even random arguments are valid."""
    tool = factcheck_tool(check, documents=[SOURCE])
    once: Any = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    agent: Any = create_agent(model_at(address, Calling), [tool], middleware=[once])
    found = agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"recursion_limit": 30})
    told = [message for message in found["messages"] if isinstance(message, ToolMessage)]
    assert told
    assert told[0].name == "factcheck"
