from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from factloop import Corrector, FactChecker, FactualityReport, UnscoredReason, Verdict
from factloop.core.errors import ConfigError, DataError
from factloop.guarding import StreamGuard
from factloop.integrations.langchain import (
    CorrectionRunnable,
    FactCheckMiddleware,
    FactCheckRunnable,
    FactCheckStreamGuard,
    Keys,
    build_factcheck_node,
    factcheck_tool,
)
from factloop.integrations.langchain.middleware import BLOCKED_UNCHECKED
from tests.checking.simulated import simulated_checker
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
    Shelf,
    offline,
    verdicts,
)
from tests.integrations.scripted import ScriptedModel
from tests.modes import FACTUALITY, FAITHFULNESS
from tests.simulator import MODEL, Simulator

RIGHT = ["supported", "not_supported"]


def documents_of(sim: Simulator, subject: str) -> list[Document]:
    return [
        Document(passage.text, metadata={"source": passage.url, "title": passage.title})
        for passage in sim.world.passages
        if passage.title.startswith(subject)
    ]


def test_an_answer_against_its_documents() -> None:
    report = offline().invoke(ASKED)
    first = report.claims[0]
    assert verdicts(report) == RIGHT
    assert report.prompt == ASKED["question"]
    assert (first.evidence[0].source, first.evidence[0].title) == ("https://example.org/ada", "Ada")
    assert first.evidence[0].published == "2020"
    assert FAITHFULNESS in report.warnings
    (identity,) = report.fingerprint.search_tools
    assert identity.startswith("given documents ")


def test_every_way_to_run_gives_the_same() -> None:
    check = offline()

    async def each() -> list[FactualityReport]:
        streamed = [item async for item in check.astream(ASKED)]
        return [await check.ainvoke(ASKED), *await check.abatch([ASKED, ASKED]), streamed[-1]]

    reports = [check.invoke(ASKED), *check.batch([ASKED, ASKED]), list(check.stream(ASKED))[-1], *asyncio.run(each())]
    assert len(reports) == 8
    assert {verdicts(report)[0] for report in reports} == {"supported"}
    assert len({report.model_dump_json(include={"counts", "precision", "warnings"}) for report in reports}) == 1


def test_a_stream_has_the_events_and_ends_with_the_report() -> None:
    *events, report = offline().stream(ASKED)
    names = [event.type for event in events]
    assert names[0] == "response_split"
    assert names.count("claim_judged") == names.count("claim_found") == 2
    assert "check_finished" not in names
    assert isinstance(report, FactualityReport)


def test_whoever_stops_a_stream_early_leaves_nothing_running() -> None:
    check = offline()
    stream = check.stream(ASKED)
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # an iterator by its type, a generator in truth
    assert verdicts(check.invoke(ASKED)) == RIGHT


def test_a_failure_in_a_stream_reaches_the_caller() -> None:
    with pytest.raises(DataError, match="response"):
        list(offline().stream({"question": "?"}))


def test_in_a_chain_the_next_step_gets_the_report_also_when_streaming() -> None:
    chain: Any = (
        RunnableLambda(lambda text: {**ASKED, "response": AIMessage(text)}) | offline() | (lambda it: it.precision)
    )
    assert chain.invoke(ANSWER) == 0.5
    assert list(chain.stream(ANSWER)) == [0.5]
    assert chain.batch([ANSWER, PASSAGE]) == [0.5, 1.0]


def test_a_retriever_stands_in_where_no_documents_come() -> None:
    check = offline(retriever=Shelf(documents=[ADA]))
    alone, given = check.invoke({"response": ANSWER}), check.invoke({"response": ANSWER, "documents": [OTHER]})
    assert verdicts(alone) == RIGHT
    assert alone.fingerprint.search_tools[0].startswith("retriever ")
    assert verdicts(check.invoke({"response": ANSWER, "documents": None})) == RIGHT
    assert check.invoke({"response": ANSWER, "documents": []}).counts.unscored == 2
    assert verdicts(given) == ["not_supported", "not_supported"]
    assert len(given.fingerprint.search_tools) == 1


async def test_two_retrievers_of_one_kind_on_one_checker_never_get_each_others_hits() -> None:
    checker = FactChecker(cache=False)
    checks = [FactCheckRunnable(checker, retriever=Shelf(documents=[document])) for document in (ADA, OTHER)] * 5
    reports = await asyncio.gather(*(check.ainvoke({"response": ANSWER}) for check in checks))
    assert [verdicts(report)[0] for report in reports] == ["supported", "not_supported"] * 5


