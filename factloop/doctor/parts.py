"""Tests chat models, searches, documents, knowledge bases and local files."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from factloop.agents.safe.model_stages import passages
from factloop.agents.safe.schemas import Assessment, SearchCall
from factloop.checking.cascade.stage import load_cascade
from factloop.checking.judging import named_judge
from factloop.core.errors import ConfigError, ModelOutputError
from factloop.core.extras import require
from factloop.core.records import Evidence
from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.doctor.records import ModelFound, Part
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.reports.figures import plural
from factloop.setup.caching.contents import status_of
from factloop.setup.caching.folder import refuse_unusable
from factloop.setup.chat_model import reply_timeout_s
from factloop.setup.search_tools import build_embedder
from factloop.setup.session import JSON_REPLY, REPAIR
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import MemoryAnswers
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import user_agent
from factloop.tools.calls.limiter import Limiter
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.sparql import ACCEPT, SparqlClient
from factloop.tools.calls.urls import without_userinfo
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.context_length import context_tokens
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS
from factloop.tools.models.prices import unknown_price
from factloop.tools.models.schema import Offers
from factloop.tools.models.transport import Transport
from factloop.tools.models.wire import Mode
from factloop.tools.names.dbpedia import SpotlightClient, hierarchy_query
from factloop.tools.search.build import search_builder
from factloop.tools.search.documents.files import find_files
from factloop.trust.settings import TrustSettings

QUERY = "London"


def looks_at_searches(settings: CheckSettings, meter: UsageMeter) -> Iterator[Look]:
    for name in dict.fromkeys(settings.search):
        yield Look("search", name, partial(_ask, settings, name, meter))


def look_at_documents(part: Part, places: tuple[str, ...]) -> Look:
    return Look(part, ", ".join(places), in_thread(partial(_find, places)))


async def _ask(settings: CheckSettings, name: str, meter: UsageMeter) -> WorkingPart:
    tool = search_builder(name)(timeout_s=settings.timeout_s, replayed=False, **settings.of_search(name))
    await tool.areach()
    facts = await tool.aserver_facts()
    started = time.perf_counter()
    hits = await tool.asearch(QUERY, settings.results_per_search)
    meter.searched("search", time.perf_counter() - started, tool.usd_per_query)
    found = f"{plural(len(hits), 'result')} for “{QUERY}”" if hits else f"works, but found nothing about “{QUERY}”"
    return WorkingPart(how=(*facts, found), limits=(_price(tool.usd_per_query), f"{settings.timeout_s:g} s per query"))


def _price(usd: float | None) -> str:
    if usd is None:
        return "no budget in USD, because the price is unknown"
    return f"{usd:g} USD per query" if usd else "free"


def _find(places: tuple[str, ...]) -> WorkingPart:
    return WorkingPart(how=(plural(len(find_files(places).paths), "file"),))


TEXT = "Berlin is the capital of Germany."
CLASSES = ("City", "Country")
_ONCE = RetryPolicy(attempts=1, timeout_attempts=1, patience_s=10.0)


def looks_at_names(settings: TrustSettings) -> Iterator[Look]:
    for path in settings.kb:
        yield Look("knowledge_base", path, in_thread(partial(_open, Path(path))))
    if settings.dbpedia:
        yield Look(
            "knowledge_base", f"DBpedia Spotlight {without_userinfo(settings.spotlight_url)}", partial(_link, settings)
        )
        yield Look(
            "knowledge_base", f"DBpedia SPARQL {without_userinfo(settings.sparql_url)}", partial(_select, settings)
        )


def _open(path: Path) -> WorkingPart:
    require("trust", "a table of typed entities (--kb)")
    from factloop.tools.names.table import TableKnowledgeBase

    with closing(TableKnowledgeBase(path)) as table:
        return WorkingPart(how=(table.identity,))


async def _link(settings: TrustSettings) -> WorkingPart:
    endpoint = _endpoint("dbpedia spotlight", settings.spotlight_url, "application/json", settings.timeout_s)
    try:
        found = await SpotlightClient(endpoint).annotate(TEXT, "")
    finally:
        await endpoint.aclose()
    return WorkingPart(how=(f"{plural(len(found), 'name')} found in “{TEXT}”",), limits=_limits(settings))


async def _select(settings: TrustSettings) -> WorkingPart:
    endpoint = _endpoint("dbpedia sparql", settings.sparql_url, ACCEPT, settings.timeout_s)
    try:
        rows = await SparqlClient(endpoint, settings.timeout_s).select(hierarchy_query(CLASSES), "type", "above")
    finally:
        await endpoint.aclose()
    ontology = "DBpedia's ontology is loaded" if rows else "works, but lacks DBpedia's ontology, so types have no order"
    return WorkingPart(how=(ontology,), limits=_limits(settings))


def _limits(settings: TrustSettings) -> tuple[str, ...]:
    return "free", f"{settings.timeout_s:g} s per query"


def _endpoint(tool: str, url: str, accept: str, timeout_s: float) -> Endpoint:
    headers = {"Accept": accept, "User-Agent": user_agent()}
    return Endpoint(tool=tool, url=url.rstrip("/"), timeout_s=timeout_s, headers=headers, retry=_ONCE)


def looks_at_local_parts(check: CheckSettings, trust: TrustSettings) -> Iterator[Look]:
    """Includes the embeddings set for checks or, if there are none, those set for TrustScore."""
    if check.prompts is not None:
        yield Look("prompts", str(check.prompts), in_thread(partial(_prompts, check)))
    if check.cascade is not None and (check.judge is None or check.model is not None):
        yield Look("cascade", str(check.cascade), in_thread(partial(_cascade, check)))
    embeddings = check.embeddings or trust.embeddings
    if embeddings is not None:
        embedded = trust.model_copy(update={"embeddings": embeddings})
        yield Look("local_model", f"embeddings {embeddings}", in_thread(partial(_embeddings, embedded)))
    if trust.nli is not None:
        yield Look("local_model", f"nli {trust.nli}", in_thread(partial(_nli, trust.nli)))
    if check.spacy_model is not None:
        yield Look("local_model", f"spaCy {check.spacy_model}", in_thread(partial(_spacy, check.spacy_model)))
    if check.cache:
        yield Look("cache", "", in_thread(partial(_cache, check)))


def offline_engine() -> WorkingPart:
    """Raises MissingExtra if the baseline, which is used when no model is set, is not installed."""
    require("offline", "a check without a model (--model)")
    return WorkingPart(how=("the bundled baseline, since no model or judge is set",))


def named_judge_of(settings: CheckSettings) -> WorkingPart:
    """Loads the judge, which is used if there is no chat model. Raises ConfigError or MissingExtra."""
    named = named_judge(settings, has_model=False)
    assert named is not None  # because a judge is set
    upper, lower = named.fingerprint.upper, named.fingerprint.lower
    tuned = () if lower is None else (f"tuned on your labels: not supported up to {lower:g}, supported from {upper:g}",)
    return WorkingPart(how=(f"{named.fingerprint.verifier} judges without a chat model", *tuned))


def _prompts(settings: CheckSettings) -> WorkingPart:
    PromptRegistry.load(settings.prompts)
    return WorkingPart(how=("read",))


def _cascade(settings: CheckSettings) -> WorkingPart:
    cascade = load_cascade(settings, has_model=settings.model is not None)
    assert cascade is not None  # because a cascade is set
    return WorkingPart(how=(f"{cascade.fingerprint.verifier} settles clear claims",))


def _embeddings(settings: TrustSettings) -> WorkingPart:
    return WorkingPart(how=(f"loaded, {build_embedder(settings).dimension:,} dimensions",))


def _nli(path: str) -> WorkingPart:
    from factloop.tools.judges.classifiers import Nli

    Nli(path).load()
    return WorkingPart(how=("loaded",))


def _spacy(name: str) -> WorkingPart:
    from factloop.tools.text.pipeline import load_pipeline

    load_pipeline(name)
    return WorkingPart(how=("loaded",))


def _cache(settings: CheckSettings) -> WorkingPart:
    refuse_unusable(settings)
    status = status_of(settings)
    kept = f"{plural(status.answers.n, 'answer')} in {status.folder}"
    return WorkingPart(how=(kept,), limits=(f"{status.cache_mb:,} MB", f"{status.cache_days:g} days"))


CLAIM = "Paris is the capital of France."
PASSAGE = "Paris is the capital and the largest city of France."
STAGE = "doctor"
SPOKEN = {
    Mode.TOOLS: "tool calls",
    Mode.JSON_SCHEMA: "JSON schema",
    Mode.JSON_MODE: "JSON with the schema in the prompt",
    Mode.TEXT: "plain text with the schema in the prompt",
}
_RETRY = RetryPolicy(attempts=2, timeout_attempts=1, patience_s=10.0)
"""There are few retries, because a person is waiting and frequent rejections are themselves worth reporting."""
_SEARCHES = Offers(
    {"web": "Search the web."}, SearchCall, Assessment, undecided=lambda one: one.verdict == "insufficient"
)


async def ask_model(
    settings: RunSettings, chat: ChatModel, prompts: PromptRegistry, meter: UsageMeter, *, may_search: bool
) -> WorkingPart:
    """Asks the model once without a search and, if `may_search` is set, once with one. Raises FactloopError."""
    if settings.limits_money and chat.price is None:
        raise ConfigError(unknown_price(chat.name))
    gateway = _gateway(settings, chat, prompts)
    unread: list[ModelOutputError] = []
    has_logprobs = False
    offers: Sequence[Offers[Any, Any] | None] = (_SEARCHES, None) if may_search else (None,)
    for offered in offers:
        try:
            answer = await gateway.ask_offering(
                _question(prompts, n_searches=0 if offered is None else 1),
                Assessment,
                offers=offered,
                stage=STAGE,
                meter=meter,
                top_logprobs=TOP_LOGPROBS,
            )
            has_logprobs |= bool(answer.tokens)
        except ModelOutputError as error:
            unread.append(error)
    if len(unread) == len(offers):
        raise unread[-1]
    found = ModelFound(
        with_tools=_mode(gateway, Mode.TOOLS) if may_search else None,
        alone=_mode(gateway, Mode.JSON_SCHEMA),
        unavailable=tuple(sorted(gateway.abilities.known.unavailable)),
        log_probabilities=has_logprobs,
        context_tokens=await context_tokens(chat),
        knows_price=chat.price is not None,
    )
    return WorkingPart(how=_how(found, n_unread=len(unread)), limits=_model_limits(settings, chat, found), model=found)


def _gateway(settings: RunSettings, chat: ChatModel, prompts: PromptRegistry) -> ModelGateway:
    transport = Transport(
        chat,
        json_reply=prompts[JSON_REPLY],
        limiter=Limiter(),
        budget=Budget(),
        retry=_RETRY,
        timeout_s=reply_timeout_s(settings, chat.identity.get("base_url")),
        rng=random.Random(0),
    )
    return ModelGateway(chat, transport, repair=prompts[REPAIR], answers=RunAnswers(MemoryAnswers()))


def _question(prompts: PromptRegistry, *, n_searches: int) -> RenderedPrompt:
    evidence = Evidence(
        id="1", source="factloop doctor", passage=PASSAGE, query="Paris", rank=1, retrieved_at=datetime.now(UTC)
    )
    return prompts["safe/assessment"].render(
        question=None,
        sentence=CLAIM,
        claim=CLAIM,
        evidence=passages([evidence]),
        asked=(),
        fruitless=(),
        left=str(n_searches),
    )


def _mode(gateway: ModelGateway, strongest: Mode) -> Mode:
    modes = list(Mode)
    return next(mode for mode in modes[modes.index(strongest) :] if gateway.abilities.offers(mode))


def _how(found: ModelFound, *, n_unread: int) -> tuple[str, ...]:
    said = [SPOKEN[found.alone]]
    if found.with_tools is Mode.TOOLS:
        said.insert(0, SPOKEN[Mode.TOOLS])
    elif found.with_tools is not None:
        said.append("no tool calls: the reply requests searches")
    said.append("log-probabilities" if found.log_probabilities else "no log-probabilities: verdicts have no score")
    if n_unread:
        said.append("one of two answers could not be parsed")
    return tuple(said)


def _model_limits(settings: RunSettings, chat: ChatModel, found: ModelFound) -> tuple[str, ...]:
    said = [] if found.context_tokens is None else [f"{found.context_tokens:,} tokens of context"]
    said += [] if settings.max_tokens is None else [f"{settings.max_tokens:,} per reply"]
    said.append(f"{reply_timeout_s(settings, chat.identity.get('base_url')):g} s per call")
    if not found.knows_price:
        said.append("no budget in USD, because the price is unknown; set --price-in and --price-out")
    return tuple(said)
