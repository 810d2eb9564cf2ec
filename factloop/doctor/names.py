"""Asks the knowledge bases that the settings name: tables on disk, and DBpedia's two servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from factloop.core.extras import require
from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.reports.figures import plural
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import user_agent
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.sparql import ACCEPT, SparqlClient
from factloop.tools.calls.urls import without_userinfo
from factloop.tools.names.dbpedia import SpotlightClient, hierarchy_query
from factloop.trust.settings import TrustSettings

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
    ontology = "DBpedia's ontology is loaded" if rows else "answered, without DBpedia's ontology: types have no order"
    return WorkingPart(how=(ontology,), limits=_limits(settings))


def _limits(settings: TrustSettings) -> tuple[str, ...]:
    return "free", f"{settings.timeout_s:g} s a query"


def _endpoint(tool: str, url: str, accept: str, timeout_s: float) -> Endpoint:
    headers = {"Accept": accept, "User-Agent": user_agent()}
    return Endpoint(tool=tool, url=url.rstrip("/"), timeout_s=timeout_s, headers=headers, retry=_ONCE)
