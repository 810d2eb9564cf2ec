"""Builds judges from the names that users pass to `--judge` and `--verifier`.

A name either belongs to a known judge, such as `minicheck`, or has the form `KIND:FOLDER`, `KIND:HUB/NAME` or
`KIND:MODEL`. Other distributions can add kinds through entry points in the group `factloop.verifiers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol, cast

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.plugins import VERIFIERS, load_plugin, plugin_names
from factloop.prompts.registry import PromptRegistry
from factloop.tools.judges.hub import JUDGES, Source
from factloop.tools.judges.pairs import Judge
from factloop.tools.models.gateway import ModelGateway

BASELINE, PROMPTED, BESPOKE = "baseline", "llm", "bespoke"

CallingKind = Literal["llm", "bespoke"]
OpenGateway = Callable[[CallingKind, str], ModelGateway]


class JudgeBuilder(Protocol):
    def __call__(self, target: str, *, allow_download: bool) -> Judge:
        """Builds the `KIND:TARGET` judge. The target may be empty. Raises ConfigError if the target cannot be used."""
        ...


@dataclass(frozen=True)
class JudgeSpec:
    kind: str
    target: str
    """A folder, hub name or model, or empty for the default weights in the registry."""

    @property
    def calls(self) -> CallingKind | None:
        """The kind of server to call for each claim, or None for judges that run on this machine."""
        if self.kind == PROMPTED:
            return "llm"
        return "bespoke" if self.kind == BESPOKE and not Source(self.kind, self.target).is_path else None


def parse_spec(text: str) -> JudgeSpec:
    """Parses a judge's name. Raises a ConfigError that lists the valid forms if the name is invalid."""
    kind, colon, target = (part.strip() for part in text.strip().partition(":"))
    if kind in JUDGES:
        is_whole = bool(target) or (not colon and JUDGES[kind].files is not None)
    elif kind in (BASELINE, PROMPTED):
        is_whole = bool(target) is (kind == PROMPTED)
    else:
        is_whole = kind in plugin_names(VERIFIERS)
    if is_whole:
        return JudgeSpec(kind, target)
    own = [kind if known.files is not None else f"{kind}:MODEL" for kind, known in JUDGES.items()]
    forms = ", ".join([BASELINE, *own, "llm:PROVIDER:NAME", *plugin_names(VERIFIERS)])
    raise ConfigError(f"unknown judge {text!r}; use {forms}, or KIND:FOLDER for your own weights")


def build_judge(
    spec: JudgeSpec,
    *,
    open_gateway: OpenGateway | None = None,
    prompts: PromptRegistry | None = None,
    logprobs: bool = True,
    allow_download: bool = False,
) -> Judge:
    """Builds the judge without loading weights or using the network. Raises ConfigError.

    `open_gateway` is called for models on a server. It may be None if the judge runs on this machine.
    """
    if spec.kind == BASELINE:
        require("offline", "the verifier baseline")
        from factloop.tools.judges.baseline import Baseline
        from factloop.tools.judges.found_pieces import BaselineReader

        return BaselineReader(Baseline())
    if spec.calls is not None:
        if open_gateway is None:
            raise ConfigError(
                f"cannot use {spec.kind}:{spec.target} here, because it calls a server for every claim; choose a judge "
                "that runs on this machine"
            )
        from factloop.tools.judges.served import PromptedJudge, ServedBespoke

        gateway = open_gateway(spec.calls, spec.target)
        if spec.kind == BESPOKE:
            return ServedBespoke(gateway, logprobs=logprobs)
        return PromptedJudge(gateway, prompts or PromptRegistry.load(None), logprobs=logprobs)
    return _builder(spec.kind)(spec.target, allow_download=allow_download)


def _builder(kind: str) -> JudgeBuilder:
    if kind not in JUDGES:
        return cast("JudgeBuilder", load_plugin(VERIFIERS, kind))
    module, _, judge = JUDGES[kind].made_by.partition(":")
    return cast("JudgeBuilder", getattr(import_module(f"factloop.tools.judges.{module}"), judge))
