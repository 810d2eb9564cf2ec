"""Verifiers by name, as `--verifier` takes them: `lexical`, `KIND:WEIGHTS` or `KIND:MODEL`.

Other distributions add kinds by entry points of `factloop.verifiers`, each a `ReaderBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.plugins import VERIFIERS, load_plugin, plugin_names
from factloop.prompts.registry import PromptRegistry
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.verifiers.pairs import PairReader

if TYPE_CHECKING:  # the folder needs numpy, which is not needed without embeddings
    from factloop.tools.embeddings.base import Embedder

LEXICAL, PROMPTED, BESPOKE = "lexical", "llm", "bespoke"
LOCAL = {
    "nli": "classifiers:NliReader",
    "minicheck-flan-t5": "minicheck:MiniCheckFlanT5",
    "minicheck-roberta": "minicheck:MiniCheckRoberta",
    "alignscore": "alignscore:AlignScore",
    "factkb": "factkb:FactKb",
}
"""Kinds with weights, or other files, on this machine: name, and the module of `factloop.tools.verifiers` with the
`ReaderBuilder`."""
CALLING = (PROMPTED, BESPOKE)
"""Kinds behind a server."""

CallingKind = Literal["llm", "bespoke"]
OpenGateway = Callable[[CallingKind, str], ModelGateway]
"""Makes the gateway to the model that a verifier names: `provider:name` for `llm`, a bare name for `bespoke`."""


class ReaderBuilder(Protocol):
    """The builder that an entry point of `factloop.verifiers` names."""

    def __call__(self, target: str, *, allow_download: bool) -> PairReader:
        """The verifier `KIND:TARGET`; the target may be empty. Raises ConfigError for one that it has no use for."""
        ...


@dataclass(frozen=True)
class VerifierSpec:
    """The verifier that `--verifier` names."""

    kind: str
    target: str
    """Folder, hub name or model; empty for `lexical`, and at will for a kind of another distribution."""


def parse_spec(text: str) -> VerifierSpec:
    """Reads a name of a verifier. Raises ConfigError with the forms that there are."""
    kind, _, target = text.strip().partition(":")
    if kind == LEXICAL and not target:
        return VerifierSpec(kind, "")
    if kind in (*LOCAL, *CALLING):
        if target.strip():
            return VerifierSpec(kind, target.strip())
    elif kind != LEXICAL and kind in plugin_names(VERIFIERS):
        return VerifierSpec(kind, target.strip())
    ours = [LEXICAL, *(f"{kind}:PATH" for kind in LOCAL), "llm:PROVIDER:NAME", "bespoke:NAME"]
    forms = ", ".join([*ours, *plugin_names(VERIFIERS)])
    raise ConfigError(f"there is no verifier {text!r}; there are {forms}")


def build_verifier(
    spec: VerifierSpec,
    *,
    open_gateway: OpenGateway,
    prompts: PromptRegistry,
    logprobs: bool = True,
    embedder: Embedder | None = None,
    allow_download: bool = False,
) -> PairReader:
    """The verifier of that name. Reads no weights and touches no network yet. Raises ConfigError.

    `open_gateway` is called for models behind a server only; `embedder` adds meaning to the lexical baseline.
    """
    if spec.kind == LEXICAL:
        require("offline", "the verifier lexical")
        from factloop.tools.verifiers.lexical import LexicalVerifier
        from factloop.tools.verifiers.lexical_reader import LexicalReader

        return LexicalReader(LexicalVerifier(embedder))
    if spec.kind == PROMPTED:
        from factloop.tools.verifiers.prompted import PromptedReader

        return PromptedReader(open_gateway("llm", spec.target), prompts, logprobs=logprobs)
    if spec.kind == BESPOKE:
        from factloop.tools.verifiers.bespoke import BespokeReader

        return BespokeReader(open_gateway("bespoke", spec.target), logprobs=logprobs)
    return _reader_builder(spec.kind)(spec.target, allow_download=allow_download)


def _reader_builder(kind: str) -> ReaderBuilder:
    """The builder of readers of that kind; only its module is imported."""
    if kind not in LOCAL:
        return cast("ReaderBuilder", load_plugin(VERIFIERS, kind))
    module, _, reader = LOCAL[kind].partition(":")
    return cast("ReaderBuilder", getattr(import_module(f"factloop.tools.verifiers.{module}"), reader))
