"""Calculates the cost of a call. An unknown price is None, never zero."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

WRITING = 0.25
"""Surcharge for writing a prompt token to a cache, as a fraction of the token's price (Anthropic's rate)."""
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z|-\d{8}\Z|-latest\Z")


@dataclass(frozen=True)
class Price:
    """A price in USD per million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """The price of prompt tokens read from the server's cache, or None if they cost the same as others."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int, *, cached: int = 0, written: int = 0) -> float:
        """Returns the cost of a call. Of the prompt tokens, `cached` were read from the server's cache and `written`
        were added to it.
        """
        saved = 0.0 if self.cached is None else cached * (self.prompt - self.cached)
        prompt = (prompt_tokens + WRITING * written) * self.prompt - saved
        return (prompt + completion_tokens * self.completion) / 1e6


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("prices.json").read_text(encoding="utf-8"))
    return table


def model_price(model: str) -> Price | None:
    """Returns the list price of `provider:name`. A dated snapshot has the price of the undated name."""
    models = _table()["models"]
    found = models.get(model) or models.get(_DATED.sub("", model))
    return Price(*found) if found else None


def unknown_price(model: str) -> str:
    return f"the price of {model} is unknown, so a budget in USD cannot be enforced; set `price_in` and `price_out`"
