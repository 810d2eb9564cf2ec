"""Log-probabilities of a reply's tokens, in the format of OpenAI's API."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

MOST_ALTERNATIVES = 20
CERTAIN = -0.0001  # of every token that leaves no choice

_OF_VERDICTS = 0.98  # probability of all verdicts together, where one is written

_VERDICT = re.compile(r'"(?:verdict|rating)":"(?P<value>\w+)"')
_PIECE = re.compile(r" ?\w+|[^\w\s]+|\s")


def wanted(body: Json) -> int | None:
    """How many alternatives a request wants for each token; None if it wants no log-probabilities."""
    return (body.get("top_logprobs") or 0) if body.get("logprobs") else None


def misuse(body: Json) -> str | None:
    """OpenAI's error message for an invalid number of alternatives, or None."""
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


def token_logprobs(
    content: str, letters: Mapping[str, float], n_alternatives: int, verdicts: Sequence[Mapping[str, float]] = ()
) -> list[Json]:
    """The tokens of a reply with log-probabilities.

    The first token that is one of `letters` lists these by probability, itself first. The token that begins a field
    with a verdict does the same with its entry in `verdicts`. Such values come in pieces, often after punctuation.
    """
    tokens: list[Json] = []
    reached = 0
    for place, shares in zip(_VERDICT.finditer(content), verdicts, strict=False):  # a spoiled reply has fewer
        if place["value"] in shares:
            glued = len(tokens) % 2  # the quote before it belongs to every other verdict's first token
            tokens += _plain(content[reached : place.start("value") - glued], letters, n_alternatives)
            tokens += _verdict_tokens(place["value"], '"' * glued, shares, n_alternatives)
            reached = place.end("value")
    return tokens + _plain(content[reached:], letters, n_alternatives)


def _verdict_tokens(said: str, before: str, shares: Mapping[str, float], n_alternatives: int) -> list[Json]:
    """A verdict in pieces; the first lists what else might have begun there: another verdict, or none."""
    first, *others = _pieces(said)
    ranked = sorted(shares, key=lambda verdict: (verdict != said, -shares[verdict]))
    likely = {before + _pieces(verdict)[0]: _OF_VERDICTS * shares[verdict] for verdict in ranked} | {" ": 0.01}
    logprobs = {text: round(math.log(share), 6) for text, share in likely.items() if share > 0.0}
    by_rank = sorted(logprobs, key=lambda text: -logprobs[text])
    alternatives = [_token(text, logprobs[text]) for text in by_rank[:n_alternatives]]
    own = {**_token(before + first, logprobs[before + first]), "top_logprobs": alternatives}
    rest = [{**_token(text, CERTAIN), "top_logprobs": [_token(text, CERTAIN)][:n_alternatives]} for text in others]
    return [own, *rest]


def _pieces(verdict: str) -> list[str]:
    """`supp`, `orte`, `d`; `not`, `_sup`, `port`, `ed`."""
    return re.findall(r"not|\w{1,4}", verdict)


def _plain(content: str, letters: Mapping[str, float], n_alternatives: int) -> list[Json]:
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
