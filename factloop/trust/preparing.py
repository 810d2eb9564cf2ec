"""Prepares the subject, judge, corpus and distractors of a TrustScore before any calls are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel

import factloop
from factloop.agents.trustscore.distractors.proposed import SUBSTITUTES
from factloop.agents.trustscore.judges import JUDGE_PROMPTS
from factloop.agents.trustscore.records import TrustFingerprint
from factloop.agents.trustscore.subject import SUBJECT_PROMPTS
from factloop.core.errors import ConfigError
from factloop.core.extras import installed_version
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model, stated_price
from factloop.setup.search_tools import build_embedder
from factloop.setup.session import GATEWAY_PROMPTS
from factloop.setup.sources import Sources
from factloop.tools.calls.tape import Tape
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.served import ATTRIBUTION
from factloop.tools.models.chat import ChatModel
from factloop.tools.search.base import SearchTool
from factloop.trust.agreement import TEMPERATURE
from factloop.trust.distractor_sources import NO_JUDGE, DistractorSources, open_sources
from factloop.trust.settings import SubjectModel, TrustSettings

LIBRARIES = (
    "Faker", "langchain-core", "langchain-openai", "langgraph", "openai", "spacy", "tantivy",
)  # fmt: skip


@dataclass(frozen=True)
class TrustSetup:
    """What a run will use, before any calls are made."""

    settings: TrustSettings
    prompts: PromptRegistry
    corpus: SearchTool | None
    subject: ChatModel | None
    judge: ChatModel | Verifier
    """Judges passages. A chat model may also propose distractors."""
    sources: DistractorSources
    fingerprint: TrustFingerprint
    tape: Tape | None = None
    subjects: Mapping[str, ChatModel] = field(default_factory=dict)
    """Maps each system's name to its subject, if systems have different subjects. `subject` is then None."""
    sampler: ChatModel | None = None
    """The subject at the temperature used for samples."""

    @property
    def chats(self) -> tuple[ChatModel, ...]:
        named = (self.subject, *self.subjects.values(), self.judge, self.sampler)
        return tuple(chat for chat in named if isinstance(chat, ChatModel))

    @property
    def tools(self) -> tuple[SearchTool, ...]:
        return () if self.corpus is None else (self.corpus,)

    def over(self, given: Sources) -> TrustSetup:
        """Returns the setup for an answer with its own sources, which replace the corpus. Raises ConfigError if there
        is more than one tool, or if the corpus should be searched as well."""
        if len(given.tools) > 1 or given.mode != "faithfulness":
            raise ConfigError("TrustFC searches only one corpus; pass `sources` with one tool and `faithfulness` mode")
        corpus = next(iter(given.tools), None)
        asks = self.subject is not None or bool(self.subjects)
        fingerprint = _fingerprint(
            self.settings, self.prompts, corpus, self.subject, self.judge, self.sources, asks=asks
        )
        return replace(self, corpus=corpus, fingerprint=fingerprint)

    def fingerprint_of(self, subject: ChatModel | None) -> TrustFingerprint:
        return self.fingerprint.model_copy(update=_subject_fields(subject))

    async def aclose(self) -> None:
        """Closes a setup for which no session has been opened."""
        await self.sources.aclose()
        for chat in self.chats:
            await chat.aclose()


def prepare_trust(
    settings: TrustSettings,
    corpus: SearchTool | None,
    *,
    subject: BaseChatModel | None = None,
    judge: BaseChatModel | None = None,
    tape: Tape | None = None,
    subjects: Mapping[str, SubjectModel] | None = None,
) -> TrustSetup:
    """Returns the setup for these settings. Uses no network. `subject` and `judge` replace those in the settings, and
    `subjects` are the subjects of several systems. Raises ConfigError."""
    prompts = PromptRegistry.load(settings.prompts)
    if subjects and (subject is not None or settings.subject_model is not None):
        raise ConfigError("set either one subject model for all answers, or one for each system, not both")
    subject_chat = _subject(settings, subject, settings.temperature)
    own = {name: _own_subject(settings, one) for name, one in (subjects or {}).items()}
    embedder = build_embedder(settings)
    if settings.distractors == "model" and judge is None and settings.judge_model is None:
        raise ConfigError(NO_JUDGE)
    found_judge = _judge(settings, judge)
    sources = open_sources(settings, embedder, tape)
    asks = subject_chat is not None or bool(own)
    fingerprint = _fingerprint(settings, prompts, corpus, subject_chat, found_judge, sources, asks=asks)
    sampler = _subject(settings, subject, TEMPERATURE) if settings.samples else None
    return TrustSetup(settings, prompts, corpus, subject_chat, found_judge, sources, fingerprint, tape, own, sampler)


