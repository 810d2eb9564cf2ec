from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from factloop.schemas import json_schema
from factloop.setup.caching.opening import open_answers
from factloop.setup.settings import RunSettings
from tests.cli.command import Command
from tests.cli.processes import Start
from tests.simulator import MODEL, Simulator

CHECK = ("check", "answer.md", "--model", MODEL, "--docs", "docs")


@pytest.fixture
def cache(sim: Simulator, factloop: Command, answer: Path, docs: Path) -> Path:
    assert factloop(*CHECK).code == 0
    assert sim.stats().model.requests > 0
    assert answer.exists()
    assert docs.exists()
    return Path(os.environ["FACTLOOP_CACHE_DIR"])


def valid(name: str, text: str) -> Any:
    found = json.loads(text)
    jsonschema.validate(found, json_schema(name))
    return found


def test_it_shows_where_what_and_within_which_bounds(factloop: Command, cache: Path) -> None:
    shown = factloop("cache", "show")
    assert (shown.code, shown.err) == (0, "")
    words = " ".join(shown.out.split())
    assert f"Cache folder: {cache}" in words
    assert "indexes of documents 1 " in words
    assert "of 1,024 MB (cache_mb); kept for 30 days (cache_days)." in words
    found = valid("cache_status", factloop("cache", "show", "--json", "-").out)
    assert found["folder"] == str(cache)
    assert found["answers"]["n"] > 0
    assert (found["indexes"]["n"], found["vectors"]["n"]) == (1, 0)
    assert found["n_bytes"] == found["answers"]["n_bytes"] + found["indexes"]["n_bytes"]


def test_clearing_says_what_went_and_what_that_freed(factloop: Command, cache: Path) -> None:
    before = valid("cache_status", factloop("cache", "show", "--json", "-").out)
    cleared = factloop("cache", "clear", "--json", "cleared.json")
    assert (cleared.code, cleared.err) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(cache))}: [\d.]+ kB freed.\n", cleared.out)
    found = valid("cache_cleared", Path("cleared.json").read_text(encoding="utf-8"))
    assert found["n_bytes"] == before["n_bytes"]
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    assert factloop("cache", "clear").out == f"{cache}: nothing was removed.\n"


@pytest.mark.parametrize(("kind", "left"), [("answers", (False, True)), ("indexes", (True, False))])
def test_one_kind_alone(factloop: Command, cache: Path, kind: str, left: tuple[bool, bool]) -> None:
    assert factloop("cache", "clear", "--only", kind).code == 0
    assert ((cache / "calls.sqlite").exists(), bool(list(cache.glob("indexes/*/manifest.json")))) == left


def test_what_a_process_uses_stays_until_that_has_ended(factloop: Command, cache: Path, start: Start) -> None:
    service = start("serve", "--docs", "docs", "--folder", "service", "--port", 0)
    assert service.stderr is not None
    assert "Ctrl-C" in service.stderr.readline()
    with closing(open_answers(RunSettings(cache_dir=cache))):
        cleared = factloop("cache", "clear")
    assert cleared.code == 2
    assert cleared.out == f"{cache}: nothing was removed.\n"
    first, second = cleared.err.splitlines()
    said = "another process is using it, or you do not have permission"
    assert first == f"factloop: cannot remove {cache / 'calls.sqlite'}: {said}"
    assert second.startswith(f"factloop: cannot remove {cache / 'indexes'}{os.sep}")
    service.kill()
    service.wait()
    assert factloop("cache", "clear").code == 0
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_a_damaged_file_is_refused_by_show_and_removed_by_clear(factloop: Command, cache: Path) -> None:
    (cache / "calls.sqlite").write_text("no database " * 1000)
    shown = factloop("cache", "show")
    assert (shown.code, "calls.sqlite" in shown.complaint) == (2, True)
    cleared = factloop("cache", "clear", "--only", "answers")
    assert cleared.out == f"{cache}: 12.0 kB freed.\n"
