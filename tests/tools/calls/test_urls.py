from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.calls.urls import checked_base_url, is_nearby


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://host",
        "http://",
        "http://[::1",
        "http://host:99999",
        "http://host:x",
        "//x",
        "not a url",
        "http://two words",
        "http://host\n",
    ],
)
def test_an_address_that_cannot_be_asked_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="THE_VARIABLE"):
        checked_base_url(url, "THE_VARIABLE")


@pytest.mark.parametrize(
    ("url", "nearby"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:11434", True),
        ("http://[::1]:8080/v1", True),
        ("https://192.168.1.7/v1", True),
        ("http://vllm:8000/v1", True),
        ("http://gpu.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://localhost.example.org/v1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_whether_a_server_is_nearby(url: str, nearby: bool) -> None:
    assert is_nearby(url) is nearby
