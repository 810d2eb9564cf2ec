"""Fills the stages of a plan with a judge: the model behind a gateway, else the offline rules."""

from __future__ import annotations

from collections.abc import Callable

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.model_stages import ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.stage_prompts import ANSWER_CHARACTERS
from factloop.core.records import Plan
from factloop.setup.session import Session
from factloop.setup.settings import CheckSettings
from factloop.tools.models.gateway import ModelGateway

Fill = Callable[[Plan], SafePlan]


def filled_by_model(settings: CheckSettings, session: Session, gateway: ModelGateway) -> Fill:
    """Fills each plan with the model as its judge."""

    def fill(plan: Plan) -> SafePlan:
        if plan == "paper":
            most = None if settings.strict_paper else ANSWER_CHARACTERS
            paper = ModelPaperStages(gateway, session.prompts, logprobs=settings.logprobs, answer_characters=most)
            return PaperPlan(paper, strict=settings.strict_paper)
        stages = ModelGroundedStages(gateway, session.prompts, logprobs=settings.logprobs)
        return FusedPlan(stages) if plan == "fused" else GroundedPlan(stages, settings.results_per_search)

    return fill


def filled_offline(settings: CheckSettings, session: Session) -> Fill:
    """Fills each plan with the rules as its judge.

    Here the plan `grounded` is `fused` without its gate: reading windows would save no call.
    """
    from factloop.agents.safe.bunches import BunchedPlan
    from factloop.agents.safe.offline import OfflineFusedStages, OfflinePaperStages
    from factloop.tools.linguistics.pipeline import load_pipeline
    from factloop.tools.verifiers.lexical import LexicalVerifier

    verifier = LexicalVerifier(session.embedder)
    nlp = load_pipeline(settings.spacy_model) if settings.spacy_model is not None else None

    def fill(plan: Plan) -> SafePlan:
        if plan == "paper":
            return PaperPlan(OfflinePaperStages(verifier, nlp), strict=settings.strict_paper)
        return BunchedPlan(OfflineFusedStages(verifier, nlp), gates=plan != "grounded")

    return fill
