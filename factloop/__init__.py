"""factloop: which claims of a long answer hold, on what evidence, and how far to trust the number.

Names are loaded on first use, so that `import factloop` stays light: no LangGraph, no spaCy, no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factloop.checker import FactChecker
    from factloop.correcting import Corrector
    from factloop.correction_records import Correction
    from factloop.errors import ConfigError, DataError, FactloopError, ModelOutputError, ToolError
    from factloop.limits import Limits
    from factloop.records import Claim, Evidence, FactualityReport, GivenFacts, Judgement, UnscoredReason, Verdict
    from factloop.scorer import TrustScorer
    from factloop.settings import CheckSettings
    from factloop.trust_records import LongFormTrustReport, TrustReport, TrustRun
    from factloop.trust_settings import TrustSettings

__version__ = "0.1.0"

_HOME = {
    "FactChecker": "checker",
    "CheckSettings": "settings",
    "Limits": "limits",
    "Corrector": "correcting",
    "Correction": "correction_records",
    "TrustScorer": "scorer",
    "TrustSettings": "trust_settings",
    **dict.fromkeys(("FactloopError", "ConfigError", "DataError", "ToolError", "ModelOutputError"), "errors"),
    **dict.fromkeys(
        ("Claim", "Evidence", "FactualityReport", "GivenFacts", "Judgement", "UnscoredReason", "Verdict"), "records"
    ),
    **dict.fromkeys(("LongFormTrustReport", "TrustReport", "TrustRun"), "trust_records"),
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
