"""Checks responses in one session: runs the graph and builds a report from its results."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from pydantic import TypeAdapter

from factloop.agents.safe.answer import MOST_CELLS, Answer
from factloop.agents.safe.graph import build_safe_graph
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.jury import decided
from factloop.agents.safe.stages import CheckContext, SafeGraph, told_in
from factloop.checking.cascade.stage import build_look_node, savings
from factloop.checking.citing import borne_out, citations_of, documents_among
from factloop.checking.core_claims import mark_core
from factloop.checking.judging import filled_by_model, filled_offline
from factloop.checking.preparing import Setup
from factloop.core.errors import ConfigError, DataError
from factloop.core.events import CheckFinished, Event
from factloop.core.factuality import score_claims
from factloop.core.given_text import check_given, check_spans, check_whole
from factloop.core.reasons import UnscoredReason
from factloop.core.records import Claim, FactualityReport, Fingerprint, GivenFacts, Judgement, Plan, Sentence, Verdict
from factloop.core.report_warnings import engine_warnings, failure_of_all, found_warnings, steering_warnings
from factloop.reports.figures import plural
from factloop.setup.limits import Limits
from factloop.setup.pace import Pace
from factloop.setup.recording import replay_warnings
from factloop.setup.session import Session, Store, open_session
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.setup.trace_export import usage_values
from factloop.tools.calls.budget import Allowance, Budget
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.patience import told_of_waits
from factloop.tools.calls.tracing import Span, Value, as_messages, graph_span
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.pairs import THRESHOLD, PairScore, VerifierPair
from factloop.tools.judges.served import EligibilityJudge
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.prices import unknown_price
from factloop.tools.models.traced import request_values
from factloop.tools.models.wire import TAGS
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import SearchGateway

log = logging.getLogger(__name__)
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
LONG = 10_000
"""Reports on responses with more characters than this are built in a thread."""


@dataclass(frozen=True)
class CheckRequest:
    """The arguments of `FactChecker.acheck`. Raises DataError if the text or the spans are invalid."""

    response: str
    prompt: str | None = None
    facts: Sequence[GivenFacts] | None = None
    spans: Sequence[tuple[int, int]] | None = None
    sources: Sources | None = None
    limits: Limits | None = None
    begun_at: float = field(default_factory=time.monotonic)
    allowance: Allowance | None = None
    """Replaces `limits` if the check shares an allowance with other work."""
    is_whole: bool = False
    """Whether the response is complete. Used only with `spans`."""
    meter: UsageMeter | None = None

    def __post_init__(self) -> None:
        for name in ("facts", "spans"):
            given = getattr(self, name)
            if isinstance(given, Iterator):  # an iterator can be read only once, but is needed several times
                object.__setattr__(self, name, tuple(given))
        if self.spans is not None:
            check_spans(self.response, self.spans)
        check_whole("response", self.response)
        check_whole("question", self.prompt or "")
        for number, given in enumerate(self.facts or (), 1):
            for fact in given.facts:
                check_given(f"a fact in sentence {number}", fact)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the check was requested, which is also when the deadline starts to run."""
        return time.monotonic() - self.begun_at

    @property
    def state(self) -> dict[str, Any]:
        return {
            "facts": None if self.facts is None else list(self.facts),
            "spans": None if self.spans is None else list(self.spans),
        }

    def configuration(self, fingerprint: Fingerprint) -> dict[str, Any]:
        asked: dict[str, Any] = {"response": _digest(self.response), "prompt": self.prompt}
        if self.facts is not None:
            asked["facts"] = _digest(json.dumps([given.model_dump(mode="json") for given in self.facts]))
        return {**asked, **fingerprint.configuration}


