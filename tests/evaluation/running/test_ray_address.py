"""Addresses without a cluster, in a process that has no Ray of its own."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.runs.run import judge_on_ray
from factloop.setup.settings import CheckSettings


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nonsense::", "127.0.0.1:99999"])
async def test_an_address_without_a_cluster_is_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigError, match=f"--address {address}: no Ray cluster answers"):
        await anext(judge_on_ray(CheckSettings(), [], directory=None, workers=2, address=address))
