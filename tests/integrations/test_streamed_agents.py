"""What a streamed agent under the guard emits: the model's own answer, then what takes its place."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from factloop.integrations.langchain import FactCheckMiddleware, FactCheckStreamGuard, is_revision_request
from factloop.integrations.langchain.middleware import BLOCKED_EMPTY, AnswerAction
from tests.integrations.ada import ADA, ANSWER, QUESTION, TRUE, offline
from tests.integrations.scripted import ScriptedModel

STEP = "FactCheckMiddleware.after_agent"
ASKS: Any = {"messages": [HumanMessage(QUESTION)]}


def guarded(*answers: str, words: bool = False, **options: Any) -> Any:
    """An agent that gives these answers, whole or word by word."""
    script = [AIMessage(answer) for answer in answers]
    model = GenericFakeChatModel(messages=iter(script)) if words else ScriptedModel(script=script)
    return create_agent(model, [], middleware=[FactCheckMiddleware(offline(), documents=[ADA], **options)])


async def streamed(agent: Any) -> list[tuple[str, Any]]:
    """The messages of the stream, each with the step it comes from."""
    return [(about["langgraph_node"], one) async for one, about in agent.astream(ASKS, stream_mode="messages")]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(
    ("action", "begins"),
    [("block", "No."), ("annotate", f"{ANSWER}\n\nFact check: 1 of 2"), ("correct", ANSWER.replace("1825", "1815"))],
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


async def test_a_request_to_revise_can_be_told_apart_in_the_stream() -> None:
    emitted = await streamed(guarded(ANSWER, TRUE, action="revise"))
    requests = [one for _, one in emitted if is_revision_request(one)]
    assert [one.text for _, one in emitted if not is_revision_request(one)] == [ANSWER, TRUE]
    assert len(requests) == 1
    assert requests[0].additional_kwargs == {"factloop_request": True}


def test_the_tokens_of_an_agent_may_pass_through_the_guard_of_streams() -> None:
    agent: Any = create_agent(GenericFakeChatModel(messages=iter([AIMessage(ANSWER)])), [])
    tokens = (one for one, _ in agent.stream(ASKS, stream_mode="messages") if isinstance(one, AIMessageChunk))
    assert "".join(FactCheckStreamGuard(offline(), "drop", documents=[ADA]).transform(tokens)) == TRUE


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
