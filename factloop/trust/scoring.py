"""Scores answers in one session: runs the graph and builds the report from its results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from factloop.agents.trustscore.distractors.generate import generate_distractors
from factloop.agents.trustscore.distractors.proposed import ModelProposer
from factloop.agents.trustscore.graph import build_consistency_graph, build_factual_graph, build_trust_graph
from factloop.agents.trustscore.judges import ModelJudge, VerifierJudge
from factloop.agents.trustscore.records import (
    ClaimStanding,
    ClaimTrust,
    LongFormTrustReport,
    SampleAgreement,
    TrustBC,
    TrustReport,
)
from factloop.agents.trustscore.stages import Distract, Judge
from factloop.agents.trustscore.state import Graph, TrustContext
from factloop.agents.trustscore.subject import ModelSubject
from factloop.core.records import Claim, FactualityReport
from factloop.setup.pace import Pace
from factloop.setup.recording import replay_warnings
from factloop.setup.session import Session, open_session
from factloop.setup.sources import Sources
from factloop.setup.trace_export import usage_values
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tracing import Span, as_messages, graph_span
from factloop.tools.judges.served import PromptedJudge
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.traced import request_values
from factloop.tools.search.gateway import SearchGateway
from factloop.trust.agreement import agreement, draw_samples
from factloop.trust.means import standing
from factloop.trust.preparing import TrustSetup
from factloop.trust.question_answers import OwnAnswer, QuestionAnswer
from factloop.trust.settings import TrustSettings

RECURSION_LIMIT = 20  # steps of the graph in addition to one step per window of checks
OFFLINE_JUDGE = (
    "Passages were judged by the offline baseline (word overlap and rules). To use a model, set --judge-model or --nli."
)


@dataclass(frozen=True)
class TrustScoring:
    """An open session that scores any number of answers, also concurrently. Bound to one event loop."""

    setup: TrustSetup
    session: Session
    searching: SearchGateway
    graph: Graph
    consistency: Graph | None
    """The graph for TrustBC alone, or None if there is no subject."""
    own: Mapping[str, Graph]
    """Maps the name of each system with its own subject to the graph for that subject."""

    def over(self, given: Sources) -> TrustScoring:
        """Returns a copy for an answer with its own sources, in the same session. Raises ConfigError."""
        setup = self.setup.over(given)
        return replace(self, setup=setup, searching=self.searching.over(setup.tools))

    async def report(self, item: QuestionAnswer, meter: UsageMeter | None = None) -> TrustReport:
        """Scores an answer. Parts that cannot be scored are included as unscored."""
        setup, graph, subject = self.setup, self.graph, self.setup.subject
        if isinstance(item, OwnAnswer):
            graph, subject = self.own[item.subject], setup.subjects[item.subject]
        with _score_span(setup.settings, subject, item.question, item.response) as span:
            started, meter = time.perf_counter(), meter or UsageMeter()
            final = await graph.ainvoke(
                {"question": item.question, "response": item.response, "references": item.reference_answers},
                {"recursion_limit": RECURSION_LIMIT + setup.settings.max_checks},
                context=TrustContext(meter, self.searching),
            )
            report = TrustReport(
                id=item.id,
                question=item.question,
                response=final["response"],
                answered_by=final["answered_by"],
                trust_bc=final["trust_bc"],
                trust_fc=final["trust_fc"],
                trust_ov=final["trust_ov"],
                usage=meter.snapshot(time.perf_counter() - started),
                fingerprint=setup.fingerprint_of(subject),
                created_at=datetime.now(UTC),
                warnings=(*_warnings(setup), *replay_warnings(setup.tape)),
            )
            scores = {f"factloop.{part}": getattr(report, part).value for part in ("trust_bc", "trust_fc", "trust_ov")}
            span.set({**scores, **usage_values(report.usage)})
        return report

    async def belief_in(self, claim: Claim, topic: str, meter: UsageMeter) -> TrustBC:
        """Returns TrustBC for a claim on a topic. The subject must distinguish the claim from its distractors."""
        assert self.consistency is not None  # without a subject, TrustScorer raises an error
        final = await self.consistency.ainvoke(
            {"question": topic, "response": claim.self_contained, "statements": True},
            {"recursion_limit": RECURSION_LIMIT + self.setup.settings.max_checks},
            context=TrustContext(meter),
        )
        found: TrustBC = final["trust_bc"]
        return found

    async def sampled(
        self, topic: str, claims: Sequence[Claim], meter: UsageMeter
    ) -> tuple[list[str], dict[str, SampleAgreement]]:
        """Returns the subject's other answers, if the settings request any, and how well they support each claim."""
        setup = self.setup
        if setup.sampler is None:
            return [], {}
        samples = await draw_samples(topic, setup.settings.samples, self.session.model(setup.sampler), meter)
        judge = setup.judge
        if isinstance(judge, ChatModel):
            judge = PromptedJudge(self.session.model(judge), setup.prompts, logprobs=setup.settings.logprobs)
        found = await agreement([claim.self_contained for claim in claims], samples, judge, meter=meter)
        return samples, {claim.id: one for claim, one in zip(claims, found, strict=True)}

    def long_form(
        self,
        factuality: FactualityReport,
        found: Mapping[str, TrustBC],
        sampled: tuple[Sequence[str], Mapping[str, SampleAgreement]],
        meter: UsageMeter,
        elapsed_s: float,
    ) -> LongFormTrustReport:
        """Combines TrustBC with SAFE's verdict for each claim. The keys of `found` and `sampled` are claim ids."""
        samples, agreements = sampled
        claims = []
        for claim in factuality.claims:
            own = claim.duplicate_of or claim.id
            consistency = found.get(own)
            place, why = standing(claim, consistency)
            trust = {"claim": claim, "trust_bc": consistency, "standing": place, "why_unplaced": why}
            claims.append(ClaimTrust.model_validate({**trust, "agreement": agreements.get(own)}))
        return LongFormTrustReport(
            factuality=factuality,
            claims=tuple(claims),
            samples=tuple(samples),
            counts={place: sum(item.standing is place for item in claims) for place in ClaimStanding},
            usage=meter.snapshot(elapsed_s),
            fingerprint=self.setup.fingerprint,
            created_at=datetime.now(UTC),
        )

    async def aclose(self) -> None:
        await self.session.aclose()
        await self.setup.sources.aclose()


