"""Log-probabilities of a reply's tokens, in the format of OpenAI's API. Pure functions on JSON values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

MOST_ALTERNATIVES = 20
CERTAIN = -0.0001
"""Of every token that leaves no choice."""

_PIECE = re.compile(r" ?\w+|[^\w\s]+|\s")


def wanted(body: Json) -> int | None:
    """How many alternatives a request asks for in each place; None where it asks for no log-probabilities."""
    return (body.get("top_logprobs") or 0) if body.get("logprobs") else None


def misuse(body: Json) -> str | None:
    """What is wrong with the number of alternatives asked for, as OpenAI words it; None where nothing is."""
    asked = body.get("top_logprobs")
    if asked is None:
        return None
    if not body.get("logprobs"):
        return "The 'logprobs' parameter must be set to true when 'top_logprobs' is used."
    if type(asked) is not int:
        return f"Invalid type for 'top_logprobs': expected an integer, but got {asked!r} instead."
    if asked > MOST_ALTERNATIVES:
        return f"Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got {asked} instead."
    if asked < 0:
        return f"Invalid 'top_logprobs': integer below minimum value. Expected a value >= 0, but got {asked} instead."
    return None


def token_logprobs(content: str, letters: Mapping[str, float], n_alternatives: int) -> list[Json]:
    """Each token of a reply; the first that is one of `letters` by itself lists these by probability, itself first."""
    tokens: list[Json] = []
    open_choice = dict(letters)
    for piece in _PIECE.findall(content):
        said = piece.strip()
        ranked = [(piece, CERTAIN)]
        if said in open_choice:
            # A space belongs to the word after it, as tokenisers have it.
            space = piece.removesuffix(said)
            by_rank = sorted(open_choice, key=lambda letter: (-open_choice[letter], letter != said, letter))
            ranked = [(space + letter, round(math.log(open_choice[letter]), 6)) for letter in by_rank]
            open_choice = {}
        own = dict(ranked)[piece]
        alternatives = [_token(text, logprob) for text, logprob in ranked[:n_alternatives]]
        tokens.append({**_token(piece, own), "top_logprobs": alternatives})
    return tokens


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": None}