async def test_many_answers_at_once_are_each_held_against_their_own_documents() -> None:
    check = offline()
    years = range(1800, 1840)
    asked = [
        {"response": "Ada was born in 1815.", "documents": [f"Ada was born in {year}.", f"Bob was born in {year}."]}
        for year in years
    ]
    reports = await check.abatch(asked)
    assert [verdicts(report)[0] == "supported" for report in reports] == [year == 1815 for year in years]
    assert len({report.fingerprint.search_tools for report in reports}) == len(years)


async def test_factuality_searches_what_was_given_and_what_the_checker_has() -> None:
    checker = FactChecker(search=Shelf(documents=[ADA]), cache=False)
    asked = {"response": ANSWER, "documents": [OTHER]}
    faithful = await FactCheckRunnable(checker).ainvoke(asked)
    factual = await FactCheckRunnable(checker, mode="factuality").ainvoke(asked)
    assert verdicts(faithful)[0] == "not_supported"
    assert FAITHFULNESS in faithful.warnings
    assert FACTUALITY in factual.warnings
    assert [name.split()[0] for name in factual.fingerprint.search_tools] == ["given", "retriever"]
    plain = await checker.acheck(ANSWER)
    assert not {FAITHFULNESS, FACTUALITY} & set(plain.warnings)


async def test_faithfulness_asks_no_search_engine_and_factuality_does(sim: Simulator) -> None:
    response = sim.world.responses[1]
    documents = documents_of(sim, response.subject)
    asked = {"question": response.prompt, "response": response.text, "documents": documents}
    async with simulated_checker(sim) as checker:
        faithful = await FactCheckRunnable(checker).ainvoke(asked)
    assert sim.stats().search.requests == 0
    async with simulated_checker(sim, plan="paper") as checker:  # where the tools take turns
        report = await FactCheckRunnable(checker, mode="factuality").ainvoke({**asked, "documents": [OTHER]})
    assert sim.stats().search.requests > 0
    assert report.counts.supported > 5
    assert faithful.counts.supported > 5
    assert faithful.counts.unscored == 0
    sources = {item.source for claim in faithful.claims for item in claim.evidence}
    assert sources <= {document.metadata["source"] for document in documents}


class Recorder(BaseCallbackHandler):
    def __init__(self) -> None:
        self.runs: dict[UUID, tuple[str, UUID | None]] = {}
        self.tags: set[str] = set()
        self.outputs: list[Any] = []

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **more: Any) -> None:  # noqa: ARG002 - the base class has them
        self.runs[run_id] = (more["name"], more.get("parent_run_id"))
        self.tags |= set(more.get("tags") or ())

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **more: Any) -> None:  # noqa: ARG002 - the base class has them
        self.runs[run_id] = ("model", more.get("parent_run_id"))

    def roots_of(self, name: str) -> set[str]:
        roots = set()
        for own, parent in self.runs.values():
            above = own
            while parent is not None:
                above, parent = self.runs[parent]
            if own == name:
                roots.add(above)
        return roots


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "stream", "astream"])
async def test_callbacks_and_tags_reach_the_graph_and_the_model(sim: Simulator, way: str) -> None:
    entity = next(iter(sim.world.entities))
    recorder = Recorder()
    asked = {"response": f"{entity} was born in Nowhere.", "documents": [f"{entity} was born."]}
    config: Any = {"callbacks": [recorder], "tags": ["mine"], "run_name": "outer"}
    async with simulated_checker(sim, search=()) as checker:
        check = FactCheckRunnable(checker)
        match way:
            case "invoke":
                check.invoke(asked, config)
            case "ainvoke":
                await check.ainvoke(asked, config)
            case "batch":
                check.batch([asked], config)
            case "stream":
                list(check.stream(asked, config))
            case _:
                [step async for step in check.astream(asked, config)]
    assert recorder.roots_of("safe") == {"outer"}
    assert recorder.roots_of("model") == {"outer"}
    assert "mine" in recorder.tags


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "`response` must be a string or a message, not NoneType"),
        ({"response": 3}, "`response` must be a string or a message, not int"),
        ({"response": []}, "`response` must be a string or a message, not list"),
        ({"response": "x", "question": b"y"}, "question must be a string"),
        ({"response": "x", "documents": 3}, "documents must be a list"),
        ({"response": "x", "documents": ["a", None]}, "item 2 of documents"),
        ({"response": "x", "documents": "tests"}, r"the path 'tests', not a text: .* FactChecker\(docs='tests'\)"),
        ({"response": "x", "documents": ["tests", 3]}, "item 2 of documents must be"),  # a word that was retrieved
        ({"response": "x", "documents": [{"body": "a"}]}, "item 1 of documents needs a string under one of these keys"),
        ({"response": "\ud83d", "documents": []}, "half a character"),
        ("x", r"must be a mapping with 'response', not str; .* put RunnablePassthrough.assign\(response=...\)"),
    ],
)
def test_wrong_input_is_named(given: Any, complaint: str) -> None:
    with pytest.raises(ConfigError if "path" in complaint else DataError, match=complaint):
        offline().invoke(given)