def open_trust_scoring(
    setup: TrustSetup, *, journal: Path | None = None, pace: Pace | None = None, budget: Budget | None = None
) -> TrustScoring:
    """Opens a session in which answers can be scored with this setup. Raises ConfigError. With a `journal`, answers are
    saved only there. The `pace` and the `budget` may be shared with other sessions."""
    settings, chats = setup.settings, setup.chats
    keeps = bool(chats) and all(chat.persistent for chat in chats)
    session = open_session(
        settings,
        setup.prompts,
        chats,
        keeps=keeps,
        seed=settings.seed,
        journal=journal,
        tape=setup.tape,
        pace=pace,
        budget=budget,
    )
    searching = session.search(setup.tools, results=settings.passages)
    distract, factual = _distract(setup, session), build_factual_graph(searching, _judge(setup, session))

    def graphs(chat: ChatModel | None) -> tuple[Graph, Graph | None]:
        subject = consistency = None
        if chat is not None:
            subject = ModelSubject(session.model(chat), setup.prompts, settings.logprobs)
            consistency = build_consistency_graph(
                subject, distract, max_checks=settings.max_checks, window=settings.window, seed=settings.seed
            )
        whole = build_trust_graph(
            subject=subject, consistency=consistency, factual=factual, max_checks=settings.max_checks
        )
        return whole, consistency

    own = {name: graphs(chat)[0] for name, chat in setup.subjects.items()}
    return TrustScoring(setup, session, searching, *graphs(setup.subject), own)


def _distract(setup: TrustSetup, session: Session) -> Distract:
    settings, proposer = setup.settings, None
    if settings.distractors == "model":
        assert isinstance(setup.judge, ChatModel)  # `prepare_trust` rejects other judges
        proposer = ModelProposer(session.model(setup.judge), setup.prompts)
    return partial(
        generate_distractors,
        wanted=settings.wanted_distractors,
        sources=setup.sources.sources,
        seed=settings.seed,
        order=settings.target_order,
        proposer=proposer,
    )


def _judge(setup: TrustSetup, session: Session) -> Judge:
    if isinstance(setup.judge, ChatModel):
        return ModelJudge(session.model(setup.judge), setup.prompts)
    return VerifierJudge(setup.judge)


def _warnings(setup: TrustSetup) -> tuple[str, ...]:
    if setup.corpus is None:
        return ()
    is_offline = not isinstance(setup.judge, ChatModel) and setup.settings.nli is None
    return (*((OFFLINE_JUDGE,) if is_offline else ()), *setup.corpus.warnings)


def _score_span(settings: TrustSettings, subject: ChatModel | None, question: str, response: str | None) -> Span:
    span = graph_span(settings.tracing, "factloop.trustscore", {} if subject is None else request_values(subject))
    span.say("gen_ai.input.messages", lambda: as_messages([("user", question)]))
    if response is not None:
        span.say("factloop.response", lambda: response)
    return span
