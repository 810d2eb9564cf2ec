from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from factloop import Limits
from factloop.core.errors import ConfigError, DataError
from factloop.correction.records import Correction
from factloop.integrations.langchain import CorrectionRunnable, FactCheckMiddleware, FactCheckRunnable, Keys
from factloop.integrations.langchain.correction import revision_request
from factloop.integrations.langchain.inputs import is_revision_request
from factloop.integrations.langchain.middleware import BLOCKED
from factloop.prompts.registry import PromptRegistry
from tests.checking.simulated import simulated_checker
from tests.correction.reports import report_of
from tests.integrations.ada import ADA, ANSWER, ASKED, QUESTION, TRUE, UNPROVEN, WRONG, offline, tell, verdicts
from tests.integrations.scripted import ScriptedModel
from tests.simulator import Simulator

DOUBTFUL = f"{TRUE} {UNPROVEN}"
MENDED = ANSWER.replace("1825", "1815")


@tool
def tell_more(query: str) -> str:  # noqa: ARG001 - a tool takes its query
    """Tells something else."""
    return "Ada Lovelace died in Marylebone in 1852."


LOOKS_UP = AIMessage("", tool_calls=[{"name": "tell", "args": {"query": "Ada"}, "id": "1"}])
LOOKS_UP_MORE = AIMessage("", tool_calls=[{"name": "tell_more", "args": {"query": "Ada"}, "id": "2"}])


def run_agent(guard: FactCheckMiddleware, *script: AIMessage) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel(script=list(script))
    agent: Any = create_agent(model, [tell, tell_more], middleware=[guard])
    found: dict[str, Any] = agent.invoke({"messages": [HumanMessage(QUESTION)]})
    return found, model


async def test_a_chain_gets_the_corrected_answer() -> None:
    correcting = CorrectionRunnable(offline(), unsupported="remove")
    for done in (correcting.invoke(ASKED), await correcting.ainvoke(ASKED), *correcting.batch([ASKED])):
        assert isinstance(done, Correction)
        assert (done.text, done.accepted) == (MENDED, True)
        assert done.after is not None
        assert "Faithfulness" in done.after.warnings[-1]
    assert (correcting | (lambda done: done.text)).invoke(ASKED) == MENDED


def test_a_correction_reads_the_keys_of_its_check_and_refuses_what_that_does() -> None:
    check = FactCheckRunnable(offline().checker, keys=Keys(response="draft"))
    assert CorrectionRunnable(check, unsupported="remove").invoke({"draft": DOUBTFUL, "documents": [ADA]}).text == TRUE
    with pytest.raises(DataError, match="response"):
        CorrectionRunnable(offline(), unsupported="remove").invoke({"documents": [ADA]})
    with pytest.raises(ConfigError, match="faithfulness mode needs documents"):
        CorrectionRunnable(offline(), unsupported="remove").invoke({"response": DOUBTFUL})


def test_an_agent_revises_until_its_answer_holds() -> None:
    guard = FactCheckMiddleware(offline(), action="revise")
    found, model = run_agent(guard, LOOKS_UP, AIMessage(DOUBTFUL), AIMessage(TRUE))
    assert [type(message).__name__ for message in found["messages"]] == [
        "HumanMessage",
        "AIMessage",
        "ToolMessage",
        "AIMessage",
    ]
    assert found["messages"][-1].text == TRUE
    assert verdicts(found["factcheck"]) == ["supported"]
    assert [report["response"] for report in found["factcheck_reports"]] == [DOUBTFUL]
    assert found["factcheck"]["response"] == TRUE
    request = model.asked[-1][-1]
    assert is_revision_request(request)
    assert f'<unproven id="1">{UNPROVEN} (no evidence found; ' in request.text
    assert '<unproven id="2">' not in request.text
    assert "<contradicted id=" not in request.text
    assert model.asked[-1][-2].text == DOUBTFUL


def test_what_was_retrieved_before_and_after_the_request_counts() -> None:
    """The second answer rests on a passage retrieved before the request and on one retrieved after it."""
    better = "Ada Lovelace was born in London. Ada Lovelace died in Marylebone in 1852."
    guard = FactCheckMiddleware(offline(), action="revise")
    found, _ = run_agent(guard, LOOKS_UP, AIMessage(DOUBTFUL), LOOKS_UP_MORE, AIMessage(better))
    assert found["messages"][-1].text == better
    assert set(verdicts(found["factcheck"])) == {"supported"}
    assert found["factcheck"]["prompt"] == QUESTION
    assert not any(is_revision_request(message) for message in found["messages"])


@pytest.mark.parametrize(
    ("then", "said"),
    [("block", BLOCKED), ("record", UNPROVEN), ("annotate", f"{UNPROVEN}\n\nFact check: 1 claim (1 no evidence")],
)
def test_revisions_are_bounded_and_then_another_policy_holds(then: Any, said: str) -> None:
    guard = FactCheckMiddleware(offline(), action="revise", max_revisions=1, then=then)
    found, model = run_agent(guard, LOOKS_UP, AIMessage(DOUBTFUL), AIMessage(UNPROVEN))
    assert len(model.asked) == 3
    assert found["messages"][-1].text.startswith(said)
    assert len(found["messages"]) == 4
    assert len(found["factcheck_reports"]) == 1


