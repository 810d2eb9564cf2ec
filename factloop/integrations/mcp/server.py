"""The MCP server: tools over one checker and one scorer. Names, limits and refusals are those of the service.

An agent on the operator's own machine is told the places of documents; over HTTP their names, as by the service.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any, Self

from langchain_core.documents import Document
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

import factloop
from factloop.checking.checker import FactChecker
from factloop.checking.views.plain import in_words
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged
from factloop.core.old_names import with_new_names
from factloop.core.records import FactualityReport, GivenFacts, Record
from factloop.entrance.asks import (
    MOST_DOCUMENTS,
    NO_SUBJECT,
    NOTHING_TO_SCORE_BY,
    DocumentText,
    GivenDocument,
    Prompt,
    Question,
    Text,
    hold_text,
    nothing_to_judge_by,
)
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
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.search.given import GivenIndexes
from factloop.trust.scorer import TrustScorer

AT_ONCE = 8
"""Calls at work; further ones wait their turn."""
LONGEST_CLAIM = 2_000
LONGEST_DOCUMENTS = 8_000_000
"""Characters of all documents of one call together, as the service's requests have bytes."""
LONGEST_ERROR = 500
NOT_SET_UP = "this server is not set up for this; its operator finds the reason in its log"

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "Checks a text claim by claim, and cites the evidence. Documents are texts, given in full; without them the "
    "server's own sources are searched. A claim without a verdict is unscored: it is neither true nor false."
)

Response = Annotated[Text, Field(description="The text whose claims are checked, in full.")]
AskedPrompt = Annotated[Prompt | None, Field(description="The question that it answers.")]
AskedQuestion = Annotated[Question, Field(description="The question.")]
Answer = Annotated[
    Text | None, Field(description="The answer to it; without one the subject model is asked for its own.")
]
OneClaim = Annotated[
    str,
    Field(description="One statement that can be read alone.", min_length=1, max_length=LONGEST_CLAIM, pattern=r"\S"),
]
Documents = Annotated[
    list[DocumentText | GivenDocument] | None,
    Field(
        description="Texts to judge by, in place of the server's own sources. Texts, not paths or addresses.",
        max_length=MOST_DOCUMENTS,
    ),
]
AskedMode = Annotated[
    SourceMode | None,
    Field(
        description="Judge by the documents and nothing else (faithfulness, the default where documents are given), or "
        "also by what the server searches (factuality)."
    ),
]
OfCheck = Annotated[Limits | None, Field(description="Limits of this check; what it does not reach is left unscored.")]


def build_server(checker: FactChecker, scorer: TrustScorer, *, is_local: bool = True) -> MCPServer[Any]:
    """The server; it opens nothing. Its caller closes checker and scorer.

    Not `is_local`, callers are told nothing of a wrong set-up, which may name files: the log is.
    """
    tools = _Tools(checker, scorer, is_local=is_local)
    offered: list[Callable[..., Any]] = [tools.check_response, tools.check_claim]
    if scorer.settings.subject_model is not None or scorer.settings.corpus:
        offered.append(tools.trust_score)
    return MCPServer(
        "factloop",
        instructions=INSTRUCTIONS,
        version=factloop.__version__,
        tools=[StrictTool.of(tool) for tool in offered],
        middleware=[_one_line],
    )


