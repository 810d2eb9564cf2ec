"""Rewords faulty sentences, either with a chat model that reads the evidence, or by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from factloop.agents.safe import faithful
from factloop.agents.safe.answer import Answer
from factloop.agents.safe.model_stages import passages
from factloop.core.errors import ModelOutputError, ToolError
from factloop.core.records import Claim
from factloop.correction.drafts import NOT_CONFIRMED, Wording
from factloop.correction.faults import Contradiction, Fault
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.schema import StructuredOutput
from factloop.tools.names.inflection import indefinite_article
from factloop.tools.text.markup import plain_text

PROMPT = "correction/rewrite"
STAGE = "rewrite"
CONTEXT_CHARACTERS = 600  # maximum length of the text before the sentence that the model reads
MOST_GROWTH, ROOM = 2, 200
"""Maximum length of a new wording: `MOST_GROWTH` times the length of the sentence, plus `ROOM` characters."""

_FORBIDDEN = re.compile(
    r"https?:[^\s)\]>]*|www\.[^\s)\]>]*|\]\([^\s)]*|!\[|<[a-zA-Z/!]|```|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Links, images, tags, fences and control characters, which must not be copied from the evidence."""


class RewrittenSentence(StructuredOutput):
    """A sentence without its unsupported content."""

    sentence: str
    """The new wording, or empty if nothing remains."""


class Rewriter(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def hashes(self) -> Mapping[str, str]:
        """The SHA-256 hash of each prompt that the rewriter uses."""
        ...

    async def reword(self, fault: Fault) -> Wording:
        """Returns the new wording on one line, or an empty one if no claims remain. Raises FactloopError."""
        ...


@dataclass(frozen=True)
class ModelRewriter:
    """Rewords each sentence with one model call, which shares the check's cache, budget and rate limits."""

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
            text += fault.text[-1]  # keep the full stop
        return Wording(text, tuple(item.id for item in fault.evidence), self.name) if text else Wording("")


def rewrite_prompt(prompts: PromptRegistry, fault: Fault) -> RenderedPrompt:
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
    brought = next((mark[0] for mark in _FORBIDDEN.finditer(new) if mark[0] not in fault.text), None)
    if brought is not None:
        return f"it brings {brought!r}, which the sentence does not have: no links, tags or control characters"
    shown = [fault.prompt or "", fault.response[: fault.end], *(item.passage + item.title for item in fault.evidence)]
    shown += [claim.self_contained for claim in (*fault.wrong, *fault.staying)]
    invented = next(faithful.Wording("\n".join(shown)).lacking(new, exactly=True), None)
    if invented is not None:
        return f"it says {invented}, which neither the evidence nor the answer has"
    return None


NAME = "offline rewriter"
NO_VALUE = "the evidence contains no value to replace the wrong one"
_STOPS = ".!?…。！？｡؟।"


@dataclass(frozen=True)
class Exchange:
    """Wrong words in a claim, and the words from the source that should replace them."""

    wrong: str
    right: str

    def stands_in(self, text: str) -> bool:
        return any(_places(self.wrong, text))

    def in_text(self, text: str) -> str | None:
        """Returns the text with the correct words, or None if the wrong words do not occur exactly once."""
        places = list(_places(self.wrong, text))
        if len(places) != 1:
            return None
        start, end = places[0]
        before, right = text[:start], self.right
        if text[start].isupper() and right[:1].islower() and not before.strip(" \t*_\"'“‘(-"):
            right = right[0].upper() + right[1:]
        return f"{_with_article(before, right)}{right}{text[end:]}"


class OfflineRewriter:
    """Replaces wrong values in a sentence with the correct values that the judge quotes. Each wrong value must occur
    exactly once in the sentence. A sentence with claims to remove is replaced with its other claims, without markup."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def hashes(self) -> Mapping[str, str]:
        return {}

    async def reword(self, fault: Fault) -> Wording:
        """Returns the sentence with all wrong values replaced or, if this is impossible, with only the claims to keep.
        Raises ToolError if only a fragment of the sentence, or part of a table row, would remain."""
        text = _exchanged(fault) if fault.contradicted and not fault.removed else None
        if text is None:
            return _left_over(fault, NO_VALUE if fault.contradicted else "")
        return Wording(text, tuple(item.id for item in fault.cited), self.name, otherwise=_cut_down(fault))


def exchange_of(claim: Claim) -> Exchange | None:
    """Returns None if the judge does not quote both the wrong and the correct words."""
    wrong, right = claim.judgement.wrong.strip(), claim.judgement.instead.strip()
    return Exchange(wrong, right) if wrong and right else None


def restated(fault: Fault) -> str:
    """Returns the claims to keep, each as a sentence, or an empty string if there are none. Raises ToolError if only a
    fragment of the sentence would remain, such as *Ada died* from *Ada died in Oslo*."""
    stop = fault.text[-1] if fault.text[-1:] in _STOPS else "."
    kept = [plain_text(claim.text).strip() for claim in fault.staying]
    wrong = [plain_text(claim.text).rstrip(_STOPS).lower() for claim in fault.wrong]
    for text in kept:
        if any(one.startswith(f"{text.rstrip(_STOPS).lower()} ") for one in wrong):
            raise ToolError(f"cannot remove the claim, because only {text!r} would remain of the sentence", tool=NAME)
    ends = {text: "" if text[-1:] in _STOPS else stop for text in kept}
    return " ".join(f"{text[:1].upper()}{text[1:]}{end}" for text, end in ends.items())


def _exchanged(fault: Fault) -> str | None:
    text, kept = fault.text, [plain_text(claim.text) for claim in fault.staying]
    for one in dict.fromkeys(exchange_of(contradiction.claim) for contradiction in fault.contradicted):
        shared = one is not None and any(one.stands_in(other) for other in kept)
        new = None if one is None or shared else one.in_text(text)
        if new is None:
            return None
        text = new
    return text


def _cut_down(fault: Fault) -> Wording | None:
    try:
        return _left_over(fault, NOT_CONFIRMED) if fault.staying else None
    except ToolError:
        return None


def _left_over(fault: Fault, detail: str) -> Wording:
    if "|" in fault.text and fault.staying:
        raise ToolError("cannot shorten a table row", tool=NAME)
    text = "" if "|" in fault.text else restated(fault)
    return Wording(text, by=NAME if text else "", detail=detail, is_cut=bool(fault.contradicted))


def _places(words: str, text: str) -> Iterator[tuple[int, int]]:
    for found in re.finditer(rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)", text, re.IGNORECASE):
        yield found.span()


def _with_article(before: str, right: str) -> str:
    article = re.search(r"\b([Aa])n? $", before)
    if article is None or not right[:1].isalpha():
        return before
    return f"{before[: article.start()]}{article[1]}{indefinite_article(right)[1:]} "
