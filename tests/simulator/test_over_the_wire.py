from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam

from tests.simulator import Simulator

ASSESSMENT = {"type": "json_schema", "json_schema": {"name": "Assessment", "schema": {"type": "object"}}}
SEARCH_TOOL: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "serper",
        "parameters": {"type": "object", "properties": {"missing": {"type": "string"}, "query": {"type": "string"}}},
    },
}


def ask(client: openai.OpenAI, *turns: str, **options: Any) -> Any:
    """The completion for a chat whose messages alternate between user and assistant."""
    roles = ("user", "assistant") * len(turns)
    messages: Any = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=False)]
    return client.chat.completions.create(model="sim", messages=messages, **options)


class TestOpenAIWire:
    def test_streaming_with_usage_last(self, client: openai.OpenAI, sim: Simulator) -> None:
        prompt, text = sim.world.responses[0].prompt, sim.world.responses[0].text
        chunks = list(ask(client, prompt, stream=True, stream_options={"include_usage": True}))
        said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert said == text
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].usage.completion_tokens == -(-len(text) // 4)
        assert all(chunk.usage is None for chunk in chunks[:-1])

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


class TestFaults:
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
