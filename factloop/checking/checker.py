"""`FactChecker`: one response in, one factuality report out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Protocol, Self, TypedDict, Unpack

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
from factloop.core.files.json import to_json, write_atomically
from factloop.core.old_names import takes_old_names
from factloop.core.records import FactualityReport, Fingerprint, GivenFacts
from factloop.core.sync import run_blocking
from factloop.setup.changes import CheckChanges
from factloop.setup.chat_model import name_of_model, refuse_unknown_price
from factloop.setup.limits import Limits
from factloop.setup.pace import Pace
from factloop.setup.per_loop import PerLoop
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
"""What checks of this process have loaded: with a model or without, and by which pipeline."""
_REHEARSED = "Ada Lovelace was born in London in 1815."


class Check(Protocol):
    """The report on one response; with `facts`, on these alone, unsplit: the sentences in the order of the response.

    With `spans`, on these stretches of a response that is written to its end. A claim that cannot be judged is in the
    report, unscored with its reason. Raises ConfigError, DataError.
    """

    def __call__(
        self,
        response: str,
        prompt: str | None = None,
        facts: Sequence[GivenFacts] | None = None,
        *,
        spans: Sequence[tuple[int, int]] | None = None,
    ) -> Awaitable[FactualityReport]: ...


class DocumentOptions(TypedDict, total=False):
    """What came with a response."""

    documents: Documents | None
    """What this response was written from: texts, LangChain documents, mappings with `page_content`, `text` or
    `content`, each also with its score; a retriever, or a vector store. A checker that has sources of its own searches
    these as well. Where they are an empty list, nothing can be judged.
    """
    sources: Sources | None
    """The same with a mode of its own; not with `documents`."""


class CheckOptions(DocumentOptions, total=False):
    """What a check of one response may be asked beside the response and its question."""

    facts: Sequence[GivenFacts] | None
    """The response already split, its sentences in order; each fact is one claim of the report, and nothing else is.

    A sentence that the response does not hold has an empty span, at the end of the one before.
    """
    spans: Sequence[tuple[int, int]] | None
    """Start and end, in characters, of the sentences to be judged, in order; the rest of the response is what they may
    refer to. Not with `facts` or `run_dir`.
    """
    limits: Limits | None
    """What this check may take, beside the limits of all. At its deadline it ends with what was judged by then; calls
    that it left unanswered are in `usage` with the most that they may have cost.
    """


@dataclass(frozen=True)
class OpenChecks:
    """A `Check` of one response or of many, with the allowance that all of them share, if there is one."""

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
        """The report on a response, which may come with `sources`, as in `FactChecker.acheck`."""
        checking = self.checking if sources is None else self.checking.over(sources)
        sources = sources or self.sources
        asked = CheckRequest(response, prompt, facts, spans, sources, allowance=self.allowance, is_whole=True)
        return await checking.report(asked)

    def account(self) -> UsageMeter:
        """An account within the same allowance."""
        return UsageMeter() if self.allowance is None else UsageMeter(self.allowance)


class FactChecker:
    """Checks responses with SAFE's loop.

        async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
            report = await checker.acheck(response, question="Who was ...?", documents=retrieved)

    All checks of one checker in one event loop share its limits, cache and budget; a check with a run directory has its
    own, but for the pace of model calls and the connections of a `ChatModel` that the caller built, and closes. Without
    a model the offline engine judges: no key, no network, a baseline. `search` takes names (serper, wikipedia,
    searxng), factloop's or LangChain's search tools, retrievers, vector stores, and functions of a query; `docs` takes
    files, folders and globs. `model` takes a name or a chat model, also one with something bound to it, with retries
    (which are then the gateway's) or with fallbacks.
    All other settings are those of `CheckSettings`, by name.
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
        """Raises ConfigError where a setting is wrong, a search is unknown or a path of documents leads nowhere. Opens
        no connection; documents are read, and a model is set up, at the first check.

        With `recording` and `recording_mode` (`replay`, `record`, `new`) answers come from a file, or go there, each
        time that no check is under way; a `Recording` is written by its owner. `pace` is that of others who ask the
        same servers; without it the checker has its own. `budget` is that of others in this event loop, in the place of
        one by the settings; a check with a run directory has its own.
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
    def has_sources(self) -> bool:
        """Whether it has anything of its own to search. Opens nothing."""
        return bool(self.settings.search or self.settings.docs or self._own_tools)

    @property
    def tools(self) -> tuple[SearchTool, ...]:
        """The search tools. Reads and indexes the documents on first use. Raises ConfigError, DataError."""
        if not self._built and (self.settings.model is not None or self._model is not None):
            raise ConfigError(
                "there is nothing to check against: give documents (docs, --docs) or a search (search, --search)"
            )
        refuse_without_documents(self.settings, self._built)
        return self._built

    def warm_up(self) -> None:
        """`awarm_up` for code that is not asynchronous."""
        run_blocking(self.awarm_up())

    async def awarm_up(self) -> None:
        """Imports and reads in another thread what the first check would: seconds of CPU. Costs nothing otherwise.

        The first check does the same. The weights of a judge are read when it first judges. Raises ConfigError,
        DataError.
        """
        await self._tools(alone=False)
        by_model = self._model is not None or self.settings.model is not None or bool(self.settings.jury)
        kind = (by_model, self.settings.spacy_model)
        if kind not in _WARM:
            loop = id(asyncio.get_running_loop())
            await self._opening.do(f"{loop} {kind}", partial(asyncio.to_thread, self._rehearse))
            _WARM.add(kind)

    def _rehearse(self) -> None:
        """Sets up a model, or without one checks a sentence offline, in an event loop of its own."""

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
        """Settings, the model and searches that were given travel; open sessions, documents read and the pace do not.

        Raises ConfigError with a budget of others, which is of this process.
        """
        if self._budget is not None:
            raise ConfigError("a checker that shares a budget cannot be sent to another process")
        return partial(type(self), search=self._own_tools, settings=self.settings), (self._model,)

    async def _tools(self, *, alone: bool = True) -> tuple[SearchTool, ...]:
        """`tools`, opened in a thread: others go on while documents are read. Not `alone`, there may be none."""

        def open_them() -> None:
            with self._one_opens:
                _ = self._built

        if "_built" not in vars(self):  # those who wait go on in the order in which they came
            await self._opening.do(str(id(asyncio.get_running_loop())), partial(asyncio.to_thread, open_them))
        return self.tools if alone else self._built

    async def sources_of(self, documents: Documents | None, mode: SourceMode | None = None) -> Sources:
        """Documents as the sources of a response, indexed in another thread; None are no documents.

        Without a mode the checker's own sources are searched, too, where it has any. Raises ConfigError, DataError.
        """
        tool = await self._indexes.tool_for(documents)
        mode = mode or ("factuality" if self.has_sources else "faithfulness")
        return Sources(() if tool is None else (tool,), mode)

    async def sources_in(self, given: DocumentOptions) -> Sources | None:
        """The sources of a response, as they or its documents were given.

        Raises ConfigError, DataError, and TypeError for an argument of any other name.
        """
        if unknown := given.keys() - DocumentOptions.__annotations__.keys():
            raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
        documents, sources = given.get("documents"), given.get("sources")
        if documents is not None and sources is not None:
            raise ConfigError("give documents or sources, not both: sources can hold documents, too")
        return sources if documents is None else await self.sources_of(documents)

    async def _request(
        self, response: str, question: Question | None, options: CheckOptions, meter: UsageMeter | None = None
    ) -> CheckRequest:
        facts, spans, limits = options.pop("facts", None), options.pop("spans", None), options.pop("limits", None)
        asked = CheckRequest(response, question_of(question), facts, spans, limits=limits, meter=meter)
        return replace(asked, sources=await self.sources_in(options))

    @takes_old_names
    async def acheck(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> FactualityReport:
        """The report on one response to `question`. With a model or a paid search it costs money.

        The question may be a history, a list of messages or of pairs of role and text: its last turn of the person is
        the question, and what stands before says whom "it" means. The options are `documents`, `facts`, `spans`,
        `sources` and `limits`: see `CheckOptions`. `run_dir` makes the run resumable:
        started again with the same arguments it pays only for what was in flight. A claim that cannot be judged is in
        the report, unscored with its reason. Raises ConfigError, DataError.
        """
        asked = await self._request(response, question, options)
        if asked.spans is not None and (asked.facts is not None or run_dir is not None):
            raise ConfigError("spans cannot be combined with facts or a run directory")
        async with self._run(asked, run_dir) as (checking, directory):
            report = await checking.report(asked)
            if directory is not None:
                write_atomically(directory.report, to_json(report), private=True)
            return report

    @takes_old_names
    def check(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> FactualityReport:
        """`acheck` for code that is not asynchronous; works inside a running event loop, too (a notebook)."""
        return run_blocking(self.acheck(response, question, run_dir=run_dir, **options))

    async def afingerprint(self, *, alone: bool = True) -> Fingerprint:
        """The fingerprint of a check. Reads the documents on first use. Raises ConfigError, DataError.

        Not `alone`: each response comes with sources, and the checker needs none of its own.
        """
        setup = self._prepare(await self._tools(alone=alone))
        for chat in setup.chats:
            await chat.aclose()
        return setup.fingerprint

    @asynccontextmanager
    async def opened(self, *, journal: Path | None = None, alone: bool = True) -> AsyncIterator[OpenChecks]:
        """A check for many responses, any number at a time: one session, closed at the end.

        With a `journal` every answer paid for is kept in that file and nowhere else, and used before any is paid.
        Not `alone`: responses come with sources, and the checker needs none of its own.
        """
        checking = open_checking(self._prepare(await self._tools(alone=alone)), journal=journal, pace=self.pace)
        try:
            with self._recording.in_use():
                yield OpenChecks(checking)
        finally:
            await checking.aclose()

    @takes_old_names
    @asynccontextmanager
    async def engaged(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        **options: Unpack[CheckOptions],
    ) -> AsyncIterator[OpenChecks]:
        """The checks that `acheck` would use for this response: for a response worked on further.

        All that is asked within shares limits, cache, budget and, where there is one, the run directory; what one
        check may take is what all of it may take together. Raises ConfigError, DataError.
        """
        asked = await self._request(response, question, options)
        async with self._run(asked, run_dir) as (checking, _):
            allowance = checking.allowance(asked.limits, begun_at=asked.begun_at, of="this correction")
            yield OpenChecks(checking, asked.sources, allowance)

    @takes_old_names
    async def astream(
        self,
        response: str,
        question: Question | None = None,
        *,
        run_dir: str | Path | None = None,
        meter: UsageMeter | None = None,
        **options: Unpack[CheckOptions],
    ) -> AsyncGenerator[Event, None]:
        """The events of a check as they happen (`factloop.core.events`), the report last. Otherwise as `acheck`.

        A caller that stops before the end closes the stream (`contextlib.aclosing`), which stops the calls under way;
        a `meter` of its own tells what they cost.
        """
        asked = await self._request(response, question, options, meter)
        finished: CheckFinished | None = None
        async with self._run(asked, run_dir) as (checking, directory):
            # A caller that leaves early stops the branches under way, before the session closes.
            async with aclosing(checking.events(asked)) as events:
                async for event in events:
                    if isinstance(event, CheckFinished):
                        finished = event
                    else:
                        yield event
            assert finished is not None  # it is the last of every check
            if directory is not None:
                write_atomically(directory.report, to_json(finished.report), private=True)
        yield finished  # once all is kept: a caller with the report may leave

    async def aclose(self) -> None:
        """Closes connections and the cache; where checks are under way in this loop, as soon as the last of them ends.

        Returns at once. The checker may be used again afterwards.
        """
        await self._open.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _open_shared(self) -> Checking:
        return open_checking(self._prepare(self._built), pace=self.pace, budget=self._budget)

    @asynccontextmanager
    async def _run(
        self, asked: CheckRequest, run_dir: str | Path | None
    ) -> AsyncIterator[tuple[Checking, RunDirectory | None]]:
        """The loop's shared session, or with a run directory one of its own whose answers are kept there."""
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
    """The checker that was given, or the offline engine. Raises ConfigError for anything else."""
    if checker is None:
        return FactChecker()
    if not isinstance(checker, FactChecker):
        raise ConfigError(f"checker: must be a FactChecker, not {type(checker).__name__}")
    return checker


def _as_tuple(given: Any) -> tuple[Any, ...]:
    """One thing or several, as several: a text, a tool and a retriever are one each, as is what cannot be gone over."""
    is_one = isinstance(given, str | bytes | BaseTool | BaseRetriever) or not isinstance(given, Iterable)
    return (given,) if is_one else tuple(given)
