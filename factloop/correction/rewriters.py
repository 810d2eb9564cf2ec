"""Rewords a faulty sentence: by a chat model from the evidence. See `offline` for rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from factloop.agents.safe import faithful
from factloop.agents.safe.answer import Answer
from factloop.agents.safe.model_stages import passages
from factloop.core.errors import ModelOutputError
from factloop.correction.drafts import Wording
from factloop.correction.faults import Contradiction, Fault
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.schema import StructuredOutput

PROMPT = "correction/rewrite"
STAGE = "rewrite"
CONTEXT_CHARACTERS = 600
"""Characters shown of the text before a sentence."""
MOST_GROWTH, ROOM = 2, 200
"""A new wording has at most `MOST_GROWTH` times the characters of the old one, and `ROOM` more."""

_FORBIDDEN = re.compile(
    r"https?:[^\s)\]>]*|www\.[^\s)\]>]*|\]\([^\s)]*|!\[|<[a-zA-Z/!]|```|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Links, images, tags, fences and control characters, which evidence must not bring into the text."""


class RewrittenSentence(StructuredOutput):
    """A sentence without what is not supported."""

    sentence: str
    """Empty where nothing of it remains."""


def brings_in(new: str, old: str) -> str | None:
    """The first link, tag or control character of a new wording that the old one does not have; None without any."""
    return next((mark[0] for mark in _FORBIDDEN.finditer(new) if mark[0] not in old), None)


class Rewriter(Protocol):
    """Rewords a faulty sentence."""

    @property
    def name(self) -> str:
        """The name of the rewriter in corrections."""
        ...

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 of each prompt that it uses."""
        ...

    async def reword(self, fault: Fault) -> Wording:
        """The new wording on one line; empty where nothing of the sentence remains. Raises FactloopError."""
        ...


@dataclass(frozen=True)
class ModelRewriter:
    """Rewords by one call a sentence, through the gateway of the check: same cache, budget and pace."""

    gateway: ModelGateway
    prompts: PromptRegistry
    meter: UsageMeter

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    @property
    def hashes(self) -> Mapping[str, str]:
        return self.prompts.hashes([PROMPT])

    async def reword(self, fault: Fault) -> Wording:
        prompt = rewrite_prompt(self.prompts, fault)
        answer = await self.gateway.ask_for(
            prompt, RewrittenSentence, stage=STAGE, meter=self.meter, accept=partial(_is_usable, fault)
        )
        text = _on_one_line(answer)
        if text and text[-1].isalnum() and not fault.text[-1].isalnum():
            text += fault.text[-1]  # else it would run into the next sentence
        return Wording(text, tuple(item.id for item in fault.evidence), self.name) if text else Wording("")


def rewrite_prompt(prompts: PromptRegistry, fault: Fault) -> RenderedPrompt:
    """The prompt on one faulty sentence: each claim under the tag that says how to treat it."""
    shown = fault.before
    return prompts[PROMPT].render(
        question=fault.prompt or None,
        context=Answer(None, shown).before(len(shown), most=CONTEXT_CHARACTERS) or None,
        sentence=fault.text,
        contradicted=[_said_otherwise(one) for one in fault.contradicted],
        remove=[claim.self_contained for claim in fault.removed],
        unproven=[claim.self_contained for claim in fault.unproven],
        kept=[claim.self_contained for claim in fault.kept],
        evidence=passages(fault.evidence),
    )


def _said_otherwise(one: Contradiction) -> str:
    """A claim, then which words of it are wrong and by which passages, a line each, as far as the judge said so."""
    wrong = " ".join(one.claim.judgement.wrong.split())
    lines = [
        " ".join(one.claim.self_contained.split()),
        f"Wrong words: {wrong}" if wrong else "",
        f"Says otherwise: evidence {', '.join(map(str, one.by))}" if one.by else "",
    ]
    return "\n".join(line for line in lines if line)


def _on_one_line(answer: RewrittenSentence) -> str:
    return " ".join(answer.sentence.split())


def _is_usable(fault: Fault, answer: RewrittenSentence) -> None:
    """Refuses a reply that is no correction of this sentence. Raises ModelOutputError."""
    complaint = _complaint(fault, _on_one_line(answer))
    if complaint:
        raise ModelOutputError(complaint, schema=RewrittenSentence.__name__, reply=answer.model_dump_json())


def _complaint(fault: Fault, new: str) -> str | None:
    if len(new) > MOST_GROWTH * len(fault.text) + ROOM:
        return f"{len(new)} characters instead of {len(fault.text)}: only correct the sentence"
    if new and not any(character.isalnum() for character in new):
        return "no words are in it: leave it empty if nothing remains"
    if not new and fault.staying:
        return "claims are to be kept: the sentence cannot be empty"
    if new == " ".join(fault.text.split()):
        return "the sentence is as it was, and not supported"
    if new and new.count("|") != fault.text.count("|"):
        return "the columns of a table's row stay as they are"
    brought = brings_in(new, fault.text)
    if brought is not None:
        return f"it brings {brought!r}, which the sentence does not have: no links, tags or control characters"
    shown = [fault.prompt or "", fault.response[: fault.end], *(item.passage + item.title for item in fault.evidence)]
    shown += [claim.self_contained for claim in (*fault.wrong, *fault.staying)]
    invented = next(faithful.Wording("\n".join(shown)).lacking(new, exactly=True), None)
    if invented is not None:
        return f"it says {invented}, which neither the evidence nor the answer has"
    return None
