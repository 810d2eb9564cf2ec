"""The verifiers of a run, in two steps: what fails for want of a key or of weights comes before the run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factloop.evaluation.verification.settings import VerifySettings
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.embedding_model import build_embedder
from factloop.setup.session import Session, open_session
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.verifiers.bespoke import MAX_TOKENS
from factloop.tools.verifiers.build import BESPOKE, CALLING, CallingKind, VerifierSpec, build_verifier
from factloop.tools.verifiers.pairs import PairReader


class Bench:
    """Builds the verifiers and closes them. Lives in one event loop."""

    def __init__(self, settings: VerifySettings, *, allow_download: bool) -> None:
        """Raises ConfigError for a wrong folder of prompts."""
        self._settings, self._allow_download = settings, allow_download
        self._prompts = PromptRegistry.load(settings.prompts)
        self._embedder = build_embedder(settings)
        self._chats: dict[tuple[CallingKind, str], ChatModel] = {}
        self._readers: dict[VerifierSpec, PairReader] = {}
        self._session: Session | None = None

    def prepare(self, specs: Sequence[VerifierSpec]) -> list[PairReader]:
        """The verifiers with their weights loaded, to be named and told apart. Sends nothing. Raises ConfigError."""
        self._session = open_session(self._settings, self._prompts, keeps=False)  # in memory: nothing is asked yet
        self._readers = {spec: self._build(spec) for spec in specs}
        for reader in self._readers.values():
            _ = reader.identity  # reads the weights
        return [self._readers[spec] for spec in specs]

    async def open(self, specs: Sequence[VerifierSpec], journal: Path) -> list[PairReader]:
        """The verifiers prepared, ready to work; answers of models are kept in `journal`. Raises ConfigError."""
        await self._close_session()
        self._session = open_session(self._settings, self._prompts, keeps=False, journal=journal)
        return [self._build(spec) if spec.kind in CALLING else self._readers[spec] for spec in specs]

    async def aclose(self) -> None:
        await self._close_session()
        for chat in self._chats.values():
            await chat.aclose()

    async def _close_session(self) -> None:
        if self._session is not None:
            await self._session.aclose()

    def _build(self, spec: VerifierSpec) -> PairReader:
        return build_verifier(
            spec,
            open_gateway=self._gateway,
            prompts=self._prompts,
            logprobs=self._settings.logprobs,
            embedder=self._embedder,
            allow_download=self._allow_download,
        )

    def _gateway(self, kind: CallingKind, model: str) -> ModelGateway:
        assert self._session is not None
        if (kind, model) not in self._chats:
            self._chats[kind, model] = self._chat(kind, model)
        return self._session.model(self._chats[kind, model])

    def _chat(self, kind: CallingKind, model: str) -> ChatModel:
        settings, name = self._settings, model
        if kind == BESPOKE:
            settings, name = settings.model_copy(update={"max_tokens": MAX_TOKENS}), f"openai:{model}"
        return build_model(settings, name, base_url=settings.base_url, temperature=settings.temperature)
