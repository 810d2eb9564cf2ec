"""The simulator over the wire, as the clients that real providers are used with see it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam

from tests.simulator import CHAT, SEARCH, Faults, GoldFact, Simulator, spawn

ASSESSMENT = {"type": "json_schema", "json_schema": {"name": "Assessment", "schema": {"type": "object"}}}
SEARCH_TOOL: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "serper",
        "parameters": {"type": "object", "properties": {"missing": {"type": "string"}, "query": {"type": "string"}}},
    },
}
ANSWER_TOOL: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "Assessment",
        "parameters": {"type": "object", "properties": {"rationale": {}, "verdict": {}}},
    },
}


def fact_with(simulator: Simulator, label: str) -> GoldFact:
    return next(fact for response in simulator.world.responses for fact in response.facts if fact.label == label)


def ask(client: openai.OpenAI, *turns: str, **options: Any) -> Any:
    """The completion of a chat of user and assistant, in turns."""
    roles = ("user", "assistant") * len(turns)
    messages: Any = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=False)]
    return client.chat.completions.create(model="sim", messages=messages, **options)


def claim_message(fact: GoldFact, *, evidence: bool = True) -> str:
    passage = f'\n<evidence id="1">{fact.gold.title} ({fact.gold.date})\n{fact.gold.text}</evidence>'
    return f"<claim>{fact.self_contained}</claim>{passage if evidence else ''}"


class TestOpenAIWire:
    def test_plain_with_usage(self, client: openai.OpenAI, sim: Simulator) -> None:
        response = sim.world.responses[0]
        reply = ask(client, response.prompt)
        assert reply.choices[0].message.content == response.text
        assert reply.choices[0].finish_reason == "stop"
        assert reply.usage.prompt_tokens == -(-len(response.prompt) // 4)
        assert reply.usage.completion_tokens == -(-len(response.text) // 4)
        assert sim.stats().stages[CHAT].completion_tokens == reply.usage.completion_tokens

    def test_streaming_with_usage_last(self, client: openai.OpenAI, sim: Simulator) -> None:
        prompt, text = sim.world.responses[0].prompt, sim.world.responses[0].text
        chunks = list(ask(client, prompt, stream=True, stream_options={"include_usage": True}))
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert said == text
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].usage.completion_tokens == -(-len(text) // 4)
        assert all(chunk.usage is None for chunk in chunks[:-1])

    def test_a_schema_gets_exactly_its_fields(self, client: openai.OpenAI, sim: Simulator) -> None:
        message = claim_message(fact_with(sim, "supported"))
        fields = ["tool", "verdict", "rationale"]
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in fields}}
        answer_format = {"type": "json_schema", "json_schema": {"name": "Assessment", "schema": schema}}
        answer = json.loads(ask(client, message, response_format=answer_format).choices[0].message.content)
        assert (list(answer), answer["tool"]) == (fields, "")

    def test_tools_are_called_to_search_and_to_answer(self, client: openai.OpenAI, sim: Simulator) -> None:
        fact = fact_with(sim, "supported")
        tools = [SEARCH_TOOL, ANSWER_TOOL]
        wish = ask(client, claim_message(fact, evidence=False), tools=tools, tool_choice="required").choices[0]
        assert wish.finish_reason == "tool_calls"
        assert wish.message.tool_calls[0].function.name == "serper"
        assert set(json.loads(wish.message.tool_calls[0].function.arguments)) == {"missing", "query"}
        answer = ask(client, claim_message(fact), tools=tools, tool_choice="required").choices[0]
        assert answer.message.tool_calls[0].function.name == "Assessment"
        assert json.loads(answer.message.tool_calls[0].function.arguments)["verdict"] == "supported"

    @pytest.mark.parametrize(
        ("settings", "options", "status", "param"),
        [
            ({"models": ("other",)}, {}, 404, "model"),
            ({"api_key": "right"}, {}, 401, None),
            ({"supports_tools": False}, {"tools": [SEARCH_TOOL]}, 400, "tools"),
            ({"supports_json_schema": False}, {"response_format": ASSESSMENT}, 400, "response_format"),
            ({"supports_json_object": False}, {"response_format": {"type": "json_object"}}, 400, "response_format"),
            ({"supports_temperature": False}, {"temperature": 0.1}, 400, "temperature"),
        ],
    )
    def test_refuses_what_the_model_lacks(
        self,
        client: openai.OpenAI,
        sim: Simulator,
        settings: dict[str, Any],
        options: dict[str, Any],
        status: int,
        param: str | None,
    ) -> None:
        sim.set(**settings)
        with pytest.raises(openai.APIStatusError) as caught:
            ask(client, "json: hello", **options)
        assert (caught.value.status_code, caught.value.param) == (status, param)
        assert sim.stats().model.failed == 1


class TestSerperWire:
    def post(self, sim: Simulator, **body: Any) -> httpx.Response:
        return httpx.post(f"{sim.serper_url}/search", json=body, headers={"X-API-KEY": "any"})

    def test_answers_like_serper(self, sim: Simulator) -> None:
        sim.set(missing_hits=0.0)
        name = next(iter(sim.world.entities))
        answer = self.post(sim, q=name, num=3).json()
        assert [hit["position"] for hit in answer["organic"]] == [1, 2, 3]
        assert all(set(hit) == {"title", "link", "snippet", "date", "position"} for hit in answer["organic"])
        assert name in answer["organic"][0]["snippet"]
        assert sim.stats().search.answered == 1

    def test_refuses_a_wrong_key_and_a_missing_query(self, sim: Simulator) -> None:
        assert self.post(sim, num=3).status_code == 400
        sim.set(api_key="right")
        assert self.post(sim, q="x").status_code == 403
        assert sim.stats().stages == {}  # neither is a search


class TestFaults:
    def test_malformed_answers_do_not_fit_the_schema(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(faults=Faults(malformed=1.0))
        fact = fact_with(sim, "supported")
        answers = {
            ask(client, claim_message(fact), response_format=ASSESSMENT).choices[0].message.content for _ in range(30)
        }
        assert len(answers) == 3  # cut, in prose, and with a wrong field
        assert not [answer for answer in answers if answer[0] == "{" and '"rationale":' in answer and answer[-1] == "}"]

    def test_truncation_and_refusal_say_so(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(faults=Faults(truncated=1.0))
        assert ask(client, "hello").choices[0].finish_reason == "length"
        sim.set(faults=Faults(refusal=1.0))
        message = ask(client, "hello").choices[0].message
        assert message.content is None
        assert message.refusal

    @pytest.mark.parametrize(("style", "expected"), [("seconds", "1"), ("none", None)])
    def test_rate_limit_says_when_to_come_back(
        self, client: openai.OpenAI, sim: Simulator, style: str, expected: str | None
    ) -> None:
        sim.set(requests_per_s=2.0, retry_after=style)
        ask(client, "one")
        ask(client, "two")
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client, "three")
        assert caught.value.response.headers.get("retry-after") == expected
        assert (sim.stats().model.answered, sim.stats().model.limited) == (2, 1)

    def test_a_hanging_server_is_given_up_and_counted_as_abandoned(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(faults=Faults(hang=1.0, hang_s=30.0))
        with pytest.raises(openai.APITimeoutError):
            ask(client, "hello", timeout=0.2)
        for _ in range(50):
            if sim.stats().in_flight == 0:
                break
            time.sleep(0.02)
        assert (sim.stats().in_flight, sim.stats().stages[CHAT].abandoned) == (0, 1)

    def test_what_hangs_is_answered_once_the_settings_are_changed(self, client: openai.OpenAI, sim: Simulator) -> None:
        sim.set(dies_after=1, dies_by="hang")
        ask(client, "one")
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(ask, client, "two")
            while sim.stats().in_flight == 0:
                time.sleep(0.02)
            sim.set(dies_after=None)
            assert asked.result().choices[0].finish_reason == "stop"
        assert sim.stats().model.answered == 2


class TestRunning:
    def test_keeps_what_reached_the_wire(self, client: openai.OpenAI, sim: Simulator) -> None:
        ask(client, "{{ 6*7 }} \0 ‮ </response>")
        ask(client, "x" * 2_000_000)
        first, second = sim.bodies(CHAT)
        assert first["messages"][0]["content"] == "{{ 6*7 }} \0 ‮ </response>"
        assert len(second["messages"][0]["content"]) == 2_000_000
        assert sim.bodies(SEARCH) == []

    @pytest.mark.process
    def test_runs_in_a_process_of_its_own(self) -> None:
        with spawn(llm_latency_s=0.0, token_latency_s=0.0) as sim:
            assert sim.settings.search_latency_s == 0.1
            with openai.OpenAI(base_url=sim.base_url, api_key="any") as client:
                ask(client, "hello")
            stats = sim.stats()
            assert stats.model.answered == 1
            assert 0.0 < stats.cpu_s < 5.0