def _subject(settings: TrustSettings, model: BaseChatModel | None, temperature: float | None) -> ChatModel | None:
    wanted = model if model is not None else settings.subject_model
    stated_price(settings)  # an incomplete price is an error even if no model uses it
    if wanted is None:
        return None
    return build_model(settings, wanted, base_url=settings.base_url, temperature=temperature)


def _own_subject(settings: TrustSettings, one: SubjectModel) -> ChatModel:
    base_url = one.base_url or settings.base_url
    return build_model(settings, one.model, base_url=base_url, temperature=settings.temperature)


def _judge(settings: TrustSettings, model: BaseChatModel | None) -> ChatModel | Verifier:
    wanted = model if model is not None else settings.judge_model
    if wanted is not None and settings.nli is not None:
        raise ConfigError("use either --judge-model or --nli, not both")
    if wanted is not None:
        base_url = settings.judge_base_url or settings.base_url
        return build_model(settings, wanted, base_url=base_url, temperature=settings.temperature)
    if settings.nli is not None:
        from factloop.tools.judges.classifiers import Nli

        encoder = Nli(settings.nli)
        encoder.load()  # before any money is spent
        return encoder
    from factloop.tools.judges.baseline import Baseline

    return Baseline()


def _fingerprint(
    settings: TrustSettings,
    prompts: PromptRegistry,
    corpus: SearchTool | None,
    subject: ChatModel | None,
    named_judge: ChatModel | Verifier,
    sources: DistractorSources,
    *,
    asks: bool,
) -> TrustFingerprint:
    """`asks` says whether there is a subject to ask: this one, or those of several systems."""
    judge = named_judge if corpus is not None or settings.samples or settings.distractors == "model" else None
    proposes = asks and settings.distractors == "model"
    used: list[str] = list(SUBJECT_PROMPTS if asks else ())
    if isinstance(judge, ChatModel):
        used += JUDGE_PROMPTS if corpus is not None else ()
        used += [ATTRIBUTION] if settings.samples else []
        used += [SUBSTITUTES] if proposes else []
    if used:
        used += GATEWAY_PROMPTS
    return TrustFingerprint(
        factloop_version=factloop.__version__,
        **_subject_fields(subject),
        judge=judge.name if judge is not None else None,
        judge_base_url=_base_url(judge),
        judge_sampling=_sampling(judge),
        corpus=corpus.identity if corpus is not None else None,
        max_checks=settings.max_checks,
        passages=settings.passages,
        substitutes=(*((f"model {named_judge.name}",) if proposes else ()), *(one.name for one in sources.sources)),
        target_order=settings.target_order,
        samples=settings.samples,
        prompts=prompts.hashes(used),
        versions={name: installed_version(name) for name in LIBRARIES},
        seed=settings.seed,
    )


def _subject_fields(subject: ChatModel | None) -> dict[str, Any]:
    return {
        "subject_model": subject.name if subject is not None else None,
        "subject_base_url": _base_url(subject),
        "subject_sampling": _sampling(subject),
    }


def _base_url(judge: ChatModel | Verifier | None) -> str | None:
    return judge.identity.get("base_url") if isinstance(judge, ChatModel) else None


def _sampling(judge: ChatModel | Verifier | None) -> dict[str, object]:
    if not isinstance(judge, ChatModel):
        return {}
    return {key: value for key, value in judge.identity.items() if key not in {"model", "base_url"}}
