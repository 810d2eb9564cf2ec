"""The MCP server: three tools over one checker and one scorer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any

from langchain_core.documents import Document
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

import factloop
from factloop.checking.checker import FactChecker
from factloop.checking.views.brief import in_words
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged
from factloop.core.records import FactualityReport, GivenFacts, Record
from factloop.integrations.mcp.answers import (
    CheckedClaim,
    CheckedResponse,
    TrustScores,
    checked_claim,
    checked_response,
    trust_in_words,
    trust_scores,
)
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenIndexes
from factloop.trust.scorer import TrustScorer

AT_ONCE = 8
"""Calls at work; further ones wait their turn."""
LONGEST_RESPONSE = 100_000
LONGEST_QUESTION = 10_000
LONGEST_CLAIM = 2_000
MOST_DOCUMENTS = 200
LONGEST_DOCUMENTS = 2_000_000
"""Characters of all documents of one call together."""
LONGEST_ERROR = 500

INSTRUCTIONS = (
    "Checks which claims of a text hold, on what evidence. Documents are texts, given in full; without them the "
    "server's own sources are searched. A claim without a verdict is unscored: it is neither true nor false."
)

Response = Annotated[str, Field(description="The text whose claims are checked, in full.", max_length=LONGEST_RESPONSE)]
Question = Annotated[str | None, Field(description="The question that it answers.", max_length=LONGEST_QUESTION)]
RequiredQuestion = Annotated[str, Field(description="The question.", min_length=1, max_length=LONGEST_QUESTION)]
Answer = Annotated[str, Field(description="The answer to it.", min_length=1, max_length=LONGEST_CLAIM)]
OneClaim = Annotated[
    str, Field(description="One statement that can be read alone.", min_length=1, max_length=LONGEST_CLAIM)
]
Documents = Annotated[
    list[str] | None,
    Field(
        description="Texts to judge by, in place of the server's own sources. Texts, not paths or addresses.",
        max_length=MOST_DOCUMENTS,
    ),
]
OfCheck = Annotated[Limits | None, Field(description="What this check may take; the rest is left unscored.")]
_POINTER = re.compile(r"For further information visit \S+")
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)


def build_server(checker: FactChecker, scorer: TrustScorer) -> MCPServer[Any]:
    """The server; it opens nothing. Its caller closes checker and scorer."""
    server: MCPServer[Any] = MCPServer(
        "factloop", instructions=INSTRUCTIONS, version=factloop.__version__, middleware=[_one_line]
    )
    tools = _Tools(checker, scorer)
    server.add_tool(tools.check_response, annotations=_READS)
    server.add_tool(tools.check_claim, annotations=_READS)
    server.add_tool(tools.trust_score, annotations=_READS)
    return server


class _Tools:
    """The tools: their docstrings are what agents read."""

    def __init__(self, checker: FactChecker, scorer: TrustScorer) -> None:
        self._checker, self._scorer = checker, scorer
        self._indexes = GivenIndexes()
        self._room = asyncio.Semaphore(AT_ONCE)

    async def check_response(
        self,
        response: Response,
        ctx: Context[Any, Any],
        question: Question = None,
        documents: Documents = None,
        limits: OfCheck = None,
    ) -> Annotated[CallToolResult, CheckedResponse]:
        """Check which claims of a text hold. Splits it into claims, and judges each by documents or by search."""
        async with self._turn():
            report = await self._check(response, question, await self._sources(documents), limits, ctx)
        return _result(in_words(report), checked_response(report))

    async def check_claim(
        self, claim: OneClaim, documents: Documents = None, limits: OfCheck = None
    ) -> Annotated[CallToolResult, CheckedClaim]:
        """Check whether one claim holds, as it is: by documents or by search."""
        async with self._turn():
            facts = [GivenFacts(sentence=claim, facts=(claim,))]
            sources = await self._sources(documents)
            report = await self._checker.acheck(claim, facts=facts, sources=sources, limits=limits)
        return _result(in_words(report), checked_claim(report))

    async def trust_score(self, question: RequiredQuestion, response: Answer) -> Annotated[CallToolResult, TrustScores]:
        """Score an answer by TrustScore: does the subject model stand by it among distractors, do documents agree?"""
        settings = self._scorer.settings
        if settings.subject_model is None and not settings.corpus:
            raise ToolError("there is nothing to score by: start factloop mcp with --subject-model, --corpus, or both")
        async with self._turn():
            scores = trust_scores(await self._scorer.ascore(question, response))
        return _result(trust_in_words(scores), scores)

    async def _check(
        self,
        response: str,
        question: str | None,
        sources: Sources | None,
        limits: Limits | None,
        ctx: Context[Any, Any],
    ) -> FactualityReport:
        n_found = n_judged = 0
        async with aclosing(self._checker.astream(response, question, sources=sources, limits=limits)) as events:
            async for event in events:
                if isinstance(event, CheckFinished):
                    return event.report
                n_found += isinstance(event, ClaimFound)
                if isinstance(event, ClaimJudged):
                    n_judged += 1
                    await ctx.report_progress(n_judged, n_found, f"{n_judged} of {n_found} claims judged")
        raise AssertionError("a check ends with its report")

    async def _sources(self, documents: list[str] | None) -> Sources | None:
        """Raises ToolError for more text than one call may bring."""
        if documents is None:
            return None
        if sum(map(len, documents)) > LONGEST_DOCUMENTS:
            raise ToolError(f"documents: at most {LONGEST_DOCUMENTS:,} characters together")
        given = await self._indexes.of([Document(text) for text in documents])
        return Sources(() if given is None else (given,))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Raises ToolError for what the caller, or the operator, can mend."""
        async with self._room:
            try:
                yield
            except ConfigError as error:
                raise ToolError(f"this server is set up wrongly: {error}") from error
            except FactloopError as error:
                raise ToolError(str(error)) from error


async def _one_line(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Errors of tools in one line: those about arguments come in many."""
    result = await call_next(ctx)
    if not isinstance(result, dict) or not result.get("isError"):
        return result
    said = " ".join(block.get("text", "") for block in result["content"])
    line = " ".join(_POINTER.sub("", said).split())
    shown = line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…"
    return {**result, "content": [{"type": "text", "text": shown}]}


def _result(text: str, answer: Record) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=answer.model_dump(mode="json")
    )
