"""Brings the responses of two runs together, and the claims of those that are the same text.

Reports are read one at a time. Of the first run what is kept is, for each response, a hash of its text and its claims
without their evidence; of the second, nothing but what it adds to them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from factloop.core.errors import ConfigError
from factloop.core.factuality import counted_claims
from factloop.evaluation.comparing.matching import JudgedClaim, match_claims
from factloop.evaluation.comparing.records import Pair
from factloop.evaluation.runs.records import JudgedResponse, ResponseLine

Key = tuple[str | None, str]
"""The prompt, and the system where several are paired by name."""
NAMED = 3
"""Prompts that an error names for each side."""


@dataclass(frozen=True)
class ClaimPair:
    """One claim of one response, judged by both sides."""

    system: str
    prompt_id: str
    response_id: str
    first: JudgedClaim
    second: JudgedClaim


@dataclass(frozen=True)
class _Response:
    line: ResponseLine
    digest: bytes
    claims: tuple[JudgedClaim, ...]


@dataclass
class Pairing:
    """The responses and claims that two sides share, and those that only one has."""

    pairs: list[Pair] = field(default_factory=list)
    claims: list[ClaimPair] = field(default_factory=list)
    """Claims of pairs with the same text."""
    n_claims_only_first: int = 0
    n_claims_only_second: int = 0
    only_first: list[ResponseLine] = field(default_factory=list)
    only_second: list[ResponseLine] = field(default_factory=list)


def pair_responses(
    first: Iterable[JudgedResponse], second: Iterable[JudgedResponse], *, by_system: bool, with_claims: bool
) -> Pairing:
    """Pairs by prompt or, with `by_system`, by system and prompt; reads each side once.

    Raises ConfigError where no prompt is shared, and where a side answers a prompt twice.
    """
    waiting: dict[Key, _Response] = {}
    for judged in first:
        key = _key(judged, by_system=by_system)
        if key in waiting:
            raise _second_answer(judged)
        waiting[key] = _kept(judged, with_claims=with_claims)
    found, seen = Pairing(), set[Key]()
    for judged in second:
        key = _key(judged, by_system=by_system)
        if key in seen:
            raise _second_answer(judged)
        seen.add(key)
        other = _kept(judged, with_claims=with_claims)
        one = waiting.pop(key, None)
        if one is None:
            found.only_second.append(other.line)
        else:
            _add(found, one, other)
    found.only_first = [one.line for one in waiting.values()]
    if not found.pairs:
        raise ConfigError(
            "the runs share no prompt, so nothing can be compared: "
            f"A answers {_some(found.only_first)}; B answers {_some(found.only_second)}"
        )
    found.pairs.sort(key=lambda pair: _order(pair.first))
    found.claims.sort(key=lambda pair: (pair.prompt_id, pair.system))  # stable: claims stay as in their response
    found.only_first.sort(key=_order)
    found.only_second.sort(key=_order)
    return found


def _add(found: Pairing, one: _Response, other: _Response) -> None:
    same_text = one.digest == other.digest
    found.pairs.append(Pair(first=one.line, second=other.line, same_text=same_text))
    if not same_text:
        return
    matched = match_claims(one.claims, other.claims)
    found.n_claims_only_first += len(one.claims) - len(matched)
    found.n_claims_only_second += len(other.claims) - len(matched)
    line = one.line
    found.claims += [ClaimPair(line.system, line.prompt_id, line.id, *_trimmed(*both)) for both in matched]


def _trimmed(one: JudgedClaim, other: JudgedClaim) -> tuple[JudgedClaim, JudgedClaim]:
    """The claims without texts where the verdicts agree: only what is disputed is shown."""
    if one.verdict is not other.verdict:
        return one, other
    return replace(one, text="", shown="", rationale=""), replace(other, text="", shown="", rationale="")


def _kept(judged: JudgedResponse, *, with_claims: bool) -> _Response:
    report = judged.report
    line = ResponseLine(id=judged.id, system=judged.system, prompt_id=judged.prompt_id, counts=report.counts)
    claims = tuple(
        JudgedClaim.of(claim, claim.text, judged.labels.get(claim.id))
        for claim in (counted_claims(report) if with_claims else ())
    )
    return _Response(line, hashlib.sha256(report.response.encode()).digest(), claims)


def _key(judged: JudgedResponse, *, by_system: bool) -> Key:
    return (judged.system if by_system else None, judged.prompt_id)


def _order(line: ResponseLine) -> tuple[str, str]:
    return line.prompt_id, line.system


def _second_answer(judged: JudgedResponse) -> ConfigError:
    return ConfigError(
        f"{judged.system!r} answers the prompt {judged.prompt_id!r} twice: nothing says which to compare"
    )


def _some(lines: Sequence[ResponseLine]) -> str:
    prompts = sorted({line.prompt_id for line in lines})
    named = ", ".join(repr(prompt[:60]) for prompt in prompts[:NAMED])
    rest = len(prompts) - NAMED
    return (f"{named} and {rest:,} more" if rest > 0 else named) or "none"
