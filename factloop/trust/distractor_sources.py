"""Opens the configured distractor sources, in the order they are used."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factloop.agents.trustscore.distractors.base import SubstituteSource
from factloop.agents.trustscore.distractors.generate import generate_distractors
from factloop.agents.trustscore.distractors.sources import (
    KnowledgeBaseSource,
    MadeUpSource,
    NeighbourSource,
    QuantitySource,
    SameClassSource,
)
from factloop.agents.trustscore.records import DistractorSet, Source
from factloop.core.errors import ConfigError
from factloop.core.given_text import check_given
from factloop.setup.caching.folder import VECTORS, cache_folder
from factloop.tools.names.asked import asked_for
from factloop.tools.names.built_in import BuiltInKnowledgeBase, built_in_names
from factloop.tools.names.packaged import is_word
from factloop.tools.names.table import TableKnowledgeBase
from factloop.trust.settings import TrustSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from factloop.tools.calls.cache import AnswersKept
    from factloop.tools.calls.tape import Tape
    from factloop.tools.names.dbpedia import DBpediaKnowledgeBase


NO_JUDGE = "--distractors model needs a judge model; set --judge-model"


@dataclass(frozen=True)
class DistractorSources:
    """The sources of substitutes, best first. Bound to one event loop."""

    sources: Sequence[SubstituteSource]
    tables: Sequence[TableKnowledgeBase]
    dbpedia: DBpediaKnowledgeBase | None
    dbpedia_cache: AnswersKept | None

    async def aclose(self) -> None:
        for table in self.tables:
            table.close()
        if self.dbpedia is not None:
            await self.dbpedia.aclose()
        if self.dbpedia_cache is not None:
            self.dbpedia_cache.close()


def open_sources(settings: TrustSettings, embedder: Any, tape: Tape | None = None) -> DistractorSources:
    """Opens the sources in the settings. Uses no network. Raises ConfigError or DataError.

    The sources are, in this order: entities of the same type (from DBpedia if enabled, the user's tables and the
    built-in names), other dates and numbers, neighbours in embedding space (with an `embedder`), words of the same
    kind, and made-up names.
    """
    load_tables()
    dbpedia, answers = _dbpedia(settings, tape)
    sources: list[SubstituteSource] = []
    if dbpedia is not None:
        sources.append(KnowledgeBaseSource(dbpedia, Source.DBPEDIA))
    tables = [TableKnowledgeBase(Path(path)) for path in settings.kb]
    sources += [KnowledgeBaseSource(table, Source.KNOWLEDGE_BASE) for table in tables]
    neighbours = [] if embedder is None else [NeighbourSource(embedder, cache_folder(settings, VECTORS))]
    built_in = KnowledgeBaseSource(BuiltInKnowledgeBase(), Source.BUILT_IN)
    sources += [built_in, QuantitySource(), *neighbours, SameClassSource(), MadeUpSource(built_in)]
    return DistractorSources(tuple(sources), tables, dbpedia, answers)


def load_tables() -> None:
    """Reads the packaged names and words for distractors. Takes about three seconds, once per process."""
    built_in_names()
    is_word("rome")
    asked_for("Who was it?")


async def make_distractors(
    settings: TrustSettings,
    question: str,
    response: str,
    *,
    n: int,
    references: Sequence[str] = (),
    judge: BaseChatModel | None = None,
) -> DistractorSet:
    """Returns the distractors that would be used for this response. Free unless a model is called.

    If the settings let a judge model propose distractors, `judge` (or else the judge in the settings) is called once.
    The judge does not propose the `references`, which are known correct answers. Raises ConfigError or DataError.
    """
    check_given("question", question)
    check_given("response", response)
    if n < 0:
        raise ConfigError(f"n = {n}: the number of distractors must not be negative")
    embedder = None
    if settings.embeddings is not None:
        from factloop.setup.search_tools import build_embedder  # imports LangChain

        embedder = build_embedder(settings)
    sources = open_sources(settings, embedder)
    make = partial(
        generate_distractors,
        question,
        response,
        wanted=n,
        sources=sources.sources,
        seed=settings.seed,
        order=settings.target_order,
        references=references,
    )
    try:
        if settings.distractors != "model":
            return await make()
        return await _with_proposals(settings, judge, make)
    finally:
        await sources.aclose()


async def _with_proposals(
    settings: TrustSettings, judge: BaseChatModel | None, make: Callable[..., Awaitable[DistractorSet]]
) -> DistractorSet:
    from factloop.agents.trustscore.distractors.proposed import ModelProposer  # this needs a model client
    from factloop.prompts.registry import PromptRegistry
    from factloop.setup.chat_model import build_model
    from factloop.setup.session import open_session
    from factloop.tools.calls.meter import UsageMeter

    wanted = judge if judge is not None else settings.judge_model
    if wanted is None:
        raise ConfigError(NO_JUDGE)
    started, meter, prompts = time.perf_counter(), UsageMeter(), PromptRegistry.load(settings.prompts)
    base_url = settings.judge_base_url or settings.base_url
    chat = build_model(settings, wanted, base_url=base_url, temperature=settings.temperature)
    async with (
        aclosing(chat),  # opening the session may fail
        aclosing(open_session(settings, prompts, [chat], keeps=chat.persistent, seed=settings.seed)) as session,
    ):
        found = await make(proposer=ModelProposer(session.model(chat), prompts), meter=meter)
    return found.model_copy(update={"usage": meter.snapshot(time.perf_counter() - started)})


def _dbpedia(settings: TrustSettings, tape: Tape | None) -> tuple[DBpediaKnowledgeBase | None, AnswersKept | None]:
    if not settings.dbpedia:
        return None, None
    if settings.recording is not None and tape is None:
        raise ConfigError(f"recording = {str(settings.recording)!r}: not supported here; remove the setting")
    from factloop.setup.caching.opening import open_answers
    from factloop.tools.calls.cache import MemoryAnswers
    from factloop.tools.names.dbpedia import DBpediaKnowledgeBase  # imported late, because it loads all HTTP code

    cache = open_answers(settings) if tape is None else MemoryAnswers()
    knowledge_base = DBpediaKnowledgeBase(
        spotlight_url=settings.spotlight_url,
        sparql_url=settings.sparql_url,
        cache=cache,
        tape=tape,
        timeout_s=settings.timeout_s,
    )
    return knowledge_base, cache
