"""Selects the judge for a check: a chat model, the judge set with `--judge`, or the bundled baseline."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from factloop.agents.safe.fused import BunchedPlan, FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.jury import GroundedJury, PaperJury
from factloop.agents.safe.model_stages import ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.offline import JudgeRater, OfflineFusedStages, OfflinePaperStages, VerifierRater
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.published import PublishedPlan, PublishedStages, VerifiablePlan, VerifiableStages
from factloop.checking.cascade.stage import cheap_verifier, read_cascade, refuse_other_verifier
from factloop.core.errors import ConfigError
from factloop.core.records import CascadeFingerprint, Plan
from factloop.setup.chat_model import build_model
from factloop.setup.session import Session
from factloop.setup.settings import CheckSettings
from factloop.tools.judges.build import BASELINE, PROMPTED, JudgeSpec, build_judge, parse_spec
from factloop.tools.judges.pairs import THRESHOLD, Judge, SharedReads
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway

BOTH = "use --model or --judge, not both, unless you also set a cascade with --cascade"
NO_LOWER = "a cascade that never accepts or never rejects a claim needs a model: set --model, or tune it again"


@dataclass(frozen=True)
class NamedJudge:
    """A judge used instead of a chat model, either on this machine (`judge`) or on a server (`chat`)."""

    fingerprint: CascadeFingerprint
    judge: Judge | None
    chat: ChatModel | None

    def opened(self, session: Session, *, logprobs: bool) -> JudgeRater:
        upper, lower, chat = self.fingerprint.upper, self.fingerprint.lower, self.chat
        assert upper is not None
        if self.judge is not None:
            return JudgeRater(self.judge, upper, lower, SharedReads(self.judge).read)
        assert chat is not None
        spec = JudgeSpec("bespoke", chat.name)
        served = build_judge(spec, open_gateway=lambda *_: session.model(chat), logprobs=logprobs)
        return JudgeRater(served, upper, lower)


def named_judge(settings: CheckSettings, *, has_model: bool) -> NamedJudge | None:
    """Returns the judge for a check without a model, if one is set. Downloads its weights if that is allowed. Raises
    ConfigError if it cannot be loaded, or if the thresholds were tuned for a different judge."""
    if settings.judge is None:
        return None
    spec = parse_spec(settings.judge)
    if has_model:
        return None
    if spec.calls is not None:
        return _served(settings, spec)
    verifier = cheap_verifier(settings.judge, allow_download=settings.allow_download)
    upper, lower = THRESHOLD, None
    if settings.cascade is not None:
        file = read_cascade(settings.cascade)
        refuse_other_verifier(settings.cascade, file, verifier)
        if file.upper is None or file.lower is None:
            raise ConfigError(f"{settings.cascade}: {NO_LOWER}")
        upper, lower = file.upper, file.lower
    named = CascadeFingerprint(verifier=verifier.reader.judged_by, identity=verifier.digest, upper=upper, lower=lower)
    return NamedJudge(named, verifier.reader, None)


def refuse_clash(settings: CheckSettings, *, has_model: bool) -> None:
    """Raises ConfigError for an unknown judge, or for a judge and a model that do not form a cascade."""
    if settings.judge is None:
        return
    spec = parse_spec(settings.judge)
    if spec.kind == BASELINE:
        raise ConfigError("omit `--judge baseline`: the baseline is used if you set neither a judge nor a model")
    if spec.kind == PROMPTED:
        raise ConfigError(f"--judge {settings.judge}: set a chat model with --model instead")
    if not has_model:
        return
    if settings.cascade is None:
        raise ConfigError(BOTH)
    tuned = read_cascade(settings.cascade).verifier
    if parse_spec(tuned) != spec:
        raise ConfigError(f"{settings.cascade} was tuned for {tuned}; omit `--judge {settings.judge}` or tune it again")


def _served(settings: CheckSettings, spec: JudgeSpec) -> NamedJudge:
    from factloop.tools.judges.served import MAX_TOKENS

    if settings.base_url is None:
        raise ConfigError(
            f"--judge {settings.judge} calls a server: set its address with --base-url, or pass a folder with weights"
        )
    if settings.cascade is not None:
        raise ConfigError("a cascade needs a judge that runs on this machine: pass a folder with weights to --judge")
    asked = settings.model_copy(update={"max_tokens": MAX_TOKENS})
    chat = build_model(asked, f"openai:{spec.target}", base_url=settings.base_url, temperature=0.0)
    identity = hashlib.sha256(json.dumps(dict(chat.identity), sort_keys=True, default=str).encode()).hexdigest()
    name = f"bespoke:{spec.target}"
    return NamedJudge(CascadeFingerprint(verifier=name, identity=identity, upper=THRESHOLD, lower=None), None, chat)


Fill = Callable[[Plan], SafePlan]


def filled_by_model(
    settings: CheckSettings, session: Session, gateway: ModelGateway, jury: Sequence[ModelGateway]
) -> Fill:
    """Returns a function that builds any plan, with the model as the judge or as a jury's first member."""

    def fill(plan: Plan) -> SafePlan:
        if plan == "safe" and settings.verifiable:
            return VerifiablePlan(VerifiableStages(gateway, session.prompts, logprobs=settings.logprobs))
        if plan == "safe":
            return PublishedPlan(PublishedStages(gateway, session.prompts, logprobs=settings.logprobs))
        if plan == "paper":
            raters = [ModelPaperStages(one, session.prompts, logprobs=settings.logprobs) for one in (gateway, *jury)]
            paper = PaperJury(**vars(raters[0]), others=raters[1:], rule=settings.jury_rule) if jury else raters[0]
            return PaperPlan(paper)
        judges = [ModelGroundedStages(one, session.prompts, logprobs=settings.logprobs) for one in (gateway, *jury)]
        stages = GroundedJury(**vars(judges[0]), others=judges[1:], rule=settings.jury_rule) if jury else judges[0]
        if plan == "fused":
            return FusedPlan(stages)
        return GroundedPlan(stages, settings.results_per_search, settings.passage_characters)

    return fill


def filled_offline(settings: CheckSettings, session: Session, named: NamedJudge | None) -> Fill:
    """Returns a function that builds any plan with the given judge or, if None, with the bundled baseline. Here, the
    `grounded` plan is `fused` without the relevance gate, because judging sentences together would save no calls."""
    from factloop.tools.judges.baseline import Baseline
    from factloop.tools.text.pipeline import load_pipeline

    nlp = load_pipeline(settings.spacy_model)
    by_rules = VerifierRater(Baseline(), nlp)
    rater = by_rules if named is None else named.opened(session, logprobs=settings.logprobs)

    def fill(plan: Plan) -> SafePlan:
        if plan == "paper":
            return PaperPlan(OfflinePaperStages(rater, nlp))
        return BunchedPlan(OfflineFusedStages(rater, nlp), gates=plan != "grounded")

    return fill