class _Tools:
    """The tools: their docstrings are what agents read."""

    def __init__(self, checker: FactChecker, scorer: TrustScorer, *, is_local: bool) -> None:
        self._checker, self._scorer, self._is_local = checker, scorer, is_local
        self._indexes = GivenIndexes()
        self._room = asyncio.Semaphore(AT_ONCE)

    async def check_response(
        self,
        response: Response,
        ctx: Context[Any, Any],
        question: AskedPrompt = None,
        documents: Documents = None,
        mode: AskedMode = None,
        limits: OfCheck = None,
    ) -> Annotated[CallToolResult, CheckedResponse]:
        """Check which claims of a text hold. Splits it into claims, and judges each by documents or by search."""
        self._refuse_nothing_to_judge_by(documents, mode)
        async with self._turn():
            report = await self._check(response, question, await self._sources(documents, mode), limits, ctx)
        return _result(in_words(report), checked_response(report))

    async def check_claim(
        self,
        claim: OneClaim,
        documents: Documents = None,
        mode: AskedMode = None,
        limits: OfCheck = None,
    ) -> Annotated[CallToolResult, CheckedClaim]:
        """Check whether one claim holds, as it is: by documents or by search."""
        self._refuse_nothing_to_judge_by(documents, mode)
        async with self._turn():
            facts = [GivenFacts(sentence=claim, facts=(claim,))]
            sources = await self._sources(documents, mode)
            report = await self._checker.acheck(claim, facts=facts, sources=sources, limits=limits)
        return _result(in_words(report), checked_claim(report))

    async def trust_score(
        self, question: AskedQuestion, response: Answer = None, documents: Documents = None
    ) -> Annotated[CallToolResult, TrustScores]:
        """Score an answer by TrustScore: does the subject model stand by it among distractors, do documents agree?"""
        if self._scorer.settings.subject_model is None and response is None:
            raise ToolError(NO_SUBJECT)
        if self._scorer.settings.subject_model is None and documents is not None and not hold_text(documents):
            raise ToolError(NOTHING_TO_SCORE_BY)
        async with self._turn():
            sources = await self._sources(documents)
            scores = trust_scores(await self._scorer.ascore(question, response, sources=sources))
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

    def _refuse_nothing_to_judge_by(
        self, documents: Sequence[str | GivenDocument] | None, mode: SourceMode | None
    ) -> None:
        """Raises ToolError where a check would have nothing to judge by, as the service refuses it."""
        said = nothing_to_judge_by(documents, mode, can_search=self._checker.has_sources)
        if said is not None:
            raise ToolError(said)

    async def _sources(
        self, documents: Sequence[str | GivenDocument] | None, mode: SourceMode | None = None
    ) -> Sources | None:
        """The documents as sources, without a tool where no text is in them; None where none were given.

        Raises ToolError for more than one call may bring.
        """
        if documents is None:
            return None
        given = [Document(one) if isinstance(one, str) else one.as_document() for one in documents]
        if sum(len(one.page_content) for one in given) > LONGEST_DOCUMENTS:
            raise ToolError(f"documents: at most {LONGEST_DOCUMENTS:,} characters together")
        tool = await self._indexes.of(given)
        return Sources(() if tool is None else (tool,), mode or "faithfulness")

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Raises ToolError for what the caller, or the operator, can mend."""
        async with self._room:
            try:
                yield
            except ConfigError as error:
                if self._is_local:
                    raise ToolError(f"this server is set up wrongly: {error}") from error
                log.error("the server is set up wrongly: %s", error)
                raise ToolError(NOT_SET_UP) from error
            except FactloopError as error:
                raise ToolError(str(error)) from error


async def _one_line(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Errors of tools in one line."""
    result = await call_next(ctx)
    if not isinstance(result, dict) or not result.get("isError"):
        return result
    line = " ".join(" ".join(block.get("text", "") for block in result["content"]).split())
    shown = line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…"
    return {**result, "content": [{"type": "text", "text": shown}]}


def _result(text: str, answer: Record) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=answer.model_dump(mode="json")
    )


class StrictTool(Tool):
    """A tool whose schema, and whose every call, allows the arguments that it has and no others.

    The SDK would drop an argument that it does not know: the answer then is to another question than was asked.
    """

    @classmethod
    def of(cls, tool: Callable[..., Any]) -> Self:
        """A tool of the function's name, docstring and parameters, which changes nothing."""
        made = cls.from_function(tool, annotations=READS)
        made.parameters["additionalProperties"] = False
        return made  # type: ignore[return-value]  # the SDK's annotation says Tool, and it returns its `cls`

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Raises ToolError for an argument that there is not, and for a wrong value, which it does not repeat."""
        known = self.parameters["properties"]
        arguments = with_new_names(arguments, known)
        if unknown := [name for name in arguments if name not in known]:
            raise ToolError(f"{self.name}: there is no argument {unknown[0]!r}; known are {', '.join(known)}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{self.name}: {_wrong_argument(error.__cause__)}") from error
            raise


def _wrong_argument(error: ValidationError) -> str:
    """The error that lies deepest: of several shapes that would do, it is of the one that was meant."""
    wrong = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
    place = ".".join(str(part) for part in wrong["loc"] if isinstance(part, int) or _is_field(part))
    return f"{place}: {wrong['msg']}"


def _is_field(part: str) -> bool:
    """Whether it names a field, rather than one of several shapes."""
    return part.isidentifier() and part.islower()
