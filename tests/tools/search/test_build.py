from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.tools.search.build import build_search_tools


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="unknown search 'bing': known are serper, wikipedia, searxng"):
        build_search_tools(["wikipedia", "bing"])


@pytest.mark.parametrize("key", ["", "  ", "ключ", "a\nb"])
def test_missing_or_impossible_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", key)
    with pytest.raises(ConfigError, match="SERPER_API_KEY") as caught:
        build_search_tools(["serper"])
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "variable", "url"), [("serper", "FACTLOOP_SERPER_URL", "google"), ("searxng", "FACTLOOP_SEARXNG_URL", "")]
)
def test_missing_or_impossible_address(name: str, variable: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "key")
    monkeypatch.setenv(variable, url)
    with pytest.raises(ConfigError, match=variable):
        build_search_tools([name])


def test_missing_documents(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        build_search_tools([], [tmp_path / "absent"])


@pytest.mark.process
def test_only_what_is_asked_for_is_imported() -> None:
    program = (
        "import sys, factloop.tools.search.build as b; b.build_search_tools(['wikipedia']);"
        "print([m for m in ('torch', 'spacy', 'tantivy', 'pypdf', 'lxml', 'factloop.tools.search.serper')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