@pytest.mark.parametrize("found", [None, [], (), [Document(" ")]])
def test_where_no_document_was_found_every_claim_is_unscored(found: Any) -> None:
    """A retriever that returns None must not end the request."""
    asked = {**ASKED, "documents": found}
    for report in (
        offline().invoke(asked),
        FactualityReport.model_validate(build_factcheck_node(offline()).invoke(asked)["report"]),
    ):
        assert {claim.judgement.unscored_reason for claim in report.claims} == {UnscoredReason.NO_SOURCE}
    unchecked = ANSWER.replace(".", ". [unscored]")
    assert FactCheckStreamGuard(offline()).invoke(asked) == unchecked
    assert next(iter(FactCheckStreamGuard(offline()).stream(asked))) == unchecked.partition("]")[0] + "]"


@pytest.mark.parametrize("given", [{}, {"docs": ["y"]}])
def test_a_chain_that_hands_over_nothing_to_be_faithful_to_is_told_so(given: Any) -> None:
    with pytest.raises(ConfigError, match="pass 'documents' in the input, or set `retriever`"):
        offline().invoke({"response": PASSAGE, **given})
    assert offline(mode="factuality").invoke({"response": PASSAGE}).counts.unscored == 2


def test_keys_may_have_other_names_and_other_keys_are_left_alone() -> None:
    check = offline(keys=Keys(question="input", documents="context"))
    asked = {"input": QUESTION, "context": [ADA], "response": ANSWER, "documents": 3, "chat_history": []}
    report = check.invoke(asked)
    assert (report.prompt, verdicts(report)) == (QUESTION, RIGHT)
    with pytest.raises(DataError, match="item 1 of context"):
        check.invoke({**asked, "context": [3]})
    assert verdicts(build_factcheck_node(check).invoke(ASKED)["report"]) == RIGHT
    assert verdicts(factcheck_tool(check, documents=[ADA]).invoke(CALL).artifact) == RIGHT


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="mode = 'both'"):
        offline(mode="both")
    with pytest.raises(ConfigError, match="cannot search with an object of type int"):
        offline(retriever=3)


def test_one_wrong_input_of_a_batch_leaves_the_others() -> None:
    found: list[Any] = offline().batch([ASKED, {}, ASKED], return_exceptions=True)
    assert [type(item) for item in found] == [FactualityReport, DataError, FactualityReport]
    assert found[0].claims[0].judgement.verdict is Verdict.SUPPORTED


DOORS: dict[str, Callable[..., Any]] = {
    "correction": CorrectionRunnable,
    "middleware": FactCheckMiddleware,
    "guard": FactCheckStreamGuard,
    "node": build_factcheck_node,
    "tool": factcheck_tool,
}


def bare(**settings: Any) -> FactChecker:
    return FactChecker(cache=False, **settings)


@pytest.fixture
def handbook(tmp_path: Path) -> str:
    path = tmp_path / "handbook.md"
    path.write_text(PASSAGE, encoding="utf-8")
    return str(path)


