"""The checker as a step of a LangChain chain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

from factloop.checking.checker import FactChecker, SearchSource, given_checker
from factloop.core.errors import ConfigError
from factloop.core.events import CheckFinished
from factloop.core.records import FactualityReport
from factloop.core.sync import iterate_blocking, run_blocking
from factloop.integrations.langchain.inputs import AnswerInput, Keys
from factloop.setup.limits import Limits
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.calls.blame import expect_outages
from factloop.tools.search.adapter import as_search_tool

Output = TypeVar("Output")


class InOneLoop(Runnable[dict[str, Any], Output]):
    """A step that works in one event loop rather than in threads: all share the checker's limits and calls."""

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        return run_blocking(self.ainvoke(input, config, **kwargs))

    def batch(
        self,
        inputs: list[dict[str, Any]],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[Output]:
        async def all_of_them() -> list[Output]:
            given: Any = config
            return await self.abatch(inputs, given, return_exceptions=return_exceptions, **kwargs)

        return run_blocking(all_of_them())


class FactCheckRunnable(InOneLoop[FactualityReport]):
    """Checks an answer against the documents that it was written from.

        check = FactCheckRunnable(FactChecker("openai:gpt-4o-mini"))
        report = check.invoke({"question": ..., "response": ..., "documents": [...]})

    The input is a mapping: `response` (a text or a message), `question` (a text, a message or a history; may be left
    out) and `documents` (as for `FactChecker.acheck`; where they are left out, `retriever` is searched). `keys` renames
    them, for instance `Keys(question="input", documents="context")`; other keys of the input are not looked at. The
    output is a `FactualityReport`, whose evidence names each document by the `source` of its metadata, and whose
    warnings name the mode:

    - `faithfulness` (the default): against what was given, and nothing else. Where that is nothing (an empty list, or
      None without a retriever), every claim is unscored, `no_source`; without the key the chain is wrong: ConfigError.
    - `factuality`: what was given is searched first, then what the checker itself was told to search.

    `stream` and `astream` yield the events of `factloop.core.events` as they happen, and last the report itself (not
    `check_finished`), so that the next step of a chain gets the same as from `invoke`. With a model it costs money.
    Callbacks, tags, metadata and `max_concurrency` of the config reach the graph and the model's calls.
    Raises DataError for a wrong input, ConfigError; a model out of reach leaves claims unscored, and raises nothing.
    """

    def __init__(
        self,
        checker: FactChecker | None = None,
        *,
        retriever: SearchSource | None = None,
        mode: SourceMode = "faithfulness",
        keys: Keys = Keys(),  # noqa: B008 - it is frozen
        limits: Limits | None = None,
    ) -> None:
        """`limits` are those of each check, within the checker's own.

        Without a checker the offline engine judges. Raises ConfigError."""
        if mode not in ("faithfulness", "factuality"):
            raise ConfigError(f"mode = {mode!r}: must be 'faithfulness' or 'factuality'")
        self.checker = given_checker(checker)
        self.mode: SourceMode = mode
        self.keys, self.limits = keys, limits
        self._retriever = () if retriever is None else (as_search_tool(retriever),)

    async def ainvoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> FactualityReport:
        return await self._acall_with_config(self._check, input, config, **kwargs)

    def stream(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from iterate_blocking(lambda: self.astream(input, config, **kwargs))

    async def astream(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        async def alone() -> AsyncIterator[dict[str, Any]]:
            yield input

        steps: Any = self._atransform_stream_with_config(alone(), self._events, config, **kwargs)
        async with aclosing(steps):
            async for step in steps:
                yield step

    async def _check(self, given: dict[str, Any]) -> FactualityReport:
        asked = self.keys.read(given)
        expect_outages()
        return await self.checker.acheck(
            asked.response, asked.question, sources=await self.sources(asked), limits=self.limits
        )

    async def _events(self, inputs: AsyncIterator[dict[str, Any]]) -> AsyncIterator[Any]:
        expect_outages()
        async for given in inputs:
            asked = self.keys.read(given)
            events = self.checker.astream(
                asked.response, asked.question, sources=await self.sources(asked), limits=self.limits
            )
            async with aclosing(events):
                async for event in events:
                    yield event.report if isinstance(event, CheckFinished) else event

    async def sources(self, asked: AnswerInput) -> Sources:
        """The sources that an answer is held against. Raises ConfigError where the input says nothing of documents."""
        if asked.documents is None:
            if self.mode == "faithfulness" and not self._retriever and not asked.names_documents:
                key = self.keys.documents
                hint = " (mode='factuality' searches what the checker has)" if self.checker.has_sources else ""
                raise ConfigError(
                    f"there is nothing to be faithful to: the input has no {key!r}, nor is there a retriever{hint}"
                )
            return Sources(self._retriever, self.mode)
        return await self.checker.sources_of(asked.documents, self.mode)


AnyChecker = FactCheckRunnable | FactChecker
"""What checks: a step of a chain with its mode, keys, retriever and limits, or the bare checker."""


def as_check(check: AnyChecker | None) -> FactCheckRunnable:
    """The check itself, one around a checker, or one by the offline engine where nothing is given.

    A checker with documents or a search of its own is asked for `factuality`, so that these are searched, too; any
    other for `faithfulness`. Raises ConfigError for anything else.
    """
    if check is None:
        return FactCheckRunnable()
    if isinstance(check, FactCheckRunnable):
        return check
    if isinstance(check, FactChecker):
        return FactCheckRunnable(check, mode="factuality" if check.has_sources else "faithfulness")
    raise ConfigError(f"check: a FactCheckRunnable or a FactChecker is needed, not {type(check).__name__}")
