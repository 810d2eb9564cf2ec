"""factloop checks a language model's output against your documents, claim by claim. Public names are imported on first
use, so `import factloop` does not load LangGraph, spaCy or torch."""

from __future__ import annotations

from importlib import import_module
from os.path import dirname, isdir, join
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
    from factloop.checking.checker import FactChecker
    from factloop.core.errors import ConfigError, DataError, FactloopError, ModelOutputError, ToolError
    from factloop.core.records import Claim, Evidence, FactualityReport, GivenFacts, Judgement, UnscoredReason, Verdict
    from factloop.correction.corrector import Corrector
    from factloop.correction.records import Correction
    from factloop.setup.limits import Limits
    from factloop.setup.settings import CheckSettings
    from factloop.trust.scorer import TrustScorer
    from factloop.trust.settings import TrustSettings

__version__ = "0.1.0"

if not isdir(join(dirname(__file__), "tools")):
    # In a checkout, agents, tools, prompts and evaluation are next to this folder. Once installed, they are inside it.
    __path__.append(dirname(dirname(__file__)))

_HOME = {
    "FactChecker": "checking.checker",
    "CheckSettings": "setup.settings",
    "Limits": "setup.limits",
    "Corrector": "correction.corrector",
    "Correction": "correction.records",
    "TrustScorer": "trust.scorer",
    "TrustSettings": "trust.settings",
    **dict.fromkeys(("FactloopError", "ConfigError", "DataError", "ToolError", "ModelOutputError"), "core.errors"),
    **dict.fromkeys(
        ("Claim", "Evidence", "FactualityReport", "GivenFacts", "Judgement", "UnscoredReason", "Verdict"),
        "core.records",
    ),
    **dict.fromkeys(("LongFormTrustReport", "TrustReport", "TrustRun"), "agents.trustscore.records"),
}

__all__ = [
    "CheckSettings",
    "Claim",
    "ConfigError",
    "Correction",
    "Corrector",
    "DataError",
    "Evidence",
    "FactChecker",
    "FactloopError",
    "FactualityReport",
    "GivenFacts",
    "Judgement",
    "Limits",
    "LongFormTrustReport",
    "ModelOutputError",
    "ToolError",
    "TrustReport",
    "TrustRun",
    "TrustScorer",
    "TrustSettings",
    "UnscoredReason",
    "Verdict",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'factloop' has no attribute {name!r}")
    return getattr(import_module(f"factloop.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
