from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from factloop.integrations.langchain import FactCheckMiddleware, FactCheckStreamGuard
from tests.checking.simulated import PLANS, simulated_checker, simulated_scorer
from tests.integrations.scripted import ScriptedModel
from tests.simulator import Faults, Simulator

EXPORTER = InMemorySpanExporter()


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """OpenTelemetry allows one provider in a process, so all tests of this file share it."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(EXPORTER))
        trace.set_tracer_provider(provider)
    EXPORTER.clear()
    yield EXPORTER
    EXPORTER.clear()


def of(spans: InMemorySpanExporter, beginning: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name.startswith(beginning)]


def parent(span: ReadableSpan, among: InMemorySpanExporter) -> ReadableSpan:
    assert span.parent is not None
    return next(one for one in among.get_finished_spans() if one.context.span_id == span.parent.span_id)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def everything(spans: InMemorySpanExporter) -> str:
    return "\n".join(span.to_json() for span in spans.get_finished_spans())


@pytest.mark.parametrize("plan", PLANS)
async def test_spans_of_calls_hang_under_stages_and_these_under_the_graph(
    sim: Simulator, spans: InMemorySpanExporter, plan: str
) -> None:
    response = sim.world.responses[0]
    with trace.get_tracer("app").start_as_current_span("app"):
        async with simulated_checker(sim, tracing="on", plan=plan) as checker:
            report = await checker.acheck(response.text, response.prompt)
    (whole,) = of(spans, "invoke_agent factloop.safe")
    assert parent(whole, spans).name == "app"
    assert attributes(whole)["factloop.claims.supported"] == report.counts.supported
    assert attributes(whole)["gen_ai.usage.input_tokens"] == report.usage.prompt_tokens
    stages, calls, searches = of(spans, "stage "), of(spans, "chat "), of(spans, "retrieval ")
    assert {parent(stage, spans) for stage in stages} == {whole}
    assert {parent(call, spans).name.split()[0] for call in calls} == {"stage"}
    assert {parent(search, spans) for search in searches} <= {whole, *stages}
    paid = [call for call in calls if attributes(call)["factloop.answered_by"] == "model"]
    assert len(paid) == report.usage.calls
    tokens = [attributes(call)["gen_ai.usage.output_tokens"] for call in paid]
    assert sum(tokens) == report.usage.completion_tokens
    asked = [search for search in searches if attributes(search)["factloop.answered_by"] == "search"]
    assert len(asked) == report.usage.searches
    assert len(calls) - len(paid) + len(searches) - len(asked) == report.usage.cache_hits
    judged = [stage for stage in stages if "factloop.verdict" in attributes(stage)]
    assert len(judged) >= report.counts.scored - sum(claim.duplicate_of is not None for claim in report.claims)


async def test_checks_at_once_keep_their_spans_apart(sim: Simulator, spans: InMemorySpanExporter) -> None:
    texts = [response.facts[0].text for response in sim.world.responses[:5]]
    async with simulated_checker(sim, tracing="on") as checker:
        await asyncio.gather(*(checker.acheck(text) for text in texts))
    wholes = of(spans, "invoke_agent")
    assert len({span.context.trace_id for span in wholes}) == 5
    stages = of(spans, "stage ")
    assert stages
    for span in stages:
        assert parent(span, spans).context.trace_id == span.context.trace_id


async def test_a_stream_is_traced_alike_and_leaves_nothing_behind(sim: Simulator, spans: InMemorySpanExporter) -> None:
    response = sim.world.responses[1]
    async with simulated_checker(sim, tracing="on") as checker:
        async for _ in checker.astream(response.text, response.prompt):
            assert not trace.get_current_span().get_span_context().is_valid
    (whole,) = of(spans, "invoke_agent")
    assert {parent(stage, spans) for stage in of(spans, "stage ")} == {whole}
    assert attributes(whole)["factloop.searches"] > 0


async def test_a_stream_that_is_left_early_is_cancelled_not_failed(sim: Simulator, spans: InMemorySpanExporter) -> None:
    response = sim.world.responses[1]
    async with simulated_checker(sim, tracing="on") as checker, aclosing(checker.astream(response.text)) as events:
        await anext(events)
    (whole,) = of(spans, "invoke_agent")
    assert (attributes(whole)["factloop.cancelled"], whole.status.status_code) == (True, StatusCode.UNSET)


async def test_nothing_that_was_said_is_in_a_span_without_the_choice(
    sim: Simulator, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    monkeypatch.setenv("SERPER_API_KEY", "serper-secret")
    sim.set(faults=Faults(error_500=0.2, malformed=0.2))
    response = sim.world.responses[0]
    async with simulated_checker(sim, tracing="on") as checker:
        report = await checker.acheck(response.text, response.prompt)
    said = everything(spans)
    words = {word for claim in report.claims for word in (claim.self_contained, claim.sentence, *claim.queries)}
    assert words
    assert not any(word in said for word in words)
    assert response.prompt not in said
    assert "secret" not in said
    assert sim.base_url not in said


async def test_what_was_said_is_there_by_choice_but_no_key(
    sim: Simulator, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    monkeypatch.setenv("SERPER_API_KEY", "serper-secret")
    response = sim.world.responses[0]
    async with simulated_checker(sim, tracing="content") as checker:
        report = await checker.acheck(response.text, response.prompt)
    call = attributes(of(spans, "chat ")[0])
    asked = json.loads(call["gen_ai.input.messages"])
    assert [message["role"] for message in asked] == ["system", "user"]
    assert json.loads(call["gen_ai.output.messages"])[0]["role"] == "assistant"
    queries = {attributes(search)["gen_ai.retrieval.query.text"] for search in of(spans, "retrieval ")}
    assert {query for claim in report.claims for query in claim.queries} <= queries
    assert "secret" not in everything(spans)


async def test_retries_are_events_and_unscored_claims_say_why(sim: Simulator, spans: InMemorySpanExporter) -> None:
    refusals = dict.fromkeys(("Assessment", "Assessments"), Faults(refusal=1.0))
    sim.set(seed=2421, faults=Faults(error_500=0.005), stage_faults=refusals)  # the first request fails, and no other
    response = sim.world.responses[0]
    async with simulated_checker(sim, tracing="on") as checker:
        report = await checker.acheck(response.text, response.prompt)
    (event,) = (event for span in of(spans, "chat ") for event in span.events)
    assert dict(event.attributes or {})["http.response.status_code"] == 500
    assert report.usage.failed_calls == 1
    assert {attributes(span).get("factloop.unscored_reason") for span in of(spans, "stage assess")} == {"refusal"}


async def test_a_call_that_fails_for_good_is_an_error_without_its_words(
    sim: Simulator, spans: InMemorySpanExporter
) -> None:
    sim.set(stage_faults={"WindowFacts": Faults(hang=1.0, hang_s=5.0)})
    async with simulated_checker(sim, tracing="on", timeout_s=0.05) as checker:
        await checker.acheck("Ada Lovelace was born in London.")
    (call,) = of(spans, "chat ")
    assert (call.status.status_code, call.status.description) == (StatusCode.ERROR, None)
    assert attributes(call)["error.type"] == "ToolError"  # no call had an answer: it is not this one that is late


@pytest.mark.parametrize(("hang", "decision"), [(1.0, "blocked"), (0.0, "passed")])
async def test_a_guard_says_what_it_decided_and_that_nothing_could_be_judged(
    sim: Simulator, spans: InMemorySpanExporter, hang: float, decision: str
) -> None:
    sim.set(faults=Faults(hang=hang, hang_s=5.0))
    fact = sim.world.responses[0].facts[0]
    async with simulated_checker(sim, tracing="on", search=(), timeout_s=0.05 if hang else 600.0) as checker:
        guard = FactCheckMiddleware(checker, action="block", documents=[fact.gold.text])
        written = AIMessage(fact.self_contained)
        agent: Any = create_agent(ScriptedModel(script=[written]), [], middleware=[guard])
        with trace.get_tracer("app").start_as_current_span("app"):
            await agent.ainvoke({"messages": [HumanMessage("What is known?")]})
            await FactCheckStreamGuard(checker, "drop", documents=[fact.gold.text]).ainvoke(written)
    of_agent, of_stream = of(spans, "guard")
    assert attributes(of_agent)["factloop.guard.action"] == "block"
    assert attributes(of_agent)["factloop.guard.decision"] == decision
    assert attributes(of_stream)["factloop.guard.decision"] == ("dropped" if hang else "passed")
    assert {parent(one, spans).name for one in (of_agent, of_stream)} == {"app"}
    first, _, second = of(spans, "invoke_agent")  # the second is that of the set-up of the stream
    assert parent(first, spans) == of_agent
    failed = StatusCode.ERROR if hang else StatusCode.UNSET
    assert {one.status.status_code for one in (of_agent, of_stream, first, second)} == {failed}
    assert attributes(of_agent).get("error.type") == ("tool_failure" if hang else None)


async def test_scores_are_traced_too(sim: Simulator, spans: InMemorySpanExporter) -> None:
    pair = sim.world.questions[0]
    async with simulated_scorer(sim, tracing="on") as scorer:
        report = await scorer.ascore(pair.question, pair.answer)
    (whole,) = of(spans, "invoke_agent factloop.trustscore")
    assert attributes(whole)["factloop.trust_bc"] == report.trust_bc.value
    assert {parent(call, spans) for call in of(spans, "chat ")} == {whole}


async def test_off_there_is_no_span(sim: Simulator, spans: InMemorySpanExporter) -> None:
    async with simulated_checker(sim) as checker:
        await checker.acheck("Ada Lovelace was born in London.")
    assert spans.get_finished_spans() == ()


@pytest.mark.process
def test_off_it_works_without_opentelemetry() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None; from factloop import FactChecker;"
        "FactChecker(cache=False).check('Ada was born in London.')"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
