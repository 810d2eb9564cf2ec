"""The Ks that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.errors import ConfigError
from factloop.evaluation.runs.summary import WantedK

DEFAULT_KS = (64,)
"""Those of a run over a data set: the median number of facts of the paper's responses."""


def wanted_ks(given: Sequence[str] | None, otherwise: Sequence[int]) -> tuple[WantedK, ...]:
    """The Ks of the run. Raises ConfigError for anything but a whole number from 1, median or maximum."""
    return tuple(_wanted_k(k) for k in given) if given else tuple(otherwise)


def _wanted_k(k: str) -> WantedK:
    if k == "median":
        return "median"
    if k == "maximum":
        return "maximum"
    if not k.isascii() or not k.isdecimal() or len(k) > 9 or int(k) < 1:
        raise ConfigError(f"--k {k[:40]}: a whole number from 1, median or maximum is needed")
    return int(k)
