from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factloop.tools.models.tokens import count_tokens

ALONE = """
import socket, sys
def refuse(*_, **__): raise AssertionError("a connection was opened")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from factloop.tools.models.tokens import count_tokens
print(count_tokens("a" * 41), "tiktoken" in sys.modules)
"""


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_without_a_vocabulary_four_characters_are_a_token(
    text: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert count_tokens(text) == expected


@pytest.mark.process
def test_counting_touches_no_network_and_loads_no_tokenizer(tmp_path: Path) -> None:
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["11", "False"]  # 41 / 4, rounded up