@dataclass(frozen=True)
class Checking:
    """An open session that can check many responses concurrently. Bound to one event loop."""

    setup: Setup
    session: Session
    searching: SearchGateway
    gateway: ModelGateway | None
    """None if no chat model judges the claims."""
    jury: Sequence[ModelGateway]
    graph_of: Callable[[Plan], SafeGraph]
    """Compiles the graph for a plan on first use."""

    @cached_property
    def verifier(self) -> Verifier:
        """The verifier that compares claims with one another: the judge in the settings, or else the baseline."""
        from factloop.tools.judges.baseline import Baseline

        named = self.setup.judge
        return Baseline() if named is None else named.opened(self.session, logprobs=False).verifier

    def over(self, sources: Sources) -> Checking:
        """Returns a copy for an answer with its own sources. It shares this session with its limits and budget."""
        setup = self.setup.over(sources)
        return replace(self, setup=setup, searching=self.searching.over(setup.tools))

    async def aclose(self) -> None:
        await self.session.aclose()

    async def report(self, asked: CheckRequest, tell: Callable[[Event], None] | None = None) -> FactualityReport:
        """Checks a response. Claims that cannot be judged are left unscored. `tell` receives each event."""
        meter, setup = self._meter(asked), self.setup
        span = _check_span(setup.settings, setup.fingerprint, setup.chat, asked.prompt, asked.response)
        with span, nullcontext() if tell is None else told_of_waits(tell):
            context = self._context(asked, meter)
            eligibility = await self._eligibility(asked, meter)
            report = await self._with_citations(asked, await self._final(asked, context, tell), context)
            report = report.model_copy(update={"eligibility": eligibility})
            _note_check(span, report)
        return report

    async def _eligibility(self, asked: CheckRequest, meter: UsageMeter) -> Judgement | None:
        """Judges whether the response does what its prompt asks for, if the settings request this.

        This is the first stage of FACTS Grounding (Jacovi et al. 2025, arXiv 2501.03200, section 3). Departures: the
        judges vote, and the second stage judges individual claims. FACTS averages judgements on whole responses.
        """
        settings, pair = self.setup.settings, VerifierPair(asked.response, asked.prompt or "")
        if not settings.eligibility or self.gateway is None or asked.spans is not None:
            return None
        if not pair.document.strip() or not pair.claim.strip():
            return None
        read = partial(EligibilityJudge, prompts=self.setup.prompts, logprobs=settings.logprobs)
        first, *others = map(read, (self.gateway, *self.jury))

        async def ask(juror: EligibilityJudge, _: Sequence[int] = ()) -> list[Judgement]:
            (found,) = await juror.read([pair], meter=meter)
            return [_eligible(found, juror.name)]

        (judged,) = await decided(await ask(first), others, settings.jury_rule, ask) if others else await ask(first)
        return judged

    async def _with_citations(
        self, asked: CheckRequest, final: Mapping[str, Any], context: CheckContext
    ) -> FactualityReport:
        documents, claims = documents_among(self.setup.tools), final["claims"]
        if documents is not None:
            by = await asyncio.to_thread(borne_out, claims, documents)
            claims = [one.model_copy(update={"borne_out_by": by[one.duplicate_of or one.id]}) for one in claims]
        unread: list[str] = []
        if self.setup.settings.repeats == "core" and asked.spans is None:
            claims, unread = await mark_core(claims, asked.prompt, self.verifier, context.meter)

        def whole() -> FactualityReport:
            report = self._report(asked, {**final, "claims": claims}, context)
            found = citations_of(asked.response, report.sentences, report.claims, documents)
            return report.model_copy(update={"citations": found, "warnings": (*report.warnings, *unread)})

        return await asyncio.to_thread(whole) if len(asked.response) > LONG else whole()

    async def events(self, asked: CheckRequest) -> AsyncGenerator[Event, None]:
        """Yields events as they happen, ending with the report. If you stop early, close the stream to cancel calls."""
        told: asyncio.Queue[Event | None] = asyncio.Queue()
        checking = asyncio.create_task(self.report(asked, told.put_nowait))
        checking.add_done_callback(lambda _: told.put_nowait(None))
        try:
            while (event := await told.get()) is not None:
                yield event
            yield CheckFinished(report=checking.result())
        finally:
            checking.cancel()
            await asyncio.gather(checking, return_exceptions=True)

    async def _final(
        self, asked: CheckRequest, context: CheckContext, tell: Callable[[Event], None] | None
    ) -> Mapping[str, Any]:
        graph = self.graph_of(self.setup.fingerprint.plan)
        if tell is None:
            whole: Mapping[str, Any] = await graph.ainvoke(asked.state, self._config, context=context)
            return whole
        final: Mapping[str, Any] = {}
        steps: Any = graph.astream(
            asked.state, self._config, context=context, stream_mode=["custom", "values"], subgraphs=True
        )
        async with aclosing(steps):
            async for namespace, mode, chunk in steps:
                if mode == "values":
                    final = final if namespace else chunk
                elif (event := told_in(chunk)) is not None:
                    is_judged = event["type"] == "claim_judged"
                    usage = {"usage": context.meter.snapshot(asked.elapsed_s)} if is_judged else {}
                    tell(_EVENT.validate_python({**event, **usage}))
        return final

    def allowance(self, limits: Limits | None, *, begun_at: float, of: str = "this check") -> Allowance:
        """The allowance for one check under the settings and `limits`. `of` names the work in error messages. Raises
        ConfigError (or DataError if `limits` is the cause) if the cost is limited but a price is unknown."""
        own = Limits.per_check(self.setup.settings)
        within = own.within(limits)
        unpriced = next((chat for chat in self.setup.chats if chat.price is None), None)
        if within.budget_usd is not None and unpriced is not None:
            said = unknown_price(unpriced.name)
            if own.budget_usd is None:
                raise DataError(f"limits: {said}", field="limits")
            raise ConfigError(said)
        allowance = within.allowance(begun_at=begun_at, of=of)
        allowance.max_unreadable = self.setup.settings.max_unreadable
        return allowance

    def _meter(self, asked: CheckRequest) -> UsageMeter:
        meter = UsageMeter() if asked.meter is None else asked.meter
        shared = asked.allowance
        meter.allowance = self.allowance(asked.limits, begun_at=asked.begun_at) if shared is None else shared
        return meter

    def context_of(self, asked: CheckRequest) -> CheckContext:
        """The context for a check that runs in another graph."""
        return self._context(asked, self._meter(asked))

    def _context(self, asked: CheckRequest, meter: UsageMeter) -> CheckContext:
        """Turns off the relevance gate for an incomplete answer, because any claim may prove relevant later."""
        is_whole = asked.spans is None or asked.is_whole
        searching = self.searching.over(self.searching.tools)
        meter.before_paying = searching.reach
        gates = self.setup.gates and is_whole
        answer = Answer(asked.prompt, asked.response, lambda: meter.allowance.is_late)
        return CheckContext(answer, meter, searching, gates=gates)

    @property
    def _config(self) -> RunnableConfig:
        """The thread id keeps this graph out of the checkpoints of a user's graph."""
        return RunnableConfig(
            recursion_limit=4 * self.setup.settings.max_searches + 20,
            configurable={"thread_id": "factloop"},
            tags=list(TAGS),
        )

    def _report(self, asked: CheckRequest, final: Mapping[str, Any], context: CheckContext) -> FactualityReport:
        setup = self.setup
        claims: tuple[Claim, ...] = tuple(final["claims"])
        usage, cascade = context.meter.snapshot(asked.elapsed_s), setup.cascade
        scores = score_claims(claims, setup.settings.k, setup.settings.repeats)
        saved = None if cascade is None else savings(cascade, claims, usage, setup.tools)
        return FactualityReport(
            prompt=asked.prompt,
            response=asked.response,
            claims=claims,
            sentences=tuple(final["sentences_read"]),
            **vars(scores),
            usage=usage,
            fingerprint=setup.fingerprint.model_copy(update={"snapshots": tuple(sorted(context.meter.snapshots))}),
            cascade=saved,
            mode=None if asked.sources is None else asked.sources.mode,
            created_at=datetime.now(UTC),
            warnings=(
                *_rows_warning(asked, context.answer),
                *_warnings(setup, asked, claims, final["sentences_read"], self.searching.tools),
                *context.meter.allowance.all_unreadable,
                *steering_warnings(context.steering),
                *replay_warnings(setup.tape),
            ),
        )


