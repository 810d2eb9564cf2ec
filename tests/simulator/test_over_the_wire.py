from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai

from tests.simulator import Simulator


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
