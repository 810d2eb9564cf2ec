"""The check of one sentence of an answer whose end is not written yet."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factloop.agents.safe.judgements import unscored
from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError, FactloopError, ToolTimeout
from factloop.core.records import Claim, NoClaim, Sentence, Usage
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.text import sentences

OPENING = 1_500
RECENT = 3_000
"""Characters of the answer that a sentence may refer to: its opening, which names the topic, and what came last."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_AT_END, _CUT_AT_START = re.compile(r"\S+\Z"), re.compile(r"\A\S+")
"""Words through which the text around a sentence may be cut."""


@dataclass(frozen=True)
class SentenceCheck:
    """The check of one sentence, as it stands in the whole answer, and what it cost."""

    claims: tuple[Claim, ...] = ()
    sentence: Sentence | None = None
    """None if the stretch has no sentence."""
    usage: Usage | None = None
    """None where the check itself failed."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SentenceContext:
    """The text around a sentence, from which the checker's view is cut."""

    text: str
    """The answer as far as it was written when the end of the sentence was certain."""
    sentence: sentences.Sentence
    number: int
    """Number of the sentence in the answer, from 1."""


async def check_sentence(
    checker: FactChecker,
    context: SentenceContext,
    prompt: str | None,
    sources: Sources | None,
    patience_s: float | None,
    limits: Limits | None,
) -> SentenceCheck:
    """The claims of the sentence with their judgements; if the check fails, one unscored claim for the sentence.

    Raises ConfigError alone: nothing could be judged with a wrong set-up.
    """
    shown, start = _shown(context)
    span = (start, start + len(context.sentence.text))
    try:
        async with asyncio.timeout(patience_s) as limit:
            report = await checker.acheck(shown, prompt, spans=[span], sources=sources, limits=limits)
    except ConfigError:
        raise
    except TimeoutError:
        if patience_s is None or not limit.expired():
            raise
        return _unread(context, ToolTimeout(tool="the check of a sentence", timeout_s=patience_s))
    except FactloopError as error:
        return _unread(context, error)
    ids = {claim.id: f"c{context.number}.{place}" for place, claim in enumerate(report.claims, 1)}
    claims = tuple(_placed(claim, context, ids) for claim in report.claims)
    no_claim = None if claims else report.sentences[0].no_claim
    return SentenceCheck(claims, _read(context, claims, no_claim), report.usage, report.warnings)


def _shown(context: SentenceContext) -> tuple[str, int]:
    """The text around the sentence, within bounds, and where it begins there."""
    start = context.sentence.start
    before = context.text[:start]
    if len(before) > OPENING + RECENT:
        opening, recent = _CUT_AT_END.sub("", before[:OPENING]), _CUT_AT_START.sub("", before[-RECENT:])
        before = f"{opening.rstrip()}\n\n{recent.lstrip()}"
    shown = before + context.text[start:]
    return _SURROGATE.sub("\ufffd", shown), len(before)


def _placed(claim: Claim, context: SentenceContext, ids: Mapping[str, str]) -> Claim:
    """The claim with its span in the answer, and with its id there, after the number of its sentence."""
    own = {item.id: ids[claim.id] + item.id.removeprefix(claim.id) for item in claim.evidence}
    evidence = tuple(item.model_copy(update={"id": own[item.id]}) for item in claim.evidence)
    changes: dict[str, Any] = {
        "id": ids[claim.id],
        "span": (context.sentence.start, context.sentence.end),
        "evidence": evidence,
        "judgement": claim.judgement.model_copy(update={"cited": tuple(own[cited] for cited in claim.judgement.cited)}),
    }
    if claim.duplicate_of is not None:
        changes["duplicate_of"] = ids[claim.duplicate_of]
    return claim.model_copy(update=changes)


def _unread(context: SentenceContext, error: FactloopError) -> SentenceCheck:
    text = context.sentence.text
    claim = Claim(
        id=f"c{context.number}.1",
        sentence=text,
        span=(context.sentence.start, context.sentence.end),
        text=text,
        self_contained=text,
        judgement=unscored(error),
    )
    return SentenceCheck((claim,), _read(context, (claim,), None))


def _read(context: SentenceContext, claims: tuple[Claim, ...], no_claim: NoClaim | None) -> Sentence:
    span = (context.sentence.start, context.sentence.end)
    return Sentence(span=span, claims=tuple(claim.id for claim in claims), no_claim=no_claim)
