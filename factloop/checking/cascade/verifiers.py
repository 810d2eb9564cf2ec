"""The verifiers that a cascade may begin with: those that cost no call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from factloop.core.errors import ConfigError
from factloop.prompts.registry import PromptRegistry
from factloop.setup.embedding_model import build_embedder
from factloop.setup.settings import RunSettings
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.build import CALLING, LEXICAL, CallingKind, build_verifier, parse_spec
from factloop.tools.verifiers.pairs import PairReader

Explain = Callable[[str, Sequence[str]], SupportReading]


@dataclass(frozen=True)
class CheapVerifier:
    """A verifier on this machine, its weights loaded."""

    reader: PairReader
    explain: Explain | None
    """Its label, citations and reasons, where it gives any."""

    @property
    def digest(self) -> str:
        """SHA-256 of all that shapes its scores."""
        return hashlib.sha256(json.dumps(self.reader.identity, sort_keys=True, default=str).encode()).hexdigest()


def cheap_verifier(name: str, embeddings: str | None, *, allow_download: bool = False) -> CheapVerifier:
    """The verifier of that name, kept for all checks of this process. Reads its weights.

    Raises ConfigError for one that calls a server, for an unknown name, and where weights cannot be loaded.
    """
    spec = parse_spec(name)
    if spec.kind in CALLING:
        raise ConfigError(f"{name} calls a server for every claim; a cascade begins with a verifier on this machine")
    if spec.kind != LEXICAL and embeddings is not None:
        embeddings = None  # they add meaning to the lexical baseline alone
    return _kept(name.strip(), embeddings, allow_download)


@lru_cache(maxsize=4)
def _kept(name: str, embeddings: str | None, allow_download: bool) -> CheapVerifier:
    spec = parse_spec(name)
    embedder = build_embedder(RunSettings(embeddings=embeddings))
    reader = build_verifier(
        spec,
        open_gateway=_no_gateway,
        prompts=PromptRegistry.load(None),
        embedder=embedder,
        allow_download=allow_download,
    )
    _ = reader.identity  # reads the weights
    if spec.kind != LEXICAL:
        return CheapVerifier(reader, None)
    from factloop.tools.verifiers.lexical import LexicalVerifier

    return CheapVerifier(reader, LexicalVerifier(embedder).verify)


def _no_gateway(kind: CallingKind, model: str) -> ModelGateway:
    raise AssertionError(f"{kind}:{model} was refused before")
