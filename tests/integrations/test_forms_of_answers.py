from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from factloop import ConfigError
from factloop.integrations.langchain import FactCheckMiddleware
from tests.integrations.ada import ADA, ANSWER, ASKS, TRUE, UNPROVEN, WRONG, offline, verdicts
from tests.integrations.scripted import ScriptedModel

MENDED = WRONG.replace("1825", "1815")


class Reply(BaseModel):
    """The reply."""

    kind: Literal["person", "place"] = "person"
    answer: str
    year: int = 1825
    notes: list[str] = Field(default_factory=list)


@dataclass
class ReplyData:
    """The reply."""

    answer: str
    year: int = 1825


class ReplyDict(TypedDict):
    """The reply."""

    answer: str
    year: int


ACTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "annotate": ({}, f"{ANSWER}\n\nFact check: 2 claims (1 supported"),
    "block": ({"message": "No."}, "No."),
    "revise": ({"message": "No.", "max_revisions": 1}, "No."),
    "correct": ({}, f"{TRUE} {MENDED}"),
    "record": ({}, ANSWER),
}
"""By each action its options, and how the answer begins that is let out."""


def agent(*script: AIMessage, response_format: Any = None, tools: Any = (), **options: Any) -> Any:
    guard = FactCheckMiddleware(offline(), **{"documents": [ADA], **options})
    return create_agent(ScriptedModel(script=list(script)), tools, middleware=[guard], response_format=response_format)


def in_json(**fields: Any) -> AIMessage:
    """Content as JSON, with the parsed object next to it, as providers return it."""
    said = {"answer": ANSWER, "year": 1825, **fields}
    return AIMessage(json.dumps(said), additional_kwargs={"parsed": Reply(**said)})


def by_call(name: str, **fields: Any) -> AIMessage:
    args = {"answer": ANSWER, "year": 1825, **fields}
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


def field(reply: Any) -> Any:
    return reply["answer"] if isinstance(reply, dict) else reply.answer


@pytest.mark.parametrize("schema", [Reply, ReplyData, ReplyDict])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_field_is_guarded_and_the_message_stays_the_json_of_the_response(action: Any, schema: Any) -> None:
    options, begins = ACTIONS[action]
    script = [in_json()] * 2
    found = agent(*script, response_format=ProviderStrategy(schema), action=action, fields="answer", **options).invoke(
        ASKS
    )
    reply, last = found["structured_response"], found["messages"][-1]
    assert field(reply).startswith(begins)
    written = json.loads(last.text)
    assert (written["answer"], written["year"]) == (field(reply), 1825)
    assert ("parsed" in last.additional_kwargs) is (action == "record")
    assert verdicts(found["factcheck"])[0] == "supported"
    assert [one.type for one in found["messages"]] == ["human", "ai"]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_response_by_a_tool_call_is_guarded_in_all_its_messages(action: Any) -> None:
    options, begins = ACTIONS[action]
    script = [by_call("Reply")] * 2
    found = agent(*script, response_format=ToolStrategy(Reply), action=action, fields=["answer"], **options).invoke(
        ASKS
    )
    assert found["structured_response"].answer.startswith(begins)
    assert [one.type for one in found["messages"]] == ["human", "ai", "tool"]
    call, said = found["messages"][1:]
    assert call.tool_calls[0]["args"]["answer"].startswith(begins)
    assert said.text == f"Returning structured response: {found['structured_response']}"
    assert ("1825." in str(call) + said.text) is (action in ("annotate", "record"))


def test_a_response_is_no_evidence_for_itself_and_a_good_one_passes_unchanged() -> None:
    alone = agent(by_call("Reply"), response_format=ToolStrategy(Reply), action="block", documents=[]).invoke(ASKS)
    assert verdicts(alone["factcheck"]) == [None, None]
    assert "1825" not in alone["structured_response"].answer
    good = in_json(answer=TRUE)
    found = agent(good, response_format=ProviderStrategy(Reply), action="block").invoke(ASKS)
    assert found["structured_response"] == Reply(answer=TRUE, year=1825)
    assert found["messages"][-1].content == good.content


def test_without_names_all_texts_of_several_words_are_guarded() -> None:
    said = in_json(answer=TRUE, notes=[WRONG, "1825"])
    found = agent(said, response_format=ProviderStrategy(Reply), action="block", message="No.").invoke(ASKS)
    assert found["structured_response"] == Reply(answer="No.", year=1825, notes=["No.", "1825"])
    corrected = agent(said, response_format=ProviderStrategy(Reply), action="correct").invoke(ASKS)
    assert corrected["structured_response"] == Reply(answer=TRUE, year=1825, notes=[MENDED, "1825"])
    other = agent(said, response_format=ProviderStrategy(Reply), action="block", fields=["text"], message="No.")
    assert other.invoke(ASKS)["structured_response"].answer == "No."  # none of its fields is named
    mute = in_json(answer="1825")
    assert agent(mute, response_format=ProviderStrategy(Reply), action="block").invoke(ASKS)["factcheck"] is None
    named = agent(mute, response_format=ProviderStrategy(Reply), action="block", fields=["answer"], message="No.")
    assert named.invoke(ASKS)["structured_response"].answer == "No."
    with pytest.raises(ConfigError, match="`fields` must contain names"):
        agent(fields=[7])