def test_a_bare_checker_will_do_everywhere() -> None:
    assert verdicts(CorrectionRunnable(bare()).invoke(ASKED).before) == RIGHT
    assert verdicts(factcheck_tool(bare(), documents=[ADA]).invoke(CALL).artifact) == RIGHT
    assert verdicts(build_factcheck_node(bare()).invoke(ASKED)["report"]) == RIGHT
    assert FactCheckStreamGuard(bare(), "drop", documents=[ADA]).invoke(ANSWER) == TRUE
    guard = FactCheckMiddleware(bare(), action="block", documents=[ADA], message="No.")
    agent: Any = create_agent(ScriptedModel(script=[AIMessage(ANSWER)]), [], middleware=[guard])
    assert agent.invoke({"messages": [HumanMessage("Who?")]})["messages"][-1].text == "No."


def test_a_bare_checker_searches_documents_of_its_own(handbook: str) -> None:
    checker = bare(docs=handbook)
    assert verdicts(factcheck_tool(checker).invoke(CALL).artifact) == RIGHT
    assert FactCheckStreamGuard(checker, "drop").invoke(ANSWER) == TRUE
    with pytest.raises(ConfigError, match="mode='factuality' also searches the checker's sources"):
        FactCheckRunnable(checker).invoke({"response": ANSWER})


@pytest.mark.parametrize("wrong", ["openai:gpt-4o-mini", Corrector(bare()), StreamGuard(bare()), FactChecker])
@pytest.mark.parametrize("door", DOORS)
def test_anything_else_is_refused_before_it_is_used(door: str, wrong: Any) -> None:
    kind = type(wrong).__name__
    with pytest.raises(ConfigError, match=f"`check` must be a FactCheckRunnable or a FactChecker, not {kind}"):
        DOORS[door](wrong)


@pytest.mark.parametrize("kind", [FactCheckRunnable, StreamGuard, Corrector])
def test_what_takes_a_bare_checker_refuses_a_step_of_a_chain(kind: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="checker must be a FactChecker, not FactCheckRunnable"):
        kind(offline())


NOBODY = "http://127.0.0.1:9/v1"


def away(**settings: Any) -> FactChecker:
    """A checker whose judge has never answered, as in a new process."""
    return FactChecker(**{"model": MODEL, "base_url": NOBODY, "cache": False, **settings})


def guarded(checker: FactChecker, **options: Any) -> Any:
    guard = FactCheckMiddleware(FactCheckRunnable(checker), documents=[ADA], **options)
    return create_agent(ScriptedModel(script=[AIMessage(ANSWER)]), [], middleware=[guard])


def lets_out(**options: Any) -> str:
    return str(guarded(away(), **options).invoke(ASKS)["messages"][-1].text)


OUTCOMES: dict[str, Callable[[], Any]] = {
    "block": lambda: lets_out(action="block") == BLOCKED_UNCHECKED,
    "passing": lambda: lets_out(action="block", passing=["unscored"]) == ANSWER,
    "revise": lambda: lets_out(action="revise") == BLOCKED_UNCHECKED,
    "correct": lambda: lets_out(action="correct") == BLOCKED_UNCHECKED,
    "then record": lambda: lets_out(action="correct", then="record") == ANSWER.replace(".", ". [unchecked]"),
    "then annotate": lambda: (
        "[unchecked]\n\nFact check: 2 claims (2 unscored" in lets_out(action="correct", then="annotate")
    ),
    "stream": lambda: FactCheckStreamGuard(away(), documents=[ADA]).invoke(ANSWER).count("[unscored]") == 2,
    "events": lambda: list(FactCheckRunnable(away()).stream(ASKED))[-1].counts.unscored == 2,
    "correction": lambda: CorrectionRunnable(away()).invoke(ASKED).text.count("[unchecked]") == 2,
}


@pytest.mark.parametrize("step", OUTCOMES)
def test_a_judge_that_is_away_from_the_start_raises_nothing(step: str) -> None:
    assert OUTCOMES[step]()


def test_a_judge_that_refuses_the_key_is_still_a_wrong_set_up(sim: Simulator) -> None:
    with pytest.raises(ConfigError, match="check the API key"):
        guarded(away(base_url=f"{sim.base_url}/elsewhere"), action="block").invoke(ASKS)


async def test_the_log_has_one_warning_for_each_check_that_could_not_be_judged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "factloop"):
        await FactCheckRunnable(away()).ainvoke(ASKED)
        await FactCheckRunnable(FactChecker(cache=False)).ainvoke(ASKED)
        await FactCheckRunnable(FactChecker(cache=False)).ainvoke({**ASKED, "documents": []})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.name.partition(".")[0] == "factloop"
    assert "could not judge any of 2 claims: openai:sim: " in record.getMessage()
