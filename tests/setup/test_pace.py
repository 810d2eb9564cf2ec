"""Sessions that share a pace share the limiter of each server."""

from __future__ import annotations

import asyncio

import pytest

from factloop.setup.pace import Pace
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.limiter import Limiter
from factloop.tools.models.chat import ChatModel, build_chat_model
from tests.tools.calls.virtual_time import run_in_virtual_time


def chat(name: str = "small", port: int = 9) -> ChatModel:
    return build_chat_model(f"openai:{name}", base_url=f"http://127.0.0.1:{port}/v1")


async def seconds_for(limiter: Limiter, n_calls: int) -> float:
    begun = asyncio.get_running_loop().time()
    for _ in range(n_calls):
        async with limiter.slot():
            pass
    return asyncio.get_running_loop().time() - begun


async def test_models_of_one_server_share_a_limiter_in_one_event_loop() -> None:
    pace, first, same, other = Pace(CheckSettings()), chat(), chat("large"), chat(port=10)
    found = [pace.limiter(one) for one in (first, same, other)]
    elsewhere = await asyncio.to_thread(asyncio.run, _limiter(pace, first))
    assert found[0] is found[1] is pace.limiter(first)
    assert found[0] is not found[2]
    assert elsewhere is not found[0]
    for one in (first, same, other):
        await one.aclose()


async def _limiter(pace: Pace, of: ChatModel) -> Limiter:
    return pace.limiter(of)


@pytest.mark.parametrize("made_before", [True, False])
def test_the_ceiling_is_divided_for_limiters_made_before_and_later(made_before: bool) -> None:
    async def measured() -> float:
        pace, model = Pace(CheckSettings(requests_per_second=10)), chat()
        if made_before:
            pace.limiter(model)
        pace.share(5)
        taken = await seconds_for(pace.limiter(model), 21)
        await model.aclose()
        return taken

    assert run_in_virtual_time(measured()) == pytest.approx(20 / 2, abs=0.6)
