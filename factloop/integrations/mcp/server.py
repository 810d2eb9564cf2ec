"""The MCP server, with tools for one checker and one scorer. Fields, limits and errors are the same as in the service.
Agents on the operator's machine see the documents' paths. Over HTTP, agents see only names."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Annotated, Any, Self

from langchain_core.documents import Document
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, CallToolResult, ErrorData, JSONRPCError, JSONRPCRequest, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

import factloop
from factloop.checking.checker import FactChecker
from factloop.checking.views.plain import in_words
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged
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
from factloop.entrance.keys import NO_OWNER
from factloop.entrance.turns import Turns, Waiting
from factloop.integrations.mcp.answers import (
    CheckedResponse,
    TrustScores,
    checked_response,
    trust_in_words,
    trust_scores,
)
from factloop.setup.limits import Limits
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.calls.limiter import CALLER
from factloop.tools.search.given import GivenIndexes
from factloop.trust.scorer import TrustScorer

AT_ONCE = 8
"""Maximum number of concurrent calls. Over HTTP, one of these calls is reserved for keys that have no call running."""
MOST_WAITING = 16  # maximum number of waiting calls per key over HTTP
OWNER = "factloop.owner"  # the key's owner, in the scope of an HTTP request
PRESENCE = "factloop.presence"  # the caller's `Presence`, in the same scope
LONGEST_CLAIM = 2_000
LONGEST_DOCUMENTS = 8_000_000
"""Maximum total number of characters in the documents of one call. The service instead limits the size of a request."""
LONGEST_ERROR = 500
NOT_SET_UP = "this server is not configured correctly; its operator can find the details in the log"

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)

log = logging.getLogger(__name__)

INSTRUCTIONS = (
    "Checks a text claim by claim, and cites the evidence. Documents are texts, given in full; without them the "
    "server's own sources are searched. A claim without a verdict is unscored: it is neither true nor false."
)

Response = Annotated[Text, Field(description="The complete text whose claims to check.")]
AskedPrompt = Annotated[Prompt | None, Field(description="The question that the text answers.")]
AskedQuestion = Annotated[Question, Field(description="The question.")]
Answer = Annotated[
    Text | None, Field(description="The answer to the question. If omitted, the subject model is asked for its own.")
]
OneClaim = Annotated[
    str,
    Field(
        description="One statement that can be understood on its own.",
        min_length=1,
        max_length=LONGEST_CLAIM,
        pattern=r"\S",
    ),
]
Documents = Annotated[
    list[DocumentText | GivenDocument] | None,
    Field(
        description="Texts to check against, instead of the server's own sources; give texts, not paths or URLs.",
        max_length=MOST_DOCUMENTS,
        fail_fast=True,
    ),
]
AskedMode = Annotated[
    SourceMode | None,
    Field(
        description="Check only against the documents (faithfulness, the default if documents are given), or also "
        "against the server's own sources (factuality)."
    ),
]
OfCheck = Annotated[
    Limits | None, Field(description="Limits of this check. Claims left over when a limit is reached stay unscored.")
]


def build_server(checker: FactChecker, scorer: TrustScorer, *, is_local: bool = True) -> MCPServer[Any]:
    """Builds the server without opening anything. The caller must close the checker and the scorer. Unless `is_local`,
    details of configuration errors are logged instead of sent to callers, because they may contain file names."""
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


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Serves until standard input ends. The SDK's `run_stdio_async` never answers messages that it cannot parse."""
    low_level = server._lowlevel_server
    async with stdio_server() as (messages, answers):

        async def parsed() -> AsyncIterator[SessionMessage]:
            async for message in messages:
                if isinstance(message, SessionMessage):
                    yield message
                else:
                    await answers.send(SessionMessage(_parse_error(message)))

        await low_level.run(parsed(), answers, low_level.create_initialization_options())  # type: ignore[arg-type]  # only iterated over and closed


def _parse_error(error: Any) -> JSONRPCError:
    """Without an id, unless the message is a request whose only fault is a lone surrogate outside its id."""
    wrong, request_id = error.errors()[0], None
    with suppress(ValueError, RecursionError):  # with a `loc`, the input is only a part of the message
        request = JSONRPCRequest.model_validate(json.loads("" if wrong["loc"] else wrong["input"]))
        str(request.id).encode()
        request_id = request.id
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=PARSE_ERROR, message=wrong["msg"]))


