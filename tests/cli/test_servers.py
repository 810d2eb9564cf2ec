"""Settings of commands that serve checks and scores."""

from __future__ import annotations

import pytest

from factloop.cli.servers import server_settings

pytestmark = pytest.mark.usefixtures("home")


def test_a_base_url_without_a_model_is_the_subjects() -> None:
    there = "http://127.0.0.1:9/v1"
    check, trust = server_settings({"subject_model": "openai:x", "base_url": there})
    assert (check.base_url, trust.base_url) == (None, there)
    check, trust = server_settings({"model": "openai:y", "subject_model": "openai:x", "base_url": there})
    assert (check.base_url, trust.base_url) == (there, there)
    assert server_settings({"base_url": there})[0].base_url == there


def test_the_temperature_of_checks_is_not_the_subjects() -> None:
    check, trust = server_settings({"temperature": 0.3, "max_calls": 4})
    assert check.temperature == 0.3
    assert trust.temperature == server_settings({})[1].temperature
    assert check.max_calls == trust.max_calls == 4
