from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.setup.search_tools import open_search_tools
from factloop.setup.settings import CheckSettings
from factloop.tools.search.build import build_search_tools


def test_names_and_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "k")
    monkeypatch.setenv("FACTLOOP_SEARXNG_URL", "http://127.0.0.1:9")
    (tmp_path / "a.txt").write_text("Ada was born in 1815.")
    names = ["wikipedia", "serper", "searxng", "serper"]
    tools = build_search_tools(names, [str(tmp_path)], timeout_s=3, cache_dir=tmp_path / "cache")
    assert [tool.name for tool in tools] == ["wikipedia", "serper", "searxng", "documents"]
    assert build_search_tools([]) == []


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="unknown search 'bing': known are serper, wikipedia, searxng"):
        build_search_tools(["wikipedia", "bing"])


def test_missing_key_and_missing_documents(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="SERPER_API_KEY"):
        build_search_tools(["serper"])
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


def test_a_builder_is_given_the_settings_that_bear_its_name() -> None:
    settings = CheckSettings(search=("wikipedia",), wikipedia_language="de", searxng_url="http://127.0.0.1:9")
    assert settings.of_search("wikipedia") == {"language": "de", "url": None}
    (tool,) = open_search_tools(settings)
    assert tool.identity == "wikipedia https://de.wikipedia.org/w"
    (tool,) = open_search_tools(settings.model_copy(update={"search": ("searxng",)}))
    assert tool.identity == "searxng http://127.0.0.1:9 language=None"