class _Tools:
    """Agents see the docstrings of these methods."""

    def __init__(self, checker: FactChecker, scorer: TrustScorer, *, is_local: bool) -> None:
        self._checker, self._scorer, self._is_local = checker, scorer, is_local
        self._indexes = GivenIndexes()
        self._calls = _Calls(Turns(places=None if is_local else AT_ONCE), None if is_local else MOST_WAITING)

    async def check_response(
        self,
        response: Response,
        ctx: Context[Any, Any],
        question: AskedPrompt = None,
        documents: Documents = None,
        mode: AskedMode = None,
        limits: OfCheck = None,
    ) -> Annotated[CallToolResult, CheckedResponse]:
        """Check which claims of a text hold. Splits it into claims, and judges each one against documents or a
        search."""
        self._refuse_nothing_to_judge_by(documents, mode)
        async with self._turn(ctx):
            report = await self._check(response, question, await self._sources(documents, mode), limits, ctx)
        return _result(in_words(report), checked_response(report))

    async def check_claim(
        self,
        claim: OneClaim,
        ctx: Context[Any, Any],
        documents: Documents = None,
        mode: AskedMode = None,
        limits: OfCheck = None,
    ) -> Annotated[CallToolResult, CheckedResponse]:
        """Check whether a single claim holds, without splitting it, against documents or a search."""
        self._refuse_nothing_to_judge_by(documents, mode)
        async with self._turn(ctx):
            facts = [GivenFacts(sentence=claim, facts=(claim,))]
            sources = await self._sources(documents, mode)
            report = await self._checker.acheck(claim, facts=facts, sources=sources, limits=limits)
        return _result(in_words(report), checked_response(report))

    async def trust_score(
        self, question: AskedQuestion, ctx: Context[Any, Any], response: Answer = None, documents: Documents = None
    ) -> Annotated[CallToolResult, TrustScores]:
        """Score an answer with TrustScore: does the subject model stand by it among distractors, and do documents
        support it?"""
        if self._scorer.settings.subject_model is None and response is None:
            raise ToolError(NO_SUBJECT)
        if self._scorer.settings.subject_model is None and documents is not None and not hold_text(documents):
            raise ToolError(NOTHING_TO_SCORE_BY)
        async with self._turn(ctx):
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
        raise AssertionError("the check ended without a report")

    def _refuse_nothing_to_judge_by(
        self, documents: Sequence[str | GivenDocument] | None, mode: SourceMode | None
    ) -> None:
        said = nothing_to_judge_by(documents, mode, can_search=self._checker.has_sources)
        if said is not None:
            raise ToolError(said)

    async def _sources(
        self, documents: Sequence[str | GivenDocument] | None, mode: SourceMode | None = None
    ) -> Sources | None:
        """Returns no tool if the documents contain no text. Raises ToolError if they exceed the limits of one call."""
        if documents is None:
            return None
        given = [Document(one) if isinstance(one, str) else one.as_document() for one in documents]
        if sum(len(one.page_content) for one in given) > LONGEST_DOCUMENTS:
            raise ToolError(f"`documents` must contain at most {LONGEST_DOCUMENTS:,} characters in total")
        tool = await self._indexes.of(given)
        return Sources(() if tool is None else (tool,), mode or "faithfulness")

    @asynccontextmanager
    async def _turn(self, ctx: Context[Any, Any]) -> AsyncIterator[None]:
        request = ctx.request_context.request
        scope = {} if request is None else request.scope
        CALLER.set(scope.get(OWNER, NO_OWNER))
        async with scope.get(PRESENCE, Presence()).awaited(), self._calls.turn(CALLER.get()):
            try:
                yield
            except ConfigError as error:
                if self._is_local:
                    raise ToolError(f"this server is not configured correctly: {error}") from error
                log.error("the server is not configured correctly: %s", error)
                raise ToolError(NOT_SET_UP) from error
            except FactloopError as error:
                raise ToolError(str(error)) from error


class Presence:
    """Cancels an HTTP request's call when the connection ends, because the answer could not be delivered."""

    def __init__(self) -> None:
        self._calls, self._has_left = set[asyncio.Timeout](), False

    def leave(self) -> None:
        self._has_left = True
        for call in self._calls:
            call.reschedule(0.0)

    @asynccontextmanager
    async def awaited(self) -> AsyncIterator[None]:
        call = asyncio.timeout(0.0 if self._has_left else None)
        self._calls.add(call)
        try:
            async with call:
                yield
        except TimeoutError as error:
            if not call.expired():  # the call's own
                raise
            raise ToolError("the connection ended") from error
        finally:
            self._calls.discard(call)


class _Calls:
    """Limits concurrent calls and lets callers take turns. Bound to one event loop."""

    def __init__(self, turns: Turns, most_waiting: int | None) -> None:
        self._turns, self._most_waiting = turns, most_waiting
        self._queues: defaultdict[str, deque[Waiting]] = defaultdict(deque)
        self._at_work: Counter[str] = Counter()
        self._begun: dict[Waiting, asyncio.Event] = {}
        self._numbers = itertools.count()

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Raises ToolError if too many of the caller's calls are waiting."""
        queue = self._queues[caller]
        if len(queue) == self._most_waiting:
            raise ToolError(f"busy: {self._most_waiting} calls with this key are already waiting; try again later")
        call = (f"{next(self._numbers):016}", "")
        begun = self._begun[call] = asyncio.Event()
        queue.append(call)
        self._begin()
        try:
            await begun.wait()
            yield
        finally:
            del self._begun[call]
            if begun.is_set():
                self._at_work[caller] -= 1
            else:
                queue.remove(call)
            self._begin()

    def _begin(self) -> None:
        while self._at_work.total() < AT_ONCE:
            caller = self._turns.next(self._queues, self._at_work)
            if caller is None:
                return
            self._turns.took(caller)
            self._at_work[caller] += 1
            self._begun[self._queues[caller].popleft()].set()


async def _one_line(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
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
    """A tool that rejects unknown arguments. The SDK would silently ignore them."""

    @classmethod
    def of(cls, tool: Callable[..., Any]) -> Self:
        """Returns a read-only tool with the function's name, docstring and parameters."""
        made = cls.from_function(tool, annotations=READS)
        made.parameters["additionalProperties"] = False
        return made  # type: ignore[return-value]  # annotated as Tool, but the SDK returns its `cls`

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Raises ToolError for unknown arguments and invalid values. The message does not repeat the values."""
        known = self.parameters["properties"]
        if unknown := [name for name in arguments if name not in known]:
            raise ToolError(f"{self.name} has no argument {unknown[0]!r}; its arguments are {', '.join(known)}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{self.name}: {_wrong_argument(error.__cause__)}") from error
            raise


def _wrong_argument(error: ValidationError) -> str:
    wrong = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
    parts = map(str, wrong["loc"])  # indexes and fields; names of variants are left out
    place = ".".join(part for part in parts if part.isdigit() or (part.isidentifier() and part.islower()))
    return f"{place}: {wrong['msg']}"
