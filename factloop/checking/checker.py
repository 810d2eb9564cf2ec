"""Provides `FactChecker`, which checks a response and returns a factuality report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any, TypedDict, Unpack

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore

from factloop.agents.safe.conversation import Question, question_of
from factloop.checking.cascade.stage import refuse_without_documents
from factloop.checking.check import Checking, CheckRequest, open_checking
from factloop.checking.preparing import numbered, prepare
from factloop.core.errors import ConfigError
from factloop.core.events import CheckFinished, Event
from factloop.core.records import FactualityReport, Fingerprint, GivenFacts
from factloop.core.sync import run_blocking
from factloop.setup.changes import CheckChanges
from factloop.setup.chat_model import name_of_model, refuse_unknown_price
from factloop.setup.limits import Limits
from factloop.setup.pace import Pace
from factloop.setup.per_loop import ClosesPerLoop, PerLoop
from factloop.setup.recording import Recording, UsedRecording
from factloop.setup.run_directory import RunDirectory
from factloop.setup.search_tools import open_search_tools
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.calls.budget import Allowance, Budget
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import SingleFlight
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.wrapped import AnyModel, unwrapped
from factloop.tools.search.adapter import as_search_tool
from factloop.tools.search.base import SearchTool
from factloop.tools.search.build import check_settings
from factloop.tools.search.given import GivenDocuments, GivenIndexes
from factloop.tools.search.handed_over import Documents, Retrieve

SearchSource = str | SearchTool | BaseRetriever | VectorStore | BaseTool | Retrieve

_WARM: set[tuple[bool, str | None]] = set()
"""The kinds of checks that are warmed up: whether they use a model, and their spaCy pipeline."""
_REHEARSED = "Ada Lovelace was born in London in 1815."

Check = Callable[..., Awaitable[FactualityReport]]
"""Has the same signature as `OpenChecks.__call__`."""


class DocumentOptions(TypedDict, total=False):
    documents: Documents | None
    """A list of strings, LangChain documents or mappings (with `page_content`, `text` or `content`, and optionally a
    score), a retriever or a vector store. The checker's own sources are searched as well. If the list is empty and
    the checker has no sources of its own, no claims can be judged."""
    sources: Sources | None
    """Documents with a mode. Cannot be combined with `documents`."""


class CheckOptions(DocumentOptions, total=False):
    facts: Sequence[GivenFacts] | None
    """The facts in each sentence, in order, if you have already extracted them. These facts become the claims. A
    sentence that is not in the response has an empty span at the end of the previous sentence."""
    spans: Sequence[tuple[int, int]] | None
    """Start and end, in characters, of each sentence to judge, in order. The rest of the response is only context.
    Cannot be combined with `facts` or `run_dir`."""
    limits: Limits | None
    """Limits for this check, in addition to the shared limits. At the deadline, the check ends and reports the claims
    judged so far. `usage` then includes the maximum cost of unanswered calls."""


@dataclass(frozen=True)
class OpenChecks:
    """A `Check` in an open session. All checks share the allowance, if there is one."""

    checking: Checking
    sources: Sources | None = None
    allowance: Allowance | None = None

    async def __call__(
        self,
        response: str,
        prompt: str | None = None,
        facts: Sequence[GivenFacts] | None = None,
        *,
        spans: Sequence[tuple[int, int]] | None = None,
        sources: Sources | None = None,
    ) -> FactualityReport:
        """Checks a complete response, or only its `facts` or `spans`. The arguments are those of `FactChecker.acheck`.
        Claims that cannot be judged are unscored, with the reason. Raises ConfigError or DataError."""
        checking = self.checking if sources is None else self.checking.over(sources)
        sources = sources or self.sources
        asked = CheckRequest(response, prompt, facts, spans, sources, allowance=self.allowance, is_whole=True)
        return await checking.report(asked)

    def account(self) -> UsageMeter:
        """Returns a new usage meter that draws on the same allowance."""
        return UsageMeter() if self.allowance is None else UsageMeter(self.allowance)


class FactChecker(ClosesPerLoop):
    """Checks responses with SAFE's loop.

        async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
            report = await checker.acheck(response, question="Who was ...?", documents=retrieved)

    All checks by one checker in the same event loop share its limits, cache and budget. A check with a run directory
    shares only the rate limits and, for a `ChatModel` that you built, the connections.
    """

    def __init__(
        self,
        model: AnyModel | ChatModel | None = None,
        *,
        search: SearchSource | Sequence[SearchSource] = (),
        docs: str | Path | Sequence[str | Path] = (),
        settings: CheckSettings | None = None,
        recording: str | Path | Recording | None = None,
        pace: Pace | None = None,
        budget: Budget | None = None,
        **changes: Unpack[CheckChanges],
    ) -> None:
        """Creates a checker without opening connections. The first check loads the documents and the model.

        Args:
            model: A name such as `openai:gpt-4o-mini`, or a chat model. The chat model may have bound arguments,
                fallbacks or retries (factloop replaces these retries with its own). If omitted, the bundled baseline is
                used, which needs neither a key nor a network.
            search: Names (`serper`, `wikipedia`, `searxng`, `tavily`, `exa`, `brave`), factloop or LangChain search
                tools, retrievers, vector stores, or functions that take a query.
            docs: Files, folders or glob patterns to search.
            settings: Base settings, which `changes` override.
            recording: A file to read answers from or write them to, depending on `recording_mode` (`replay`, `record`,
                `new`). The file is written whenever the last running check ends. If you pass a `Recording` instead, you
                must save it yourself.
            pace: Rate limits to share with other users of the same servers. By default, each checker has its own.
            budget: A budget that checks in this event loop share, instead of the budget in the settings. Checks with a
                run directory do not use it.
            changes: Any other settings, named as in `CheckSettings`.

        Raises:
            ConfigError: A setting is invalid, a search provider is unknown, or a document path does not exist.
        """
        model, sources = unwrapped(model), _as_tuple(search)
        paths = _as_tuple(docs)
        named = {
            "model": name_of_model("model", model, (BaseChatModel, ChatModel)),
            "search": tuple(source for source in sources if isinstance(source, str)),
            "docs": tuple(str(path) for path in paths),
        }
        self.settings = CheckSettings.of(
            settings,
            **{name: value for name, value in named.items() if value},
            **UsedRecording.settings(recording),
            **changes,
        )
        check_settings(self.settings.search, self.settings.docs)
        if self.settings.limits_money:
            refuse_unknown_price(self.settings, model)
        self._recording = UsedRecording(recording, self.settings)
        self._model = model if isinstance(model, BaseChatModel | ChatModel) else None
        self._prepare = partial(prepare, self.settings, model=self._model, tape=self._recording.tape)
        self._own_tools = numbered([as_search_tool(source) for source in sources if not isinstance(source, str)])
        self.pace = Pace(self.settings) if pace is None else pace
        self._budget = budget
        self._indexes = GivenIndexes()
        self._open: PerLoop[Checking] = PerLoop()
        self._opening: SingleFlight[None] = SingleFlight()
        self._one_opens = Lock()

    @cached_property
    def _built(self) -> tuple[SearchTool, ...]:
        return open_search_tools(self.settings, self._own_tools)

    @property
    def has_model(self) -> bool:
        return self._model is not None or self.settings.model is not None

    @property
    def has_sources(self) -> bool:
        """Whether the checker has its own sources to search. Does not open them."""
        return bool(self.settings.search or self.settings.docs or self._own_tools)

    @property
    def tools(self) -> tuple[SearchTool, ...]:
        """The search tools. Reads and indexes the documents on first use. Raises ConfigError or DataError."""
        if not self._built and self.has_model:
            raise ConfigError(
                "there is nothing to check against: set documents (`docs`, --docs) or a search (`search`, --search)"
            )
        refuse_without_documents(self.settings, self._built)
        return self._built

    def warm_up(self) -> None:
        """Synchronous version of `awarm_up`."""
        run_blocking(self.awarm_up())

    async def awarm_up(self) -> None:
        """Imports and loads everything that the first check needs, except a judge's weights. Makes no calls, but takes
        a few seconds of CPU time in another thread. Raises ConfigError or DataError."""
        await self._tools(alone=False)
        kind = (self.has_model or bool(self.settings.jury), self.settings.spacy_model)
        if kind not in _WARM:
            loop = id(asyncio.get_running_loop())
            await self._opening.do(f"{loop} {kind}", partial(asyncio.to_thread, self._rehearse))
            _WARM.add(kind)

    def _rehearse(self) -> None:

        async def rehearsed() -> None:
            setup = self._prepare(self._built)
            for chat in setup.chats:
                await chat.aclose()
            if setup.chat is None:
                settings = CheckSettings(cache=False, spacy_model=self.settings.spacy_model)
                checking = open_checking(prepare(settings, (GivenDocuments([Document(_REHEARSED)]),)))
                await checking.report(CheckRequest(_REHEARSED))
                await checking.aclose()

        with self._one_opens:
            asyncio.run(rehearsed())

    def __reduce__(self) -> Any:
        """Pickles the settings, the model and custom search tools, but not open sessions, loaded documents or `pace`.
        Raises ConfigError if the checker has a shared budget, because a budget cannot be shared across processes."""
        if self._budget is not None:
            raise ConfigError("cannot send a checker with a shared budget to another process: omit `budget`")
        return partial(type(self), search=self._own_tools, settings=self.settings), (self._model,)

    async def _tools(self, *, alone: bool = True) -> tuple[SearchTool, ...]:
        def open_them() -> None:
            with self._one_opens:
                _ = self._built

        if "_built" not in vars(self):  # waiting tasks continue in the order in which they arrived
            await self._opening.do(str(id(asyncio.get_running_loop())), partial(asyncio.to_thread, open_them))
        return self.tools if alone else self._built

    async def sources_of(self, documents: Documents | None, mode: SourceMode | None = None) -> Sources:
        """Indexes the documents (if not None) in another thread, and returns the sources for a response. By default,
        these include the checker's own sources, if any. Raises ConfigError or DataError."""
        tool = await self._indexes.tool_for(documents)
        mode = mode or ("factuality" if self.has_sources else "faithfulness")
        return Sources(() if tool is None else (tool,), mode)

    async def sources_in(self, given: DocumentOptions) -> Sources | None:
        """Returns the sources for a response, from either `sources` or `documents`. Raises ConfigError or DataError, or
        TypeError for any other option."""
        if unknown := given.keys() - DocumentOptions.__annotations__.keys():
            raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
        documents, sources = given.get("documents"), given.get("sources")
        if documents is not None and sources is not None:
            raise ConfigError("pass either `documents` or `sources`, not both: `sources` can contain documents")
        return sources if documents is None else await self.sources_of(documents)

    async def _request(
        self, response: str, question: Question | None, options: CheckOptions, meter: UsageMeter | None = None
    ) -> CheckRequest:
        facts, spans, limits = options.pop("facts", None), options.pop("spans", None), options.pop("limits", None)
        asked = CheckRequest(response, question_of(question), facts, spans, limits=limits, meter=meter)
        return replace(asked, sources=await self.sources_in(options))

    async def acheck(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> FactualityReport:
        """Checks one response. Costs money if a model or a paid search is used.

        Args:
            response: The text to check.
            question: The question that the response answers. Pass a string or a conversation (a list of messages or of
                (role, text) pairs). The user's last turn in a conversation is the question, and earlier turns explain
                words like "it".
            run_dir: A folder that makes the run resumable. If you start the run again with the same arguments, you pay
                only for calls that had not been answered.
            options: `documents`, `facts`, `spans`, `sources` and `limits`, as in `CheckOptions`.

        Returns:
            The report. Claims that cannot be judged are included as unscored, with the reason.

        Raises:
            ConfigError: A setting is invalid, the model rejects the key, or there is nothing to check against.
            DataError: A document or the run directory cannot be read.
        """
        asked = await self._request(response, question, options)
        if asked.spans is not None and (asked.facts is not None or run_dir is not None):
            raise ConfigError("`spans` cannot be combined with `facts` or `run_dir`: pass only one of them")
        async with self._run(asked, run_dir) as (checking, directory):
            report = await checking.report(asked)
            if directory is not None:
                directory.keep(report)
            return report

    def check(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> FactualityReport:
        """Synchronous version of `acheck`. Also works while an event loop is running, for example in a notebook."""
        return run_blocking(self.acheck(response, question, run_dir=run_dir, **options))

    async def afingerprint(self, *, alone: bool = True) -> Fingerprint:
        """Returns the fingerprint of a check. Reads the documents on first use. Raises ConfigError or DataError. With
        `alone=False`, the checker needs no sources, because each response comes with its own."""
        setup = self._prepare(await self._tools(alone=alone))
        for chat in setup.chats:
            await chat.aclose()
        return setup.fingerprint

    @asynccontextmanager
    async def opened(self, *, journal: Path | None = None, alone: bool = True) -> AsyncIterator[OpenChecks]:
        """Yields a check for any number of responses in one session. Checks may run concurrently.

        With a `journal`, answers are saved only in that file, and those already in it are not paid for again. With
        `alone=False`, the checker needs no sources, because each response comes with its own.
        """
        setup = self._prepare(await self._tools(alone=alone))
        checking = open_checking(setup, journal=journal, pace=self.pace, budget=self._budget)
        try:
            with self._recording.in_use():
                yield OpenChecks(checking)
        finally:
            await checking.aclose()

    @asynccontextmanager
    async def engaged(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> AsyncIterator[OpenChecks]:
        """Yields the check that `acheck` would use for this response, to check parts or revisions of it. All calls
        inside the block share the run directory and the limits for a single check. Raises ConfigError or DataError."""
        asked = await self._request(response, question, options)
        async with self._run(asked, run_dir) as (checking, _):
            allowance = checking.allowance(asked.limits, begun_at=asked.begun_at, of="this correction")
            yield OpenChecks(checking, asked.sources, allowance)

    async def astream(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        meter: UsageMeter | None = None,
        **options: Unpack[CheckOptions],
    ) -> AsyncGenerator[Event, None]:
        """Like `acheck`, but yields events (`factloop.core.events`) as they happen, ending with the report.

        If you stop early, close the stream (`contextlib.aclosing`) to cancel calls in progress. Pass your own `meter`
        to see what they cost.
        """
        asked = await self._request(response, question, options, meter)
        finished: CheckFinished | None = None
        async with self._run(asked, run_dir) as (checking, directory):
            # A caller that stops early cancels the running branches before the session closes.
            async with aclosing(checking.events(asked)) as events:
                async for event in events:
                    if isinstance(event, CheckFinished):
                        finished = event
                    else:
                        yield event
            assert finished is not None  # the last event of every check
            if directory is not None:
                directory.keep(finished.report)
        yield finished  # after everything is saved, since the caller may stop here

    def _open_shared(self) -> Checking:
        return open_checking(self._prepare(self._built), pace=self.pace, budget=self._budget)

    @asynccontextmanager
    async def _run(
        self, asked: CheckRequest, run_dir: str | Path | None
    ) -> AsyncIterator[tuple[Checking, RunDirectory | None]]:
        sources = asked.sources
        tools = await self._tools(alone=sources is None)
        await self.awarm_up()
        if run_dir is None:
            with self._recording.in_use():
                async with self._open.used(self._open_shared) as checking:
                    yield checking if sources is None else checking.over(sources), None
            return
        with RunDirectory(Path(run_dir)) as directory:
            setup = self._prepare(tools) if sources is None else self._prepare(tools).over(sources)
            directory.claim(asked.configuration(setup.fingerprint))
            checking = open_checking(setup, journal=directory.journal, pace=self.pace)
            try:
                yield checking, directory
            finally:
                await checking.aclose()


def given_checker(checker: FactChecker | None) -> FactChecker:
    """Returns `checker`, or an offline checker if it is None. Raises ConfigError for any other type."""
    if checker is None:
        return FactChecker()
    if not isinstance(checker, FactChecker):
        raise ConfigError(f"checker must be a FactChecker, not {type(checker).__name__}")
    return checker


def _as_tuple(given: Any) -> tuple[Any, ...]:
    is_one = isinstance(given, str | bytes | BaseTool | BaseRetriever) or not isinstance(given, Iterable)
    return (given,) if is_one else tuple(given)
