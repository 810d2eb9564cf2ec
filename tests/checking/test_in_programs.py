"""A checker within a program: warmed up, typed, priced when it is made, sent to another process."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import threading
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.documents import Document
from langchain_openai import ChatOpenAI
from pydantic import SecretStr, TypeAdapter

import factloop
from factloop import CheckSettings, ConfigError, FactChecker, FactualityReport
from factloop.checking import checker as module
from factloop.guarding import StreamGuard
from factloop.integrations.langchain.guard import GuardOptions
from factloop.setup.changes import CheckChanges
from factloop.tools.calls.budget import Budget
from factloop.tools.search.given import GivenDocuments

TEXT = "John Smeaton built the third tower."
OWN = {"model", "search", "docs", "recording"}
PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


@pytest.mark.parametrize("by", ["awarm_up", "acheck"])
async def test_what_takes_seconds_is_loaded_in_another_thread_and_once(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    rehearse = FactChecker._rehearse

    def noted(checker: FactChecker) -> None:
        threads.append(threading.current_thread())
        rehearse(checker)

    monkeypatch.setattr(FactChecker, "_rehearse", noted)
    monkeypatch.setattr(module, "_WARM", set())
    checker = FactChecker(cache=False)
    if by == "awarm_up":
        await asyncio.gather(checker.awarm_up(), checker.awarm_up())
    assert (await checker.acheck(TEXT, documents=[TEXT])).counts.supported == 1
    await FactChecker(cache=False).acheck(TEXT, documents=[TEXT])
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


def test_a_checker_is_warmed_up_without_a_loop_and_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WARM", set())
    FactChecker("openai:x", base_url="http://127.0.0.1:9/v1", cache=False).warm_up()  # nothing answers there
    FactChecker(cache=False).warm_up()
    assert len(module._WARM) == 2


@pytest.mark.parametrize("limit", ["budget_usd", "budget_usd_per_check"])
def test_a_price_is_asked_for_when_the_checker_is_made(limit: str) -> None:
    limits: Any = {limit: 1.0}
    own = ChatOpenAI(model="mine", base_url="http://127.0.0.1:9/v1", api_key=SecretStr("none"))
    for model in ("openai:mine", own, own.bind(stop=["x"])):
        with pytest.raises(ConfigError, match=r"the price of .*mine is unknown.*: give price_in and price_out$"):
            FactChecker(model, **limits)
        FactChecker(model, price_in=1.0, price_out=2.0, **limits)
    FactChecker(**limits)  # the offline engine costs nothing


def test_the_typed_settings_are_those_of_a_check() -> None:
    hints = get_type_hints(CheckChanges)
    fields = CheckSettings.model_fields
    assert list(hints) == [name for name in fields if name not in OWN]
    for name, hint in hints.items():
        TypeAdapter(hint).validate_python(fields[name].default)
    assert set(inspect.signature(FactChecker.__init__).parameters) >= OWN


def test_the_typed_options_of_the_guard_are_those_of_streams() -> None:
    known = inspect.signature(StreamGuard.__init__).parameters
    assert set(get_type_hints(GuardOptions)) == set(known) - {"self", "checker", "policy"}


def checked_there(checker: FactChecker) -> FactualityReport:
    return checker.check(TEXT)


@pytest.mark.process
def test_a_checker_works_in_another_process() -> None:
    with get_context("spawn").Pool(1) as pool:
        report = pool.apply(checked_there, (FactChecker(search=GivenDocuments([Document(TEXT)]), cache=False),))
    assert report.counts.supported == 1


def test_settings_and_sources_travel_and_sessions_do_not() -> None:
    given = GivenDocuments([Document(TEXT, metadata={"page": 3})])
    checker = FactChecker(search=[given, "wikipedia"], cache=False, max_searches=2)
    checker.check(TEXT, documents=[TEXT])  # which opens a session
    copy = pickle.loads(pickle.dumps(checker))
    assert (type(copy), copy.settings) == (FactChecker, checker.settings)
    assert [tool.identity for tool in copy.tools] == [tool.identity for tool in checker.tools]
    with pytest.raises(ConfigError, match="shares a budget"):
        pickle.dumps(FactChecker(budget=Budget(), cache=False))


@pytest.mark.parametrize("name", ["", "guarding", "integrations.langchain", "testing"])
def test_every_public_name_is_on_the_page_that_promises_it(name: str) -> None:
    from importlib import import_module

    package = import_module(".".join(filter(None, ("factloop", name))))
    page = PAGE.read_text(encoding="utf-8")
    promised = page.partition("## What stays")[2].partition("\n## ")[0]
    missing = [one for one in package.__all__ if f"`{one}`" not in promised]
    assert not missing
    assert factloop.__version__.startswith("0.")  # from 1.0 on the promise is another
