from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tests.simulator import Simulator


@pytest.fixture
def client(sim: Simulator) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=sim.base_url, api_key="any", max_retries=0) as made:
        yield made
