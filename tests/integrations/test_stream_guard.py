from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough

from factloop import DataError, FactChecker, Limits
from factloop.guarding import GuardEvent, GuardFinished
from factloop.integrations.langchain import FactCheckRunnable, FactCheckStreamGuard, Keys
from tests.integrations.ada import ADA, ANSWER, OTHER, QUESTION, TRUE, WRONG, Shelf, offline

pytestmark = pytest.mark.usefixtures("frozen")

GUARDED = f"{ANSWER} [contradicted by the sources]"
UNCHECKED = ANSWER.replace(".", ". [unscored]")


def model() -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(ANSWER)]))


def guard(**options: Any) -> FactCheckStreamGuard:
    return FactCheckStreamGuard(offline(), **{"documents": [OTHER, ADA], **options})


def test_a_chain_streams_through_the_guard() -> None:
    pieces = list((model() | guard()).stream(QUESTION))
    assert pieces == [TRUE, f" {WRONG} [contradicted by the sources]"]


async def test_a_whole_answer_is_guarded_alike() -> None:
    assert guard().invoke(AIMessage(ANSWER)) == GUARDED
    assert await guard(policy="drop").ainvoke(ANSWER) == TRUE
    assert guard().batch([ANSWER, ANSWER]) == [GUARDED, GUARDED]


async def test_question_and_documents_come_with_the_answer() -> None:
    events: list[GuardEvent] = []
    retrieved = RunnablePassthrough.assign(documents=lambda _: [OTHER, ADA])
    answered = RunnablePassthrough.assign(response=RunnableLambda(lambda asked: asked["question"]) | model())
    chain = retrieved | answered | FactCheckStreamGuard(offline(), on_event=events.append)
    assert "".join([piece async for piece in chain.astream({"question": QUESTION})]) == GUARDED
    last = events[-1]
    assert isinstance(last, GuardFinished)
    assert last.report.prompt == QUESTION
    assert last.report.claims[0].evidence[0].source == "https://example.org/ada"


@pytest.mark.parametrize(("options", "released"), [({}, UNCHECKED), ({"limits": None}, GUARDED)])
def test_the_limits_of_the_check_hold_for_each_sentence(options: dict[str, Any], released: str) -> None:
    hasty = FactCheckRunnable(FactChecker(cache=False), limits=Limits(deadline_s=1e-9))
    assert FactCheckStreamGuard(hasty, documents=[ADA], **options).invoke(ANSWER) == released


def searches(text: str) -> AIMessageChunk:
    return AIMessageChunk(content=text, tool_call_chunks=[{"name": "look_up", "args": "{}", "id": "1", "index": 0}])


@pytest.mark.parametrize(
    ("chunks", "released"),
    [
        ([{"reply": f"{ANSWER} Thank you"}, {"context": [ADA]}, {"reply": ". "}], f"{GUARDED} Thank you. "),
        ([{"reply": "Hello! How can I help you?"}], "Hello! How can I help you?"),
        ([{"reply": ANSWER}], UNCHECKED),
        (["Hi! ", f"{TRUE} Thank you. ", {"context": [ADA]}, TRUE], f"Hi! {TRUE} [unscored] Thank you. {TRUE}"),
        ([{"context": [OTHER]}, f"{TRUE} ", {"context": [ADA], "reply": TRUE}], f"{TRUE} {TRUE}"),
        ([searches(TRUE), {"context": [ADA]}, searches(""), {"reply": TRUE}], f"{TRUE}\n\n{TRUE}"),
        ([searches(""), TRUE], f"{TRUE} [unscored]"),
    ],
    ids=["waited for", "none needed", "none", "later", "more", "between messages", "nothing found"],
)  # fmt: skip
def test_documents_arrive_at_any_time(chunks: list[Any], released: str) -> None:
    """They count for the text after them or, if the stream has only mappings, for all of it."""
    keyed = FactCheckRunnable(FactChecker(cache=False), keys=Keys(response="reply", documents="context"))
    events: list[GuardEvent] = []
    assert "".join(FactCheckStreamGuard(keyed, on_event=events.append).transform(iter(chunks))) == released
    last = events[-1]
    assert isinstance(last, GuardFinished)
    assert bool(last.report.fingerprint.search_tools) == any("context" in one for one in chunks if type(one) is dict)


def test_without_documents_the_retriever_is_searched() -> None:
    assert FactCheckStreamGuard(offline(retriever=Shelf(documents=[ADA]))).invoke(ANSWER) == GUARDED


@pytest.mark.parametrize("documents", [Shelf(documents=[ADA]), [OTHER, ADA]], ids=["retriever", "documents"])
def test_a_history_and_a_retriever_come_with_the_answer_as_for_the_check(documents: Any) -> None:
    events: list[GuardEvent] = []
    given = {"question": [HumanMessage(QUESTION)], "response": ANSWER, "documents": documents}
    assert FactCheckStreamGuard(offline(), on_event=events.append).invoke(given) == GUARDED
    last = events[-1]
    assert isinstance(last, GuardFinished)
    assert last.report.prompt == QUESTION


@pytest.mark.parametrize(
    ("given", "said"), [(7, "not int"), ({"response": 7}, "`response` must be a string or a message")]
)
def test_what_is_no_answer_is_refused(given: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        guard().invoke(given)


async def test_whoever_stops_early_stops_the_chain() -> None:
    closed = asyncio.Event()

    async def answers(_: AsyncIterator[Any]) -> AsyncIterator[str]:
        try:
            while True:
                yield "Ada Lovelace was born in London. "
        finally:
            closed.set()

    stream: Any = (RunnableGenerator(answers) | guard()).astream(None)
    assert await anext(stream) == "Ada Lovelace was born in London."
    await stream.aclose()
    async with asyncio.timeout(60.0):  # a chain lets go of its steps, and the loop closes them
        await closed.wait()
