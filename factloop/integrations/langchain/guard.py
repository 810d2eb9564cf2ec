"""The stream guard as a step in a LangChain chain."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from typing import Any, TypedDict, Unpack

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from factloop.core.errors import DataError
from factloop.core.findings import Finding
from factloop.guarding.chunks import closed_after, in_thread, pulled, text_of
from factloop.guarding.guard import Chunk, StreamGuard
from factloop.guarding.policy import Choose, Marks, SentenceAction
from factloop.guarding.records import GuardedSentence, GuardEvent
from factloop.integrations.langchain.inputs import AnswerInput, documents_at, question_at
from factloop.integrations.langchain.runnable import AnyChecker, FactCheckRunnable, as_check
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.search.handed_over import Documents


class GuardOptions(TypedDict, total=False):
    """The options of `StreamGuard`, documented there."""

    replacement: str
    message: str
    marks: Marks
    passing: Collection[Finding | str]
    at_once: int
    patience_s: float | None
    limits: Limits | None
    max_wait_s: float
    all_dropped: str


class FactCheckStreamGuard(Runnable[Any, str]):
    """The last step of a streaming chain, which yields only checked text.

        chain = prompt | model | FactCheckStreamGuard(check, documents=documents)
        for text in chain.stream(...): ...

    The previous step must yield strings, messages or mappings. A mapping, for example from
    `RunnablePassthrough.assign(response=prompt | model)`, contains `response` and optionally `question` and
    `documents`, under the keys of `check`. If `documents` is not set, the guard waits for a mapping with documents.
    Documents that arrive later are added for the text after them. If there are none, the guard searches the retriever
    of `check`, or leaves claims unscored. `invoke` guards a whole answer.

    `policy` and `options` are those of `StreamGuard`. By default, `check`'s limits apply to each sentence. `on_event`
    is called with each event, the last of which contains the report. Raises ConfigError or DataError.
    """

    def __init__(
        self,
        check: AnyChecker | None = None,
        policy: SentenceAction | Choose = "annotate",
        *,
        documents: Documents | None = None,
        question: str | None = None,
        on_event: Callable[[GuardEvent], object] | None = None,
        **options: Unpack[GuardOptions],
    ) -> None:
        """By default, the offline engine judges the claims. Raises ConfigError."""
        self.check = as_check(check)
        options.setdefault("limits", self.check.limits)
        self._guard = StreamGuard(self.check.checker, policy, **options)
        self._documents = documents_at("documents", documents)
        self._question, self._on_event = question, on_event

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        return "".join(self.stream(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        return "".join([text async for text in self.astream(input, config, **kwargs)])

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None) -> Iterator[str]:
        return self.transform(iter([input]), config, **kwargs)

    def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any | None) -> AsyncIterator[str]:
        async def alone() -> AsyncIterator[Any]:
            yield input

        return self.atransform(alone(), config, **kwargs)

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> Iterator[str]:
        return pulled(self._guarded(in_thread(input), config, kwargs))

    def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any | None
    ) -> AsyncIterator[str]:
        return self._guarded(input, config, kwargs)

    async def _guarded(
        self, chunks: AsyncIterator[Any], config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> AsyncGenerator[str, None]:
        """Also closes the streams that LangChain wraps around the chunks. LangChain leaves them open, and garbage
        collection would close them all at once, which raises errors."""
        steps: Any = self._atransform_stream_with_config(chunks, self._texts, config, **kwargs)
        async with closed_after(chunks), aclosing(steps):
            async for text in steps:
                yield text

    async def _texts(self, chunks: AsyncIterator[Any]) -> AsyncIterator[str]:
        answer = _StreamedAnswer(chunks, self.check, self._documents)
        await answer.begin()
        question = self._question if self._question is not None else answer.question
        sources = await answer.sources()
        async with aclosing(self._guard.aevents(answer.chunks(), question, sources=sources)) as events:
            async for event in events:
                if self._on_event is not None:
                    self._on_event(event)
                if isinstance(event, GuardedSentence) and event.released:
                    yield event.released


class _StreamedAnswer:
    def __init__(self, chunks: AsyncIterator[Any], check: FactCheckRunnable, documents: Documents | None) -> None:
        self._chunks, self._check, self._keys = chunks, check, check.keys
        self._waits = documents is None
        self._begun: list[Chunk] = []
        self.documents: Any = documents
        self.names_documents = False
        self.question: str | None = None

    async def begin(self) -> None:
        """Reads until the answer has started and any expected documents have arrived."""
        has_text = False
        async for chunk in self._chunks:
            self._begun.append(self._take(chunk))
            has_text |= bool(text_of(self._begun[-1]))
            if has_text and not (isinstance(chunk, Mapping) and self._waits and not self.names_documents):
                return

    async def sources(self) -> Sources:
        """Without documents or a retriever, nothing can be judged, as for an agent that answers without searching."""
        return await self._check.sources(AnswerInput("", None, self.documents, names_documents=True))

    async def chunks(self) -> AsyncIterator[Chunk]:
        for begun in self._begun:
            yield begun
        async for chunk in self._chunks:
            before, written = self.documents, self._take(chunk)
            if self.documents is not before:
                yield await self.sources()
            yield written

    def _take(self, chunk: Any) -> Chunk:
        if not isinstance(chunk, Mapping):
            return chunk  # type: ignore[no-any-return]
        if self._waits and self._keys.documents in chunk:
            self.names_documents = True
            given = documents_at(self._keys.documents, chunk[self._keys.documents], found=True)
            if isinstance(given, tuple) and isinstance(self.documents, tuple):
                self.documents = (*self.documents, *given)
            elif given is not None:  # as in LangChain, any other value replaces the earlier one
                self.documents = given
        if (question := chunk.get(self._keys.question)) is not None:
            self.question = (self.question or "") + (question_at(self._keys.question, question) or "")
        answer = chunk.get(self._keys.response, "")
        if not isinstance(answer, str | BaseMessage | None):
            raise DataError(f"`{self._keys.response}` must be a string or a message, not {type(answer).__name__}")
        return "" if answer is None else answer