PICTURE = {"type": "image", "url": "https://example.org/ada.png"}


@pytest.mark.parametrize("action", ACTIONS)
def test_of_blocks_of_content_the_text_is_guarded_and_others_stay_unless_it_is_blocked(action: Any) -> None:
    options, begins = ACTIONS[action]
    blocks: Any = [{"type": "text", "text": f"{TRUE} "}, {"type": "text", "text": WRONG}, PICTURE]
    found = agent(*[AIMessage(blocks)] * 2, action=action, **options).invoke(ASKS)
    last = found["messages"][-1]
    assert last.text.startswith(begins)
    assert (PICTURE in list(last.content)) is (begins != "No.")


@tool(return_direct=True)
def send(text: str) -> str:
    """Sends the answer."""
    return text


@pytest.mark.parametrize("action", ACTIONS)
def test_the_message_of_a_tool_that_is_the_final_answer_is_guarded(action: Any) -> None:
    options, begins = ACTIONS[action]
    script = [AIMessage("", tool_calls=[{"name": "send", "args": {"text": ANSWER}, "id": str(n)}]) for n in range(2)]
    found = agent(*script, tools=[send], action=action, **options).invoke(ASKS)
    last = found["messages"][-1]
    assert isinstance(last, ToolMessage)
    assert last.text.startswith(begins)


def test_of_two_tools_with_the_same_final_answer_both_have_the_note() -> None:
    both = [{"name": "send", "args": {"text": ANSWER}, "id": str(n)} for n in range(2)]
    found = agent(AIMessage("", tool_calls=both), tools=[send]).invoke(ASKS)
    assert ["Fact check: 2 claims (1 supported" in one.text for one in found["messages"][2:]] == [True, True]


@tool
def note(text: str) -> str:
    """Notes something."""
    return json.dumps({"noted": text})


@tool
def recall(about: str) -> str:
    """Recalls what was noted."""
    return f"{about}: {UNPROVEN.upper()}"


@tool
def handbook(query: str) -> str:  # noqa: ARG001 - a tool takes its query
    """What the handbook says."""
    return f"Charles Babbage\n{UNPROVEN}"


@tool(response_format="content_and_artifact")
def pages(query: str) -> tuple[str, list[Document]]:  # noqa: ARG001 - a tool takes its query
    """Pages of the handbook."""
    return "1 page", [Document(UNPROVEN)]


def calls(name: str, text: str, number: str) -> AIMessage:
    arg = {"note": "text", "recall": "about", "handbook": "query", "pages": "query"}[name]
    return AIMessage("", tool_calls=[{"name": name, "args": {arg: text}, "id": number}])


@pytest.mark.parametrize(
    ("script", "options", "is_supported"),
    [
        ([("note", f"I think so. {UNPROVEN}")], {}, False),
        ([("note", UNPROVEN), ("recall", "Bees")], {}, False),
        ([("handbook", "Charles Babbage")], {}, True),
        ([("handbook", "What did Charles Babbage keep?"), ("note", UNPROVEN)], {}, True),
        ([("recall", "Bees")], {}, True),
        ([("recall", "Bees")], {"evidence_tools": ["handbook"]}, False),
        ([("handbook", "bees")], {"evidence_tools": "handbook"}, True),
        ([("note", UNPROVEN), ("pages", "bees")], {"evidence_tools": ["pages"]}, True),
        ([("note", UNPROVEN), ("pages", "bees")], {}, False),
    ],
)
def test_what_the_model_wrote_itself_is_no_evidence(script: Any, options: dict[str, Any], is_supported: bool) -> None:
    said = [calls(name, text, str(number)) for number, (name, text) in enumerate(script)]
    tools = [note, recall, handbook, pages]
    found = agent(*said, AIMessage(UNPROVEN), tools=tools, action="block", documents=[], **options).invoke(ASKS)
    assert (verdicts(found["factcheck"]) == ["supported"]) is is_supported


@pytest.mark.parametrize("names", [["handbok", "pages"], ["handbook", "pages"]])
def test_a_name_that_no_tool_has_is_told_once(names: list[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "factloop")
    said = [calls("handbook", "bees", "0"), AIMessage(UNPROVEN)]
    agent(*said, tools=[handbook, pages], evidence_tools=names).invoke(ASKS)
    told = "`evidence_tools`: the agent has no tool 'handbok'; its tools: handbook, pages"
    assert [one.getMessage() for one in caplog.records] == ([told] if "handbok" in names else [])