def open_checking(
    setup: Setup,
    *,
    journal: Path | None = None,
    store: Store | None = None,
    pace: Pace | None = None,
    budget: Budget | None = None,
) -> Checking:
    """Opens a session for checks with this setup. Raises ConfigError. With a `journal` or a `store`, answers are saved
    only there. The `pace` and the `budget` may be shared with other sessions."""
    settings, chat = setup.settings, setup.chat
    look = None if setup.cascade is None else build_look_node(setup.cascade.stage)
    chats = setup.chats
    keeps = all(one.persistent for one in chats) if chats else any(tool.cacheable for tool in setup.tools)
    session = open_session(
        settings,
        setup.prompts,
        chats,
        keeps=keeps,
        seed=settings.seed,
        journal=journal,
        tape=setup.tape,
        store=store,
        pace=pace,
        budget=budget,
    )
    searching = session.search(setup.tools, results=settings.results_per_search)
    if chat is None:
        gateway, jury, fill = None, [], filled_offline(settings, session, setup.judge)
    else:
        gateway = session.model(chat, use_tools=settings.tool_calling)
        jury = [session.model(one, use_tools=settings.tool_calling) for one in setup.jury]
        fill = filled_by_model(settings, session, gateway, jury)

    @cache
    def graph_of(plan: Plan) -> SafeGraph:
        return build_safe_graph(fill(plan), max_searches=settings.max_searches, look=look)

    return Checking(setup, session, searching, gateway, jury, graph_of)


