"""The checker as a step in a LangChain chain."""

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
    """A step that runs in one event loop, not in threads, so that all inputs share the checker's limits and calls."""

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
    """Checks an answer against the documents from which it was written.

        check = FactCheckRunnable(FactChecker("openai:gpt-4o-mini"))
        report = check.invoke({"question": ..., "response": ..., "documents": [...]})

    The input is a mapping with `response` (a string or a message) and optionally `question` (a string, a message or a
    history) and `documents` (as for `FactChecker.acheck`; without them, `retriever` is searched). `keys` renames these
    keys, for example `Keys(question="input", documents="context")`. Other keys are ignored. The output is a
    `FactualityReport`, in which evidence refers to a document by the `source` in its metadata. There are two modes:

    - `faithfulness` (the default) checks only against the documents in the input. If there are none (an empty list, or
      None without a retriever), every claim is unscored (`no_source`). A missing key raises ConfigError.
    - `factuality` searches these documents first, and then the checker's own sources.

    `stream` and `astream` yield the events of `factloop.core.events` as they happen, and finally the report, which the
    next step in a chain receives. Callbacks, tags, metadata and `max_concurrency` in the config are passed on to the
    graph and the model calls. Costs money if a model is used. If the model is unreachable, claims stay unscored. Raises
    ConfigError, or DataError for invalid input.
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
        """`limits` applies to each check, within the checker's own limits. Raises ConfigError."""
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
        """Returns the sources to check an answer against. Raises ConfigError if the input has no key for documents."""
        if asked.documents is None:
            if self.mode == "faithfulness" and not self._retriever and not asked.names_documents:
                key = self.keys.documents
                hint = "; mode='factuality' also searches the checker's sources" if self.checker.has_sources else ""
                raise ConfigError(
                    f"faithfulness mode needs documents: pass {key!r} in the input, or set `retriever`{hint}"
                )
            return Sources(self._retriever, self.mode)
        return await self.checker.sources_of(asked.documents, self.mode)


AnyChecker = FactCheckRunnable | FactChecker
"""A step in a chain, with its own mode, keys, retriever and limits, or only a checker."""


def as_check(check: AnyChecker | None) -> FactCheckRunnable:
    """Wraps a checker in a check: in `factuality` mode if it has its own sources, or else in `faithfulness` mode. By
    default, the offline engine judges the claims. Raises ConfigError for anything else."""
    if check is None:
        return FactCheckRunnable()
    if isinstance(check, FactCheckRunnable):
        return check
    if isinstance(check, FactChecker):
        return FactCheckRunnable(check, mode="factuality" if check.has_sources else "faithfulness")
    raise ConfigError(f"`check` must be a FactCheckRunnable or a FactChecker, not {type(check).__name__}")