def test_an_answer_that_nothing_was_looked_up_for_is_sent_back() -> None:
    guard = FactCheckMiddleware(offline(), action="revise")
    found, model = run_agent(guard, AIMessage(TRUE), LOOKS_UP, AIMessage(TRUE))
    assert "no source to check against" in model.asked[1][-1].text
    assert found["messages"][-1].text == TRUE
    assert [report["counts"]["unscored"] for report in found["factcheck_reports"]] == [1]


@pytest.mark.parametrize(
    ("max_calls", "options", "is_blocked"),
    [
        (1, {"action": "correct"}, True),
        (1, {"action": "correct", "then": "record"}, False),
        (99, {"action": "correct"}, False),
        (99, {"action": "revise", "max_revisions": 1}, True),
    ],
)
def test_what_a_guard_cost_is_in_the_state_and_no_correction_rests_on_a_check_cut_short(
    sim: Simulator, max_calls: int, options: Any, is_blocked: bool
) -> None:
    told = max(sim.world.responses, key=lambda one: len(one.facts))
    check = FactCheckRunnable(simulated_checker(sim, search=()), limits=Limits(max_calls=max_calls))
    guard = FactCheckMiddleware(check, documents=[one.text for one in told.passages], **options)
    found, _ = run_agent(guard, AIMessage(told.text), AIMessage(f"{told.text} {UNPROVEN}"))
    assert (found["messages"][-1].text == BLOCKED) is is_blocked
    assert found["factcheck_usage"]["calls"] == sim.stats().live


async def test_each_turn_of_the_person_has_revisions_of_its_own() -> None:
    saver = InMemorySaver()
    script = [LOOKS_UP, AIMessage(DOUBTFUL), AIMessage(TRUE), LOOKS_UP, AIMessage(UNPROVEN), AIMessage(TRUE)]
    model = ScriptedModel(script=script)
    guard = FactCheckMiddleware(offline(), action="revise", max_revisions=1)
    agent: Any = create_agent(model, [tell], middleware=[guard], checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}}
    for question in (QUESTION, "Sure?"):
        found = await agent.ainvoke({"messages": [HumanMessage(question)]}, config)
        assert found["messages"][-1].text == TRUE
        assert len(found["factcheck_reports"]) == 1
        asked = found["factcheck"]["prompt"]
        assert (QUESTION in asked, asked.endswith(question)) == (True, True)  # with the conversation before it
    assert len(found["messages"]) == 8


def test_an_answer_from_what_was_read_before_is_held_against_the_whole_conversation_by_choice() -> None:
    def last_answer(guard: FactCheckMiddleware) -> str:
        model = ScriptedModel(script=[LOOKS_UP, AIMessage(TRUE), AIMessage(TRUE)])
        agent: Any = create_agent(model, [tell], middleware=[guard], checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)
        return str(agent.invoke({"messages": [HumanMessage("Sure?")]}, config)["messages"][-1].text)

    assert last_answer(FactCheckMiddleware(offline(), action="block")) == BLOCKED
    assert last_answer(FactCheckMiddleware(offline(), action="block", retrieved="conversation")) == TRUE


@pytest.mark.parametrize(
    ("answer", "options", "said"),
    [
        (DOUBTFUL, {}, f"{DOUBTFUL} [unverified]$"),
        (DOUBTFUL, {"blocks": lambda report: report.precision != 1.0}, f"{DOUBTFUL} [unverified]\n\nFact check:"),
        (DOUBTFUL, {"unsupported": "keep"}, f"{DOUBTFUL}\n\nFact check:"),
        (DOUBTFUL, {"unsupported": "keep", "passing": ["unsupported"]}, f"{DOUBTFUL}$"),
        (UNPROVEN, {"unsupported": "remove"}, f"{UNPROVEN} [unverified]$"),  # nothing would be left
    ],
)
def test_what_stays_unproven_is_marked_or_else_said_in_a_note(answer: str, options: dict[str, Any], said: str) -> None:
    found, _ = run_agent(FactCheckMiddleware(offline(), action="correct", **options), LOOKS_UP, AIMessage(answer))
    assert f"{found['messages'][-1].text}$".startswith(said)
    assert [doubt["findings"] for doubt in found["factcheck_correction"]["doubts"]] == [["unsupported"]]


def test_a_request_tells_what_is_contradicted_from_what_is_unproven() -> None:
    base = report_of((TRUE, "s"), (WRONG, "c"), ("She kept a parrot.", "n"), ("She sang.", "u"))
    text = revision_request(base, PromptRegistry.load()["correction/revision"]).text
    assert f'<contradicted id="1">{WRONG} (contradicted)</contradicted>' in text
    assert '<unproven id="1">She kept a parrot. (no evidence found)</unproven>' in text
    assert text.count(" id=") == 2


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"max_revisions": 0}, "max_revisions = 0"),
        ({"action": "shout"}, "action = 'shout'"),
        ({"retrieved": "ever"}, "must be one of turn, conversation"),
        ({"blocks": bool, "passing": ["irrelevant"]}, "set either `blocks` or `passing`"),
        ({"then": "revise"}, "then = 'revise'"),
        ({"max_rounds": 0}, "max_r"),
        ({"unsupported": "drop"}, "unsupported = 'drop': must be one of mark, remove, keep"),
        ({"unscored": "drop"}, "unscored = 'drop': must be one of auto, mark, remove, keep"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        FactCheckMiddleware(offline(), **{"action": "revise", **wrong})