def _eligible(found: PairScore, name: str) -> Judgement:
    if found.score is None:
        assert found.error is not None  # one of score and error is always set
        return unscored(found.error).model_copy(update={"judged_by": name})
    is_eligible = found.score >= THRESHOLD
    verdict = Verdict.SUPPORTED if is_eligible else Verdict.NOT_SUPPORTED
    return Judgement(verdict=verdict, contradicted=None if is_eligible else False, score=found.score, judged_by=name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _warnings(
    setup: Setup,
    asked: CheckRequest,
    claims: Sequence[Claim],
    sentences: Sequence[Sentence],
    tools: Sequence[SearchTool],
) -> tuple[str, ...]:
    warnings = list(engine_warnings(setup.fingerprint)) if claims else []
    if asked.sources is not None:
        warnings.append(asked.sources.warning)
    if setup.settings.repeats == "core" and asked.spans is not None:
        warnings.append("A core needs a whole answer. Here, claims that say the same thing count once instead.")
    if setup.cascade is not None:
        warnings += setup.cascade.warnings(claims, setup.tools)
    warnings += [warning for tool in tools for warning in tool.warnings]
    return (*warnings, *found_warnings(setup.fingerprint, claims, sentences, asked.response))


def _rows_warning(asked: CheckRequest, answer: Answer) -> tuple[str, ...]:
    n_rows = len(answer.rows_left_out) if asked.facts is None and asked.spans is None else 0
    rows = plural(n_rows, "table row")
    return (f"{rows} not checked: only the first {MOST_CELLS} table cells are checked.",) if n_rows else ()


def _check_span(
    settings: CheckSettings, fingerprint: Fingerprint, chat: ChatModel | None, prompt: str | None, response: str
) -> Span:
    span = graph_span(
        settings.tracing,
        "factloop.safe",
        {
            **({} if chat is None else request_values(chat)),
            "factloop.version": fingerprint.factloop_version,
            "factloop.engine": fingerprint.engine,
            "factloop.plan": fingerprint.plan,
        },
    )
    span.say("factloop.response", lambda: response)
    if prompt is not None:
        span.say("gen_ai.input.messages", lambda: as_messages([("user", prompt)]))
    return span


def _note_check(span: Span, report: FactualityReport) -> None:
    """Does not log that the budget is exhausted, which is reported once for all checks."""
    counts = report.counts
    found: dict[str, Value] = {f"factloop.claims.{name}": getattr(counts, name) for name in type(counts).model_fields}
    span.set({**found, **usage_values(report.usage)})
    if (failure := failure_of_all(report.claims)) is not None:
        if failure.unscored_reason is not UnscoredReason.BUDGET:
            log.warning("could not judge any of %s: %s", plural(len(report.claims), "claim"), failure.rationale)
        span.went_wrong(str(failure.unscored_reason), failure.rationale)
